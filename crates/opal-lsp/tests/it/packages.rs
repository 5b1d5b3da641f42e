//! Decorators of packages: from manifests, and without running anything of them.

use std::path::{Path, PathBuf};

use opal_lsp::Ended;
use opal_plugins::installed::kept;
use opal_plugins::package::Package;
use serde_json::{Value, json};

use super::client::{Client, abilities, uri, workspace};

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
    assert!(said.contains("verification: not checked in the editor"), "{said}");
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

/// A package of a registry in a cache, and what `opal.lock` says about it.
fn cached(cache: &Path, signed_by: &str) -> (PathBuf, String) {
    let made = cache.join("made");
    std::fs::create_dir_all(made.join("decorators")).unwrap();
    std::fs::write(made.join("opal.toml"), TOML).unwrap();
    std::fs::write(made.join("decorators/greet.opl"), GREET).unwrap();
    let checksum = Package::read(&made).unwrap().checksum();
    let folder = kept(cache, &checksum);
    std::fs::rename(&made, &folder).unwrap();
    let lock = format!(
        "version = 1\n\n[[plugin]]\nname = \"acme/house\"\nversion = \"1.0.0\"\n\
         source = \"registry+https://packages.example\"\nchecksum = \"sha256:{}\"\n{signed_by}\
         capabilities = []\nrequires = []\n",
        checksum.hex()
    );
    (folder, lock)
}

const WANTS: &str = "name = \"shop\"\n\n[registries]\nacme = \"https://packages.example\"\n\n\
                     [plugins]\n\"acme/house\" = \"1.0.0\"\n";
const GOOD: &str = "fun hi() {\n    @house.greet(\"world\")\n}\n";

#[test]
fn a_package_that_an_identity_signed_is_shown_and_said_not_to_be_checked() {
    let (_cache, cache) = workspace(&[]);
    let signed = "signed_by = \"sigstore:ann@acme.example (https://issuer.example)\"\n";
    let (_, lock) = cached(&cache, signed);
    let (_folder, root) = workspace(&[("opal.mod", WANTS), ("opal.lock", &lock)]);
    let mut client = Client::with_packages(Some(&root), abilities(), Some(&cache));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, GOOD);
    assert_eq!(client.diagnostics(&uri, 1), json!([]));
    let hover = ask(&mut client, &uri, "hover", 1, 9);
    let said = hover["contents"]["value"].as_str().unwrap();
    assert!(said.contains("`registry:packages.example"), "{said}");
    assert!(said.contains("verification: not checked in the editor"), "{said}");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_that_a_key_did_not_sign_is_not_used() {
    let (_cache, cache) = workspace(&[]);
    let signed = format!("signed_by = \"ed25519:{}\"\n", "ab".repeat(32));
    let (_, lock) = cached(&cache, &signed);
    let (_folder, root) = workspace(&[("opal.mod", WANTS), ("opal.lock", &lock)]);
    let mut client = Client::with_packages(Some(&root), abilities(), Some(&cache));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, GOOD);
    let found = client.diagnostics(&uri, 1);
    assert!(found[0]["message"].as_str().unwrap().contains("is not signed by"), "{found}");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_is_found_when_it_is_installed_and_missed_when_it_is_removed() {
    let (_cache, cache) = workspace(&[]);
    let (package, lock) = cached(&cache, "");
    let (_folder, root) = workspace(&[("opal.mod", WANTS), ("opal.lock", &lock)]);
    let away = cache.join("away");
    std::fs::rename(&package, &away).unwrap();
    let mut client = Client::with_packages(Some(&root), abilities(), Some(&cache));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, GOOD);
    let found = client.diagnostics(&uri, 1);
    assert!(found[0]["message"].as_str().unwrap().contains("not installed"), "{found}");
    // A client that tells of no other change saves its file.
    let saved = json!({ "textDocument": { "uri": uri } });
    std::fs::rename(&away, &package).unwrap();
    client.published.clear();
    client.notify("textDocument/didSave", saved.clone());
    assert_eq!(client.diagnostics(&uri, 1), json!([]));
    std::fs::rename(&package, &away).unwrap();
    client.published.clear();
    client.notify("textDocument/didSave", saved);
    assert_eq!(client.diagnostics(&uri, 1)[0]["code"], "E0406");
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_client_that_can_watches_the_packages_of_this_machine() {
    let (_cache, cache) = workspace(&[]);
    let (_folder, root) = workspace(&[]);
    for can in [true, false] {
        let mut abilities = abilities();
        abilities["workspace"]["didChangeWatchedFiles"] =
            json!({ "dynamicRegistration": true, "relativePatternSupport": can });
        let mut client = Client::with_packages(Some(&root), abilities, Some(&cache));
        let asked = client.asked("client/registerCapability");
        let watchers = &asked["registrations"][0]["registerOptions"]["watchers"];
        let expected = json!({ "globPattern": { "baseUri": uri(&cache), "pattern": "*" } });
        assert_eq!(watchers.as_array().unwrap().contains(&expected), can, "{watchers}");
        assert_eq!(client.end(), Ended::Well);
    }
}

#[test]
fn another_segment_for_the_same_package_is_another_name() {
    let (_folder, root) = workspace(&[
        ("opal.mod", MOD),
        ("plugins/house/opal.toml", TOML),
        ("plugins/house/decorators/greet.opl", GREET),
    ]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, GOOD);
    assert_eq!(client.diagnostics(&uri, 1), json!([]));
    let other = "name = \"shop\"\n\n[plugins]\n\
                 \"./plugins/house\" = { version = \"1.0.0\", as = \"home\" }\n";
    for (text, is_known) in [(other, false), (MOD, true), (other, false)] {
        client.published.clear();
        std::fs::write(root.join("opal.mod"), text).unwrap();
        client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
        let found = client.diagnostics(&uri, 1);
        assert_eq!(found == json!([]), is_known, "{found}");
    }
    client.change(&uri, 2, json!([{ "text": GOOD.replace("@house.", "@home.") }]));
    assert_eq!(client.diagnostics(&uri, 2), json!([]));
    assert_eq!(client.end(), Ended::Well);
}

#[test]
fn a_package_that_is_missing_does_not_hide_the_others() {
    let both = format!("{MOD}\"./plugins/absent\" = \"1.0.0\"\n");
    let (_folder, root) = workspace(&[
        ("opal.mod", &both),
        ("plugins/house/opal.toml", TOML),
        ("plugins/house/decorators/greet.opl", GREET),
    ]);
    let mut client = Client::start(Some(&root));
    let uri = uri(&root.join("commands.opl"));
    client.open(&uri, "fun hi() {\n    @house.greet(\"world\")\n    @absent.act()\n}\n");
    let found = client.diagnostics(&uri, 1);
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    let said = found[0]["message"].as_str().unwrap();
    assert!(said.contains("`./plugins/absent` does not exist"), "{said}");
    assert_eq!(client.end(), Ended::Well);
}
