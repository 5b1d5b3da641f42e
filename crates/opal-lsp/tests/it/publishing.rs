//! Who gets which diagnostics: clients that ask for them and clients that do not, files that are open and
//! files that are not.

use opal_lsp::Ended;
use serde_json::{Value, json};

use super::client::{Client, abilities, uri, workspace};

/// What a client says that asks for diagnostics itself.
fn pulling() -> Value {
    let mut abilities = abilities();
    abilities["textDocument"]["diagnostic"] = json!({});
    abilities["workspace"]["diagnostics"] = json!({ "refreshSupport": true });
    abilities
}

fn pull(client: &mut Client, uri: &str) -> Value {
    let params = json!({ "textDocument": { "uri": uri } });
    client.request("textDocument/diagnostic", params).unwrap()["items"].clone()
}

/// Gives the server the time to say what it has to say.
fn settle(client: &mut Client, uri: &str) {
    for _ in 0..2 {
        let params = json!({ "textDocument": { "uri": uri } });
        client.request("textDocument/foldingRange", params).unwrap();
    }
}

const LIB: &str = "fun assist() {\n    echo @var.nothing\n}\n";
const MAIN: &str = "import \"lib.opl\"\n\nfun up() {\n    @cmd.lib.assist()\n}\n";

#[test]
fn a_client_that_asks_for_diagnostics_gets_them_once() {
    let (_folder, root) = workspace(&[("commands.opl", MAIN), ("lib.opl", LIB)]);
    let mut client = Client::with(Some(&root), pulling());
    let (main, lib) = (uri(&root.join("commands.opl")), uri(&root.join("lib.opl")));
    client.open(&main, MAIN);
    // It does not ask for what it has not open.
    assert_eq!(client.published(&lib)[0]["code"], "E0401");
    client.published.clear();
    client.open(&lib, LIB);
    assert_eq!(client.published(&lib), json!([]), "from now on it asks for them");
    assert_eq!(pull(&mut client, &lib)[0]["code"], "E0401");
    client.published.clear();
    client.close(&lib);
    assert_eq!(client.published(&lib)[0]["code"], "E0401", "and no longer asks");
    assert!(!client.published.contains_key(&main));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_client_that_asks_for_diagnostics_asks_again_after_a_change_elsewhere() {
    let (_folder, root) = workspace(&[("commands.opl", MAIN)]);
    let mut client = Client::with(Some(&root), pulling());
    let main = uri(&root.join("commands.opl"));
    client.open(&main, MAIN);
    assert_eq!(pull(&mut client, &main)[0]["code"], "E1203");
    client.asked.clear();
    std::fs::write(root.join("lib.opl"), "fun assist() = echo\n").unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(client.asked("workspace/diagnostic/refresh"), Value::Null);
    assert_eq!(pull(&mut client, &main), json!([]));
    // A file that it imports is open, and another text.
    let lib = uri(&root.join("lib.opl"));
    client.open(&lib, "fun other() = echo\n");
    client.asked("workspace/diagnostic/refresh");
    assert_eq!(pull(&mut client, &main)[0]["code"], "E0403");
    client.close(&lib);
    client.asked("workspace/diagnostic/refresh");
    assert_eq!(pull(&mut client, &main), json!([]));
    // A client that cannot do it is not asked.
    let mut other = pulling();
    other["workspace"]["diagnostics"] = Value::Null;
    let mut silent = Client::with(Some(&root), other);
    silent.open(&main, MAIN);
    silent.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(pull(&mut silent, &main), json!([]));
    settle(&mut silent, &main);
    assert!(silent.asked.is_empty(), "{:?}", silent.asked);
    assert_eq!(silent.end(), Ended::Well);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn what_was_said_is_taken_back_under_the_name_that_it_was_said_of() {
    let (_folder, root) = workspace(&[("real/commands.opl", "")]);
    std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
    let linked = uri(&root.join("link/commands.opl"));
    let mut client = Client::start(Some(&root));
    for name in ["untitled:Untitled-1", linked.as_str()] {
        client.open(name, "echo @var.nothing\n");
        assert_eq!(client.diagnostics(name, 1)[0]["code"], "E0401");
        client.published.clear();
        client.close(name);
        assert_eq!(client.published(name), json!([]));
        settle(&mut client, name);
        assert_eq!(client.published.len(), 1, "{:?}", client.published);
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_document_that_is_edited_is_answered_before_those_that_import_it() {
    let text = "fun assist() = echo\n";
    let (_folder, root) = workspace(&[("lib.opl", text)]);
    let mut client = Client::start(Some(&root));
    let importers: Vec<String> =
        (0..4).map(|number| uri(&root.join(format!("a{number}.opl")))).collect();
    for importer in &importers {
        client.open(importer, MAIN);
        assert_eq!(client.diagnostics(importer, 1), json!([]));
    }
    let lib = uri(&root.join("lib.opl"));
    client.open(&lib, text);
    client.diagnostics(&lib, 1);
    for version in 2..5 {
        client.published.clear();
        // All of them are checked again, and none has to be before this is said.
        client.change(&lib, version, json!([{ "text": format!("fun f{version}() = echo\n") }]));
        assert_eq!(client.diagnostics(&lib, i64::from(version)), json!([]));
        assert!(importers.iter().all(|it| !client.published.contains_key(it)));
        for importer in &importers {
            assert_eq!(client.published(importer)[0]["code"], "E0403");
        }
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn what_a_source_finds_in_a_file_that_it_imports_is_said_once_and_taken_back() {
    let (_folder, root) = workspace(&[("lib.opl", LIB)]);
    let mut client = Client::start(Some(&root));
    let (main, lib) = (uri(&root.join("commands.opl")), uri(&root.join("lib.opl")));
    client.open(&main, MAIN);
    assert_eq!(client.published(&lib)[0]["code"], "E0401");
    client.log.clear();
    for version in 2..6 {
        client.change(&main, version, json!([{ "text": format!("{MAIN}// {version}\n") }]));
        client.diagnostics(&main, i64::from(version));
    }
    settle(&mut client, &main);
    assert!(!client.log.contains(&lib), "nothing else is said: {:?}", client.log);
    client.published.clear();
    client.change(&main, 6, json!([{ "text": "echo\n" }]));
    assert_eq!(client.published(&lib), json!([]), "nobody imports it any more");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_very_large_text_is_checked_when_it_is_saved_and_keeps_what_was_said_until_then() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let uri = uri(&root.join("commands.opl"));
    let line = "// words that say nothing, and make a text large\n";
    let text = format!("echo @var.x\n{}", line.repeat(2 * 1024 * 1024 / line.len() + 1));
    let params = json!({ "textDocument": { "uri": uri } });
    for is_pulled in [false, true] {
        let abilities = if is_pulled { pulling() } else { abilities() };
        let mut client = Client::with(Some(&root), abilities);
        client.open(&uri, &text);
        let mut before = Value::Null;
        if is_pulled {
            before = client.request("textDocument/diagnostic", params.clone()).unwrap();
            assert_eq!(before["items"][0]["code"], "E0401");
        } else {
            assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0401");
        }
        client.log.clear();
        let start = json!({ "line": 0, "character": 0 });
        let end = json!({ "line": 0, "character": 11 });
        let change = json!([{ "range": { "start": start, "end": end }, "text": "echo" }]);
        client.change(&uri, 2, change);
        if is_pulled {
            let mut params = params.clone();
            params["previousResultId"] = before["resultId"].clone();
            let found = client.request("textDocument/diagnostic", params).unwrap();
            assert_eq!(found["kind"], "unchanged");
        }
        settle(&mut client, &uri);
        assert_eq!(client.log, [""; 0], "nothing is taken back");
        client.notify("textDocument/didSave", params.clone());
        if is_pulled {
            assert_eq!(pull(&mut client, &uri), json!([]));
        } else {
            assert_eq!(client.diagnostics(&uri, 2), json!([]));
        }
        assert_eq!(client.end(), Ended::Well);
    }
}
