//! Workspaces that want something: files outside, files that never end, deep and wide texts.

use opal_lsp::Ended;
use serde_json::json;

use super::client::{Client, uri, workspace};

#[test]
fn nothing_outside_the_workspace_is_read() {
    let (_outside, other) = workspace(&[("secret.opl", "fun secret() { echo }\n")]);
    let (_folder, root) = workspace(&[("a/commands.opl", ""), ("b/x.opl", "fun x() { echo }\n")]);
    std::os::unix::fs::symlink(other.join("secret.opl"), root.join("a/link.opl")).unwrap();
    std::os::unix::fs::symlink(&other, root.join("a/folder")).unwrap();
    let mut client = Client::start(Some(&root.join("a")));
    let main = uri(&root.join("a/commands.opl"));
    let text = format!(
        "import \"link.opl\"\nimport \"folder/secret.opl\" as two\nimport \"../b/x.opl\"\n\
         import \"{}\" as four\n\nfun f() {{\n    @cmd.\n}}\n",
        other.join("secret.opl").display()
    );
    client.open(&main, &text);
    let found = client.diagnostics(&main, 1);
    assert!(!found.to_string().contains("secret()"));
    let at = json!({ "line": 6, "character": 9 });
    let here = json!({ "textDocument": { "uri": main }, "position": at });
    let items = client.request("textDocument/completion", here).unwrap();
    let labels: Vec<&str> =
        items.as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["@cmd.f"]);
    let found = client.request("workspace/symbol", json!({ "query": "" })).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn what_is_not_a_regular_file_is_not_opened() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe.opl")).status().unwrap();
    assert!(made.success());
    std::fs::create_dir(root.join("folder.opl")).unwrap();
    let mut client = Client::start(Some(&root));
    let main = uri(&root.join("commands.opl"));
    client
        .open(&main, "import \"pipe.opl\"\nimport \"folder.opl\"\nimport \"commands.opl\" as me\n");
    let found = client.diagnostics(&main, 1);
    let codes: Vec<&str> =
        found.as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["E1203", "E1203", "E1204"]);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn texts_that_are_deep_wide_or_no_text_are_answered() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    std::fs::write(root.join("bytes.opl"), [0xff, 0xfe, 0]).unwrap();
    let texts = [
        format!("var a = {}1{}\n", "[".repeat(100_000), "]".repeat(100_000)),
        format!("var a = {}1\n", "!".repeat(100_000)),
        format!("var a = 1{}\n", " + 1".repeat(50_000)),
        "{ ".repeat(50_000),
        "@retry(".repeat(20_000),
        "\"@var.a(\"".repeat(20_000),
        "import \"bytes.opl\"\n".to_owned(),
        "\u{feff}fun a() { echo \r }\r\n\u{202e}\0".to_owned(),
        "x".repeat(3_000_000),
    ];
    for text in texts {
        let mut client = Client::start(Some(&root));
        let main = uri(&root.join("commands.opl"));
        client.open(&main, &text);
        client.diagnostics(&main, 1);
        let only = json!({ "textDocument": { "uri": main } });
        let end = json!({ "line": text.matches('\n').count(), "character": 100 });
        let here = json!({ "textDocument": { "uri": main }, "position": end });
        for method in [
            "textDocument/semanticTokens/full",
            "textDocument/documentSymbol",
            "textDocument/codeLens",
        ] {
            client.request(method, only.clone()).unwrap();
        }
        for method in
            ["textDocument/hover", "textDocument/completion", "textDocument/signatureHelp"]
        {
            client.request(method, here.clone()).unwrap();
        }
        assert_eq!(client.end(), Ended::Well);
    }
}
