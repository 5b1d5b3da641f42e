//! What an apply says of its steps: to programs, by their ids, and on a pipe.

use serde_json::Value;

use crate::support::Opal;

fn of(summary: &Value, key: &str) -> Vec<Value> {
    summary["steps"].as_array().unwrap().iter().map(|step| step[key].clone()).collect()
}

#[test]
fn the_summary_has_an_entry_for_each_step() {
    let text = "version: 1\nsettings: {continue_on_error: true}\nsteps:\n\
                \x20 - {id: there, type: directory, path: there}\n\
                \x20 - {id: made, type: directory, path: made}\n\
                \x20 - {id: bad, type: command, command: exit 7}\n\
                \x20 - {id: after, type: directory, path: after, depends_on: [bad]}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("there/.keep", "");
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    assert_eq!(of(&summary, "id"), ["there", "made", "bad", "after"]);
    assert_eq!(of(&summary, "status"), ["satisfied", "done", "failed", "skipped"]);
    assert_eq!(of(&summary, "code"), [0.into(), 0.into(), 7.into(), Value::Null]);
    assert_eq!(of(&summary, "decorator")[1..3], ["@file.directory", "@shell"]);
    let steps = &summary["steps"];
    assert!(steps[1]["path"].as_str().unwrap().contains("file.directory"), "{steps:#}");
    assert!(steps[1]["duration_ms"].is_number() && steps[3]["duration_ms"].is_null(), "{steps:#}");
    assert_eq!(steps[1]["message"], Value::Null);
    assert_eq!(steps[3]["message"], "dependencies not satisfied: bad (failed)");
    assert_eq!(summary["failed"]["id"], "bad");
}

#[test]
fn what_the_run_did_not_get_to_is_skipped() {
    let text = "version: 1\nsettings: {parallel: 1}\nsteps:\n\
                \x20 - {id: bad, type: command, command: exit 7}\n\
                \x20 - {id: after, type: directory, path: after, depends_on: [bad]}\n\
                \x20 - {id: last, type: directory, path: last, depends_on: [after]}\n";
    let opal = Opal::machine("").file("a.yaml", text);
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    assert_eq!(of(&summary, "status"), ["failed", "skipped", "skipped"]);
}

#[test]
fn a_task_has_no_such_entries() {
    let opal = Opal::machine("fun main() {\n    @file.directory(\"d\", id=\"d\")\n}\n");
    assert_eq!(opal.call(&["main", "--json"]).code(0).json().get("steps"), None);
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
    assert_eq!(of(&summary, "status"), ["failed", "timed_out"]);
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
fn on_a_pipe_steps_are_told_and_not_counted() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: a, type: directory, path: a}\n\
                \x20 - {id: b, type: directory, path: b}\n";
    let ran = Opal::machine("").file("a.yaml", text).call(&["apply", "a.yaml"]);
    assert_eq!(ran.code(0).stderr.matches(": directory:").count(), 2, "{ran:#?}");
    assert!(!ran.stderr.contains(" ended"), "{ran:#?}");
}
