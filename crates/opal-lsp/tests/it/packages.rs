//! Decorators of packages: from manifests, and without running anything of them.

use opal_lsp::Ended;
use serde_json::{Value, json};

use super::client::{Client, uri, workspace};

const MOD: &str = "name = \"shop\"\n\n[plugins]\n\"./plugins/house\" = \"1.0.0\"\n";
const TOML: &str = "[package]\nname = \"acme/house\"\nversion = \"1.0.0\"\n";
const GREET: &str = "# Greet somebody.\n# who: whom to greet\nfun house.greet(who: String, times: \
                     Int = 1) {\n    echo hello @var.who @var.times\n}\n";
const SOURCE: &str = "fun hi() {\n    @house.greet(\"world\", tims=2)\n    @house.\n}\n";

fn ask(client: &mut Client, uri: &str, method: &str, line: u32, character: u32) -> Value {
    let at = json!({ "line": line, "character": character });
    let params = json!({ "textDocument": { "uri": uri }, "position": at });
    client.request(&format!("textDocument/{method}"), params).unwrap()
}

#[test]
fn decorators_of_a_package_are_checked_completed_and_shown_with_where_they_come_from() {
    let (_folder, root) = workspace(&[
        ("opal.mod", MOD),
        ("plugins/house/opal.toml", TOML),
        ("plugins/house/decorators/greet.opl", GREET),
    ]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, SOURCE);
    let found = client.diagnostics(&uri, 1);
    let codes: Vec<&str> =
        found.as_array().unwrap().iter().map(|it| it["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"E0503"), "the argument is wrong: {codes:?}");
    let hover = ask(&mut client, &uri, "hover", 1, 9);
    let said = hover["contents"]["value"].as_str().unwrap();
    assert!(said.contains("whom to greet") && said.contains("From acme/house 1.0.0"), "{said}");
    assert!(said.contains("verification: "), "{said}");
    let items = ask(&mut client, &uri, "completion", 2, 11);
    let labels: Vec<&str> =
        items.as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["@house.greet"]);
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_that_is_not_there_is_said_with_the_command_and_found_once_it_is() {
    let (_folder, root) = workspace(&[("opal.mod", MOD)]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "fun hi() {\n    @house.greet(\"world\")\n}\n");
    let found = client.diagnostics(&uri, 1);
    assert_eq!(found[0]["code"], "E0406");
    let said = found[0]["message"].as_str().unwrap();
    assert!(said.contains("`./plugins/house` does not exist"), "{said}");
    assert!(said.contains("`opal plugin install`"), "{said}");
    client.published.clear();
    std::fs::create_dir_all(root.join("plugins/house/decorators")).unwrap();
    std::fs::write(root.join("plugins/house/opal.toml"), TOML).unwrap();
    std::fs::write(root.join("plugins/house/decorators/greet.opl"), GREET).unwrap();
    client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(client.diagnostics(&uri, 1), json!([]));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_change_of_a_package_in_the_workspace_is_seen() {
    let (_folder, root) = workspace(&[
        ("opal.mod", MOD),
        ("plugins/house/opal.toml", TOML),
        ("plugins/house/decorators/greet.opl", GREET),
    ]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "fun hi() {\n    @house.greet(\"world\")\n    @house.leave()\n}\n");
    assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0406");
    let leave = "# Leave.\nfun house.leave() {\n    echo bye\n}\n";
    let path = root.join("plugins/house/decorators/leave.opl");
    for _ in 0..2 {
        client.published.clear();
        std::fs::write(&path, leave).unwrap();
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
        assert_eq!(client.diagnostics(&uri, 1), json!([]));
        client.published.clear();
        std::fs::remove_file(&path).unwrap();
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
        assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0406");
    }
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_outside_the_workspace_is_not_read() {
    let (_outside, other) = workspace(&[("opal.toml", TOML), ("decorators/greet.opl", GREET)]);
    let (_folder, root) = workspace(&[("opal.mod", MOD)]);
    std::fs::create_dir(root.join("plugins")).unwrap();
    std::os::unix::fs::symlink(&other, root.join("plugins/house")).unwrap();
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "fun hi() {\n    @house.greet(\"world\")\n}\n");
    let found = client.diagnostics(&uri, 1);
    assert!(found[0]["message"].as_str().unwrap().contains("is outside the workspace"), "{found}");
    assert_eq!(client.end(), Ended::Well);
}
