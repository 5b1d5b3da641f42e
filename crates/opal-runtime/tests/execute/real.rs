//! With real shells, where no log can stand for one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use opal_runtime::session::{LocalSession, Setup};

use crate::planning::Project;
use crate::running::{Ran, Running};

fn session(start: &Path) -> LocalSession {
    let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
    LocalSession::new(Setup {
        environment: BTreeMap::from([path]),
        start: start.to_owned(),
        home: None,
        terminal: None,
        marker: format!("run-test-{}", start.display()),
    })
}

/// Runs a source in an empty directory, and gives what the files in it hold.
fn run(source: &str) -> (Ran, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let ran = Running::on(Project::new(source), &session, folder.path()).run();
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).unwrap_or_default())
    });
    (ran, files.collect())
}

const TALK: &str = "fun talk() {\n    echo out; echo err >&2\n    echo more; echo worse >&2\n}\n";

#[test]
fn a_call_is_redirected_as_the_shell_would_do_it() {
    for (redirect, file, shown) in [
        ("> log", "out\nmore\n", "err\nworse\n"),
        ("2> log", "err\nworse\n", "out\nmore\n"),
        ("> log 2>/dev/null", "out\nmore\n", ""),
        ("2>&1 > log", "out\nmore\n", "err\nworse\n"),
        (">| \"$(echo log)\"", "out\nmore\n", "err\nworse\n"),
    ] {
        let (ran, files) = run(&format!("{TALK}@cmd.talk() {redirect}\n"));
        ran.ok();
        assert_eq!(files["log"], file, "{redirect}");
        assert_eq!(ran.output().concat(), shown, "{redirect}");
    }
    let (ran, files) = run(&format!("{TALK}@cmd.talk() > log 2>&1\n"));
    ran.ok();
    let mut lines: Vec<_> = files["log"].lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["err", "more", "out", "worse"]);
    assert!(ran.output().is_empty());
}

#[test]
fn a_call_adds_to_a_file_and_reads_from_one() {
    let source = "fun add() {\n    echo one\n    echo two\n}\nfun shout() { tr a-z A-Z }\n\
                  @cmd.add() > log\n@cmd.add() >> log\n@cmd.shout() < log > loud\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["log"], "one\ntwo\none\ntwo\n");
    assert_eq!(files["loud"], "ONE\nTWO\nONE\nTWO\n");
}

#[test]
fn a_redirection_that_cannot_be_made_keeps_its_call_from_running() {
    let (ran, files) = run("fun f() { touch ran }\n@cmd.f() > no/such/directory\necho x > after\n");
    assert!(ran.failure().starts_with("script.f[0] "), "{}", ran.failure());
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn what_fails_in_a_redirected_call_fails_it() {
    let (ran, files) = run("fun f() { echo half; exit 3 }\n@cmd.f() > log\n");
    assert_eq!(ran.failure(), "script.f[0].shell[0] 3");
    assert_eq!(files["log"], "half\n");
}

#[test]
fn a_filter_may_be_redirected_by_the_shell() {
    let source = "let.s = @shell(\"echo secret-0123456\")\n\
                  echo @let.s | @to.display() > clean\necho @let.s > raw\n";
    let (ran, files) = run(source);
    ran.ok();
    assert_eq!(files["raw"], "secret-0123456\n");
    assert!(files["clean"].starts_with("🔒 opal:h:"), "{files:?}");
}

#[test]
fn pipes_blocks_and_files_work_together() {
    let source = "mkdir web\ncd web\nfun lines() { printf 'b\\na\\n' }\n\
                  @cmd.lines() | sort > @file.write(\"sorted\")\n\
                  cat < @file.read(\"../in\") | tr a-z A-Z\ncat sorted\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), "raw\n").unwrap();
    let session = session(folder.path());
    let project = Project::new(source).world(|world| world.file("../in", "x"));
    let ran = Running::on(project, &session, folder.path()).run();
    ran.ok();
    assert_eq!(ran.output().concat(), "RAW\na\nb\n");
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    for (line, code) in [("exit 42", 42), ("kill -9 $$", 137), ("no-such-command-here", 127)] {
        let (ran, _) = run(&format!("{line}\n"));
        assert!(ran.failure().starts_with(&format!("script.shell[0] {code}")), "{line}");
    }
}
