//! Providers of registries and mirrors: adding, locking, another machine, and what is refused.

use std::fs;

use super::shelf::Shelf;
use super::{ended, real, rooted};
use crate::prompts::answered;
use crate::support::Opal;

const COMMANDS: &str = "fun infra() {\n    @box.provider(directory=\"cloud\") {\n        \
                        @box.thing(name=\"web\", color=\"red\")\n    }\n}\n";

pub(super) fn project() -> Opal {
    rooted(COMMANDS)
        .file("opal.mod", "name = \"shop\"\n")
        .file("cloud/owner", "alice\n")
        .env("TERM", "xterm")
}

pub(super) fn published(versions: &[&str]) -> Option<Shelf> {
    let program = real("box")?;
    let shelf = Shelf::open()?;
    shelf.publish(versions, &program, "acme");
    Some(shelf)
}

/// Adds on a terminal, and says yes.
pub(super) fn add(opal: &Opal, shelf: &Shelf, version: &str, more: &[&str]) -> String {
    let mut command = opal.command();
    let given = format!("terraform/{}@{version}", shelf.source());
    command.args(["plugin", "add", &given]).args(more);
    let (code, shown) = answered(command, &[("on this machine? [y/N] ", "y\n")]);
    assert_eq!(code, 0, "{shown}");
    shown
}

fn refused(opal: &Opal, shelf: &Shelf, code: i32, expected: &str) {
    let given = format!("terraform/{}@1.2", shelf.source());
    let ran = ended(opal, &["plugin", "add", &given], code);
    assert!(ran.stderr.contains(expected), "{expected}: {ran:?}");
    assert!(!opal.path().join("opal.lock").exists());
    assert!(!opal.read("opal.mod").contains("terraform/"));
}

#[test]
fn a_provider_of_a_registry_is_checked_accepted_locked_and_used() {
    let Some(shelf) = published(&["1.2.0", "1.2.9", "1.10.0", "2.0.0"]) else { return };
    let opal = project();
    let shown = add(&opal, &shelf, "1.2", &[]);
    assert!(shown.contains("box 1.2.9 from 127.0.0.1:"), "{shown}");
    assert!(shown.contains("signed by openpgp:") && shown.contains("(first use)"), "{shown}");
    assert!(shown.contains("native code, NOT confined"), "{shown}");
    let lock = opal.read("opal.lock");
    for expected in ["version = \"1.2.9\"", "terraform+https://", "zh:", "h1:", "protocol = 6"] {
        assert!(lock.contains(expected), "{expected}: {lock}");
    }
    assert!(opal.read("opal.mod").contains("/test/box\" = \"1.2\""));
    let listed = ended(&opal, &["plugin", "list"], 0).stdout;
    assert!(listed.contains("  1.2.9  registry:127.0.0.1:"), "{listed}");
    assert!(listed.contains("  accepted"), "{listed}");
    ended(&opal, &["infra"], 0);
    ended(&opal, &["verify", "infra"], 0);
    // Nothing is fetched again.
    shelf.files.lock().unwrap().clear();
    ended(&opal, &["plugin", "install"], 0);
    ended(&opal, &["infra"], 0);
    assert_eq!(opal.read("opal.lock"), lock);
}

#[test]
fn another_machine_gets_what_is_locked_and_nothing_else() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let opal = project();
    add(&opal, &shelf, "1.2", &[]);
    let list = ended(&opal, &["plugin", "accepted"], 0).stdout;
    shelf.publish(&["1.2.0", "1.2.1"], &real("box").unwrap(), "acme");
    let other =
        project().file("opal.mod", opal.read("opal.mod")).file("opal.lock", opal.read("opal.lock"));
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), list).unwrap();
    let ran = ended(&other, &["infra", "--dry-run"], 69);
    assert!(ran.stderr.contains("is not installed on this machine"), "{ran:?}");
    ended(&other, &["plugin", "install"], 77);
    ended(&other, &["plugin", "install", "--accept", file.path().to_str().unwrap()], 0);
    ended(&other, &["infra"], 0);
    assert_eq!(other.read("opal.lock"), opal.read("opal.lock"));
    // The registry serves other files under the same version.
    shelf.publish(&["1.2.0"], &real("local").unwrap(), "acme");
    let third =
        project().file("opal.mod", opal.read("opal.mod")).file("opal.lock", opal.read("opal.lock"));
    let ran = ended(&third, &["plugin", "install"], 77);
    assert!(ran.stderr.contains("not what is locked"), "{ran:?}");
}

#[test]
fn what_a_registry_changed_is_refused_with_its_reason() {
    for (what, code, expected) in [
        (".zip", 77, "the archive is not what SHA256SUMS lists"),
        (".sums", 77, "the signature of SHA256SUMS is not valid"),
        (".sig", 77, "signature"),
    ] {
        let Some(shelf) = published(&["1.2.0"]) else { return };
        shelf.damage(what);
        refused(&project(), &shelf, code, expected);
    }
    let Some(shelf) = published(&["3.0.0"]) else { return };
    refused(&project(), &shelf, 78, "the newest are: 3.0.0");
    shelf.files.lock().unwrap().clear();
    refused(&project(), &shelf, 69, "does not have it");
}

#[test]
fn a_lock_that_somebody_changed_installs_nothing_else() {
    let Some(shelf) = published(&["1.2.0", "1.2.1"]) else { return };
    let opal = project();
    add(&opal, &shelf, "=1.2.0", &[]);
    let list = tempfile::NamedTempFile::new().unwrap();
    fs::write(list.path(), ended(&opal, &["plugin", "accepted"], 0).stdout).unwrap();
    let lock = opal.read("opal.lock");
    let begins = |start: &str| lock.split('"').find(|it| it.starts_with(start)).unwrap();
    let changed = |lock: &str, field: &str| {
        let last = field.trim_end_matches('=').len() - 1;
        let other = if &field[last..=last] == "1" { "2" } else { "1" };
        lock.replace(field, &format!("{}{other}{}", &field[..last], &field[last + 1..]))
    };
    let [h1, zh] = ["h1:", "zh:"].map(begins);
    // One of two hashes is enough: it is of the same files, and only those are accepted.
    for (fields, is_same) in [
        (&[h1][..], true),
        (&[zh], true),
        (&["protocol = 6"], true),
        (&[h1, zh], false),
        (&[begins("sha256:")], false),
        (&[begins("openpgp:")], false),
        (&["1.2.0"], false),
    ] {
        let text = fields.iter().fold(lock.clone(), |text, field| changed(&text, field));
        let other = project()
            .file("opal.mod", opal.read("opal.mod").replace("=1.2.0", "1.2"))
            .file("opal.lock", text);
        let ran = other.call(&["plugin", "install", "--accept", list.path().to_str().unwrap()]);
        match is_same {
            true => {
                ran.code(0);
            }
            false => assert!([77, 78].contains(&ran.code), "{fields:?}: {ran:?}"),
        }
    }
}

#[test]
fn another_key_needs_a_person_who_trusts_it() {
    let Some(shelf) = published(&["1.2.0"]) else { return };
    let opal = project();
    add(&opal, &shelf, "1.2", &[]);
    shelf.new_key("mallory");
    shelf.publish(&["1.2.0", "1.2.1"], &real("box").unwrap(), "mallory");
    let ran = ended(&opal, &["plugin", "update"], 77);
    assert!(ran.stderr.contains("is locked"), "{ran:?}");
    assert!(opal.read("opal.lock").contains("1.2.0"));
    let mut command = opal.command();
    command.args(["plugin", "update", "--trust"]);
    let (code, shown) = answered(command, &[("on this machine? [y/N] ", "y\n")]);
    assert_eq!(code, 0, "{shown}");
    assert!(opal.read("opal.lock").contains("1.2.1"));
}

#[test]
fn a_directory_is_a_mirror_of_what_is_locked_or_trusted() {
    let Some(program) = real("box") else { return };
    let mirror = tempfile::tempdir().unwrap();
    let platform = opal_plugins::provider::bridge::platform();
    let own = mirror.path().join("registry.opentofu.org/test/box");
    fs::create_dir_all(&own).unwrap();
    let zip = super::shelf::zip("terraform-provider-box_v1.2.0", &fs::read(program).unwrap());
    fs::write(own.join(format!("terraform-provider-box_1.2.0_{platform}.zip")), zip).unwrap();
    let settings = format!("[[terraform.mirror]]\npath = \"{}\"\n", mirror.path().display());
    let opal = project();
    fs::create_dir_all(opal.path().join(".opal/config")).unwrap();
    let opal = opal.file(".opal/config/settings.toml", settings);
    let ran = ended(&opal, &["plugin", "add", "terraform/test/box@1.2"], 77);
    assert!(ran.stderr.contains("nothing vouches for the files of the mirror"), "{ran:?}");
    let mut command = opal.command();
    command.args(["plugin", "add", "terraform/test/box@1.2", "--trust"]);
    let (code, shown) = answered(command, &[("on this machine? [y/N] ", "y\n")]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("unsigned"), "{shown}");
    ended(&opal, &["infra"], 0);
    ended(&opal, &["plugin", "remove", "terraform/test/box"], 0);
    assert!(!opal.read("opal.mod").contains("terraform/"));
    assert!(!opal.read("opal.lock").contains("terraform/"));
}
