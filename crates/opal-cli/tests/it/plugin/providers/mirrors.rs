//! Mirrors of providers: written by `opal plugin mirror`, read from directories of both layouts and over
//! https, and what is refused.

use std::fs;
use std::path::Path;

use opal_plugins::provider::bridge::platform;
use serde_json::Value;
use tempfile::TempDir;

use super::registries::{add, project, published};
use super::shelf::Shelf;
use super::{ended, real};
use crate::plugin::secure::Secure;
use crate::prompts::answered;
use crate::support::Opal;

/// A machine that reads providers from this place: a directory, or an address.
fn mirrored(place: &str) -> Opal {
    let key = if place.starts_with('/') { "path" } else { "url" };
    let opal = project();
    fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
    opal.file(".opal/config/settings.toml", format!("[[terraform.mirror]]\n{key} = \"{place}\"\n"))
}

/// The same, with the lock of another machine.
fn locked(place: &str, from: &Opal) -> Opal {
    mirrored(place)
        .file("opal.mod", from.read("opal.mod"))
        .file("opal.lock", from.read("opal.lock"))
}

/// What somebody accepted on another machine, in a file.
fn accepted(opal: &Opal) -> tempfile::NamedTempFile {
    let list = ended(opal, &["plugin", "accepted"], 0).stdout;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), list).unwrap();
    file
}

fn install(opal: &Opal, list: &tempfile::NamedTempFile, authority: &str) -> crate::support::Ran {
    let words = ["plugin", "install", "--accept", list.path().to_str().unwrap()];
    opal.call_with(&[("SSL_CERT_FILE", authority)], &words)
}

/// A machine with a locked provider, and a mirror that it has written.
fn written(shelf: &Shelf) -> (Opal, TempDir) {
    let (opal, mirror) = (project(), tempfile::tempdir().unwrap());
    add(&opal, shelf, "1.2", &[]);
    let ran = ended(&opal, &["plugin", "mirror", mirror.path().to_str().unwrap()], 0);
    assert!(ran.stdout.contains("/test/box 1.2.0 for "), "{ran:?}");
    assert!(ran.stdout.contains("has 0 locked packages and 1 archive of providers"), "{ran:?}");
    (opal, mirror)
}

fn document(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_mirror_has_the_layout_of_terraform_and_is_read_from_a_directory_and_over_https() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let (opal, mirror) = written(&shelf);
    let own = mirror.path().join(shelf.source());
    let (platform, list) = (platform(), accepted(&opal));
    let name = format!("terraform-provider-box_1.2.0_{platform}.zip");
    assert!(own.join(&name).is_file());
    assert!(document(&own.join("index.json"))["versions"]["1.2.0"].is_object());
    let archive = &document(&own.join("1.2.0.json"))["archives"][&platform];
    assert_eq!(archive["url"], name.as_str());
    let h1 = archive["hashes"][0].as_str().unwrap();
    assert!(h1.starts_with("h1:") && opal.read("opal.lock").contains(h1), "{h1}");
    // Again, with another version: nothing of the first is lost.
    shelf.publish(&["1.2.0", "1.2.1"], &real("box").unwrap(), "acme");
    let mut command = opal.command();
    command.args(["plugin", "update"]);
    let (code, shown) = answered(command, &[("on this machine? [y/N] ", "y\n")]);
    assert_eq!(code, 0, "{shown}");
    let words = ["plugin", "mirror", mirror.path().to_str().unwrap(), "--json"];
    let json = ended(&opal, &words, 0).json();
    assert_eq!(json["providers"][0]["version"], "1.2.1", "{json}");
    let versions = document(&own.join("index.json"))["versions"].clone();
    assert_eq!(versions.as_object().unwrap().len(), 2, "{versions}");
    let list = if shown.is_empty() { list } else { accepted(&opal) };
    // Neither needs the registry any more.
    shelf.files.lock().unwrap().clear();
    let here = locked(mirror.path().to_str().unwrap(), &opal);
    install(&here, &list, "").code(0);
    ended(&here, &["infra"], 0);
    assert_eq!(here.read("opal.lock"), opal.read("opal.lock"));
    let Some(server) = Secure::start(mirror.path()) else { return };
    let far = locked(&format!("https://{}/", server.host), &opal);
    assert!(install(&far, &list, "").code(69).stderr.contains("invalid certificate"));
    install(&far, &list, &server.authority()).code(0);
    ended(&far, &["infra"], 0);
    assert_eq!(far.read("opal.lock"), opal.read("opal.lock"));
}

#[test]
fn a_mirror_with_other_bytes_is_refused() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let (opal, mirror) = written(&shelf);
    let list = accepted(&opal);
    let own = mirror.path().join(shelf.source());
    let name = own.join(format!("terraform-provider-box_1.2.0_{}.zip", platform()));
    let other = super::shelf::zip("terraform-provider-box_v1.2.0", b"#!/bin/sh\n");
    fs::write(&name, other).unwrap();
    let place = mirror.path().to_str().unwrap();
    let ran = install(&locked(place, &opal), &list, "");
    assert!(ran.code(77).stderr.contains("its files are not what is locked"), "{ran:?}");
    // Without a lock the registry says what the archive must be.
    let fresh = mirrored(place);
    let given = format!("terraform/{}@1.2", shelf.source());
    let ran = ended(&fresh, &["plugin", "add", &given], 77);
    assert!(ran.stderr.contains("the archive is not what SHA256SUMS lists"), "{ran:?}");
    let Some(server) = Secure::start(mirror.path()) else { return };
    let far = locked(&format!("https://{}/", server.host), &opal);
    let ran = install(&far, &list, &server.authority());
    assert!(ran.code(77).stderr.contains("its files are not what is locked"), "{ran:?}");
    fs::write(own.join("1.2.0.json"), r#"{"archives": {}}"#).unwrap();
    assert!(!install(&far, &list, &server.authority()).stderr.is_empty());
    fs::write(own.join("index.json"), "not JSON").unwrap();
    let ran = install(&far, &list, &server.authority());
    assert_ne!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_registry_vouches_for_a_mirror_where_nothing_is_locked() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let (_, mirror) = written(&shelf);
    let Some(server) = Secure::start(mirror.path()) else { return };
    let authority = server.authority();
    for place in [mirror.path().to_str().unwrap().to_owned(), format!("https://{}/", server.host)] {
        let opal = mirrored(&place).env("SSL_CERT_FILE", &authority);
        let shown = add(&opal, &shelf, "1.2", &[]);
        assert!(shown.contains("signed by openpgp:") && shown.contains("(first use)"), "{shown}");
        assert!(shown.contains(&format!("of {place}")), "{shown}");
        let lock = opal.read("opal.lock");
        assert!(lock.contains("zh:") && lock.contains("signed_by"), "{lock}");
        ended(&opal, &["infra"], 0);
    }
    // Without the registry nothing does, and a person decides.
    shelf.files.lock().unwrap().clear();
    let opal = mirrored(mirror.path().to_str().unwrap());
    let given = format!("terraform/{}@1.2", shelf.source());
    let ran = ended(&opal, &["plugin", "add", &given], 77);
    assert!(ran.stderr.contains("nothing vouches for the files of the mirror"), "{ran:?}");
    let shown = add(&opal, &shelf, "1.2", &["--trust"]);
    assert!(shown.contains("unsigned"), "{shown}");
}

#[test]
fn an_unpacked_mirror_gives_what_is_locked_and_is_not_mirrored() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let (opal, list) = (project(), tempfile::tempdir().unwrap());
    add(&opal, &shelf, "1.2", &[]);
    let accepted = accepted(&opal);
    let own = list.path().join(shelf.source()).join("1.2.0").join(platform());
    fs::create_dir_all(&own).unwrap();
    let program = own.join("terraform-provider-box_v1.2.0");
    fs::copy(real("box").unwrap(), &program).unwrap();
    let place = list.path().to_str().unwrap();
    // The registry knows the digest of the archive only.
    let given = format!("terraform/{}@1.2", shelf.source());
    let ran = ended(&mirrored(place), &["plugin", "add", &given], 77);
    assert!(ran.stderr.contains("nothing vouches for the files of the mirror"), "{ran:?}");
    shelf.files.lock().unwrap().clear();
    let here = locked(place, &opal);
    install(&here, &accepted, "").code(0);
    ended(&here, &["infra"], 0);
    let ran = ended(&here, &["plugin", "mirror", "copy"], 69);
    assert!(ran.stderr.contains("its mirror has only its files"), "{ran:?}");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    let ran = install(&locked(place, &opal), &accepted, "");
    assert!(ran.code(77).stderr.contains("its files are not what is locked"), "{ran:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]
fn terraform_reads_the_mirror_and_has_the_same_hash() {
    let Some(program) = real("box") else { return };
    let Some(terraform) = opal_testing::terraform::program() else { return };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let own = first.path().join("registry.opentofu.org/test/box");
    fs::create_dir_all(&own).unwrap();
    let zip = super::shelf::zip("terraform-provider-box_v1.2.0", &fs::read(program).unwrap());
    fs::write(own.join(format!("terraform-provider-box_1.2.0_{}.zip", platform())), zip).unwrap();
    let opal = mirrored(first.path().to_str().unwrap());
    let mut command = opal.command();
    command.args(["plugin", "add", "terraform/test/box@1.2", "--trust"]);
    let (code, shown) = answered(command, &[("on this machine? [y/N] ", "y\n")]);
    assert_eq!(code, 0, "{shown}");
    ended(&opal, &["plugin", "mirror", second.path().to_str().unwrap()], 0);
    let work = tempfile::tempdir().unwrap();
    let wanted = "terraform {\n  required_providers {\n    box = { source = \"registry.opentofu.org/test/box\" }\n  \
                  }\n}\n";
    fs::write(work.path().join("main.tf"), wanted).unwrap();
    let place = second.path().display();
    let rc = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{place}\"\n  }}\n}}\n"
    );
    fs::write(work.path().join("rc"), rc).unwrap();
    let ran = std::process::Command::new(terraform)
        .args(["init", "-no-color", "-input=false"])
        .current_dir(work.path())
        .env("TF_CLI_CONFIG_FILE", work.path().join("rc"))
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let lock = fs::read_to_string(work.path().join(".terraform.lock.hcl")).unwrap();
    let h1 = lock.split('"').find(|it| it.starts_with("h1:")).unwrap();
    assert!(opal.read("opal.lock").contains(h1), "{lock}");
}
