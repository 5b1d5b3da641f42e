//! Steps on a terminal, with a test in the place of a person.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use crate::needs;
use crate::pty::start;
use crate::support::{Opal, binary};
use opal_testing::processes::eventually;

/// What a terminal shows, and the exit code; the keys are typed once it has shown `said`.
fn on_a_terminal(opal: &Opal, said: &str, keys: &[u8]) -> (i32, String) {
    typed(opal.interruptible(), said, keys)
}

/// The same for any command.
pub(crate) fn typed(command: Command, said: &str, keys: &[u8]) -> (i32, String) {
    let (mut child, mut own) = start(command);
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    let mut is_typed = false;
    // An error is the end: nobody has the other side open any more.
    while let Ok(count @ 1..) = own.read(&mut bytes) {
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if !is_typed && shown.contains(said) {
            is_typed = true;
            own.write_all(keys).unwrap();
        }
    }
    (child.wait().unwrap().code().unwrap_or(-1), shown)
}

#[test]
fn a_server_outlives_its_run() {
    let opal = Opal::machine("fun main() {\n    sleep 600 & echo $! > pid\n    echo done\n}\n");
    let opal = opal.args(["main"]);
    let (code, shown) = on_a_terminal(&opal, "done", b"");
    let pid = fs::read_to_string(opal.path().join("pid")).unwrap().trim().parse().unwrap();
    let pid = Pid::from_raw(pid).unwrap();
    let is_there = test_kill_process(pid).is_ok();
    let _ = kill_process(pid, Signal::KILL);
    assert!(code == 0 && is_there, "{code} {shown}");
}

#[test]
fn a_pager_shows_its_first_page_and_takes_its_keys() {
    if !needs::has("`less`", Path::new("/usr/bin/less").exists()) {
        return;
    }
    let text = "fun main() {\n    seq 200 | /usr/bin/less\n    echo left\n}\n";
    let opal = Opal::machine(text).env("TERM", "xterm").env("LESS", "").args(["main"]);
    let (code, shown) = on_a_terminal(&opal, "\r\n23\r\n", b"q");
    assert!(code == 0 && shown.contains("left\r\n") && !shown.contains("150"), "{code} {shown}");
}

#[test]
fn ctrl_c_reaches_what_has_left_the_terminal() {
    // With a signal that only the keyboard gives.
    let away = "setsid -f sh -c 'trap \"touch heard; exit\" INT; touch away; while :; do sleep 0.05; done'";
    let text = format!(
        "fun main() {{\n    {away}; while :; do test -e away && break; done; echo be''gun; sleep 600\n}}\n"
    );
    let opal = Opal::machine(&text).args(["main"]);
    let (code, shown) = on_a_terminal(&opal, "begun", b"\x03");
    assert_eq!(code, 130, "{shown}");
    assert!(opal.path().join("heard").exists(), "{shown}");
}

#[test]
fn what_cleans_up_runs_though_the_terminal_is_gone() {
    let opal = Opal::machine(
        "fun main() {\n    try {\n        touch begun; sleep 600\n    } finally {\n        \
         sh -c 'echo gone; sleep 0.1'\n        touch cleaned\n    }\n}\n",
    );
    let opal = opal.args(["main"]);
    let (mut child, own) = start(opal.interruptible());
    eventually("the step begins", || opal.path().join("begun").exists());
    drop(own);
    assert_eq!(child.wait().unwrap().code(), Some(129));
    assert!(opal.path().join("cleaned").exists());
}

/// Reads until the terminal has shown `said`, or nobody has its other side open any more.
pub(crate) fn read_until(own: &mut File, shown: &mut String, said: &str) {
    let mut bytes = [0; 4096];
    while !shown.contains(said) {
        let Ok(count @ 1..) = own.read(&mut bytes) else { return };
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

/// Whether a process is held.
pub(super) fn is_suspended(pid: &str) -> bool {
    // One that has ended meanwhile is not.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

#[test]
fn ctrl_z_suspends_opal_and_the_step_and_fg_goes_on_with_both() {
    let step = "sh -c 'echo $$ $PPID > pids; echo be''gun; read word; echo got-$word'";
    let opal = Opal::machine(&format!("fun main() {{\n    {step}\n    echo af''ter\n}}\n"));
    // What has job control: a shell that leads the session of the terminal.
    let shell = ["/usr/bin/setsid", "--ctty", "--wait", "bash", "--norc", "--noediting", "-i"];
    let mut shell = opal.started_by(&shell.map(OsStr::new));
    shell.env("opal", binary()).env("PS1", "$ ");
    let (mut child, mut own) = start(shell);
    let mut shown = String::new();
    own.write_all(b"\"$opal\" main & echo $! > opal; fg; echo a-$((40 + 2))\n").unwrap();
    read_until(&mut own, &mut shown, "begun");
    let pids = opal.read("pids") + " " + &opal.read("opal");
    let pids: Vec<&str> = pids.split_whitespace().collect();
    for round in 1..=3 {
        own.write_all(b"\x1a").unwrap();
        eventually("all are held", || pids.iter().all(|pid| is_suspended(pid)));
        // The shell has the terminal back as it was, which it would not have from raw mode.
        own.write_all(format!("echo held-$((40 + {round}))\n").as_bytes()).unwrap();
        read_until(&mut own, &mut shown, &format!("held-4{round}\r\n"));
        assert!(tcgetattr(&own).unwrap().local_modes.contains(LocalModes::ICANON), "{shown}");
        own.write_all(b"fg; echo code-$?\n").unwrap();
        eventually("all go on", || !pids.iter().any(|pid| is_suspended(pid)));
    }
    own.write_all(b"word\n").unwrap();
    read_until(&mut own, &mut shown, "code-0\r\n");
    own.write_all(b"exit\n").unwrap();
    child.wait().unwrap();
    assert!(shown.contains("got-word\r\n") && shown.contains("after\r\n"), "{shown}");
}
