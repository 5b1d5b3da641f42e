//! Signals: what is ended, what still runs, and that nothing is left behind.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;

use opal_testing::processes::{eventually, is_running, signal, unique};

use crate::support::Opal;

/// A run that is in the middle of its step, which has children of every kind.
fn started() -> (Opal, Child, String) {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    let stays = format!("python3 -c 'import time; time.sleep(600)' {word}");
    opal.write(
        "commands.opl",
        format!(
            "fun main() {{\n    try {{\n        sh -c \"{stays} & (setsid {stays} &) ; touch begun; \
             {stays}\"\n        touch never\n    }} finally {{\n        touch cleaned\n    }}\n}}\n"
        ),
    );
    let child = opal.interruptible().arg("main").spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists() && is_running(&word));
    (opal, child, word)
}

#[test]
fn one_signal_ends_the_step_with_all_it_started_and_cleans_up() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (opal, mut child, word) = started();
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        assert!(opal.path().join("cleaned").exists(), "{name}");
        assert!(!opal.path().join("never").exists(), "{name}");
        eventually("everything has ended", || !is_running(&word));
        let shown = opal.call(&["runs", "show", "last", "--json"]).json();
        assert_eq!(shown["run"]["status"], "interrupted", "{name}: {shown:#}");
    }
}

#[test]
fn a_second_signal_kills_and_cleans_nothing() {
    let opal = Opal::machine(
        "fun main() {\n    try {\n        sh -c 'trap \"\" INT TERM; touch begun; while :; do sleep 0.01; done'\n    } \
         finally {\n        touch cleaned\n    }\n}\n",
    );
    let opal = opal.args(["main"]);
    let mut child = opal.interruptible().spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal(&child, "INT");
    // A second signal right after the first counts as the same one.
    let (mut stderr, mut said) = (child.stderr.take().unwrap(), Vec::new());
    while !String::from_utf8_lossy(&said).contains("the same signal again kills them") {
        let mut some = [0; 1024];
        let count = stderr.read(&mut some).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&some[..count]);
    }
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!opal.path().join("cleaned").exists());
}

#[test]
fn cleaning_up_is_not_disturbed_by_the_signal_that_led_to_it() {
    let text = "fun main() {\n    try {\n        touch begun; sleep 600\n    } finally {\n        \
                sleep 0.3\n        touch cleaned\n    }\n}\n";
    let opal = Opal::machine(text).args(["main"]);
    let mut child = opal.interruptible().spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(opal.path().join("cleaned").exists());
}

#[test]
fn what_fails_while_an_interrupted_run_cleans_up_is_named_everywhere() {
    let text = "fun main() {\n    try {\n        touch begun; sleep 600\n    } finally {\n        \
                try { false } catch { true }\n        sh -c 'exit 5'\n    }\n}\n";
    let opal = Opal::machine(text);
    let mut child = opal.interruptible().args(["main", "--json"]).spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let told: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    let path = "main.try[0].finally.shell[0]";
    for run in [&told, &shown["run"]] {
        assert_eq!(run["counts"]["failed"], 1, "{run:#}");
        assert_eq!(run["also_failed"].as_array().map(Vec::len), Some(1), "{run:#}");
        assert_eq!(run["also_failed"][0]["path"], path, "{run:#}");
        assert_eq!(run["also_failed"][0]["code"], 5, "{run:#}");
    }
    let row = format!("  also failed: {path}: sh -c 'exit 5': failed with exit code 5 ");
    assert!(stderr.contains(&row), "{stderr}");
    assert!(!stderr.contains("\nfailed: exit code 5"), "it is said once: {stderr}");
}

#[test]
fn what_a_program_starts_to_clean_up_is_left_alone() {
    // One that waits for its child before it minds a signal, and one that minds it at once.
    for waits in ["sleep 600", "sleep 600 & wait"] {
        for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("TERM", 143)] {
            let opal = Opal::machine("fun main() {\n    ./work.sh\n    touch never\n}\n");
            let clean = "sleep 0.2 && /bin/sh -c \"sleep 0.2\" && touch tidied; exit 3";
            let text = format!("#!/bin/bash\ntrap '{clean}' INT TERM HUP\ntouch begun; {waits}\n");
            opal.write("work.sh", text);
            let script = opal.path().join("work.sh");
            std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
            let opal = opal.args(["main"]);
            let mut child = opal.interruptible().spawn().unwrap();
            eventually("the step begins", || opal.path().join("begun").exists());
            signal(&child, name);
            assert_eq!(child.wait().unwrap().code(), Some(code), "{waits} {name}");
            assert!(opal.path().join("tidied").exists(), "{waits} {name}");
            assert!(!opal.path().join("never").exists(), "{waits} {name}");
        }
    }
}

const CALM: &str = "trap \"exit 0\" INT TERM; touch begun; sleep 600 & wait";

#[test]
fn a_step_that_calls_its_interruption_a_success_is_stopped_all_the_same() {
    let text =
        format!("fun main() {{\n    test -e begun || bash -c '{CALM}'\n    touch next\n}}\n");
    let opal = Opal::machine(&text);
    let mut child = opal.interruptible().arg("main").spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(!opal.path().join("next").exists());
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(shown["run"]["status"], "interrupted", "{shown:#}");
    opal.call(&["main", "--resume"]).code(0);
    assert!(opal.path().join("next").exists(), "it is taken up at the step that was stopped");
}

#[test]
fn a_step_that_calls_the_end_of_its_time_a_success_has_timed_out_all_the_same() {
    let step = format!("bash -c '{CALM}'");
    let opal = Opal::machine(&format!(
        "fun main() {{\n    @timeout(300ms) {{ {step} }}\n    touch next\n}}\nfun whole() {{\n    {step}\n}}\n"
    ));
    opal.call(&["main"]).code(124);
    opal.call(&["whole", "--timeout", "300ms"]).code(124);
    assert!(!opal.path().join("next").exists());
}

#[test]
fn a_run_that_was_stopped_between_two_attempts_goes_on_at_the_step_that_failed() {
    let text = "fun main() {\n    echo first\n    @retry(5, delay=60s) { test -e mended }\n}\n";
    let opal = Opal::machine(text);
    let mut child = opal.interruptible().args(["main", "--events", "events"]).spawn().unwrap();
    let events = || std::fs::read_to_string(opal.path().join("events")).unwrap_or_default();
    eventually("it waits", || events().contains("retrying"));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    opal.write("mended", "");
    opal.call(&["main", "--resume", "-q"]).code(0).stdout("");
}

#[test]
fn planning_that_is_interrupted_leaves_no_command_behind() {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    opal.write(
        "commands.opl",
        format!(
            "fun main() {{\n    echo @shell.output(\"touch begun; python3 -c 'import time; \
             time.sleep(600)' {word}\")\n}}\n"
        ),
    );
    let opal = opal.args(["main"]);
    let mut child = opal.interruptible().spawn().unwrap();
    eventually("planning begins", || opal.path().join("begun").exists() && is_running(&word));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    eventually("everything has ended", || !is_running(&word));
}

#[test]
fn what_a_step_left_in_the_background_survives_the_end_of_a_run() {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    let stays = format!("python3 -c 'import time; time.sleep(20)' {word}");
    let text = format!("fun main() {{\n    {stays} >/dev/null 2>&1 &\n    echo on\n}}\n");
    opal.write("commands.opl", text);
    opal.call(&["main", "-q"]).code(0).stdout("on\n");
    eventually("it is there", || is_running(&word));
}
