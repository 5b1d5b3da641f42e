//! opal as a job of an interactive shell: in front of the terminal, behind it, and moved between.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::process::Child;

use super::terminal::{is_suspended, read_until};
use crate::pty::start;
use crate::support::{Opal, binary};
use opal_testing::processes::eventually;

/// What the shell shows when it is ready for the next line.
const READY: &str = "READY> ";

/// A shell that leads the session of a terminal, in a project.
struct Shell {
    opal: Opal,
    child: Child,
    own: File,
}

impl Shell {
    fn of(text: &str) -> Self {
        let opal = Opal::machine(text);
        let words = ["/usr/bin/setsid", "--ctty", "--wait", "bash", "--norc", "--noediting", "-i"];
        let mut shell = opal.started_by(&words.map(OsStr::new));
        shell.env("opal", binary()).env("PS1", READY).env("NO_COLOR", "1");
        let (child, own) = start(shell);
        let mut shell = Self { opal, child, own };
        shell.read(READY);
        shell
    }

    fn types(&mut self, keys: &[u8]) {
        self.own.write_all(keys).unwrap();
    }

    /// What is shown from now on, up to `said`.
    fn read(&mut self, said: &str) -> String {
        let mut shown = String::new();
        read_until(&mut self.own, &mut shown, said);
        shown
    }

    fn has(&self, name: &str) -> bool {
        self.opal.path().join(name).exists()
    }

    /// The number of opal, which a shell has written.
    fn pid(&self) -> String {
        let is_whole = || self.has("pid") && self.opal.read("pid").ends_with('\n');
        eventually("opal has a number", is_whole);
        self.opal.read("pid").trim().to_owned()
    }

    fn ends(mut self) {
        self.types(b"exit\n");
        self.child.wait().unwrap();
    }
}

#[test]
fn ctrl_c_is_no_failure_of_the_step_where_not_all_is_on_the_terminal() {
    let task = |name: &str, trap: &str| {
        let step = format!("sh -c '{trap}for i in $(seq 400); do echo t$i; sleep 0.3; done'");
        format!("fun {name}() {{\n    try {{ {step} }} catch {{ touch caught }}\n}}\n")
    };
    // One that the key ends, and one that ends itself for it.
    let mut shell = Shell::of(&(task("main", "") + &task("mild", "trap \"exit 3\" INT; ")));
    for words in
        ["\"$opal\" main | cat\n", "\"$opal\" main </dev/null\n", "\"$opal\" mild </dev/null\n"]
    {
        for round in 1..=15 {
            shell.types(words.as_bytes());
            shell.read("t1\r\n");
            shell.types(b"\x03");
            let shown = shell.read(READY);
            assert!(shown.contains("interrupted: "), "{words} {round}: {shown}");
            assert!(!shell.has("caught"), "{words} {round}: {shown}");
        }
    }
    shell.ends();
}

#[test]
fn a_step_that_interrupts_itself_has_failed() {
    let mut shell = Shell::of("fun main() {\n    sh -c 'kill -INT $$'\n}\n");
    shell.types(b"\"$opal\" main </dev/null\n");
    let shown = shell.read(READY);
    assert!(shown.contains("was killed by SIGINT") && shown.contains("failed: "), "{shown}");
    shell.ends();
}

#[test]
fn in_the_background_opal_runs_to_its_end_and_leaves_the_terminal_alone() {
    let text =
        "fun main() {\n    sh -c 'test -t 1 || touch piped'\n    echo on\n    touch after\n}\n";
    let mut shell = Shell::of(text);
    shell.types(b"\"$opal\" main & echo $! > pid\n");
    let pid = shell.pid();
    eventually("the last step runs", || {
        assert!(shell.has("after") || !is_suspended(&pid), "it has been stopped");
        shell.has("after")
    });
    assert!(shell.has("piped"), "its steps have no terminal");
    shell.ends();
}

#[test]
fn in_the_background_a_step_that_reads_the_terminal_waits_for_fg() {
    let mut shell = Shell::of("fun main() {\n    read word; echo got-$word\n}\n");
    shell.types(b"\"$opal\" main & echo $! > pid\n");
    let pid = shell.pid();
    eventually("it is stopped", || is_suspended(&pid));
    shell.types(b"fg\nword\n");
    assert!(shell.read("got-word\r\n").contains("got-word"));
    shell.ends();
}

#[test]
fn what_was_suspended_goes_on_in_the_background() {
    let step = "sh -c 'echo $PPID; while ! test -e go; do sleep 0.02; done; touch after'";
    let text = format!("fun main() {{\n    {step}\n    touch last\n}}\n");
    let mut shell = Shell::of(&text);
    shell.types(b"\"$opal\" main & echo $! > pid; fg\n");
    let pid = shell.pid();
    eventually("the step runs", || shell.opal.path().join("pid").exists() && !is_suspended(&pid));
    shell.read("PPID");
    shell.types(b"\x1a");
    eventually("all is held", || is_suspended(&pid));
    shell.types(b"bg\n");
    shell.opal.write("go", "");
    eventually("the last step runs", || shell.has("last"));
    assert!(shell.has("after"));
    shell.ends();
}
