//! Differences: that `patch` takes them, how long they are, and what they hide.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::Opal;

/// What `patch` makes of a file with what JSON has.
#[expect(clippy::disallowed_methods, reason = "the diff is tried on the program it is made for")]
fn patched(opal: &Opal, file: &str, diff: &str, reverse: bool) -> String {
    let mut command = Command::new("patch");
    command.args(["--silent", "--no-backup-if-mismatch", file]).current_dir(opal.path());
    if reverse {
        command.arg("--reverse");
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(diff.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{diff}");
    opal.read(file)
}

const COPY: &str = "version: 1\nsteps:\n  - {id: a, type: copy, source: wanted, \
                    destination: found, overwrite: true}\n";

fn copy(wanted: impl AsRef<[u8]>, found: impl AsRef<[u8]>) -> Opal {
    Opal::machine("").file("a.yaml", COPY).file("wanted", wanted).file("found", found)
}

#[test]
fn a_long_difference_is_accepted_by_patch() {
    let lines = |changed: &str| -> String {
        let line = |n: usize| {
            if n.is_multiple_of(7) { format!("{changed} {n}\n") } else { format!("{n}\n") }
        };
        (0..8_700).map(line).collect()
    };
    let (wanted, found) = (lines("wanted\t\u{e9}"), lines("found"));
    let opal = copy(&wanted, &found);
    let document = opal.call(&["verify", "a.yaml", "--json"]).code(1).json();
    let details = document["results"][0]["details"].as_str().unwrap();
    assert!(details.starts_with("--- expected: "), "{details}");
    assert_eq!(patched(&opal, "found", details, true), wanted);
    // What people see is the same, with a table around it.
    opal.write("found", &found);
    let ran = opal.call(&["verify", "a.yaml", "--verbose"]);
    assert_eq!(patched(&opal, "found", &ran.stdout, true), wanted);
}

#[test]
fn a_run_shows_forty_lines_of_a_difference_and_all_with_v() {
    let lines = |word: &str| -> String { (0..100).map(|n| format!("{word} {n}\n")).collect() };
    let opal = copy(lines("wanted"), lines("found"));
    let ran = opal.call(&["apply", "a.yaml", "--no-record"]);
    ran.code(0).says("  drifted: ").says("  -found 0\n").says(" more lines\n").hides("+wanted 99");
    opal.write("found", lines("found"));
    opal.call(&["apply", "a.yaml", "--no-record", "-v"]).code(0).says("  +wanted 99\n");
}

#[test]
fn what_is_no_text_is_described_in_words() {
    let opal = copy(b"\x00\x01inside", b"\x00\x02other, and longer");
    opal.call(&["verify", "a.yaml", "-v"]).code(1).says("binary").hides("inside");
    let ran = opal.call(&["verify", "a.yaml", "--json"]);
    assert!(ran.json()["results"][0]["details"].is_string(), "{ran:#?}");
}

#[test]
fn values_are_hidden_in_differences_everywhere() {
    const CANARY: &str = "canary-7f3a9b21";
    for (argument, name) in [("vars={token: @env.TOKEN}", "token"), ("env=true", "TOKEN")] {
        hidden(argument, name, CANARY);
    }
}

/// A template that gets its token one way or another.
fn hidden(argument: &str, name: &str, canary: &str) {
    let text = format!("fun a() {{\n    @file.template(\"t.j2\", \"out\", {argument})\n}}\n");
    let template = format!("token={{{{ {name} }}}}\nport=80\n");
    let opal = Opal::machine(&text).file("t.j2", template);
    let opal = opal.file("out", format!("token={canary}\nport=81\n")).env("TOKEN", canary);
    for words in [
        &["verify", "a", "-v"][..],
        &["verify", "a", "--json"],
        &["a", "--dry-run"],
        &["a", "--verify-first", "-v"],
        &["a", "--events", "-"],
    ] {
        opal.write("out", format!("token={canary}\nport=81\n"));
        let ran = opal.call(words);
        ran.hides(canary);
        assert!(ran.stdout.contains("port=81") || ran.stderr.contains("port=81"), "{ran:#?}");
    }
    assert_eq!(opal.read("out"), format!("token={canary}\nport=80\n"));
    let records = crate::tree::tree(&opal.path().join("home"));
    assert!(records.len() > 4, "{records:?}");
    assert!(!format!("{records:?}").contains(canary));
    for path in records.keys().filter(|path| path.is_file()) {
        let bytes = std::fs::read(path).unwrap();
        let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!found, "{}", path.display());
    }
}
