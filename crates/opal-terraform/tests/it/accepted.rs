//! Providers of the cache: only what was accepted starts, and describes itself once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::data::Secret;
use opal_core::protocol::call::Found;
use opal_core::protocol::{Body, Kind};
use opal_terraform::package::{dirhash, hex};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::helper::{Helper, loading};
use crate::support::{directory, real};

/// A provider in a directory of its own, as in the cache.
fn cached(program: &Path, home: &Path) -> PathBuf {
    let cache = home.join("cache");
    std::fs::create_dir(&cache).unwrap();
    let copy = cache.join("terraform-provider-acme");
    std::fs::copy(program, &copy).unwrap();
    copy
}

#[test]
fn a_provider_that_changed_since_it_was_accepted_does_not_start() {
    let Some(program) = real("local") else { return };
    let home = directory();
    let copy = cached(&program, home.path());
    let h1 = dirhash::of_directory(copy.parent().unwrap()).unwrap();
    let sha256 = format!("sha256:{}", hex(&Sha256::digest(std::fs::read(&copy).unwrap())));
    let mut helper = Helper::start(home.path());
    let load = |hash: &str, stamp: Option<&str>| {
        loading(&copy, home.path(), "{}", "{}")
            .with("hash", &hash.to_owned())
            .with("stamp", &stamp.map(str::to_owned))
    };
    let stamp: String = helper.call("load", load(&sha256, None)).unwrap().get("stamp").unwrap();
    assert_eq!(helper.call("load", load(&h1, None)).unwrap().get("stamp"), Some(stamp.clone()));
    let missing = format!(r#"{{"filename":"{}/x","content":"x"}}"#, home.path().display());
    assert_eq!(helper.verify("local_file", &missing).0, Found::Missing);
    // The same file as at the last check is not hashed again; another one is.
    assert!(helper.call("load", load("h1:other", Some(&stamp))).is_ok());
    std::fs::write(copy.with_file_name("README"), "new").unwrap();
    std::fs::rename(&copy, copy.with_extension("old")).unwrap();
    std::fs::copy(&program, &copy).unwrap();
    for (hash, stamp) in
        [(&h1, None), (&h1, Some(&stamp)), (&sha256.replace("sha256:", "sha256:0"), None)]
    {
        let refusal = helper.call("load", load(hash, stamp.map(String::as_str))).unwrap_err();
        let why = "acme 1.0.0: the provider has changed since it was accepted";
        assert_eq!((refusal.kind, refusal.message.expose()), (Kind::Denied, why));
    }
    assert!(helper.end().success());
}

#[test]
fn what_others_can_write_or_a_symlink_does_not_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(program) = real("local") else { return };
    let home = directory();
    let copy = cached(&program, home.path());
    let mut helper = Helper::start(home.path());
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o777)).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&program, &link).unwrap();
    for path in [&copy, &link, &home.path().join("none")] {
        assert!(helper.call("load", loading(path, home.path(), "{}", "{}")).is_err());
    }
    assert!(helper.end().success());
}

#[test]
fn a_provider_describes_its_decorators_once_it_is_accepted() {
    let all = [
        (
            "local",
            "local",
            vec!["local.data.file", "local.file", "local.file.absent", "local.provider"],
        ),
        ("box", "box", vec!["box.net", "box.net.absent", "box.provider", "box.thing"]),
        ("random", "tf_random", vec!["tf_random.password", "tf_random.provider"]),
    ];
    for (name, first, expected) in all {
        let Some(program) = real(name) else { return };
        let home = directory();
        let copy = cached(&program, home.path());
        let hash = dirhash::of_directory(copy.parent().unwrap()).unwrap();
        let text = |text: &str| text.to_owned();
        let params = |hash: &str| {
            Body::default()
                .with("source", &format!("hashicorp/{name}"))
                .with("version", &text("1.2.3"))
                .with("platform", &text("linux_amd64"))
                .with("namespace", &text(first))
                .with("program", &text(copy.to_str().unwrap()))
                .with("hash", &text(hash))
                .with("directory", &text(home.path().to_str().unwrap()))
                .with("environment", &Vec::<(String, Secret)>::new())
                .with("into", &text(home.path().to_str().unwrap()))
        };
        let mut helper = Helper::start(home.path());
        let refusal = helper.call("package.schema", params("h1:x")).unwrap_err();
        assert_eq!(refusal.kind, Kind::Denied);
        let answer = helper.call("package.schema", params(&hash)).unwrap();
        let manifest = std::fs::read_to_string(home.path().join("manifest.yaml")).unwrap();
        assert_eq!(answer.get::<String>("checksum"), Some(hex(&Sha256::digest(&manifest))));
        let index = std::fs::read_to_string(home.path().join("index.jsonl")).unwrap();
        let index = index.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
        let index: BTreeMap<String, Json> =
            index.map(|row| (row["path"].as_str().unwrap().to_owned(), row)).collect();
        for path in expected {
            let row = &index[path];
            let at = |name: &str| row[name].as_u64().unwrap() as usize;
            let entry = &manifest[at("offset")..][..at("length")];
            assert_eq!(serde_json::from_str::<Json>(entry).unwrap()["name"], path);
        }
        if name == "random" {
            assert_eq!(index["tf_random.password"]["identity"]["way"], "state");
        }
        if name == "box" {
            let identity = &index["box.thing"]["identity"];
            assert_eq!(identity["required"], serde_json::json!(["name"]));
        }
        assert!(helper.end().success());
    }
}
