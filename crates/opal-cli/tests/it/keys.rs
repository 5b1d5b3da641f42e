//! `opal keys`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::support::{Opal, Ran};

/// A project whose home is its own directory.
fn opal() -> Opal {
    let opal = Opal::new();
    let home = opal.path().display().to_string();
    opal.env("HOME", &home)
}

fn keys(opal: Opal, args: &[&str]) -> (Opal, Ran) {
    let opal = opal.args([&["keys"], args].concat());
    let ran = opal.run();
    (opal, ran)
}

fn key_file(opal: &Opal, name: &str) -> std::path::PathBuf {
    opal.path().join(".opal/credentials").join(name)
}

#[test]
fn the_runner_key_is_made_when_it_is_asked_for_and_stays() {
    let (opal, first) = keys(opal(), &["show", "runner"]);
    first.code(0).stderr("");
    assert!(first.stdout.starts_with("age1") && first.stdout.lines().count() == 1);
    let (opal, again) = keys(opal, &["show"]);
    again.code(0).stdout(&first.stdout);
    assert_eq!(fs::metadata(key_file(&opal, "runner.key")).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn generate_prints_the_public_half_and_never_overwrites() {
    let (opal, made) = keys(opal(), &["generate", "release"]);
    made.code(0).says("release.key");
    assert!(made.stdout.starts_with("ed25519:") && made.stdout.lines().count() == 1);
    let private = opal.read(".opal/credentials/release.key");
    assert!(private.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert_eq!(opal.read(".opal/credentials/release.pub"), made.stdout);
    let (opal, shown) = keys(opal, &["show", "release"]);
    shown.code(0).stdout(&made.stdout);
    for kind in ["--sign", "--seal"] {
        let opal = Opal::new().env("OPAL_ROOT", &opal.path().join(".opal").display().to_string());
        let (_, again) = keys(opal, &["generate", "release", kind]);
        again.code(74).stdout("").says("never overwritten").says("another name");
    }
    assert_eq!(opal.read(".opal/credentials/release.key"), private);
}

#[test]
fn names_have_defaults_and_the_runner_cannot_sign() {
    let (opal, _) = keys(opal(), &["generate"]);
    assert!(key_file(&opal, "signing.key").exists());
    let (opal, sealed) = keys(opal, &["generate", "--seal"]);
    sealed.code(0);
    let (opal, shown) = keys(opal, &["show", "runner"]);
    shown.stdout(&sealed.stdout);
    let (opal, refused) = keys(opal, &["generate", "runner"]);
    refused.code(2).says("sealed to");
    keys(opal, &["generate", "x", "--sign", "--seal"]).1.code(2);
}

#[test]
fn list_shows_what_is_there_and_makes_nothing() {
    let (opal, empty) = keys(opal(), &["list"]);
    empty.code(0).says("No keys yet");
    assert!(!opal.path().join(".opal").exists());
    let (opal, made) = keys(opal, &["generate", "release"]);
    let (opal, _) = keys(opal, &["generate", "ci", "--seal"]);
    fs::write(key_file(&opal, "broken.key"), "?").unwrap();
    fs::set_permissions(key_file(&opal, "broken.key"), Permissions::from_mode(0o600)).unwrap();
    let (opal, listed) = keys(opal, &["list"]);
    listed.code(0).says("broken   -     `").says("ci       seal  age1");
    listed.says(&format!("release  sign  {}", made.stdout));
    let (_, listed) = keys(opal, &["list", "--json"]);
    let document = listed.code(0).json();
    assert_eq!(document["version"], 1);
    assert_eq!(document["keys"][0]["name"], "broken");
    assert!(document["keys"][0]["error"]["help"][0].is_string());
    assert_eq!(document["keys"][1]["kind"], "seal");
    assert_eq!(document["keys"][2]["public"], made.stdout.trim());
}

#[test]
fn json_is_one_document_failures_too() {
    let (opal, made) = keys(opal(), &["generate", "release", "--json"]);
    let document = made.code(0).stderr("").json();
    assert_eq!(document["kind"], "sign");
    assert!(document["path"].as_str().unwrap().ends_with("credentials/release.key"));
    let (opal, shown) = keys(opal, &["show", "release", "--json"]);
    assert_eq!(shown.json(), document);
    let (_, missing) = keys(opal, &["show", "nobody", "--json"]);
    assert!(missing.code(66).json()["error"]["message"].as_str().unwrap().contains("nobody"));
}

#[test]
fn the_root_is_the_option_then_the_variable_then_home() {
    let (opal, _) = keys(opal(), &["generate", "a"]);
    assert!(opal.path().join(".opal/credentials/a.key").exists());
    let variable = opal.path().join("variable").display().to_string();
    let (opal, _) = keys(opal.env("OPAL_ROOT", &variable), &["generate", "b"]);
    assert!(opal.path().join("variable/credentials/b.key").exists());
    let (opal, _) = keys(opal, &["generate", "c", "--root", "behind"]);
    assert!(opal.path().join("behind/credentials/c.key").exists());
    let opal = opal.args(["--root=before", "keys", "generate", "d"]);
    opal.run().code(0);
    assert!(opal.path().join("before/credentials/d.key").exists());
    let (_, homeless) = keys(Opal::new(), &["list"]);
    homeless.code(78).says("`HOME` is not set").says("--root DIR");
    let (_, gone) = keys(Opal::new().env("HOME", "/nowhere/at/all"), &["list"]);
    gone.code(78).says("`HOME` is `/nowhere/at/all`, which cannot be reached: No such file");
    let (_, file) = keys(Opal::new().env("HOME", "/dev/null"), &["list"]);
    file.code(78).says("`/dev/null`, as `HOME` says, is not a directory");
}

#[test]
fn names_cannot_leave_their_directory() {
    let mut opal = opal();
    for name in ["../x", "/tmp/x", "..", "a/b", ".hidden", "a b", ""] {
        for command in ["generate", "show"] {
            let ran;
            (opal, ran) = keys(opal, &[command, name]);
            ran.code(2).says("invalid key name").says("help");
        }
    }
    assert!(!opal.path().join(".opal").exists());
}

#[test]
fn a_key_open_to_others_is_refused_with_the_way_out() {
    let (opal, _) = keys(opal(), &["generate", "release"]);
    fs::set_permissions(key_file(&opal, "release.key"), Permissions::from_mode(0o644)).unwrap();
    let (_, refused) = keys(opal, &["show", "release"]);
    refused.code(77).stdout("").says("mode 0644").says("chmod 600");
}

#[test]
fn a_root_that_is_no_directory_is_said_plainly() {
    let opal = opal().file("file", "");
    let (opal, refused) = keys(opal, &["generate", "--root", "file"]);
    refused.code(74).says("`file` is not a directory").says("--root");
    let (_, refused) = keys(opal, &["show", "--root", "file"]);
    refused.code(74).says("none can be created");
}

#[test]
fn a_key_that_was_brought_along_is_shown_and_written_nowhere() {
    let (opal, made) = keys(opal(), &["generate", "ci", "--seal"]);
    let text = opal.read(".opal/credentials/ci.key");
    let path = key_file(&opal, "ci.key").display().to_string();
    let option = format!("cmd:cat {path}");
    for identity in [path.as_str(), &option] {
        let brought = Opal::new().args(["keys", "show", "--identity", identity]).run();
        brought.code(0).stdout(&made.stdout);
    }
    for identity in [text.as_str(), text.lines().nth(1).unwrap(), &path, &option] {
        let other = Opal::new().env("OPAL_IDENTITY", identity).args(["keys", "show"]);
        other.run().code(0).stdout(&made.stdout);
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }
    let wrong = Opal::new().env("OPAL_IDENTITY", "canary-5150").args(["keys", "show", "--json"]);
    let wrong = wrong.run();
    wrong.code(78).says("`OPAL_IDENTITY` is not a runner key");
    assert!(!format!("{wrong:?}").contains("5150"));
    let pasted = Opal::new().args(["keys", "show", "--identity", text.lines().nth(1).unwrap()]);
    let pasted = pasted.run();
    pasted.code(78).says("other users can see arguments");
    assert!(!format!("{pasted:?}").contains("AGE-SECRET-KEY-1"));
}

#[test]
fn no_private_half_is_ever_printed() {
    let (opal, _) = keys(opal(), &["generate", "ci", "--seal"]);
    let (opal, _) = keys(opal, &["generate", "release"]);
    let secrets = ["ci", "release"].map(|name| {
        let text = opal.read(&format!(".opal/credentials/{name}.key"));
        text.lines().nth(1).unwrap()[20..].to_owned()
    });
    let mut opal = opal;
    for args in
        [&["list"][..], &["list", "--json"], &["show", "ci"], &["show", "release", "--json"]]
    {
        let ran;
        (opal, ran) = keys(opal, args);
        ran.code(0);
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{args:?}");
    }
}
