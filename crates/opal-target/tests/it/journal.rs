//! The journal of an order, kept by a real helper: entries that were synced, one lock, and every way in
//! which a journal is no longer what was written. Each of these leaves the target lost.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::action::Limits;
use opal_core::journal::{Entry, JournalKey, Opening, What};
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_remote::RemoteSession;
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::{Ended, Input, Journal, Output, Session, Setup, Work};
use opal_testing::processes::{eventually, is_alive};
use tempfile::TempDir;

use crate::served::serve_in;
use crate::session::support::Heard;

const FIRST: &str = "task.ssh.hosts[0].shell[0]";
/// Of the runner: its clock counts, not that of the target.
const NOW: i64 = 2_000_000_000;

const SECOND: &str = "task.ssh.hosts[0].shell[1]";

fn session(home: &Path, marker: &str) -> RemoteSession {
    let environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
    let setup = Setup {
        environment: environment.into(),
        start: "/".into(),
        home: Some(home.to_owned()),
        marker: marker.to_owned(),
        terminal: None,
        entries: None,
        pages: None,
    };
    serve_in(setup, Timing::default())
}

fn opening(claim: u64) -> Opening {
    Opening {
        order: "00112233445566778899aabbccddeeff".into(),
        end: 4_000_000_000,
        now: NOW,
        target: "web1".into(),
        key: JournalKey::new([7; 32]),
        claim,
        patience: Duration::from_millis(200),
    }
}

type Opened = Result<(Box<dyn Journal>, Vec<Entry>), Trouble>;

/// A session of its own, which has the journal as long as it is there.
struct Held {
    session: RemoteSession,
    journal: Box<dyn Journal>,
    entries: Vec<Entry>,
}

fn open(home: &Path, marker: &str, opening: &Opening) -> Result<Held, Trouble> {
    let session = session(home, marker);
    let opened: Opened = session.journal(opening, &Stop::new());
    opened.map(|(journal, entries)| Held { session, journal, entries })
}

/// A journal with a step that has ended and one that has not: its file.
fn begun(home: &Path) -> PathBuf {
    let held = open(home, "first", &opening(0)).unwrap();
    assert!(held.entries.is_empty());
    let stop = Stop::new();
    assert_eq!(held.journal.begun(FIRST, &stop).unwrap(), 1);
    assert_eq!(held.journal.ended(FIRST, 0, &stop).unwrap(), 2);
    assert_eq!(held.journal.begun(SECOND, &stop).unwrap(), 3);
    drop(held);
    file(home)
}

fn file(home: &Path) -> PathBuf {
    let entries = fs::read_dir(home.join(".local/state/opal")).unwrap();
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

/// What is said of a journal that cannot be used.
#[track_caller]
fn refused(home: &Path, opening: &Opening) -> String {
    let trouble = open(home, "second", opening).map(drop).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Lost, "{trouble:?}");
    assert!(!trouble.help.is_empty());
    trouble.message.to_string()
}

#[test]
fn another_session_reads_what_the_first_one_has_written() {
    let home = TempDir::new().unwrap();
    let path = begun(home.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&format!("1 begun first {FIRST} ")), "{text}");
    // Neither the key nor what it is derived from is on the disk.
    assert!(!text.contains(&"07".repeat(8)) && !text.as_bytes().windows(8).any(|it| it == [7; 8]));
    for claim in [0, 2, 3] {
        let held = open(home.path(), "second", &opening(claim)).unwrap();
        let found: Vec<(u64, &str, bool)> = held
            .entries
            .iter()
            .map(|it| (it.number, &*it.path, matches!(it.what, What::Ended { code: 0 })))
            .collect();
        assert_eq!(found, [(1, FIRST, false), (2, FIRST, true), (3, SECOND, false)]);
    }
    let held = open(home.path(), "second", &opening(3)).unwrap();
    assert_eq!(held.journal.ended(SECOND, 130, &Stop::new()).unwrap(), 4);
    // The same session may ask again, after its connection was lost on opal's side.
    let (journal, entries) = held.session.journal(&opening(4), &Stop::new()).unwrap();
    assert_eq!(entries[3].what, What::Ended { code: 130 });
    assert_eq!(journal.begun(FIRST, &Stop::new()).unwrap(), 5);
}

#[test]
fn one_session_at_a_time_has_a_journal() {
    let home = TempDir::new().unwrap();
    let first = open(home.path(), "first", &opening(0)).unwrap();
    first.journal.begun(FIRST, &Stop::new()).unwrap();
    let since = Instant::now();
    assert!(refused(home.path(), &opening(0)).contains("another runner is still at work"));
    assert!(since.elapsed() >= Duration::from_millis(200));
    // Other targets and orders have journals of their own, in the same session too.
    let other = Opening { target: "web2".into(), ..opening(0) };
    open(home.path(), "other", &other).unwrap();
    let (beside, entries) = first.session.journal(&other, &Stop::new()).unwrap();
    assert!(entries.is_empty());
    assert_eq!(beside.begun(SECOND, &Stop::new()).unwrap(), 1);
    assert_eq!(first.journal.ended(FIRST, 0, &Stop::new()).unwrap(), 2);
    drop(beside);
    // Who waits gets it as soon as the first one is gone.
    let patient = Opening { patience: Duration::from_secs(60), ..opening(1) };
    thread::scope(|scope| {
        let waiting = scope.spawn(|| open(home.path(), "second", &patient).map(|it| it.entries));
        drop(first);
        assert_eq!(waiting.join().unwrap().unwrap().len(), 2);
    });
}

#[test]
fn who_is_asked_to_stop_does_not_wait_for_the_lock() {
    let home = TempDir::new().unwrap();
    let _first = open(home.path(), "first", &opening(0)).unwrap();
    let session = session(home.path(), "second");
    let patient = Opening { patience: Duration::from_secs(600), ..opening(0) };
    let stop = Stop::new();
    stop.ask(opal_core::action::Why::Cancelled);
    assert!(session.journal(&patient, &stop).is_err());
}

/// A line that is not what was written, or not there.
#[test]
fn a_journal_that_was_edited_cut_or_moved_is_refused() {
    type Edit = fn(&str) -> String;
    let edits: [(&str, Edit); 9] = [
        ("entry 1 is not what", |it| it.replacen("shell[0]", "shell[7]", 1)),
        ("entry 2 is not what", |it| it.replacen("ended 0", "ended 1", 1)),
        ("entry 1 is not what", |it| it.replacen("begun first", "begun other", 1)),
        ("entry 1 is missing", |it| it.lines().skip(1).map(|line| format!("{line}\n")).collect()),
        ("entry 2 is missing", |it| {
            let mut lines: Vec<&str> = it.split_inclusive('\n').collect();
            lines.remove(1);
            lines.concat()
        }),
        ("entry 4 is missing", |it| format!("{it}{}", it.lines().next().unwrap()) + "\n"),
        ("ends at entry 2 on the target, but it has had 3", |it| {
            it.split_inclusive('\n').take(2).collect()
        }),
        ("ends at entry 2 on the target", |it| it[..it.len() - 1].to_owned()),
        ("ends at entry 0 on the target", |_| String::new()),
    ];
    for (said, edit) in edits {
        let home = TempDir::new().unwrap();
        let path = begun(home.path());
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, edit(&text)).unwrap();
        let message = refused(home.path(), &opening(3));
        assert!(message.contains(said), "{said}: {message}");
    }
}

#[test]
fn a_journal_that_is_gone_although_a_step_began_is_not_begun_again() {
    let home = TempDir::new().unwrap();
    let path = begun(home.path());
    fs::remove_file(&path).unwrap();
    let message = refused(home.path(), &opening(3));
    assert!(message.contains("is missing on the target, but it has had 3 entries"), "{message}");
    assert!(!path.exists());
    // With the directory as well, or the home.
    fs::remove_dir_all(home.path().join(".local")).unwrap();
    assert!(refused(home.path(), &opening(1)).contains("is missing"));
    let elsewhere = home.path().join("elsewhere");
    assert!(refused(&elsewhere, &opening(0)).contains("has no home"));
}

/// What a crash of the machine leaves of an entry that nobody has waited for.
#[test]
fn an_entry_that_was_not_written_to_its_end_does_not_count() {
    for rest in ["4 ended 0 task.ssh", "\0\0\0\0\0\0\0\0"] {
        let home = TempDir::new().unwrap();
        let path = begun(home.path());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(rest.as_bytes()).unwrap();
        let held = open(home.path(), "second", &opening(3)).unwrap();
        assert_eq!(held.entries.len(), 3);
        assert_eq!(held.journal.ended(SECOND, 0, &Stop::new()).unwrap(), 4);
        drop(held);
        assert_eq!(open(home.path(), "third", &opening(4)).unwrap().entries.len(), 4);
    }
}

#[test]
fn a_journal_of_another_target_or_contract_is_refused_under_the_right_name() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let copied = begun(one.path());
    let other = Opening { target: "web2".into(), ..opening(0) };
    drop(open(two.path(), "first", &other).unwrap());
    let own = file(two.path());
    assert_ne!(own.file_name(), copied.file_name());
    fs::copy(&copied, &own).unwrap();
    assert!(refused(two.path(), &other).contains("entry 1 is not what"));
    // The secret of another contract.
    let key = Opening { key: JournalKey::new([8; 32]), ..opening(0) };
    assert!(refused(one.path(), &key).contains("entry 1 is not what"));
    let order = Opening { order: "..".into(), ..opening(0) };
    let trouble = open(one.path(), "second", &order).map(drop).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::Invalid);
}

#[test]
fn a_place_that_others_could_have_written_is_refused() {
    let trust = |home: &Path, said: &str| {
        let message = refused(home, &opening(0));
        assert!(message.contains("cannot be trusted") && message.contains(said), "{message}");
    };
    let home = TempDir::new().unwrap();
    let path = begun(home.path());
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    for (part, mode, usual) in [
        (home.path().to_owned(), 0o777, 0o700),
        (home.path().join(".local"), 0o777, 0o700),
        (home.path().join(".local/state"), 0o722, 0o755),
        (home.path().join(".local/state/opal"), 0o755, 0o700),
        (path.clone(), 0o644, 0o600),
    ] {
        chmod(&part, mode);
        trust(home.path(), &part.display().to_string());
        chmod(&part, usual);
    }
    assert_eq!(open(home.path(), "second", &opening(0)).unwrap().entries.len(), 3);
    // Links, in every place.
    let second = home.path().join("second");
    fs::hard_link(&path, &second).unwrap();
    trust(home.path(), "is not a file with one name");
    fs::rename(&second, &path).unwrap();
    fs::remove_file(&second).unwrap();
    fs::rename(&path, &second).unwrap();
    symlink(&second, &path).unwrap();
    trust(home.path(), "is a link or something else");
    for name in [".local/state/opal", ".local/state", ".local"] {
        let (part, moved) = (home.path().join(name), home.path().join("moved"));
        fs::rename(&part, &moved).unwrap();
        symlink(&moved, &part).unwrap();
        trust(home.path(), "is a link or something else");
        fs::remove_file(&part).unwrap();
        fs::rename(&moved, &part).unwrap();
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    trust(home.path(), "something else");
}

#[test]
fn a_journal_in_memory_is_refused_before_anything_is_written() {
    let home = tempfile::Builder::new().tempdir_in("/dev/shm").unwrap();
    let message = refused(home.path(), &opening(0));
    assert!(message.contains("on a file system of the kind `tmpfs`"), "{message}");
    let left = fs::read_dir(home.path().join(".local/state/opal")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn journals_go_a_day_after_their_orders_have_ended() {
    let home = TempDir::new().unwrap();
    let of = |target: &str, end| Opening { target: target.into(), end, ..opening(0) };
    let ends = [("old", NOW - 86_500), ("ended", NOW - 86_300), ("now", NOW + 5)];
    for (target, end) in ends {
        let then = Opening { now: NOW - 100_000, ..of(target, end) };
        drop(open(home.path(), "first", &then).unwrap());
    }
    let then = Opening { now: NOW - 100_000, ..of("at work", NOW - 90_000) };
    let _held = open(home.path(), "held", &then).unwrap();
    let folder = home.path().join(".local/state/opal");
    fs::write(folder.join("notes"), "not a journal").unwrap();
    drop(open(home.path(), "first", &of("other", NOW + 5)).unwrap());
    let names = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name());
    let names: Vec<String> = names.map(|it| it.into_string().unwrap()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(!names.iter().any(|it| it.contains(&(NOW - 86_500).to_string())), "{names:?}");
    // Whoever has its lock is at work, whatever the clocks say.
    assert!(names.iter().any(|it| it.contains(&(NOW - 90_000).to_string())), "{names:?}");
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

/// The process beside the helper of a session, which would end what it leaves.
fn guard(marker: &str) -> String {
    let is_guard = |pid: &String| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.windows(2).any(|it| it == [&b"--guard"[..], marker.as_bytes()])
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let mut names = all.filter_map(|entry| entry.file_name().into_string().ok());
    names.find(is_guard).unwrap()
}

/// The helper and the process beside it are killed at once, so nothing has ended the step.
#[test]
fn who_takes_over_ends_what_the_session_before_has_left() {
    let home = TempDir::new().unwrap();
    let at = home.path();
    let marker = format!("journal-{}", at.display());
    let held = open(at, &marker, &opening(0)).unwrap();
    held.journal.begun(FIRST, &Stop::new()).unwrap();
    // A step may run in a fork of the waiting shell.
    assert_eq!(run(&held.session, at, "echo $PPID > helper; :").unwrap().code, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let pid = at.join("pid");
            eventually("the step runs", || pid.exists());
            let helper = fs::read_to_string(at.join("helper")).unwrap().trim().to_owned();
            let comm = fs::read_to_string(format!("/proc/{helper}/comm")).unwrap();
            assert_eq!(comm.trim(), "opal-target");
            let guard = guard(&marker);
            for (signal, pid) in [("-STOP", &guard), ("-KILL", &helper), ("-KILL", &guard)] {
                let sent = std::process::Command::new("kill").args([signal, pid]).status();
                assert!(sent.unwrap().success());
            }
        });
        let text = "trap '' HUP INT TERM; echo $$ > new; mv new pid; \
                    while :; do sleep 1000; done";
        let lost = run(&held.session, at, text).unwrap_err();
        assert_eq!(lost.kind, TroubleKind::Lost);
    });
    let left = fs::read_to_string(at.join("pid")).unwrap().trim().to_owned();
    assert!(is_alive(&left));
    let next = open(at, "second", &opening(1)).unwrap();
    assert!(!is_alive(&left), "nothing of the step before runs when the journal is open");
    assert_eq!(next.entries.len(), 1);
}

#[test]
fn an_entry_without_an_open_journal_is_refused() {
    let home = TempDir::new().unwrap();
    let held = open(home.path(), "first", &opening(0)).unwrap();
    let control = held.journal.begun("a\nb", &Stop::new()).unwrap_err();
    assert!(control.message.contains("cannot be written into the journal"), "{control:?}");
    // One that was opened again is another one.
    let _again = held.session.journal(&opening(0), &Stop::new()).unwrap();
    let lost = held.journal.begun(FIRST, &Stop::new()).unwrap_err();
    assert!(lost.message.contains("is not open on the target"), "{lost:?}");
}
