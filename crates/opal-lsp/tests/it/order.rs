//! The order of messages, and clients that do not keep to it.

use lsp_server::RequestId;
use opal_lsp::Ended;
use serde_json::{Value, json};

use super::client::{Client, uri, workspace};

#[test]
fn a_request_sees_every_edit_before_it_and_none_after_it() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "fun a() { echo }\n");
    let mut asked = Vec::new();
    for number in 2..40 {
        let text = format!("fun f{number}() {{ echo }}\n");
        client.change(&uri, number, json!([{ "text": text }]));
        let params = json!({ "textDocument": { "uri": uri } });
        asked.push((number, client.send("textDocument/documentSymbol", params)));
    }
    for (number, id) in asked {
        let symbols = client.wait(&id).unwrap();
        assert_eq!(symbols[0]["name"], format!("f{number}"));
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_request_that_is_cancelled_before_its_turn_is_not_answered_with_a_result() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    // Long enough that what follows arrives before it has been checked.
    let text = "fun f() {\n    echo @var.nothing \"$(date)\"\n}\n".repeat(4_000);
    client.open(&uri, &text);
    let params = json!({ "textDocument": { "uri": uri } });
    let first = client.send("textDocument/foldingRange", params.clone());
    let all: Vec<RequestId> =
        (0..50).map(|_| client.send("textDocument/semanticTokens/full", params.clone())).collect();
    for id in &all {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    assert!(client.wait(&first).unwrap().is_array());
    let cancelled = all.iter().filter(|id| client.wait(id) == Err("cancelled".to_owned()));
    assert!(cancelled.count() > 40, "most of them were still waiting");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn nothing_is_published_about_a_text_that_has_changed_since() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "echo @var.one\n");
    for version in 2..200 {
        client.change(&uri, version, json!([{ "text": "echo ok\n" }]));
    }
    assert_eq!(client.diagnostics(&uri, 199), json!([]));
    client.change(&uri, 200, json!([{ "text": "echo @var.two\n" }]));
    assert_eq!(client.diagnostics(&uri, 200)[0]["code"], "E0401");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn messages_in_the_wrong_order_and_of_no_sense_end_nothing() {
    let (_folder, root) = workspace(&[("commands.opl", "echo hi\n")]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    let at = json!({ "line": 4_000_000_000u32, "character": 4_000_000_000u32 });
    let here = |uri: &str| json!({ "textDocument": { "uri": uri }, "position": at });
    // What was never opened is read from the workspace, or not at all.
    for uri in [uri.as_str(), "file:///etc/passwd", "untitled:x", "no uri", ""] {
        for method in [
            "textDocument/hover",
            "textDocument/completion",
            "textDocument/definition",
            "textDocument/rename",
            "textDocument/signatureHelp",
            "textDocument/codeLens",
            "textDocument/foldingRange",
            "textDocument/semanticTokens/full",
            "textDocument/documentHighlight",
            "textDocument/prepareRename",
            "textDocument/diagnostic",
        ] {
            let _ = client.request(method, here(uri));
        }
    }
    let versioned = json!({ "uri": uri, "version": 3 });
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": versioned, "contentChanges": [{ "text": "x" }] }),
    );
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    client.notify("textDocument/didOpen", json!({ "textDocument": 5 }));
    client.notify("textDocument/didSave", Value::Null);
    client.notify("no/such/thing", json!([1, 2]));
    client.open(&uri, "echo @var.x\n");
    client.open(&uri, "echo again\n");
    let backwards =
        json!([{ "range": { "start": at, "end": { "line": 0, "character": 0 } }, "text": "a" }]);
    client.change(&uri, 2, backwards);
    assert!(
        client.request("no/such/request", Value::Null).unwrap_err().contains("no/such/request")
    );
    assert!(client.request("initialize", json!({})).is_err());
    assert!(client.request("textDocument/hover", json!("nothing")).is_err());
    assert_eq!(client.request("opal/page", json!({ "code": "../../etc/passwd" })), Ok(Value::Null));
    client.request("shutdown", Value::Null).unwrap();
    assert!(client.request("textDocument/hover", here(&uri)).is_err(), "it is ending");
    client.notify("exit", Value::Null);
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let (_folder, root) = workspace(&[]);
    let client = Client::start(Some(&root));
    assert_eq!(client.vanish(), Ended::Abruptly);
}

#[test]
fn an_edit_of_an_imported_file_changes_what_is_said_about_its_importer() {
    let (_folder, root) =
        workspace(&[("commands.opl", ""), ("db.opl", "fun migrate() {\n    echo\n}\n")]);
    let mut client = Client::start(Some(&root));
    let (main, part) = (uri(&root.join("commands.opl")), uri(&root.join("db.opl")));
    client.open(&main, "import \"db.opl\"\n\nfun up() {\n    @cmd.db.migrate()\n}\n");
    assert_eq!(client.diagnostics(&main, 1), json!([]));
    client.published.clear();
    // It is not saved: what is open comes before what is on the disk.
    client.open(&part, "fun move_all() {\n    echo\n}\n");
    assert_eq!(client.diagnostics(&main, 1)[0]["code"], "E0403");
    client.published.clear();
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": part } }));
    assert_eq!(client.diagnostics(&main, 1), json!([]));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn columns_are_utf_16_where_the_client_knows_nothing_else() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::with(Some(&root), json!({}));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "echo 𝄞 @var.x\n");
    let found = client.diagnostics(&uri, 1);
    assert_eq!(found[0]["range"]["start"]["character"], 8);
    let change = json!([{ "range": { "start": { "line": 0, "character": 5 }, "end": { "line": 0, "character": 7 } }, "text": "a" }]);
    client.change(&uri, 2, change);
    assert_eq!(client.diagnostics(&uri, 2)[0]["range"]["start"]["character"], 7);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_byte_order_mark_takes_the_columns_that_it_has() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let uri = uri(&root.join("commands.opl"));
    for (abilities, column) in [(super::client::abilities(), 8), (json!({}), 6)] {
        let mut client = Client::with(Some(&root), abilities);
        client.open(&uri, "\u{feff}echo @var.x\n");
        let found = client.diagnostics(&uri, 1);
        assert_eq!(found[0]["code"], "E0401", "{found}");
        assert_eq!(found[0]["range"]["start"]["character"], column, "{found}");
        assert_eq!(client.end(), Ended::Well);
    }
}
