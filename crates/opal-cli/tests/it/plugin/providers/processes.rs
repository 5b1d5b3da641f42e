//! Processes of providers: one that hangs, crashes or is left behind.

use std::fs;
use std::process::{Command, Stdio};

use opal_testing::processes::eventually;
use rustix::process::{Pid, Signal, kill_process};

use super::{accepted, ended};
use crate::support::Opal;

const COMMANDS: &str = r#"
fun hang() {
    @box.provider(directory="cloud") {
        @box.thing(name="hang")
    }
}

fun slow() {
    @box.provider(directory="cloud") {
        @box.thing(name="hang", verify_timeout=1s)
        @box.thing(name="a")
    }
}

fun crash() {
    @box.provider(directory="cloud") {
        @box.thing(name="crash")
    }
}

fun once() {
    @box.provider(directory="cloud") {
        @box.thing(name="crash-once")
    }
}

fun made() {
    @box.provider(directory="cloud") {
        @box.thing(name="crash-created")
    }
}
"#;

#[test]
fn what_a_provider_prints_while_it_is_asked_is_in_the_record() {
    let source = "fun talk() {\n    @box.provider(directory=\"cloud\") {\n        \
                  @box.thing(name=\"talk\")\n    }\n}\n";
    let Some(opal) = accepted(source) else { return };
    ended(&opal, &["talk"], 0);
    let events = ended(&opal, &["runs", "show", "--events"], 0).stdout;
    assert!(events.contains("said by the provider"), "{events}");
}

/// Processes of the provider of a project.
pub(super) fn running(opal: &Opal) -> usize {
    let own = opal.path().join("bin/box").canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter(|it| fs::read_link(it.path().join("exe")).is_ok_and(|exe| exe == own)).count()
}

fn command(opal: &Opal, task: &str) -> Command {
    let mut command = opal.interruptible();
    command.args(["verify", task]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn no_provider_outlives_opal() {
    let Some(opal) = accepted(COMMANDS) else { return };
    for signal in [Signal::KILL, Signal::INT, Signal::TERM] {
        let mut child = command(&opal, "hang").spawn().unwrap();
        eventually("the provider runs", || running(&opal) > 0);
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        eventually("the provider has ended", || running(&opal) == 0);
    }
    // The next run is not affected.
    ended(&opal, &["verify", "slow"], 1);
    eventually("the provider has ended", || running(&opal) == 0);
}

#[test]
fn an_object_that_does_not_answer_does_not_hold_up_the_others() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let ran = ended(&opal, &["verify", "slow"], 1);
    let line = |name: &str| ran.stdout.lines().find(|it| it.contains(name)).unwrap().to_owned();
    assert!(line("box_thing:hang").contains("blocked"), "{ran:?}");
    assert!(line("box_thing:a").contains("missing"), "{ran:?}");
}

#[test]
fn a_provider_that_crashes_is_named_with_its_last_words() {
    let Some(opal) = accepted(COMMANDS) else { return };
    let ran = ended(&opal, &["verify", "crash"], 1);
    assert!(ran.stdout.contains("blocked"), "{ran:?}");
    assert!(ran.stdout.contains("the provider ended (exit code 3)"), "{ran:?}");
    // What only reads is repeated once.
    let ran = ended(&opal, &["verify", "once"], 1);
    assert!(ran.stdout.contains("missing"), "{ran:?}");
    // What changes is never repeated; another process says how it ended.
    ended(&opal, &["made"], 0);
    assert!(opal.path().join("cloud/thing-crash-created.json").exists());
}
