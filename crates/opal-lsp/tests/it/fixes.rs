//! The fixes of the examples of the error pages: after each, there is one mistake less.

use std::path::Path;

use opal_lsp::Ended;
use serde_json::{Value, json};

use super::client::{Client, uri, workspace};
use super::random::applied;

/// The blocks of the pages in the language, each with its page.
fn examples() -> Vec<(String, String)> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let mut paths: Vec<_> =
        std::fs::read_dir(pages).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n```opl ").skip(1) {
            let (_, rest) = block.split_once('\n').unwrap();
            let (source, _) = rest.split_once("\n```").unwrap();
            found.push((name.clone(), format!("{source}\n")));
        }
    }
    found
}

fn codes(found: &Value) -> Vec<String> {
    let all = found.as_array().unwrap().iter();
    all.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_fix_of_an_example_leaves_one_mistake_less_and_a_text_that_can_be_formatted() {
    let (_folder, root) = workspace(&[]);
    let mut client = Client::start(Some(&root));
    let mut fixed: Vec<String> = Vec::new();
    for (number, (page, source)) in examples().into_iter().enumerate() {
        let uri = uri(&root.join(format!("example{number}.opl")));
        client.open(&uri, &source);
        let before = client.diagnostics(&uri, 1);
        let (document, mut version) = (json!({ "uri": uri }), 1);
        for found in before.as_array().unwrap() {
            let context = json!({ "diagnostics": [], "only": ["quickfix"] });
            let params =
                json!({ "textDocument": document, "range": found["range"], "context": context });
            let actions = client.request("textDocument/codeAction", params).unwrap();
            let mut own = actions.as_array().unwrap().iter().filter(|it| {
                it["isPreferred"] == true && it["diagnostics"][0]["range"] == found["range"]
            });
            let Some(action) = own.next() else { continue };
            let edits = &action["edit"]["documentChanges"][0]["edits"];
            let after = applied(&source, edits);
            version += 1;
            client.change(&uri, version, json!([{ "text": after }]));
            let left = codes(&client.diagnostics(&uri, i64::from(version)));
            let code = found["code"].as_str().unwrap().to_owned();
            let count = |all: &[String]| all.iter().filter(|it| **it == code).count();
            assert!(
                count(&left) < count(&codes(&before)),
                "{page}: {} leaves {left:?} in\n{after}",
                action["title"]
            );
            if left.iter().all(|it| {
                !it.starts_with("E01") && !it.starts_with("E02") && !it.starts_with("E03")
            }) {
                let options = json!({ "tabSize": 4, "insertSpaces": true });
                let params = json!({ "textDocument": document, "options": options });
                let formatted = client.request("textDocument/formatting", params).unwrap();
                assert!(formatted.is_array(), "{page}: {after}");
            }
            version += 1;
            client.change(&uri, version, json!([{ "text": source }]));
            fixed.push(code);
        }
        client.notify("textDocument/didClose", json!({ "textDocument": document }));
        client.published.clear();
    }
    fixed.sort();
    fixed.dedup();
    assert_eq!(fixed, ["E0211", "E0301", "E0401", "E0403", "E0406", "E1201"], "codes with a fix");
    assert_eq!(client.end(), Ended::Well);
}
