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

/// Each fix that a check or the parser makes: a source, its title, and the source after it.
const FIXES: [(&str, &str, &str); 16] = [
    ("fun a() => echo hi\n", "write `=`", "fun a() = echo hi\n"),
    (
        "if 1 == 2 {\n    a\n} elif 1 == 1 {\n    b\n}\n",
        "write `else if`",
        "if 1 == 2 {\n    a\n} else if 1 == 1 {\n    b\n}\n",
    ),
    ("var a = [\n    1\n    2,\n]\n", "add a comma", "var a = [\n    1,\n    2,\n]\n"),
    (
        "for i in 1..3 {\n    echo @var.i\n}\n",
        "write `...`",
        "for i in 1...3 {\n    echo @var.i\n}\n",
    ),
    (
        "var x = \"a\"\nwhen x {\n    \"a\" -> echo\n    _ -> true\n}\n",
        "write `else`",
        "var x = \"a\"\nwhen x {\n    \"a\" -> echo\n    else -> true\n}\n",
    ),
    (
        "var x = \"a\"\nwhen x {\n    a -> echo\n    else -> true\n}\n",
        "quote it",
        "var x = \"a\"\nwhen x {\n    \"a\" -> echo\n    else -> true\n}\n",
    ),
    ("echo a\0b\n", "delete the byte", "echo ab\n"),
    ("echo a\recho b\n", "replace it with a line feed", "echo a\necho b\n"),
    ("echo a\u{202e}b\n", "delete the character", "echo ab\n"),
    ("@retri(3) {\n    a\n}\n", "write `@retry`", "@retry(3) {\n    a\n}\n"),
    (
        "fun b(place: string) = echo @var.place\n",
        "write `String`",
        "fun b(place: String) = echo @var.place\n",
    ),
    ("@retry(3, dely=1s) {\n    a\n}\n", "write `delay`", "@retry(3, delay=1s) {\n    a\n}\n"),
    (
        "fun build() = echo\n\nfun all() = @cmd.biuld()\n",
        "write `@cmd.build`",
        "fun build() = echo\n\nfun all() = @cmd.build()\n",
    ),
    (
        "fun a() = echo\n\nfun b() {\n    echo\n    @needs.a()\n}\n",
        "move it up",
        "fun a() = echo\n\nfun b() {\n    @needs.a()\n    echo\n}\n",
    ),
    ("var name = 1\necho @var.nmae\n", "write `name`", "var name = 1\necho @var.name\n"),
    (
        "fun b(to: \"dev\" | \"prod\") = echo @var.to\n\nfun c() = @cmd.b(to=dev)\n",
        "quote it",
        "fun b(to: \"dev\" | \"prod\") = echo @var.to\n\nfun c() = @cmd.b(to=\"dev\")\n",
    ),
];

/// Places in sources that give a diagnostic a fix.
fn givers(folder: &Path, found: &mut Vec<String>) {
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            givers(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap();
            let lines = (1..).zip(shipped.lines()).filter(|(_, line)| line.contains(".fix("));
            found.extend(lines.map(|(number, _)| format!("{}:{number}", path.display())));
        }
    }
}

#[test]
fn every_place_that_gives_a_fix_has_a_row_here() {
    let mut found = Vec::new();
    for name in ["opal-core", "opal-syntax", "opal-plan"] {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        givers(&top, &mut found);
    }
    assert_eq!(found.len(), FIXES.len(), "a row of `FIXES` for each of {found:#?}");
}

#[test]
fn an_import_goes_after_a_byte_order_mark_and_a_line_with_an_interpreter() {
    let (_folder, root) = workspace(&[("db.opl", "fun migrate() = echo\n")]);
    let mut client = Client::start(Some(&root));
    let body = "fun f() {\n    @cmd.db.migrate()\n}\n";
    let heads = ["", "\u{feff}", "#!/usr/bin/env opal\n", "\u{feff}#!/usr/bin/env opal\n"];
    for (number, head) in heads.into_iter().enumerate() {
        let uri = uri(&root.join(format!("a{number}.opl")));
        let source = format!("{head}{body}");
        client.open(&uri, &source);
        let found = client.diagnostics(&uri, 1);
        let params = json!({
            "textDocument": { "uri": uri },
            "range": found[0]["range"],
            "context": { "diagnostics": [] },
        });
        let actions = client.request("textDocument/codeAction", params).unwrap();
        let mut all = actions.as_array().unwrap().iter();
        let action = all.find(|it| it["title"] == "import `db.opl`");
        let action = action.unwrap_or_else(|| panic!("{source:?}: {found}\n{actions}"));
        let fixed = applied(&source, &action["edit"]["documentChanges"][0]["edits"]);
        assert_eq!(fixed, format!("{head}import \"db.opl\"\n\n{body}"));
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn every_fix_of_the_checks_and_the_parser_does_what_it_says() {
    let (_folder, root) = workspace(&[]);
    let mut client = Client::start(Some(&root));
    for (number, (source, title, after)) in FIXES.into_iter().enumerate() {
        let uri = uri(&root.join(format!("fix{number}.opl")));
        client.open(&uri, source);
        let before = client.diagnostics(&uri, 1);
        let end = json!({ "line": 100, "character": 0 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": { "line": 0, "character": 0 }, "end": end },
            "context": { "diagnostics": [], "only": ["quickfix"] },
        });
        let actions = client.request("textDocument/codeAction", params).unwrap();
        let mut all = actions.as_array().unwrap().iter();
        let action = all.find(|it| it["title"] == title && it["isPreferred"] == true);
        let action = action.unwrap_or_else(|| panic!("{source:?}: {before}\n{actions}"));
        let fixed = applied(source, &action["edit"]["documentChanges"][0]["edits"]);
        assert_eq!(fixed, after);
        client.change(&uri, 2, json!([{ "text": fixed }]));
        let code = action["diagnostics"][0]["code"].as_str().unwrap();
        let left = codes(&client.diagnostics(&uri, 2));
        assert!(!left.iter().any(|it| it == code), "{source:?}: {left:?}");
        // What was in its one form still is.
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let params = json!({ "textDocument": { "uri": uri }, "options": options });
        let edits = client.request("textDocument/formatting", params).unwrap();
        let formatted = if edits.is_null() { fixed.clone() } else { applied(&fixed, &edits) };
        assert_eq!(formatted, fixed, "{title}");
    }
    assert_eq!(client.end(), Ended::Well);
}
