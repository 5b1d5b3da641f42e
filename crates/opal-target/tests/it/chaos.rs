//! One side dies or falls silent: nothing is left on the target, and the step is lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::action::{Limits, Replace};
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_remote::RemoteSession;
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::{Ended, Input, Output, Session, Setup, Work};
use opal_testing::processes::{eventually, is_alive};
use tempfile::TempDir;

use crate::served::serve_in;
use crate::session::support::Heard;

const QUICK: Timing = Timing { ping: Duration::from_millis(50), lost: Duration::from_millis(500) };

fn session(at: &Path) -> RemoteSession {
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    serve_in(
        Setup {
            environment: environment.into(),
            start: at.to_owned(),
            home: None,
            marker: format!("chaos-{}", at.display()),
            terminal: None,
            entries: None,
            pages: None,
        },
        QUICK,
    )
}

fn run(session: &RemoteSession, at: &Path, text: &str) -> Result<Ended, Trouble> {
    let script = [ScriptPart::Text(text.to_owned())];
    let work = Work {
        script: &script,
        interpreter: None,
        arguments: &[],
        directory: at,
        previous: None,
        environment: &BTreeMap::new(),
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    session.run(work, &Stop::new(), &mut Heard::default())
}

/// The helper of a session: the parent of the shell that a step runs in.
fn helper(session: &RemoteSession, at: &Path) -> String {
    assert_eq!(run(session, at, "echo $PPID > parent; :").unwrap().code, 0);
    let parent = fs::read_to_string(at.join("parent")).unwrap().trim().to_owned();
    // A step may run in a fork of the waiting shell.
    let stat = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap();
    assert_eq!(stat.trim(), "opal-target");
    parent
}

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), pid]).status().unwrap();
    assert!(sent.success());
}

/// Steps whose processes try to stay.
const STAYING: &str = "trap '' HUP INT; sleep 1000 & echo $! > pid1; \
                       (setsid sleep 1000 & echo $! > pid2); touch ready; wait";

fn pids(at: &Path) -> Vec<String> {
    ["pid1", "pid2"].map(|name| fs::read_to_string(at.join(name)).unwrap()).into()
}

/// Runs a step that stays, and does something once it runs: what became of it.
fn lost(session: &RemoteSession, at: &Path, and: impl FnOnce() + Send) -> Trouble {
    thread::scope(|scope| {
        let ready = at.join("ready");
        scope.spawn(move || {
            eventually("the step runs", || ready.exists());
            and();
        });
        run(session, at, STAYING).unwrap_err()
    })
}

#[test]
fn a_step_whose_helper_is_killed_is_lost_and_so_is_everything_after_it() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let session = session(at);
    let helper = helper(&session, at);
    let trouble = lost(&session, at, || signal("KILL", &helper));
    assert_eq!(trouble.kind, TroubleKind::Lost);
    assert!(trouble.message.contains("the connection was closed"), "{trouble:?}");
    let again = run(&session, at, "true").unwrap_err();
    assert_eq!(again, trouble);
    let pids = pids(at);
    eventually("what it has left is ended", || !pids.iter().any(|pid| is_alive(pid)));
}

#[test]
fn nothing_is_left_of_files_whose_helper_is_killed() {
    for name in ["KILL", "TERM", "HUP"] {
        let folder = TempDir::new().unwrap();
        let at = folder.path();
        let session = session(at);
        let helper = helper(&session, at);
        let replace = Replace { path: "half", mode: None, append: false };
        let mut half = session.replace(at, &replace, &Stop::new()).unwrap();
        std::io::Write::write_all(&mut half, b"half").unwrap();
        let text = session.text_file("text", "txt", &Stop::new()).unwrap();
        let sent = session.folder(&Stop::new()).unwrap();
        let left = [text.path(), sent.path()].map(PathBuf::from);
        assert!(left.iter().all(|path| path.exists()));
        signal(name, &helper);
        eventually("nothing is left", || {
            !has_unfinished(at) && !left.iter().any(|path| path.exists())
        });
    }
}

#[test]
fn a_helper_that_hears_nothing_for_too_long_ends_everything() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let mut client = client(at);
    eventually("the step runs", || at.join("ready").exists());
    let pids = pids(at);
    // Half open: the pipes are there, and nobody is at their other end.
    signal("STOP", &client.id().to_string());
    eventually("all have ended", || !pids.iter().any(|pid| is_alive(pid)));
    eventually("the helper has ended", || !is_alive(&parent(at)));
    signal("KILL", &client.id().to_string());
    client.wait().unwrap();
}

#[test]
fn nothing_is_left_of_a_step_whose_client_is_killed() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let mut client = client(at);
    eventually("the step runs", || at.join("ready").exists());
    let pids = pids(at);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    client.kill().unwrap();
    client.wait().unwrap();
    let since = Instant::now();
    eventually("all have ended", || !pids.iter().any(|pid| is_alive(pid)));
    eventually("the helper has ended", || !is_alive(&parent(at)));
    eventually("no file is half written", || !has_unfinished(at));
    assert!(since.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_helper_that_says_nothing_for_too_long_is_lost() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let session = session(at);
    let helper = helper(&session, at);
    let trouble = lost(&session, at, || signal("STOP", &helper));
    assert_eq!(trouble.kind, TroubleKind::Lost);
    assert!(trouble.message.contains("nothing was heard for 500ms"), "{trouble:?}");
    // Once it can, it ends what it has started.
    signal("CONT", &helper);
    let pids = pids(at);
    eventually("all have ended", || !pids.iter().any(|pid| is_alive(pid)));
    eventually("the helper has ended", || !is_alive(&helper));
}

#[test]
fn what_a_step_leaves_running_stays_after_a_good_end() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let session = session(at);
    let helper = helper(&session, at);
    assert_eq!(
        run(&session, at, "sleep 1000 > /dev/null 2>&1 & echo $! > server").unwrap().code,
        0
    );
    let server = fs::read_to_string(at.join("server")).unwrap();
    drop(session);
    assert!(!is_alive(&helper), "a helper ends with its session");
    assert!(is_alive(&server));
    signal("KILL", server.trim());
}

/// This test program, as another process that runs a step and is going to die in the middle.
fn client(at: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "chaos::a_client_that_dies_in_the_middle"])
        .env("OPAL_TEST_AT", at)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Does nothing unless another test starts it, in a process of its own.
#[test]
fn a_client_that_dies_in_the_middle() {
    let Some(at) = std::env::var_os("OPAL_TEST_AT").map(PathBuf::from) else { return };
    let session = session(&at);
    fs::write(at.join("helper"), helper(&session, &at)).unwrap();
    let replace = Replace { path: "half", mode: None, append: false };
    let mut half = session.replace(&at, &replace, &Stop::new()).unwrap();
    std::io::Write::write_all(&mut half, b"half").unwrap();
    let _text = session.text_file("text", "txt", &Stop::new()).unwrap();
    let _ = run(&session, &at, STAYING);
}

fn parent(at: &Path) -> String {
    fs::read_to_string(at.join("helper")).unwrap()
}

/// Whether a file is there that nobody has finished.
fn has_unfinished(at: &Path) -> bool {
    let known = ["parent", "helper", "pid1", "pid2", "ready"];
    let files = fs::read_dir(at).unwrap().flatten();
    files.into_iter().any(|file| !known.iter().any(|name| file.file_name() == **name))
}
