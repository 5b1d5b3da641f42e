//! This machine, with a helper of its own.

use std::fs;
use std::path::{Path, PathBuf};

use opal_core::action::Why;
use opal_core::target::Hop;
use opal_remote::dial::error::DialCause;
use opal_remote::{Mode, Terms};
use opal_session::Session as _;
use opal_session::stop::Stop;

use opal_testing::{needs, processes};

use super::support::{Caller, act, run, try_run, world};

#[test]
fn a_helper_of_this_machine_acts_or_only_reads() {
    let caller = Caller::new(std::env::vars_os().collect());
    let session = act(caller.dial(&Hop::Local, Mode::Effect).unwrap());
    assert_eq!(run(&session, Path::new("/tmp"), "pwd; exit 4"), ("/tmp\n".to_owned(), 4));
    let dialled = caller.dial(&Hop::Local, Mode::ReadOnly).unwrap();
    assert!(dialled.facts().is_read_only);
    let session = dialled.look(Terms::default(), world()).unwrap();
    assert!(session.finds("sh"));
    assert!(session.open(Path::new("/"), "etc/passwd", &Stop::new()).is_err(), "it only reads");
    let refused = caller.dial(&Hop::Local, Mode::ReadOnly).unwrap();
    assert!(refused.act(Terms::default(), world()).is_err(), "it cannot act");
}

/// Where root can make control groups.
fn unified() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(PathBuf::from(mount.split(' ').nth(4)?)).filter(|it| it.join("cgroup.procs").exists())
}

#[test]
fn what_root_started_ends_with_a_killed_helper_whatever_it_calls_itself() {
    let Some(unified) = unified().filter(|_| needs::root()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::new(std::env::vars_os().collect());
    let session = act(caller.dial(&Hop::Local, Mode::Effect).unwrap());
    // Neither a child of the helper's session nor in an environment that names the run.
    let script = "echo $PPID >helper; env -i setsid sh -c 'echo $$ >away.new; mv away.new away; exec sleep 1000' & \
                  sleep 1000";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            processes::eventually("it runs", || folder.path().join("away").exists());
            let away = fs::read_to_string(folder.path().join("away")).unwrap();
            let group = fs::read_to_string(format!("/proc/{}/cgroup", away.trim())).unwrap();
            let name = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap();
            let group = unified.join(name.trim_start_matches('/'));
            let name = group.file_name().unwrap().to_string_lossy().into_owned();
            let helper = name.strip_prefix("opal-").expect("a group of the helper's own");
            processes::kill(helper);
            processes::eventually("it has ended", || !processes::is_alive(&away));
            processes::eventually("the group is gone", || !group.exists());
        });
        try_run(&session, folder.path(), script).unwrap_err();
    });
}

#[test]
fn what_root_leaves_running_on_purpose_stays_and_its_group_does_not() {
    let Some(unified) = unified().filter(|_| needs::root()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::new(std::env::vars_os().collect());
    let session = act(caller.dial(&Hop::Local, Mode::Effect).unwrap());
    let script = "setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 1000' >/dev/null 2>&1 & \
                  until [ -e pid ]; do :; done; grep ^0:: /proc/self/cgroup";
    let (group, code) = run(&session, folder.path(), script);
    assert_eq!(code, 0);
    let group = unified.join(group.trim().trim_start_matches("0::/"));
    assert!(group.exists() && group.to_string_lossy().contains("opal-"), "{}", group.display());
    drop(session);
    processes::eventually("the group is gone", || !group.exists());
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(processes::is_alive(&pid));
    processes::kill(pid.trim());
}

#[test]
fn a_dial_is_stopped_while_the_helper_only_says_that_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let mut caller = Caller::new(std::env::vars_os().collect());
    // Pings, as a helper sends them.
    let script = format!(
        "while printf '\\0\\0\\0\\0\\14\\0\\0\\0\\0'; do : >{}; sleep 0.05; done",
        began.display()
    );
    caller.origin.helper = ("/bin/sh".into(), vec!["-c".into(), script.into()]);
    let stop = Stop::new();
    let dialled = std::thread::scope(|scope| {
        scope.spawn(|| {
            processes::eventually("it says that it is there", || began.exists());
            stop.ask(Why::Cancelled);
        });
        caller.dial_until(&Hop::Local, Mode::Effect, &stop)
    });
    assert_eq!(dialled.unwrap_err().cause, DialCause::Stopped);
}
