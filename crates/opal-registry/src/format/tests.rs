//! Documents come back as they were, and what is not understood is refused.

use serde_json::{Value, json};

use super::oci::{OciManifest, Tag};
use super::*;

fn entry(version: &str) -> VersionEntry {
    VersionEntry {
        version: version.parse().unwrap(),
        checksum: Sha256::of(b"package"),
        archive: Sha256::of(b"archive"),
        size: 7,
        published: 1_700_000_000,
        min_core: Some("0.1.0".parse().unwrap()),
        requires: vec![Dependency {
            name: "acme/base".parse().unwrap(),
            version: ">=1.2, <2".parse().unwrap(),
        }],
        yanked: None,
    }
}

fn versions() -> Versions {
    let mut versions = Versions::new("acme/vault".parse().unwrap());
    for version in ["1.10.0", "1.2.0", "2.0.0-rc.1"] {
        versions.add(entry(version)).unwrap();
    }
    let yank = Yank { reason: "lost the key".parse().unwrap(), at: 1_700_000_001 };
    versions.get_mut(&"1.2.0".parse().unwrap()).unwrap().yanked = Some(yank);
    versions
}

fn index() -> Index {
    let mut index = Index::default();
    (index.number, index.issued, index.expires) = (7, 1, 2);
    index.verifiers.push("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".parse().unwrap());
    for name in ["b/b", "a/a"] {
        index.set(IndexEntry {
            name: name.parse().unwrap(),
            versions: Sha256::of(b"versions"),
            latest: Some("1.0.0".parse().unwrap()),
            summary: "Reads secrets".parse().unwrap(),
            decorators: vec!["vault.read".parse().unwrap()],
        });
    }
    index
}

/// A document with one member changed.
fn with(bytes: &[u8], pointer: &str, value: Value) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(bytes).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.insert(key.to_owned(), value)),
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    document.to_string().into_bytes()
}

#[test]
fn versions_come_back_sorted_as_versions_are() {
    let found = Versions::parse(&versions().to_bytes()).unwrap();
    assert_eq!(found, versions());
    let all: Vec<String> = found.all().iter().map(|it| it.version.to_string()).collect();
    assert_eq!(all, ["1.2.0", "1.10.0", "2.0.0-rc.1"]);
    assert_eq!(found.latest().unwrap().version.to_string(), "1.10.0");
}

#[test]
fn a_version_is_published_once() {
    for (again, known) in [("1.2.0", "1.2.0"), ("2.0.0-RC.1", "2.0.0-rc.1")] {
        let added = versions().add(entry(again));
        assert_eq!(added, Err(versions::AddError::Exists(known.parse().unwrap())), "{again}");
    }
    assert!(versions().add(entry(&format!("1.0.0-{}", "x".repeat(100)))).is_err());
}

#[test]
fn versions_that_are_not_understood_are_refused() {
    let fine = versions().to_bytes();
    let digest = format!("sha256:{}", "A".repeat(64));
    let turned = String::from_utf8(fine.clone()).unwrap().replace("1.10.0", "1.1.0");
    let twice = String::from_utf8(fine.clone()).unwrap().replacen("{", "{\"name\":\"a/b\",", 1);
    for (what, bytes) in [
        ("another format", with(&fine, "/format", json!("opal-versions-v2"))),
        ("an unknown key", with(&fine, "/more", json!(1))),
        ("an unknown key inside", with(&fine, "/versions/0/install", json!("sh"))),
        ("an unknown key of a yank", with(&fine, "/versions/0/yanked/by", json!("me"))),
        ("a name with a way out", with(&fine, "/name", json!("../vault"))),
        ("a name of three parts", with(&fine, "/name", json!("a/b/c"))),
        ("no version", with(&fine, "/versions/0/version", json!("1.2"))),
        ("a version with a way out", with(&fine, "/versions/0/version", json!("1.2.0/../x"))),
        ("a short digest", with(&fine, "/versions/0/archive", json!("sha256:00"))),
        ("a digest in capitals", with(&fine, "/versions/0/archive", json!(digest))),
        ("a size below zero", with(&fine, "/versions/0/size", json!(-1))),
        ("a size beyond the limit", with(&fine, "/versions/0/size", json!(1_u64 << 40))),
        ("a requirement with a star", with(&fine, "/versions/0/requires/0/version", json!("*"))),
        ("a reason in two lines", with(&fine, "/versions/0/yanked/reason", json!("a\nb"))),
        ("a reason turned around", with(&fine, "/versions/0/yanked/reason", json!("a\u{202e}b"))),
        ("a wrong order", turned.into_bytes()),
        ("a key twice", twice.into_bytes()),
        ("cut off", fine[..fine.len() - 3].to_vec()),
        ("more after it", [&fine[..], b"{}"].concat()),
        ("deep nesting", vec![b'['; 100_000]),
        ("too large", vec![b' '; MAX_VERSIONS as usize + 1]),
    ] {
        let error = Versions::parse(&bytes).expect_err(what).to_string();
        assert!(error.chars().all(fields::is_visible), "{what}: {error}");
    }
}

#[test]
fn the_index_comes_back_and_a_strange_one_is_refused() {
    let fine = index().to_bytes();
    assert_eq!(Index::parse(&fine).unwrap(), index());
    assert!(index().get(&"b/b".parse().unwrap()).is_some());
    assert!(index().get(&"b/c".parse().unwrap()).is_none());
    for (what, bytes) in [
        ("no number", with(&fine, "/number", Value::Null)),
        ("expired before it was issued", with(&fine, "/issued", json!(3))),
        ("a verifier that is not a key", with(&fine, "/verifiers/0", json!("ed25519:AA=="))),
        ("a package twice", with(&fine, "/packages/1/name", json!("a/a"))),
        ("an unknown key", with(&fine, "/packages/0/url", json!("https://x.example"))),
        ("a hidden symbol", with(&fine, "/packages/0/summary", json!("a\u{200b}"))),
    ] {
        assert!(Index::parse(&bytes).is_err(), "{what}");
    }
}

#[test]
fn a_manifest_of_an_oci_registry_says_what_versions_say() {
    let name: PackageName = "acme/vault".parse().unwrap();
    let one = entry("1.2.0+build.5");
    let manifest = OciManifest::of_version(&name, &one, b"{}");
    let found = OciManifest::parse(&manifest.to_bytes()).unwrap();
    assert_eq!(found.entry(&name, &one.version, None).unwrap(), one);
    assert_eq!(found.layer(oci::ARCHIVE_TYPE).unwrap().digest, one.archive);
    let yank = Yank { reason: "broken".parse().unwrap(), at: 5 };
    let yanked = OciManifest::of_yank(Some(&yank));
    let entry = found.entry(&name, &one.version, Some(&yanked)).unwrap();
    assert_eq!(entry.yanked, Some(yank));
    let undone = OciManifest::of_yank(None);
    assert_eq!(found.entry(&name, &one.version, Some(&undone)).unwrap(), one);
    assert!(found.entry(&"acme/other".parse().unwrap(), &one.version, None).is_err());
    assert!(found.entry(&name, &"1.2.0".parse().unwrap(), None).is_err());
    assert!(undone.entry(&name, &one.version, None).is_err());
    assert!(found.yank().is_err());
    for (pointer, value) in [
        ("/schemaVersion", json!(1)),
        ("/mediaType", json!("application/vnd.oci.image.index.v1+json")),
        ("/layers", json!([])),
        ("/layers/0/digest", json!("sha512:00")),
        ("/annotations/dev.opal.checksum", json!("x")),
        ("/annotations/dev.opal.requires", json!("[{}]")),
        ("/annotations/dev.opal.min-core", json!("x")),
    ] {
        let bytes = with(&manifest.to_bytes(), pointer, value);
        let entry = OciManifest::parse(&bytes).and_then(|it| it.entry(&name, &one.version, None));
        assert!(entry.is_err(), "{pointer}");
    }
}

#[test]
fn a_tag_is_a_version_and_back() {
    let version: Version = "1.2.0-rc.1+build.5".parse().unwrap();
    assert_eq!(oci::tag(&version), "1.2.0-rc.1_build.5");
    assert_eq!(Tag::parse(&oci::tag(&version)), Some(Tag::Version(version.clone())));
    assert_eq!(Tag::parse(&oci::attest_tag(&version)), Some(Tag::Attest(version.clone())));
    assert_eq!(Tag::parse(&oci::yanked_tag(&version)), Some(Tag::Yanked(version)));
    for foreign in ["latest", "v1.0.0", "1.0", "attest-latest", "sha256-00.sig", "1.0.0_a_b", ""] {
        assert_eq!(Tag::parse(foreign), None, "{foreign}");
    }
}

#[test]
fn the_sum_of_an_archive_is_what_sha256sum_reads() {
    let expected =
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  plugin.tar.gz\n";
    assert_eq!(archive_sum(b"abc"), expected);
}

#[test]
fn what_is_shown_to_people_can_be_seen() {
    for hidden in
        ["\u{1b}[2J", "a\tb", "\u{a0}", "\u{202e}", "\u{e0041}", "\u{ad}", "\u{3164}", "\u{85}"]
    {
        assert!(hidden.parse::<Visible>().is_err(), "{hidden:?}");
        assert!(Visible::of(hidden).as_str().chars().all(fields::is_visible), "{hidden:?}");
    }
    for fine in ["", "Reads secrets", "Grüße, 世界 ✓"] {
        assert_eq!(fine.parse::<Visible>().unwrap().as_str(), fine);
    }
}
