//! Time limits that must pass after a step has started.

use std::time::{Duration, Instant};

use opal_testing::processes::{eventually, signal};

use crate::support::Opal;

#[test]
fn a_run_whose_time_is_over_says_so_and_can_be_taken_up() {
    let opal =
        Opal::machine("fun main() {\n    echo one\n    test -e go || sleep 60\n    echo two\n}\n");
    let ran = opal.call(&["main", "--timeout", "300ms"]);
    ran.code(124).stdout("one\n").says("time").says("--resume");
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("two\n");
}

#[test]
fn killing_takes_no_longer_than_asking() {
    let text = "fun main() {\n    ( trap '' TERM INT; sleep 600 ) >/dev/null 2>&1 &\n    touch begun; sleep 600\n}\n";
    let opal = Opal::machine(text).args(["main"]);
    let mut child = opal.interruptible().spawn().unwrap();
    eventually("the step begins", || opal.path().join("begun").exists());
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(200));
    let killed = Instant::now();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(killed.elapsed() < Duration::from_secs(9), "the grace period was waited for");
}

#[test]
fn a_run_that_was_out_of_time_names_the_step_that_was_at_work() {
    let opal = Opal::machine("fun main() {\n    true\n    sleep 60\n}\n");
    let json = opal.call(&["main", "--timeout", "100ms", "--json"]);
    let json = json.code(124).says("error: the run timed out").json();
    assert_eq!(json["failed"]["path"], "main.shell[1]", "{json:#}");
    assert_eq!(json["failed"]["code"], 124, "{json:#}");
    opal.call(&["runs", "list"]).code(0).says("at main.shell[1]");
}

#[test]
fn a_run_that_is_out_of_time_cleans_up() {
    let opal = Opal::machine("fun main() {\n    try { sleep 60 } finally { echo clean }\n}\n");
    opal.args(["main", "--timeout", "300ms"]).run().code(124).stdout("clean\n");
}

#[test]
fn a_run_that_was_out_of_time_is_taken_up_where_it_was() {
    let text =
        "fun main() {\n    echo one\n    sh -c 'test -e go || sleep 600'\n    echo three\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["main", "--timeout", "300ms"]);
    ran.code(124).says("the run timed out").says("--resume");
    let summary = opal.call(&["runs", "show", "--json"]).json();
    assert_eq!(summary["run"]["counts"]["failed"], 1);
    opal.write("go", "");
    opal.call(&["main", "--resume"]).code(0).stdout("three\n");
}

#[test]
fn failures_are_called_by_the_id_of_the_step() {
    let text = "version: 1\nsettings: {continue_on_error: true, timeout: 300ms}\nsteps:\n\
                \x20 - {id: nginx-conf, type: copy, source: nowhere, destination: d}\n\
                \x20 - {id: slow, type: command, command: sleep 60}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1).says("  step: nginx-conf (script.parallel[0]").says("  also failed: slow: ");
    ran.says("timed out after 300ms: `slow` took too long");
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    let statuses = summary["steps"].as_array().unwrap().iter().map(|step| &step["status"]);
    assert_eq!(statuses.collect::<Vec<_>>(), ["failed", "timed_out"]);
    assert_eq!(summary["steps"][1]["message"], "timed out");
    assert_eq!(summary["also_failed"][0]["id"], "slow");
}

#[test]
fn a_run_that_is_out_of_time_names_what_took_so_long() {
    let opal = Opal::machine("fun main() {\n    @shell(\"sleep 60\", id=\"slow\")\n}\n");
    let ran = opal.call(&["main", "--timeout", "300ms"]);
    ran.code(124).says("the run timed out").says("  took too long: slow\n");
}

#[test]
fn a_step_that_times_out_is_told_by_its_command_and_its_line() {
    let text = "version: 1\nsettings: {timeout: 300ms}\nsteps:\n  \
                - {id: fast, type: command, command: 'true'}\n  \
                - {id: slow, name: Slow thing, type: command, command: sleep 60, \
                depends_on: [fast]}\n  \
                - {id: after, type: directory, path: d, depends_on: [slow]}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(1)
        .says("error: timed out after 300ms: `slow` took too long\n  --> a.yaml:5\n")
        .says("  step: slow (script.parallel[0].timeout[1].shell[0])\n")
        .says("sleep 60")
        .hides("@timeout");
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    let failed = &summary["failed"];
    assert_eq!((&failed["id"], &failed["code"]), (&"slow".into(), &124.into()), "{failed}");
    assert_eq!(failed["decorator"], "@shell", "{failed}");
    let record = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["failed"]["path"], failed["path"]);
    assert!(!opal.path().join("d").exists());
    opal.call(&["apply", "a.yaml", "--resume"]).code(1).says("`slow` took too long");
}

#[test]
fn a_task_that_times_out_is_told_by_its_command_too() {
    let text = "fun a() {\n    @timeout(300ms) {\n        true\n        sleep 60\n    }\n}\n";
    let opal = Opal::machine(text);
    let ran = opal.call(&["a"]);
    ran.code(124).says("  --> commands.opl:4\n").says("  command: sleep 60\n");
    ran.says("  step: a.timeout[0].shell[1]\n");
    opal.call(&["a", "--resume"]).code(124).says("  command: sleep 60\n");
}

#[test]
fn a_run_that_was_out_of_time_between_two_attempts_goes_on_at_the_step_that_failed() {
    let text = "fun main() {\n    echo first\n    @retry(5, delay=60s) { test -e fixed }\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main", "--timeout", "300ms"]).code(124).says("main --resume");
    opal.write("fixed", "");
    opal.call(&["main", "--resume", "-q"]).code(0).stdout("");
}
