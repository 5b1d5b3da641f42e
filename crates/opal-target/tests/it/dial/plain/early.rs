//! Commands that end, and connections that are cut, at the wrong moment: the `ssh` is a script, whose host
//! is this machine.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use opal_core::action::Why;
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_remote::dial::ssh::SshOptions;
use opal_remote::plain::PlainSession;
use opal_session::stop::Stop;
use opal_testing::processes;

use super::super::support::try_run;
use super::{dialled_in, with};

/// A session whose connections of a command are made by `run`, and those of a signal by `signal`.
fn stood_in(folder: &Path, run: &str, signal: &str) -> PlainSession {
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -V ] && {{ echo OpenSSH_9.2p1 >&2; exit; }}\ncd {}\nfor last; do :; done\n\
         case $last in\n*\"kill -s\"*) {signal} ;;\n*\"b run \"*) {run} ;;\n*) exec sh -c \"$last\" ;;\nesac\n",
        folder.display()
    );
    let ssh = folder.join("ssh");
    fs::write(&ssh, script).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let mut environment: BTreeMap<_, _> = std::env::vars_os().collect();
    environment.insert("PATH".into(), format!("{}:/usr/bin:/bin", folder.display()).into());
    let (options, patience) = (SshOptions::default(), Duration::from_secs(60));
    dialled_in(environment, "web1", options, patience).unwrap()
}

#[test]
fn a_command_that_ended_before_it_was_signalled_has_ended_and_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Whoever signals comes too late.
    let session = stood_in(
        folder.path(),
        "sh -c \"$last\"; : >ended",
        ": >go; until [ -e ended ]; do sleep 0.02; done; exec sh -c \"$last\"",
    );
    let script = format!(
        ": >{}; until [ -e {} ]; do sleep 0.02; done; echo late; exit 5",
        at("began").display(),
        at("go").display()
    );
    let stop = Stop::new();
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            processes::eventually("it runs", || at("began").exists());
            stop.ask(Why::Cancelled);
        });
        with(&session, &[ScriptPart::Text(script)], &BTreeMap::new(), &stop)
    });
    assert_eq!(ended, ("late\n".to_owned(), 5));
}

#[test]
fn nothing_of_a_command_runs_that_came_only_in_part() {
    let folder = tempfile::tempdir().unwrap();
    let session = stood_in(folder.path(), "head -c 600 | sh -c \"$last\"", "exec sh -c \"$last\"");
    let part = folder.path().join("part");
    let script = format!("touch {}\n: {}\necho done\n", part.display(), "x".repeat(2_000));
    let trouble = try_run(&session, Path::new("/"), &script).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    assert!(!part.exists());
}

#[test]
fn a_long_command_that_nobody_reads_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    // It says that it waits for the command, and reads no more of it than its size.
    let session = stood_in(
        folder.path(),
        "sh -c \"${last%%read -r n;*}'\" </dev/null; read -r size; : >began; exec sleep 1000",
        "exec sh -c \"$last\"",
    );
    let script = format!("touch {}/ran; : {}", folder.path().display(), "x".repeat(2_000_000));
    let stop = Stop::new();
    let (_, code) = std::thread::scope(|scope| {
        scope.spawn(|| {
            processes::eventually("it runs", || began.exists());
            stop.ask(Why::Cancelled);
        });
        with(&session, &[ScriptPart::Text(script)], &BTreeMap::new(), &stop)
    });
    assert!(code > 128, "{code}");
    assert!(!folder.path().join("ran").exists());
}
