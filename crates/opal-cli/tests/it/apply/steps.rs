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
    assert_eq!(of(&summary, "step_id"), ["there", "made", "bad", "after"]);
    assert_eq!(of(&summary, "status"), ["satisfied", "done", "failed", "skipped"]);
    assert_eq!(of(&summary, "code"), [0.into(), 0.into(), 7.into(), Value::Null]);
    assert_eq!(of(&summary, "decorator")[1..3], ["@file.directory", "@shell"]);
    let steps = &summary["steps"];
    assert!(steps[1]["path"].as_str().unwrap().contains("file.directory"), "{steps:#}");
    assert!(steps[1]["duration_ms"].is_number() && steps[3]["duration_ms"].is_null(), "{steps:#}");
    assert_eq!(of(&summary, "verified")[..3], ["satisfied", "missing", "unknown"]);
    assert_eq!(of(&summary, "verified")[3], Value::Null);
    assert_eq!(of(&summary, "action"), ["skip", "create", "run", "skip"]);
    assert!(steps[1]["message"].as_str().unwrap().contains("does not exist"), "{steps:#}");
    let has_error = |step: &Value| step.get("error").is_some();
    let failed: Vec<bool> = steps.as_array().unwrap().iter().map(has_error).collect();
    assert_eq!(failed, [false, false, true, false], "{steps:#}");
    assert_eq!(steps[3]["message"], "dependencies not satisfied: bad (failed)");
    assert_eq!(summary["failed"]["id"], "bad");
}

#[test]
fn an_entry_has_what_verify_saw_and_what_was_written() {
    let text = "version: 1\nsettings: {parallel: 1}\nsteps:\n\
                \x20 - {id: conf, name: Web server, type: template, source: t.j2, \
                destination: conf, vars: {port: 8080}}\n\
                \x20 - {id: bad, type: template, source: u.j2, destination: d, vars: {port: 1}}\n";
    let opal = Opal::machine("").file("a.yaml", text).file("conf", "port=80\n");
    let opal = opal.file("t.j2", "port={{ port }}\n").file("u.j2", "{{ port.splt(',') }}\n");
    let before = opal.call(&["apply", "a.yaml", "--dry-run", "--json"]).code(1).json();
    let summary = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    let (conf, bad) = (&summary["steps"][0], &summary["steps"][1]);
    assert_eq!((&conf["name"], &conf["verified"]), (&"Web server".into(), &"drifted".into()));
    assert_eq!((&conf["action"], &conf["status"]), (&"correct".into(), &"done".into()));
    let details = conf["details"].as_str().unwrap();
    assert!(details.contains("--- current: ") && details.contains("\n+port=8080\n"), "{details}");
    assert_eq!((&bad["action"], &bad["verified"]), (&"blocked".into(), &"blocked".into()));
    assert!(bad["error"].as_str().unwrap().contains("has no method `splt`"), "{bad:#}");
    for (index, step) in [conf, bad].into_iter().enumerate() {
        let shown = &before["results"][index];
        assert_eq!(shown["status"], step["verified"], "{before:#}");
        for key in ["step_id", "name", "action", "details", "error"] {
            assert_eq!(shown.get(key), step.get(key), "{key}: {before:#} {summary:#}");
        }
    }
}

#[test]
fn what_depends_on_a_failed_step_is_skipped() {
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
fn on_a_pipe_steps_are_told_and_not_counted() {
    let text = "version: 1\nsteps:\n\
                \x20 - {id: a, type: directory, path: a}\n\
                \x20 - {id: b, type: directory, path: b}\n";
    let ran = Opal::machine("").file("a.yaml", text).call(&["apply", "a.yaml"]);
    assert_eq!(ran.code(0).stderr.matches(": directory:").count(), 2, "{ran:#?}");
    assert!(!ran.stderr.contains(" ended"), "{ran:#?}");
}
