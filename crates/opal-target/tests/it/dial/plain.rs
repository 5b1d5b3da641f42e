//! Commands on a target without a helper.

mod early;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opal_core::action::Limits;
use opal_core::context::Context;
use opal_core::resolver::{ScriptPart, TroubleKind};
use opal_core::{Data, Secret};
use opal_remote::dial::error::{DialCause, DialError};
use opal_remote::dial::pace::Pace;
use opal_remote::dial::ssh::SshOptions;
use opal_remote::plain::{PlainSession, Wanted, Why, dial_plain};
use opal_remote::{Mode, Origin};
use opal_session::stop::Stop;
use opal_session::{Input, Output, Place, Session, Work};
use opal_testing::proxy::Proxy;
use opal_testing::sshd::Sshd;
use opal_testing::{needs, processes};

use super::support::{nothing_runs_as, run, try_run};
use crate::served::PROGRAM;
use crate::session::payloads::PAYLOADS;

fn plain(sshd: &Sshd) -> PlainSession {
    let patience = Duration::from_secs(60);
    dialled(sshd, &sshd.address(), SshOptions::default(), patience).unwrap()
}

fn dialled(
    sshd: &Sshd,
    address: &str,
    options: SshOptions,
    patience: Duration,
) -> Result<PlainSession, DialError> {
    dialled_in(sshd.environment(), address, options, patience)
}

fn dialled_in(
    environment: BTreeMap<OsString, OsString>,
    address: &str,
    options: SshOptions,
    patience: Duration,
) -> Result<PlainSession, DialError> {
    let helper = (PROGRAM.into(), Vec::new());
    let origin = Arc::new(Origin { environment, directory: "/".into(), helper });
    let (target, ssh) = ("web1".parse().unwrap(), address.parse().unwrap());
    let (mode, why, pace) = (Mode::Effect, Why::Chosen, Arc::new(Pace::new(20)));
    let environment = BTreeMap::new();
    let wanted = Wanted { options, environment, mode, why, pace, patience };
    dial_plain(&target, &ssh, &origin, wanted, &Stop::new())
}

#[test]
fn commands_run_and_nothing_else_does() {
    for shell in ["/bin/sh", "/bin/bash", "/usr/bin/fish", "/usr/bin/tcsh"] {
        if !needs::has(shell, Path::new(shell).exists()) {
            continue;
        }
        let Some(sshd) = Sshd::start_with(shell, &[]) else { return };
        let session = plain(&sshd);
        let home = &sshd.account().home;
        assert_eq!(session.start(), home);
        assert_eq!(session.identity().user, Some(sshd.account().uid()));
        let (printed, code) = run(&session, home, "pwd; printf end; exit 7");
        assert_eq!((printed, code), (format!("{}\nend", home.display()), 7));
        assert_eq!(run(&session, home, "echo no >&2").0, "no\n");
        let (printed, _) = run(&session, home, "head -c 300000 /dev/zero | tr '\\0' y");
        assert_eq!(printed.len(), 300_000);
        assert!(session.finds("sh") && !session.finds("no-such-program"));
        assert_eq!(session.directory(home, "a/b", true, &Stop::new()).unwrap(), home.join("a/b"));
        assert_eq!(
            session.directory(home, "x", false, &Stop::new()).unwrap_err().kind,
            TroubleKind::Missing
        );
        let (none, stop) = (BTreeMap::new(), Stop::new());
        let place =
            Place { base: home, directory: home, environment: &none, sources: None, stop: &stop };
        let trouble = session.probe(&place).stat(Path::new("/")).unwrap_err();
        assert!(trouble.message.contains("has no target helper"), "{trouble:?}");
        let cache = home.join(".cache/opal");
        assert!(!cache.exists());
    }
}

#[test]
fn values_are_data_and_are_in_no_list_of_arguments() {
    let Some(sshd) = Sshd::start() else { return };
    let session = plain(&sshd);
    for payload in PAYLOADS.iter().filter(|it| !it.contains('\0')) {
        let environment = BTreeMap::from([("WORD".to_owned(), Secret::new(*payload))]);
        let script = [
            ScriptPart::Text("printf '%s|%s' \"".to_owned()),
            ScriptPart::Data(Data::text(*payload), Context::new(opal_core::context::Place::Quoted)),
            ScriptPart::Text("\" \"$WORD\"".to_owned()),
        ];
        let (printed, code) = with(&session, &script, &environment, &Stop::new());
        assert_eq!((printed, code), (format!("{payload}|{payload}"), 0), "{payload:?}");
    }
    // While the command runs, on both sides: the pattern is not what it finds.
    let search =
        "\"; grep -lsa 'canary-[0-9]*-value' /proc/[0-9]*/cmdline /proc/[0-9]*/environ; true";
    let script = [
        ScriptPart::Text(": \"".to_owned()),
        ScriptPart::Data(
            Data::text("canary-31-value"),
            Context::new(opal_core::context::Place::Quoted),
        ),
        ScriptPart::Text(search.to_owned()),
    ];
    let (printed, code) = with(&session, &script, &BTreeMap::new(), &Stop::new());
    assert_eq!((printed.as_str(), code), ("", 0));
}

fn with(
    session: &PlainSession,
    script: &[ScriptPart],
    environment: &BTreeMap<String, Secret>,
    stop: &Stop,
) -> (String, i32) {
    let mut printed = super::support::Printed(Vec::new());
    let work = Work {
        script,
        interpreter: None,
        arguments: &[],
        directory: Path::new("/"),
        previous: None,
        environment,
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    let ended = session.run(work, stop, &mut printed).unwrap();
    (String::from_utf8(printed.0).unwrap(), ended.code)
}

#[test]
fn a_command_that_is_to_stop_is_signalled_by_another_connection() {
    let Some(sshd) = Sshd::start() else { return };
    let session = plain(&sshd);
    let started = sshd.account().home.join("started");
    let script = format!("touch {}; sleep 1000 & sleep 1000", started.display());
    for grace in [Duration::from_secs(20), Duration::ZERO] {
        let _ = fs::remove_file(&started);
        let stop = Stop::new();
        stop.be_patient(grace);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                processes::eventually("it runs", || started.exists());
                stop.ask(opal_core::action::Why::Cancelled);
            });
            let work = [ScriptPart::Text(script.clone())];
            let mut printed = super::support::Printed(Vec::new());
            let none = BTreeMap::new();
            let work = Work {
                script: &work,
                interpreter: None,
                arguments: &[],
                directory: Path::new("/"),
                previous: None,
                environment: &none,
                limits: Limits::default(),
                stdin: Input::Nothing,
                stdout: Output::Taken,
                stderr: Output::Taken,
            };
            // The shell is a part of its group, and ends with it.
            let ended = session.run(work, &stop, &mut printed).unwrap();
            assert!(ended.is_reported && ended.code > 128, "{ended:?}");
        });
        nothing_runs_as(sshd.account().uid());
    }
}

#[test]
fn a_number_of_a_process_that_is_used_again_is_not_signalled() {
    let Some(sshd) = Sshd::start() else { return };
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let command = opal_session::reach::plain::signal(other.id(), 1, true);
    let status = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
    assert_eq!(status.code(), Some(4), "it began at another time");
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
    drop(sshd);
}

#[test]
fn a_key_that_has_changed_is_refused_before_a_command_is_sent() {
    let Some(mut sshd) = Sshd::start() else { return };
    let session = plain(&sshd);
    sshd.change_host_key(&[]);
    let trouble = try_run(&session, Path::new("/"), "echo sent").unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Denied, "{trouble:?}");
    assert!(trouble.message.contains("another one in `known_hosts`"), "{trouble:?}");
    let error = dialled(&sshd, &sshd.address(), SshOptions::default(), Duration::from_secs(60));
    assert!(error.unwrap_err().is_refused_key(), "77");
}

#[test]
fn who_turns_commands_away_lets_all_in_after_a_while() {
    let Some(mut sshd) = Sshd::start() else { return };
    let session = plain(&sshd);
    sshd.restart(&["MaxStartups 2:100:2"]);
    std::thread::scope(|scope| {
        for number in 0..12 {
            let session = &session;
            scope.spawn(move || {
                let (printed, code) = run(session, Path::new("/"), &format!("echo {number}"));
                assert_eq!((printed, code), (format!("{number}\n"), 0));
            });
        }
    });
}

#[test]
fn a_login_that_never_comes_to_its_end_is_given_up() {
    let Some(sshd) = Sshd::start_with("/bin/bash", &[]) else { return };
    let session = dialled(&sshd, &sshd.address(), SshOptions::default(), Duration::from_secs(3));
    let session = session.unwrap();
    fs::write(sshd.account().home.join(".bashrc"), "exec sleep 54376\n").unwrap();
    let trouble = try_run(&session, Path::new("/"), "echo sent").unwrap_err();
    assert!(trouble.message.contains("no answer within 3s"), "{trouble:?}");
    let error = dialled(&sshd, &sshd.address(), SshOptions::default(), Duration::from_secs(1));
    assert_eq!(error.unwrap_err().cause, DialCause::Silent { after: Duration::from_secs(1) });
    end_all(&sshd);
}

#[test]
fn a_half_open_connection_is_lost() {
    let Some(mut sshd) = Sshd::start() else { return };
    let proxy = Proxy::start(sshd.port());
    sshd.configure(&format!("Host *\nHostKeyAlias [127.0.0.1]:{}\n", sshd.port()));
    let mut options = SshOptions::default();
    options.silence = Some(Duration::from_secs(3));
    let address = format!("{}@127.0.0.1:{}", sshd.account().name, proxy.port());
    let session = dialled(&sshd, &address, options, Duration::from_secs(60)).unwrap();
    let began = sshd.account().home.join("began");
    let script = format!("touch {}; sleep 54375", began.display());
    let trouble = std::thread::scope(|scope| {
        scope.spawn(|| {
            processes::eventually("the command runs", || began.exists());
            proxy.stall();
        });
        try_run(&session, Path::new("/"), &script).unwrap_err()
    });
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    end_all(&sshd);
}

/// Without a helper nobody else does.
fn end_all(sshd: &Sshd) {
    processes::owned_by(sshd.account().uid()).iter().for_each(|(pid, _)| processes::kill(pid));
}
