//! Runs that are ended at any moment: nothing is left, and what is kept can be read.

use std::time::Duration;

use crate::support::{Opal, Ran};
use opal_testing::processes::{eventually, is_running, signal, unique};

/// In a release build, all that is promised; else enough to see that the test works.
const INTERRUPTIONS: u64 = if cfg!(debug_assertions) { 24 } else { 1_000 };
const KILLS: u64 = if cfg!(debug_assertions) { 24 } else { 500 };

/// A task with something of everything, whose processes have `word` in their command lines.
fn task(word: &str) -> String {
    let stays = format!("python3 -c 'import time; time.sleep(600)' {word}");
    format!(
        "fun main() {{\n    let.id = @shell(\"echo some-value-of-a-step\")\n    echo @let.id\n    try {{\n        \
         @retry(2, delay=1ms) {{ false }}\n    }} catch {{\n        ls /\n    }}\n    @parallel {{\n        \
         seq 1 2000\n        ( {stays} & ) ; sleep 0.01; {stays}\n        \
         sh -c \"setsid {stays} & echo two; {stays}\"\n        {{\n            @timeout(20ms) {{ {stays} }}\n        }}\n    }}\n}}\n"
    )
}

/// A moment between nothing and the end of such a run, the same in every run of the test.
fn moment(round: u64) -> Duration {
    Duration::from_micros(round.wrapping_mul(2_654_435_761) % 150_000)
}

/// Every record can be read, and says how the run ended or that nobody knows.
fn assert_readable(opal: &Opal) {
    let listed = opal.call(&["runs", "list", "--json"]);
    let listed = listed.code(0).json();
    for run in listed["runs"].as_array().unwrap() {
        let id = run["id"].as_str().unwrap();
        let shown = opal.call(&["runs", "show", id, "--json"]).code(0).json();
        for step in shown["steps"].as_array().unwrap() {
            assert!(step["path"].is_string() && step["number"].is_u64(), "{shown:#}");
        }
    }
}

#[test]
fn after_interruptions_at_any_moment_no_process_is_left_and_records_are_readable() {
    let opal = Opal::machine("");
    let word = unique(&opal.path());
    opal.write("commands.opl", task(&word));
    for round in 0..INTERRUPTIONS {
        let mut child = opal.interruptible().args(["main", "--timeout", "20s"]).spawn().unwrap();
        std::thread::sleep(moment(round));
        // It may be over already.
        let _ =
            std::panic::catch_unwind(|| signal(&child, ["INT", "TERM", "HUP"][round as usize % 3]));
        let output = child.stdout.take().map(std::io::read_to_string);
        child.wait().unwrap();
        drop(output);
        eventually("everything has ended", || !is_running(&word));
    }
    assert_readable(&opal);
}

#[test]
fn after_a_kill_at_any_moment_records_tell_what_had_started_and_finished() {
    let text = "fun main() {\n    echo one\n    ls /\n    @parallel {\n        seq 1 3000\n        echo two\n    }\n    \
                for i in 1...50 { echo @var.i }\n}\n";
    let opal = Opal::machine(text);
    for round in 0..KILLS {
        let mut child = opal.command().args(["main"]).spawn().unwrap();
        std::thread::sleep(moment(round) / 4);
        child.kill().unwrap();
        let output: Ran = child.wait_with_output().unwrap().into();
        drop(output);
        if round % 50 == 49 {
            assert_readable(&opal);
        }
    }
    assert_readable(&opal);
}
