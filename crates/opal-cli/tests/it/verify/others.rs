//! What another user may not see, and links that lead nowhere.

use std::os::unix::fs::symlink;

use super::statuses;
use crate::support::Opal;
use crate::tree::chmod;

#[test]
fn what_may_not_be_read_is_blocked_and_hides_nothing_else() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: secret, type: copy, source: open, destination: closed/file, overwrite: true}\n\
                \x20 - {id: file, type: line_in_file, file: shut, line: x}\n\
                \x20 - {id: fine, type: directory, path: there}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("open", "x\n").file("shut", "x\n");
    let opal = opal.file("closed/file", "y\n").file("there/.keep", "");
    chmod(&opal.path(), 0o755);
    chmod(&opal.path().join("closed"), 0o700);
    chmod(&opal.path().join("shut"), 0o600);
    let Some(ran) = opal.as_nobody(&["verify", "a.yaml", "--json"]) else { return };
    let document = ran.code(1).json();
    let status = |n: usize| document["results"][n]["status"].as_str().unwrap();
    assert_eq!([status(0), status(1), status(2)], ["blocked", "blocked", "satisfied"]);
    for n in [0, 1] {
        let error = document["results"][n]["error"].as_str().unwrap();
        assert!(error.contains(if n == 0 { "closed" } else { "shut" }), "{error}");
    }
    let ran = opal.as_nobody(&["apply", "a.yaml", "--no-record"]).unwrap();
    ran.code(1);
}

#[test]
fn a_directory_that_may_not_be_written_fails_the_apply_and_leaves_nothing() {
    let text = "version: 1\nsteps:\n  - {id: a, type: copy, source: x, destination: shut/x}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("x", "x\n").file("shut/.keep", "");
    chmod(&opal.path(), 0o755);
    chmod(&opal.path().join("shut"), 0o555);
    let Some(ran) = opal.as_nobody(&["apply", "a.yaml", "--no-record"]) else { return };
    ran.code(1).says("shut");
    assert_eq!(std::fs::read_dir(opal.path().join("shut")).unwrap().count(), 1);
}

#[test]
fn links_that_lead_nowhere_are_links() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: right, type: symlink, source: nowhere, target: right}\n\
                \x20 - {id: wrong, type: symlink, source: elsewhere, target: wrong}\n\
                \x20 - {id: gone, type: absent, path: gone}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    for name in ["right", "wrong", "gone"] {
        symlink("nowhere", opal.path().join(name)).unwrap();
    }
    let found = statuses(&opal, &["a.yaml"]);
    let found: Vec<&str> = found.iter().map(|(_, status)| &**status).collect();
    assert_eq!(found, ["satisfied", "drifted", "drifted"]);
    opal.call(&["apply", "a.yaml"]).code(0);
    assert!(opal.path().join("wrong").read_link().unwrap().ends_with("elsewhere"));
    assert!(opal.path().join("gone").symlink_metadata().is_err());
}

#[test]
fn a_latin_1_file_keeps_its_bytes() {
    let text = "version: 1\nsteps:\n  - {id: a, type: line_in_file, file: f, line: \"caf\u{e9}=2\", \
                match: \"^caf\", encoding: latin-1}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("f", b"\xfc=1\ncaf\xe9=1\n\xdf=3\n");
    opal.call(&["verify", "a.yaml"]).code(1).says("drifted");
    opal.call(&["apply", "a.yaml"]).code(0);
    assert_eq!(opal.bytes("f"), b"\xfc=1\ncaf\xe9=2\n\xdf=3\n");
    opal.call(&["verify", "a.yaml"]).code(0);
}
