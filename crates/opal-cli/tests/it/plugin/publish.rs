//! `opal plugin pack`, `publish`, `yank` and `mirror`: what gets into a registry, and what never does.

mod attacks;
pub(super) mod servers;
mod story;
mod web;

use std::fs;
use std::path::{Path, PathBuf};

use opal_registry::archive;
use opal_registry::format::{INDEX_TYPE, Index, Versions};
use opal_trust::dsse::Envelope;
use opal_trust::keys::PublicKey;
use opal_trust::statements::{self, Subject, Vouched};

use crate::support::{Opal, Ran};

const HELLO: &str = "# Greet somebody.\nfun vault.hello() {\n    @log(\"hello\")\n}\n";

/// An author with a key and a package, in the directory `vault`.
pub(super) struct Author {
    pub(super) opal: Opal,
    /// The directory of a registry.
    pub(super) registry: PathBuf,
}

impl Author {
    pub(super) fn new() -> Self {
        let opal = super::rooted("fun a() = true\n").file("vault/decorators/hello.opl", HELLO);
        let registry = opal.path().join("registry");
        let author = Self { opal, registry };
        author.version("1.0.0");
        author.opal.call(&["keys", "generate"]).code(0);
        author
    }

    /// Gives the package a version.
    pub(super) fn version(&self, version: &str) {
        let text = format!(
            "[package]\nname = \"acme/vault\"\nversion = \"{version}\"\ndescription = \"Reads secrets\"\n"
        );
        self.opal.write("vault/opal.toml", text);
    }

    pub(super) fn publish(&self, more: &[&str]) -> Ran {
        self.publish_to(&self.address(), more)
    }

    pub(super) fn publish_to(&self, to: &str, more: &[&str]) -> Ran {
        let own = ["plugin", "publish", "vault", "--to", to];
        self.opal.call(&[&own[..], more].concat())
    }

    pub(super) fn address(&self) -> String {
        format!("file:{}", self.registry.display())
    }

    pub(super) fn key(&self, name: &str) -> PublicKey {
        let shown = self.opal.call(&["keys", "show", name]);
        shown.stdout.lines().next().unwrap().parse().unwrap()
    }

    pub(super) fn versions(&self) -> Versions {
        let bytes = fs::read(self.registry.join("acme/vault/versions.json")).unwrap();
        Versions::parse(&bytes).unwrap()
    }

    /// The index, as this key has signed it.
    pub(super) fn index(&self, key: &PublicKey) -> Index {
        let envelope =
            Envelope::parse(&fs::read(self.registry.join("index.json")).unwrap()).unwrap();
        assert!(envelope.is_signed_by(key));
        Index::parse(envelope.payload(INDEX_TYPE).unwrap()).unwrap()
    }

    /// Who vouches for a version, from its files alone.
    pub(super) fn vouched(&self, version: &str) -> Vouched {
        let folder = self.registry.join("acme/vault").join(version);
        let package = archive::read(&fs::read(folder.join("plugin.tar.gz")).unwrap()).unwrap();
        let subject = Subject { name: "acme/vault", version, checksum: package.checksum() };
        statements::read(&fs::read(folder.join("statements.jsonl")).unwrap(), &subject)
    }
}

/// Every file below a directory with its content.
pub(super) fn files(top: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![top.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push((path.strip_prefix(top).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_same_files_are_packed_to_the_same_bytes() {
    let author = Author::new();
    let ran = author.opal.call(&["plugin", "pack", "vault"]);
    ran.code(0).says("packed acme/vault 1.0.0: acme-vault-1.0.0.tar.gz");
    // What is beside the package, its times and its permissions for others change nothing.
    author.opal.write("vault/notes.txt", "mine");
    author.opal.write("vault/decorators/hello.opl", HELLO);
    let ran = author.opal.call(&["plugin", "pack", "vault", "-o", "again.tar.gz", "--json"]);
    let said = ran.code(0).json();
    let (one, two) =
        (author.opal.bytes("acme-vault-1.0.0.tar.gz"), author.opal.bytes("again.tar.gz"));
    assert_eq!(one, two);
    let package = archive::read(&one).unwrap();
    assert_eq!(said["packed"]["checksum"], format!("sha256:{}", package.checksum().hex()));
    assert_eq!(said["file"], "again.tar.gz");
}

#[test]
fn a_published_version_is_complete_signed_and_listed() {
    let author = Author::new();
    let said = author.publish(&["--json"]).code(0).json();
    let key = author.key("signing");
    assert_eq!(said["publisher"], key.to_string());
    let folder = author.registry.join("acme/vault/1.0.0");
    let names: Vec<String> =
        files(&folder).into_iter().map(|(it, _)| it.display().to_string()).collect();
    let expected = ["manifest.json", "plugin.tar.gz", "plugin.tar.gz.sha256", "statements.jsonl"];
    assert_eq!(names, expected);
    let vouched = author.vouched("1.0.0");
    assert!(vouched.publishers.contains(&key) && vouched.passed_by.is_empty());
    let index = author.index(&key);
    let listed = index.get(&"acme/vault".parse().unwrap()).unwrap();
    assert_eq!((index.number, listed.summary.as_str()), (1, "Reads secrets"));
    assert_eq!(listed.decorators[0].as_str(), "vault.hello");
    assert!(index.expires > index.issued);
}

#[test]
fn a_version_is_published_once() {
    let author = Author::new();
    author.publish(&[]).code(0).says("published acme/vault 1.0.0 to file:");
    let before = files(&author.registry);
    author.publish(&[]).code(78).says("already has acme/vault 1.0.0").says("publish a new version");
    author.opal.write("vault/decorators/hello.opl", HELLO.replace("hello", "goodbye"));
    author.publish(&[]).code(78).says("already has acme/vault 1.0.0");
    assert_eq!(files(&author.registry), before);
    author.version("1.1.0");
    author.publish(&[]).code(0);
    assert_eq!(author.index(&author.key("signing")).number, 2);
    let all: Vec<String> =
        author.versions().all().iter().map(|it| it.version.to_string()).collect();
    assert_eq!(all, ["1.0.0", "1.1.0"]);
}

#[test]
fn a_package_with_errors_is_not_published() {
    let author = Author::new();
    author.opal.write("vault/decorators/hello.opl", "import a from \"./a.opl\"\n");
    author.publish(&[]).code(65).says("hello.opl");
    author.opal.call(&["plugin", "pack", "vault"]).code(65).says("hello.opl");
    author.opal.write("vault/decorators/hello.opl", HELLO);
    author
        .opal
        .write("vault/opal.toml", "[package]\nname = \"local/vault\"\nversion = \"1.0.0\"\n");
    author.publish(&[]).code(78).says("your own namespace");
    author.version("1.0.0");
    author.opal.call(&["plugin", "publish", "nowhere", "--to", "file:x"]).code(66);
    author
        .opal
        .call(&["plugin", "publish", "vault", "--to", "ftp://x"])
        .code(2)
        .says("--to file:DIR");
    author.opal.call(&["plugin", "publish", "vault"]).code(2).says("which registry");
    author.publish(&["--sign", "other"]).code(66).says("unknown key `other`");
    assert!(!author.registry.exists());
}

#[test]
fn the_registry_of_a_namespace_is_the_one_of_the_project() {
    let author = Author::new();
    let text = format!("name = \"shop\"\n\n[registries]\nacme = \"{}\"\n", author.address());
    author.opal.write("opal.mod", text);
    author.opal.call(&["plugin", "publish", "vault"]).code(0);
    author.opal.call(&["plugin", "yank", "acme/vault@1.0.0"]).code(0);
}

#[test]
fn a_version_is_yanked_and_can_be_used_again() {
    let author = Author::new();
    author.publish(&[]).code(0);
    let to = author.address();
    let yank = |more: &[&str]| {
        let own = ["plugin", "yank", "acme/vault@1.0.0", "--to", &to];
        author.opal.call(&[&own[..], more].concat())
    };
    let said = yank(&["--reason", "deletes\ttoo much", "--json"]).code(0).json();
    assert_eq!((&said["yanked"], &said["changed"]), (&true.into(), &true.into()));
    let entry = author.versions().all()[0].clone();
    assert_eq!(entry.yanked.unwrap().reason.as_str(), "deletes too much");
    let index = author.index(&author.key("signing"));
    let listed = index.get(&"acme/vault".parse().unwrap()).unwrap();
    assert_eq!((index.number, &listed.latest), (2, &None));
    yank(&[]).code(0).says("was yanked already");
    assert_eq!(author.index(&author.key("signing")).number, 2);
    yank(&["--undo"]).code(0).says("can be used again");
    assert!(author.versions().all()[0].yanked.is_none());
    for (given, code) in [("acme/vault@2.0.0", 69), ("acme/other@1.0.0", 69), ("acme/vault", 2)] {
        author.opal.call(&["plugin", "yank", given, "--to", &to]).code(code);
    }
}

#[test]
fn a_report_counts_where_a_verifier_of_the_registry_signs_it() {
    let author = Author::new();
    author.opal.call(&["keys", "generate", "verifier"]).code(0);
    let verifier = author.key("verifier");
    author.publish(&["--verifier", "verifier"]).code(0);
    assert_eq!(author.index(&author.key("signing")).verifiers, [verifier]);
    author.opal.call(&["plugin", "verify", "vault", "--report", "report.json"]).code(0);
    let report = ["--attest", "--report", "report.json", "--sign", "verifier"];
    author.publish(&report).code(0).says("added the report about acme/vault 1.0.0");
    let vouched = author.vouched("1.0.0");
    assert!(vouched.passed(&[verifier]));
    assert_eq!(vouched.publishers.len(), 1, "a verifier is not a publisher");
    // Of other files, of a failure, of nothing.
    let text = author.opal.read("report.json");
    for (change, code, said) in [
        (text.replace("sha256:", "sha256:0"), 77, "not about these files"),
        (text.replace("\"passed\":true", "\"passed\":false"), 77, "did not pass"),
        (
            text.replace("\"skipped\":[]", "\"skipped\":[{\"decorator\":\"vault.hello\"}]"),
            77,
            "`@vault.hello` of acme/vault 1.0.0 was not tested",
        ),
        ("{}".to_owned(), 65, "cannot be understood"),
    ] {
        assert_ne!(change, text);
        author.opal.write("report.json", change);
        author.publish(&report).code(code).says(said);
    }
    author.opal.write("report.json", &text);
    author.version("2.0.0");
    author.publish(&report).code(77).says("not about these files");
}

/// Of code that can be built again, a report says that it was.
#[test]
fn a_report_about_code_that_was_not_built_again_is_not_enough() {
    let author = Author::new();
    author.opal.call(&["keys", "generate", "verifier"]).code(0);
    let toml = "[package]\nname = \"acme/vault\"\nversion = \"1.0.0\"\n\
                [plugins]\nwasm = \"plugins/vault.wasm\"\n[build]\ncommand = \"cp code plugins/vault.wasm\"\n";
    author.opal.write("vault/opal.toml", toml);
    author.opal.write("vault/code", "\0asm");
    fs::create_dir_all(author.opal.path().join("vault/plugins")).unwrap();
    author.opal.write("vault/plugins/vault.wasm", "\0asm");
    author.publish(&[]).code(0);
    let report = ["--attest", "--report", "report.json", "--sign", "verifier"];
    author.opal.call(&["plugin", "verify", "vault", "--report", "report.json"]).code(0);
    let refused = author.publish(&report);
    refused.code(77).says("does not say that the sources of acme/vault 1.0.0 give its code");
    author
        .opal
        .call(&["plugin", "verify", "vault", "--rebuild", "--report", "report.json"])
        .code(0);
    author.publish(&report).code(0).says("added the report about acme/vault 1.0.0");
}

#[test]
fn an_index_is_written_again_before_it_expires() {
    let author = Author::new();
    author.publish(&["--expires", "1h"]).code(0);
    let key = author.key("signing");
    let before = author.index(&key);
    assert_eq!(before.expires - before.issued, 3600);
    let ran = author.opal.call(&["plugin", "publish", "--refresh", "--to", &author.address()]);
    ran.code(0).says("wrote index 2");
    let after = author.index(&key);
    assert_eq!((after.number, after.packages()), (2, before.packages()));
    assert_eq!(after.expires - after.issued, 90 * 86_400);
    author.publish(&["--expires", "soon"]).code(2).says("90d");
}

#[test]
fn two_publishers_have_two_registries_and_neither_writes_into_the_other() {
    let (one, two) = (Author::new(), Author::new());
    one.publish(&[]).code(0);
    two.publish(&[]).code(0);
    assert_ne!(one.key("signing"), two.key("signing"));
    two.version("2.0.0");
    let before = files(&one.registry);
    two.publish_to(&one.address(), &[]).code(77).says("--index-key");
    two.publish_to(&one.address(), &["--no-sign"]).code(77).says("is signed by");
    assert_eq!(files(&one.registry), before);
    // With the key of the registry another publisher may.
    let key = one.opal.path().join(".opal/credentials/signing.key").display().to_string();
    two.publish_to(&one.address(), &["--index-key", &key]).code(0);
    assert!(one.vouched("2.0.0").publishers.contains(&two.key("signing")));
    one.index(&one.key("signing"));
}
