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

/// The answer to a request about a whole document.
fn ask(client: &mut Client, method: &str, uri: &str) -> serde_json::Value {
    let params = json!({ "textDocument": { "uri": uri } });
    client.request(&format!("textDocument/{method}"), params).unwrap()
}

fn codes(found: &serde_json::Value) -> Vec<String> {
    let all = found.as_array().unwrap().iter();
    all.map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

/// In each text something is so often there that comparing each with each would take minutes.
#[test]
fn what_is_often_in_a_text_is_not_compared_with_itself() {
    let count = 20_000;
    let chain: String =
        (0..4_000).map(|it| format!("fun f{it}() = @cmd.f{}()\n", it + 1)).collect();
    let variables: String = (0..count).map(|it| format!("var v{it} = \"\"\n")).collect();
    let texts = [
        // One line, and columns that are not bytes.
        format!("var x = 1\necho \u{1d11e}{}\n", " @var.x".repeat(count)),
        "echo @var.nothing\n".repeat(count),
        "fun f() = echo \\n".repeat(4_000),
        "echo @nothing.at.all(1)\n".repeat(count),
        format!("{chain}fun f4000() = @file.directory(\"a\")\n"),
        format!("{variables}echo @var.\n"),
    ];
    for text in texts {
        let (_folder, root) = workspace(&[("commands.opl", "")]);
        // Columns are UTF-16.
        let commands = json!({ "general": {} });
        let mut client = Client::with(Some(&root), commands);
        let main = uri(&root.join("commands.opl"));
        client.open(&main, &text);
        client.diagnostics(&main, 1);
        for method in ["semanticTokens/full", "documentSymbol", "codeLens", "foldingRange"] {
            ask(&mut client, method, &main);
        }
        let last = text.lines().count() - 1;
        let end = json!({ "line": last, "character": text.lines().last().unwrap().len() });
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": end });
        let here = json!({ "textDocument": { "uri": main }, "position": end });
        client.request("textDocument/completion", here.clone()).unwrap();
        let context = json!({ "diagnostics": [] });
        let params = json!({ "textDocument": { "uri": main }, "range": whole, "context": context });
        client.request("textDocument/codeAction", params).unwrap();
        let first = json!({ "line": 0, "character": 5 });
        let mut params = json!({ "textDocument": { "uri": main }, "position": first });
        params["newName"] = json!("fresh_name");
        // It may be refused.
        let _ = client.request("textDocument/rename", params);
        assert_eq!(client.end(), Ended::Well);
    }
}

#[test]
fn a_call_of_a_function_far_away_that_has_resources_has_the_lens() {
    let text = "fun a() = @cmd.b()\nfun b() = @cmd.c()\nfun c() = @cmd.b()\n\
                fun d() = @file.directory(\"x\")\nfun e() = @cmd.a()\nfun f() = @cmd.d()\n";
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::start(Some(&root));
    let main = uri(&root.join("commands.opl"));
    client.open(&main, text);
    let lenses = ask(&mut client, "codeLens", &main);
    let lenses = lenses.as_array().unwrap().iter();
    let verified = lenses.filter(|it| it["command"]["title"] == "verify");
    let names: Vec<&str> =
        verified.map(|it| it["command"]["arguments"][1].as_str().unwrap()).collect();
    assert_eq!(names, ["d", "f"]);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_name_in_thousands_of_files_is_found_in_all_of_them() {
    let (_folder, root) = workspace(&[("lib.opl", "fun notify() {\n    echo\n}\n")]);
    let count = 1_500;
    for number in 0..count {
        let folder = root.join(format!("d{}", number % 100));
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("import \"../lib.opl\"\n\nfun f{number}() = @cmd.lib.notify()\n");
        std::fs::write(folder.join(format!("f{number}.opl")), text).unwrap();
    }
    std::fs::write(root.join("opal.mod"), "name = \"many\"\n").unwrap();
    let mut client = Client::start(Some(&root));
    let lib = uri(&root.join("lib.opl"));
    client.open(&lib, "fun notify() {\n    echo\n}\n");
    let mut params =
        json!({ "textDocument": { "uri": lib }, "position": { "line": 0, "character": 5 } });
    params["context"] = json!({ "includeDeclaration": true });
    params["newName"] = json!("announce");
    let found = client.request("textDocument/references", params.clone()).unwrap();
    assert_eq!(found.as_array().unwrap().len(), count + 1);
    let edit = client.request("textDocument/rename", params).unwrap();
    assert_eq!(edit["documentChanges"].as_array().unwrap().len(), count + 1);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_name_is_not_changed_where_not_every_use_can_be_found() {
    let (_folder, root) = workspace(&[("lib.opl", "fun notify() = echo\n")]);
    // Its holes take no room on the disk.
    let large = std::fs::File::create(root.join("large.opl")).unwrap();
    large.set_len(65 * 1024 * 1024).unwrap();
    let mut client = Client::start(Some(&root));
    let lib = uri(&root.join("lib.opl"));
    client.open(&lib, "fun notify(text) {\n    var own = @var.text\n    echo @var.own\n}\n");
    let at = |line: u32, character: u32| {
        json!({ "textDocument": { "uri": lib }, "newName": "fresh",
                "position": { "line": line, "character": character } })
    };
    let said = client.request("textDocument/rename", at(0, 5)).unwrap_err();
    assert!(said.contains("not all sources of the workspace"), "{said}");
    // What no other file can name can be changed.
    assert!(client.request("textDocument/rename", at(1, 9)).unwrap().is_object());
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_name_is_not_changed_while_a_use_is_where_nobody_searches() {
    let text = "fun notify() = echo\n";
    let user = "import \"../lib.opl\"\n\nfun f() = @cmd.lib.notify()\n";
    let (_folder, root) = workspace(&[
        ("opal.mod", "name = \"x\"\n"),
        ("lib.opl", text),
        (".github/ci.opl", user),
        (".git/objects/x.opl", user),
        ("vendor/other.opl", "fun notify() = echo\n"),
    ]);
    let mut client = Client::start(Some(&root));
    let lib = uri(&root.join("lib.opl"));
    client.open(&lib, text);
    let rename = json!({ "textDocument": { "uri": lib }, "newName": "fresh",
                         "position": { "line": 0, "character": 5 } });
    let said = client.request("textDocument/rename", rename.clone()).unwrap_err();
    assert!(said.contains("`.github/ci.opl` uses this name too"), "{said}");
    // What is open is searched.
    let hidden = uri(&root.join(".github/ci.opl"));
    client.open(&hidden, user);
    let edit = client.request("textDocument/rename", rename.clone()).unwrap();
    assert_eq!(edit["documentChanges"].as_array().unwrap().len(), 2, "{edit}");
    // A file that nobody reported.
    std::fs::create_dir(root.join("more")).unwrap();
    std::fs::write(root.join("more/new.opl"), user).unwrap();
    let edit = client.request("textDocument/rename", rename).unwrap();
    assert_eq!(edit["documentChanges"].as_array().unwrap().len(), 3, "{edit}");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_name_that_other_files_may_use_is_not_changed_without_a_workspace() {
    let (_folder, root) = workspace(&[("lib.opl", "")]);
    let mut client = Client::start(None);
    let text = "fun notify(text) {\n    var own = @var.text\n    echo @var.own\n}\n";
    let lib = uri(&root.join("lib.opl"));
    let at = |uri: &str, line: u32, character: u32| {
        json!({ "textDocument": { "uri": uri }, "newName": "fresh",
                "position": { "line": line, "character": character } })
    };
    client.open(&lib, text);
    let said = client.request("textDocument/rename", at(&lib, 0, 5)).unwrap_err();
    assert!(said.contains("open the directory of the project"), "{said}");
    assert!(client.request("textDocument/rename", at(&lib, 1, 9)).unwrap().is_object());
    // Nobody can import this.
    client.open("untitled:one", text);
    assert!(client.request("textDocument/rename", at("untitled:one", 0, 5)).unwrap().is_object());
    let added = json!([{ "uri": uri(&root), "name": "root" }]);
    let event = json!({ "event": { "added": added, "removed": [] } });
    client.notify("workspace/didChangeWorkspaceFolders", event);
    assert!(client.request("textDocument/rename", at(&lib, 0, 5)).unwrap().is_object());
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn files_that_vanish_and_come_back_are_followed() {
    let (_folder, root) = workspace(&[("db.opl", "fun migrate() = echo\n")]);
    let mut client = Client::start(Some(&root));
    let main = uri(&root.join("commands.opl"));
    client.open(&main, "import \"db.opl\"\n\nfun up() = @cmd.db.migrate()\n");
    assert_eq!(client.diagnostics(&main, 1), json!([]));
    for round in 0..3 {
        let version = 2 + 2 * round;
        std::fs::remove_file(root.join("db.opl")).unwrap();
        client.change(&main, version, json!([]));
        let found = client.diagnostics(&main, i64::from(version));
        assert_eq!(codes(&found), ["E1203"], "{found}");
        std::fs::write(root.join("db.opl"), "fun migrate() = echo\n").unwrap();
        client.change(&main, version + 1, json!([]));
        assert_eq!(client.diagnostics(&main, i64::from(version + 1)), json!([]));
    }
    // The whole directory.
    std::fs::remove_dir_all(&root).unwrap();
    client.change(&main, 9, json!([]));
    assert_eq!(codes(&client.diagnostics(&main, 9)), ["E1203"]);
    for method in ["documentSymbol", "codeLens", "formatting"] {
        let params = json!({ "textDocument": { "uri": main }, "options": { "tabSize": 4, "insertSpaces": true } });
        client.request(&format!("textDocument/{method}"), params).unwrap();
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_project_that_begins_above_the_workspace_is_one() {
    let (_folder, root) = workspace(&[
        ("opal.mod", "name = \"x\"\n\n[plugins]\n\"./plugins/house\" = \"1.0.0\"\n"),
        ("shared.opl", "fun secret() = echo\n"),
        ("a/lib.opl", "fun help() = echo\n"),
        ("a/b/commands.opl", ""),
    ]);
    let mut client = Client::start(Some(&root.join("a")));
    let main = uri(&root.join("a/b/commands.opl"));
    let text = "import \"../lib.opl\"\nimport \"../../shared.opl\"\nimport \"../../../../etc/x.opl\" as no\n\n\
                fun f() {\n    @cmd.lib.help()\n    @cmd.shared.secret()\n    @house.greet()\n    @retri(3) {\n        a\n    }\n}\n";
    client.open(&main, text);
    let found = client.diagnostics(&main, 1);
    // What is above the workspace is not read, and nothing is said about it. A typo is one.
    assert_eq!(codes(&found), ["E1205", "E0406"], "{found}");
    assert!(found[1]["message"].as_str().unwrap().contains("retri"), "{found}");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_document_without_a_file_imports_nothing_of_the_directory_that_opal_runs_in() {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut client = Client::start(Some(&root));
    client.open(
        "untitled:Untitled-1",
        "import \"Cargo.toml\" as no\nimport \"x.opl\"\n\nfun f() = @cmd.x.f()\n",
    );
    assert_eq!(client.diagnostics("untitled:Untitled-1", 1), json!([]));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_file_of_variables_is_checked_and_its_values_are_nowhere() {
    let (_folder, root) = workspace(&[
        (".env", "TOKEN=hunter2\nPLACE=$HOME/x\n"),
        ("bad.env", "A=1\nnot a line hunter2\n"),
        ("set.env", "BASH_ENV=hunter2\n"),
    ]);
    let mut client = Client::start(Some(&root));
    let main = uri(&root.join("commands.opl"));
    client.open(&main, "import \".env\"\nimport \"bad.env\"\nimport \"set.env\"\n\necho @env.\n");
    let found = client.diagnostics(&main, 1);
    assert_eq!(codes(&found)[..2], ["E1212", "E1213"], "{found}");
    assert!(found.to_string().contains("bad.env:2:5"), "{found}");
    let at = json!({ "line": 4, "character": 10 });
    let here = json!({ "textDocument": { "uri": main }, "position": at });
    let items = client.request("textDocument/completion", here).unwrap().to_string();
    assert!(items.contains("@env.TOKEN") && items.contains("@env.A\""), "{items}");
    assert!(!items.contains("hunter2") && !found.to_string().contains("hunter2"));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_with_links_and_pipes_is_not_read() {
    let (_outside, other) = workspace(&[("secret.opl", "fun house.secret() = echo\n")]);
    let manifest = "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n";
    for is_pipe in [true, false] {
        let (_folder, root) = workspace(&[
            ("opal.mod", "name = \"x\"\n\n[plugins]\n\"./plugins/house\" = \"1.0.0\"\n"),
            ("plugins/house/opal.toml", manifest),
        ]);
        std::fs::create_dir(root.join("plugins/house/decorators")).unwrap();
        let inside = root.join("plugins/house/decorators/secret.opl");
        if is_pipe {
            let made = std::process::Command::new("mkfifo").arg(&inside).status().unwrap();
            assert!(made.success());
        } else {
            std::os::unix::fs::symlink(other.join("secret.opl"), &inside).unwrap();
        }
        let mut client = Client::start(Some(&root));
        let main = uri(&root.join("commands.opl"));
        client.open(&main, "fun f() {\n    @house.secret()\n}\n");
        let found = client.diagnostics(&main, 1);
        assert_eq!(codes(&found), ["E0406"], "{found}");
        assert_eq!(client.end(), Ended::Well);
    }
}
