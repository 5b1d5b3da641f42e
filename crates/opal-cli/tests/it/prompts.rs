//! Questions on a terminal: missing arguments, and `opal pick`.

mod bindings;
mod pick;

use std::io::{Read as _, Write as _};
use std::process::Command;

use rustix::event::{PollFd, PollFlags};
use rustix::termios::{LocalModes, tcgetattr};
use rustix::time::Timespec;

use crate::pty::start;
use crate::support::Opal;

const PROJECT: &str = "\
// Puts it online.
// env: where to
fun deploy(env: \"staging\" | \"production\", count: Int) {
    echo \"to @var.env with @var.count\"
}

fun build(release = false) = echo @var.release
fun say(text) = echo @var.text
fun lost() = echo @var.nothing
fun wrong(text) = echo @var.text @var.nothing
";

fn project() -> Opal {
    Opal::machine(PROJECT).env("TERM", "xterm")
}

/// Types each of the keys once the terminal has shown the text before it; the exit code, and all that
/// was shown.
pub(crate) fn answered(command: Command, answers: &[(&str, &str)]) -> (i32, String) {
    let (mut child, mut own) = start(command);
    let (mut shown, mut bytes, mut seen) = (String::new(), [0; 4096], 0);
    let mut answers = answers.iter();
    let mut next = answers.next();
    // An error is the end: nobody has the other side open any more.
    loop {
        let mut ready = [PollFd::new(&own, PollFlags::IN)];
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        if rustix::event::poll(&mut ready, Some(&limit)).unwrap() == 0 {
            child.kill().unwrap();
            panic!("{next:?} is waited for: {shown}");
        }
        let Ok(count @ 1..) = own.read(&mut bytes) else { break };
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        while let Some((said, keys)) = next
            && let Some(at) = shown[seen..].find(said)
        {
            seen += at + said.len();
            own.write_all(keys.as_bytes()).unwrap();
            next = answers.next();
        }
    }
    assert!(next.is_none(), "{next:?} was not shown: {shown}");
    let modes = tcgetattr(&own).unwrap().local_modes;
    let usual = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    assert!(modes.contains(usual), "the terminal is not as before: {modes:?}");
    (child.wait().unwrap().code().unwrap_or(-1), shown)
}

fn asked(words: &[&str], answers: &[(&str, &str)]) -> (i32, String) {
    answered(project().args(words.iter().copied()).interruptible(), answers)
}

#[test]
fn missing_arguments_are_asked_for_by_type_and_the_command_line_is_shown() {
    let (code, shown) = asked(&["deploy"], &[("staging", "prod\r"), ("count", "3\r")]);
    assert!(code == 0 && shown.contains("to production with 3"), "{code} {shown}");
    assert!(shown.contains("opal deploy production 3"), "{shown}");
    assert!(shown.contains("where to"), "{shown}");
}

#[test]
fn what_was_given_is_not_asked_again_and_options_are_kept() {
    let (code, shown) =
        asked(&["--defaults", "deploy", "--count=7", "--dry-run"], &[("staging", "\r")]);
    assert!(code == 0 && shown.contains("to staging with 7"), "{code} {shown}");
    assert!(shown.contains("opal --defaults --dry-run deploy staging 7"), "{shown}");
    let (code, shown) = asked(&["plan", "say"], &[("text", "it's\r")]);
    assert!(code == 0 && shown.contains(r"opal plan say 'it'\''s'"), "{code} {shown}");
    assert!(shown.contains("\"it's\""), "{shown}");
}

#[test]
fn keys_move_the_mark_and_mistakes_are_asked_again() {
    let keys = [("staging", "\x1b[B\r"), ("count", "many\r"), ("Int", "\x153\r")];
    let (code, shown) = asked(&["deploy"], &keys);
    assert!(code == 0 && shown.contains("to production with 3"), "{code} {shown}");
    let keys = [("text", "\r"), ("needs a value", "xy z\x17\x7f\x7f-n\r")];
    let (code, shown) = asked(&["say"], &keys);
    assert!(code == 0 && shown.contains("opal say x-n"), "{code} {shown}");
}

#[test]
fn ctrl_c_and_escape_end_with_130_and_run_nothing() {
    for key in ["\x03", "\x04", "\x1b"] {
        let (code, shown) = asked(&["deploy"], &[("staging", key)]);
        assert!(code == 130 && !shown.contains("opal deploy"), "{key:?} {code} {shown}");
        let (code, shown) = asked(&["say"], &[("text", key)]);
        assert!(code == 130 && !shown.contains("opal say"), "{key:?} {code} {shown}");
    }
}

#[test]
fn a_signal_restores_the_terminal() {
    let opal = project().args(["deploy"]);
    let (mut child, mut own) = start(opal.interruptible());
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    while !shown.contains("staging") {
        let count = own.read(&mut bytes).unwrap();
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    assert!(!tcgetattr(&own).unwrap().local_modes.contains(LocalModes::ECHO));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    while let Ok(1..) = own.read(&mut bytes) {}
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(tcgetattr(&own).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON));
}

#[test]
fn nobody_is_asked_where_a_program_reads_or_the_terminal_cannot_be_drawn() {
    let (code, shown) = asked(&["--json", "deploy"], &[]);
    assert!(code == 2 && shown.contains("needs `env` and `count`"), "{code} {shown}");
    let (code, shown) = asked(&["deploy", "--json"], &[]);
    assert!(code == 2 && shown.contains("needs `env` and `count`"), "{code} {shown}");
    let dumb = project().env("TERM", "dumb").args(["deploy"]);
    let (code, shown) = answered(dumb.interruptible(), &[]);
    assert!(code == 2 && shown.contains("needs `env` and `count`"), "{code} {shown}");
    project().call(&["deploy"]).code(2).says("needs `env` and `count`");
}

#[test]
fn mistakes_in_the_source_come_before_questions() {
    let (code, shown) = asked(&["wrong"], &[]);
    assert!(code == 65 && shown.contains("nothing"), "{code} {shown}");
}
