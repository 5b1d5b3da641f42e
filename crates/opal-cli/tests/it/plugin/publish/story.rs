//! From an author to somebody else's machine, and to one without a network.

use std::fs;

use super::servers::{DockerRegistry, Puts, WebServer};
use super::{Author, files};
use crate::support::Opal;

const HI: &str = "fun hi() = @vault.hello()\n";

/// A project of somebody else, who has heard of the registry and may know its key.
fn shop(address: &str, key: Option<&str>) -> Opal {
    let text = format!("name = \"shop\"\n\n[registries]\nacme = \"{address}\"\n");
    let opal = super::super::rooted(HI).file("opal.mod", text);
    let Some(key) = key else { return opal };
    let root = opal.path().join(".opal");
    fs::create_dir_all(root.join("config")).unwrap();
    for folder in [root.clone(), root.join("config")] {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let policy = format!("[plugins.keys]\n\"{address}\" = \"{key}\"\n");
    opal.file(".opal/config/policy.toml", policy)
}

/// What a person would accept, in a list outside the project.
fn accepted(author: &Author, version: &str, checksum: &str) -> String {
    let file = author.opal.path().join("accepted.toml");
    let text = format!(
        "version = 1\n\n[[accepted]]\nname = \"acme/vault\"\nversion = \"{version}\"\nchecksum = \"{checksum}\"\ncapabilities = []\n"
    );
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn what_is_published_is_added_mirrored_and_installed_without_the_registry() {
    let author = Author::new();
    let said = author.publish(&["--json"]).code(0).json();
    let checksum = said["published"]["checksum"].as_str().unwrap().to_owned();
    let key = author.key("signing").to_string();
    let opal = shop(&author.address(), Some(&key));
    let list = accepted(&author, "1.0.0", &checksum);
    let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]);
    ran.code(0).says("added acme/vault 1.0.0").hides("freshness not checked");
    let lock = opal.read("opal.lock");
    assert!(lock.contains(&format!("signed_by = \"{key}\"")), "{lock}");
    opal.call(&["hi"]).code(0);
    let mirror = opal.path().join("mirror");
    opal.call(&["plugin", "mirror", "mirror"]).code(0).says("added acme/vault 1.0.0");
    let before = files(&mirror);
    let said = opal.call(&["plugin", "mirror", "mirror", "--json"]).code(0).json();
    assert_eq!((&said["packages"], &said["added"]), (&1.into(), &serde_json::json!([])));
    assert_eq!(files(&mirror), before);
    // Another machine, and the registry is gone.
    fs::remove_dir_all(&author.registry).unwrap();
    fs::remove_dir_all(opal.path().join(".opal/plugins")).unwrap();
    fs::remove_file(opal.path().join(".opal/config/accepted.toml")).unwrap();
    opal.call(&["plugin", "install", "--accept", &list]).code(77).says("has no index");
    opal.call(&["plugin", "install", "--from", "mirror", "--accept", &list]).code(0);
    opal.call(&["hi"]).code(0);
    assert_eq!(opal.read("opal.lock"), lock);
}

#[test]
fn a_mirror_has_only_what_is_locked_and_here() {
    let opal = shop("file:nowhere", None);
    opal.call(&["plugin", "mirror", "mirror"]).code(78).says("opal plugin add");
    assert!(!opal.path().join("mirror").exists());
}

#[test]
fn what_a_verifier_passed_is_passed_for_whoever_knows_the_key_of_the_registry() {
    let author = Author::new();
    author.opal.call(&["keys", "generate", "verifier"]).code(0);
    let said = author.publish(&["--verifier", "verifier", "--json"]).code(0).json();
    let checksum = said["published"]["checksum"].as_str().unwrap().to_owned();
    author.opal.call(&["plugin", "verify", "vault", "--report", "report.json"]).code(0);
    author.publish(&["--attest", "--report", "report.json", "--sign", "verifier"]).code(0);
    let list = accepted(&author, "1.0.0", &checksum);
    let key = author.key("signing").to_string();
    for (known, verification, code) in [(Some(&*key), "passed", 0), (None, "none", 77)] {
        let opal = shop(&author.address(), known);
        let ran = opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]);
        ran.code(0);
        let info = opal.call(&["plugin", "info", "acme/vault", "--json"]).code(0).json();
        assert_eq!(info["verification"], verification, "{info}");
        opal.call(&["-n", "hi"]).code(0).says("Plugins: acme/vault 1.0.0");
        let text = opal.read("opal.mod");
        opal.write("opal.mod", format!("{text}[policy.plugins]\nverification = \"passed\"\n"));
        opal.call(&["hi"]).code(code);
        opal.call(&["plan", "hi", "-o", "hi.plan"]).code(code);
        if known.is_none() {
            continue;
        }
        // Whoever can write the cache can name no verifiers.
        let folder = fs::read_dir(opal.path().join(".opal/plugins/indexes")).unwrap();
        let file = folder.map(|it| it.unwrap().path()).next().unwrap();
        let line = fs::read_to_string(&file).unwrap();
        for forged in [line.replace("\"sig\":\"", "\"sig\":\"A"), String::new()] {
            fs::write(&file, forged).unwrap();
            opal.call(&["hi"]).code(77).says("the verification is `none`");
        }
        fs::write(&file, line).unwrap();
        opal.call(&["hi"]).code(0);
        fs::write(opal.path().join(".opal/config/policy.toml"), "").unwrap();
        opal.call(&["hi"]).code(77).says("the verification is `none`");
    }
}

#[test]
fn a_search_gives_what_the_index_lists_and_believes_only_a_signed_one_where_the_key_is_known() {
    let author = Author::new();
    author.publish(&[]).code(0);
    let key = author.key("signing").to_string();
    let (knows, other) = (shop(&author.address(), Some(&key)), shop(&author.address(), None));
    for opal in [&knows, &other] {
        let found =
            opal.call(&["plugin", "search", "READS", "vault.hello", "--json"]).code(0).json();
        let one = &found["packages"][0];
        assert_eq!((&found["version"], &one["name"]), (&1.into(), &"acme/vault".into()), "{found}");
        assert_eq!(
            (&one["version"], &one["registry"]),
            (&"1.0.0".into(), &author.address().into())
        );
        assert_eq!(one["decorators"], serde_json::json!(["vault.hello"]));
        let none = opal.call(&["plugin", "search", "database", "--json"]).code(0).json();
        assert_eq!(none["packages"], serde_json::json!([]));
        opal.call(&["plugin", "search", "database"]).code(0).stdout("no package found\n");
    }
    let file = author.registry.join("index.json");
    let text = fs::read_to_string(&file).unwrap();
    let (start, _) = text.split_once("\"signatures\":").unwrap();
    fs::write(&file, format!("{start}\"signatures\":[]}}\n")).unwrap();
    knows.call(&["plugin", "search", "vault"]).code(77).says("is not signed by");
    other.call(&["plugin", "search", "vault"]).code(0).says("acme/vault 1.0.0");
}

#[test]
fn a_yank_and_a_rollback_reach_whoever_knows_the_key() {
    let author = Author::new();
    author.publish(&[]).code(0);
    let first = fs::read(author.registry.join("index.json")).unwrap();
    let versions = fs::read(author.registry.join("acme/vault/versions.json")).unwrap();
    author.version("1.1.0");
    let said = author.publish(&["--json"]).code(0).json();
    let checksum = said["published"]["checksum"].as_str().unwrap().to_owned();
    let key = author.key("signing").to_string();
    let opal = shop(&author.address(), Some(&key));
    let list = accepted(&author, "1.1.0", &checksum);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0).says("1.1.0");
    let to = author.address();
    author.opal.call(&["plugin", "yank", "acme/vault@1.1.0", "--to", &to]).code(0);
    opal.call(&["plugin", "info", "acme/vault"]).code(0);
    // The registry shows what it had before: the index and the versions fit together, and are old.
    fs::write(author.registry.join("index.json"), first).unwrap();
    fs::write(author.registry.join("acme/vault/versions.json"), versions).unwrap();
    opal.call(&["plugin", "update", "--accept", &list]).code(77).says("has seen");
    let other = shop(&to, Some("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="));
    other
        .call(&["plugin", "add", "acme/vault@1", "--accept", &list])
        .code(77)
        .says("not signed by");
}

#[test]
fn packages_of_a_web_server_and_of_docker_registry_are_the_same_package() {
    let author = Author::new();
    let folder = author.opal.path().join("web");
    let web = WebServer::start(&folder, Puts::Take);
    // Without a certificate only authors reach it: others read the files that it has.
    let web = (web.address, format!("file:{}", folder.display()));
    let docker = DockerRegistry::start("");
    let docker = docker.as_ref().map(|it| format!("oci://{}/opal", it.host));
    let docker = docker.map(|address| (address.clone(), address));
    for (to, from) in std::iter::once(web).chain(docker) {
        let said = author.publish_to(&to, &["--json"]).code(0).json();
        let checksum = said["published"]["checksum"].as_str().unwrap().to_owned();
        let list = accepted(&author, "1.0.0", &checksum);
        let opal = shop(&from, None);
        let ran = opal.call(&["plugin", "add", "acme/vault@1.0.0", "--accept", &list]);
        ran.code(0).says("added acme/vault 1.0.0");
        let lock = opal.read("opal.lock");
        assert!(
            lock.contains(&checksum) && lock.contains("signed_by = \"ed25519:"),
            "{to}: {lock}"
        );
        opal.call(&["hi"]).code(0);
    }
}
