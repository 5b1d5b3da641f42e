//! Signals, time-outs, readers that go away, and many steps.

use std::process::Stdio;

use crate::run_view::{on_a_terminal, screen};
use crate::support::{Opal, Ran};
use opal_testing::processes::{eventually, is_running, signal, unique};

/// A check that never ends, in a configuration beside one that does.
fn stuck() -> (Opal, String) {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    let check = format!("touch begun; python3 -c 'import time; time.sleep(600)' {word}");
    let text = format!(
        "version: 1\nsteps:\n  - {{id: dir, type: directory, path: out}}\n  - id: slow\n    \
         type: command\n    command: touch applied\n    check: |\n      {check}\n"
    );
    opal.write("a.yaml", text);
    (opal, word)
}

#[test]
fn a_signal_ends_a_look_with_all_it_started() {
    let (opal, word) = stuck();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let child = opal.interruptible().args(["verify", "a.yaml"]).spawn().unwrap();
        eventually("the check begins", || is_running(&word));
        signal(&child, name);
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.code(code).says("interrupted").says("nothing was changed");
        eventually("everything has ended", || !is_running(&word));
    }
    let opal = opal.args(["apply", "a.yaml", "--verify-first"]);
    let child = opal.interruptible().spawn().unwrap();
    eventually("the check begins", || is_running(&word));
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130);
    eventually("everything has ended", || !is_running(&word));
    assert!(!opal.path().join("out").exists());
    assert!(!opal.path().join("applied").exists());
}

#[test]
fn a_look_that_takes_too_long_is_blocked_and_says_so() {
    let (opal, word) = stuck();
    let ran = opal.call(&["verify", "a.yaml", "--timeout", "300ms"]);
    ran.code(1).says("did not answer within 300ms").says("missing");
    let ran = opal.call(&["verify", "a.yaml", "--timeout", "300ms", "-v"]);
    ran.says("more time with `--timeout`").hides("verify_timeout");
    eventually("everything has ended", || !is_running(&word));
}

#[test]
fn advice_on_time_names_what_gave_so_little_of_it() {
    let text = "version: 1\nsteps:\n  - {id: slow, type: command, command: \"true\", \
                check: sleep 20, verify_timeout: 1}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    for words in [
        &["verify", "a.yaml", "-v"][..],
        &["apply", "a.yaml"],
        // There it is the time of the whole run, with or without a unit.
        &["apply", "a.yaml", "--timeout", "90s"],
        &["apply", "a.yaml", "--timeout", "90"],
    ] {
        let ran = opal.call(words);
        ran.code(1).says("did not answer within 1s").says("`verify_timeout`").hides("--timeout");
    }
    let ran = opal.call(&["verify", "a.yaml", "--timeout", "2", "-v"]);
    ran.code(1).says("did not answer within 2s").says("more time with `--timeout`");
    opal.call(&["verify", "a.yaml", "--timeout", "0"]).code(2).says("must be longer than zero");
    opal.call(&["verify", "a.yaml", "--timeout", "-5"]).code(2);
    opal.call(&["verify", "a.yaml", "--timeout", "5 s"]).code(2).says("90s");
}

#[test]
fn a_reader_that_has_gone_away_is_no_failure() {
    let opal = Opal::machine("").file("a.yaml", super::CHAIN).file("app.conf", "x\n");
    let mut child = opal.command().args(["verify", "a.yaml"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let null = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = opal.command();
    let ran = command.args(["verify", "a.yaml"]).stdout(Stdio::from(null)).output().unwrap();
    Ran::from(ran).code(3).says("cannot be written");
}

#[test]
fn a_thousand_steps_are_told_in_the_order_of_the_file() {
    let step = |n: usize| format!("  - {{id: s{n}, type: directory, path: out/{n}}}\n");
    let text = format!("version: 1\nsteps:\n{}", (0..1_000).map(step).collect::<String>());
    let opal = Opal::machine("").file("a.yaml", text);
    let ran = opal.call(&["verify", "a.yaml"]);
    let ids =
        ran.code(1).stdout.lines().filter_map(|line| line.strip_prefix("+  ")?.split(' ').next());
    assert!(ids.eq((0..1_000).map(|n| format!("s{n}"))), "{ran:#?}");
}

#[test]
fn a_terminal_gets_a_sign_of_life_and_nothing_of_it_stays() {
    let text = "version: 1\nsteps:\n  - {id: slow, type: command, command: x, check: sleep 1}\n";
    let opal = Opal::machine("").file("a.yaml", text).args(["verify", "a.yaml"]);
    let (code, shown) = on_a_terminal(&opal);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("verifying: 0 of 1, ") && shown.contains(": slow"), "{shown}");
    let lines = screen(&shown);
    assert!(!lines.iter().any(|line| line.contains("verifying")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("everything is in the desired state")),
        "{lines:?}"
    );
}
