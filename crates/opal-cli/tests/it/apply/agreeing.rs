//! What a run has found or brought about is still so at its end, or the run has failed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::{Opal, Ran};
use opal_testing::processes::{eventually, signal};

/// A configuration with these steps.
fn config(steps: &[&str]) -> Opal {
    let steps: String = steps.iter().map(|step| format!("  - {{{step}}}\n")).collect();
    Opal::machine("").file("a.yaml", format!("version: 1\nsteps:\n{steps}"))
}

fn task(steps: &str) -> Opal {
    Opal::machine(&format!("fun a() {{\n{steps}\n}}\n"))
}

/// Whether a look on its own says the same as the run.
#[track_caller]
fn fails_as_a_look_does(opal: &Opal, target: &str, ran: &Ran) {
    ran.code(1).says("no longer is at the end of the run").says("opal verify");
    ran.hides("to continue from there");
    opal.call(&["verify", target]).code(1);
}

fn events(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often each status was seen behind the last step.
fn last_looks(opal: &Opal, words: &[&str]) -> Vec<String> {
    let events = events(&opal.call(&[words, &["--events", "-"]].concat()));
    let last = events.iter().rposition(|event| event["kind"] == "step_finished").unwrap();
    let looks = events[last..].iter().filter(|event| event["kind"] == "step_verified");
    looks.map(|event| event["status"].as_str().unwrap().to_owned()).collect()
}

fn mode(opal: &Opal, name: &str) -> u32 {
    fs::metadata(opal.path().join(name)).unwrap().permissions().mode() & 0o777
}

const TEMPLATE: &str = "id: conf, type: template, source: conf.j2, destination: app.conf";
const LINE: &str = "id: port, type: line_in_file, file: app.conf, line: \"port=8080\", match: \"^port=\", \
                    depends_on: [conf]";

fn template_and_line() -> Opal {
    config(&[TEMPLATE, LINE]).file("conf.j2", "port=80\n")
}

#[test]
fn a_template_and_a_line_of_one_file_do_not_agree() {
    let opal = template_and_line();
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: conf (").says("no longer is at the end of the run: drifted");
    ran.says("`port` was applied after it, and concerns the same path");
    ran.says("failed: 1 step done, 1 failed in ").says("opal verify -v a.yaml");
    assert_eq!(opal.read("app.conf"), "port=8080\n");
}

#[test]
fn a_copied_tree_and_something_absent_in_it_do_not_agree() {
    let tree =
        "id: tree, type: copy, source: src, destination: dst, recursive: true, overwrite: true";
    let opal = config(&[tree, "id: gone, type: absent, path: dst/b, depends_on: [tree]"]);
    let opal = opal.file("src/a", "a").file("src/b", "b");
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: tree (").says("`gone` was applied after it, and concerns something inside it");
}

#[test]
fn a_configuration_does_not_start_afresh() {
    let made = "id: made, type: directory, path: d/e, depends_on: [gone]";
    let opal = config(&["id: gone, type: absent, path: d, recursive: true", made]);
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: gone (").says("`made` was applied after it, and concerns something inside it");
}

#[test]
fn two_lines_with_one_match_do_not_agree() {
    let line = |n: u8| {
        format!("id: l{n}, type: line_in_file, file: f, line: \"port={n}\", match: \"^port=\"")
    };
    let opal = config(&[&line(1), &line(2)]);
    let ran = opal.call(&["apply", "a.yaml", "--jobs", "1"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: l1 (").says("`l2` was applied after it");
}

#[test]
fn a_command_that_changes_what_is_described_does_not_agree() {
    let directory = "id: dir, type: directory, path: d, mode: \"0700\"";
    let opal =
        config(&[directory, "id: open, type: command, command: chmod 755 d, depends_on: [dir]"]);
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: dir (").hides("was applied after it");
    // Also where there was nothing to do for it.
    fs::set_permissions(opal.path().join("d"), fs::Permissions::from_mode(0o700)).unwrap();
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("= dir: directory:d: satisfied\n").says("failed: 1 step done, 1 failed in ");
    assert_eq!(mode(&opal, "d"), 0o755);
}

#[test]
fn everything_that_is_no_longer_so_is_named() {
    let dir = |n: u8| format!("id: d{n}, type: directory, path: d{n}");
    let gone = "id: gone, type: command, command: rmdir d0 d2, depends_on: [d0, d1, d2]";
    let opal = config(&[&dir(0), &dir(1), &dir(2), gone]);
    let ran = opal.call(&["apply", "a.yaml"]);
    fails_as_a_look_does(&opal, "a.yaml", &ran);
    ran.says("step: d0 (").says("also failed: d2: ").hides("also failed: d1").says("missing");
}

#[test]
fn a_contract_is_held_to_the_same() {
    let opal = template_and_line();
    opal.call(&["plan", "-o", "c.plan", "a.yaml"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(1).says("no longer is at the end of the run");
}

#[test]
fn json_and_the_record_tell_it() {
    let opal = template_and_line();
    let told = opal.call(&["apply", "a.yaml", "--json"]).code(1).json();
    assert_eq!((&told["status"], &told["code"]), (&"failed".into(), &1.into()), "{told:#}");
    assert_eq!(told["failed"]["id"], "conf", "{told:#}");
    assert_eq!(told["steps"][0]["status"], "failed", "{told:#}");
    let message = told["steps"][0]["message"].as_str().unwrap();
    assert!(message.contains("no longer is at the end of the run: drifted: "), "{told:#}");
    assert_eq!(told["steps"][1]["status"], "done", "{told:#}");
    assert_eq!((&told["counts"]["done"], &told["counts"]["failed"]), (&1.into(), &1.into()));
    opal.call(&["runs", "show", "last"]).code(0).says("no longer is at the end of the run");
    let record = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["counts"]["done"], told["counts"]["done"], "{record:#}");
    assert_eq!(record["run"]["counts"]["failed"], told["counts"]["failed"], "{record:#}");
    let ends =
        record["steps"].as_array().unwrap().iter().filter(|step| !step["block"].as_bool().unwrap());
    assert_eq!(
        ends.map(|step| step["end"].as_str().unwrap()).collect::<Vec<_>>(),
        ["failed", "done"]
    );
    assert_eq!(last_looks(&opal, &["apply", "a.yaml"]), ["drifted"]);
    let ran = opal.call(&["apply", "a.yaml", "-q"]);
    ran.code(1).says("error: it was in the desired state");
}

#[test]
fn what_is_as_described_is_looked_at_once_more_and_nothing_is_said() {
    let dir = |n: u8| format!("id: d{n}, type: directory, path: d{n}");
    let opal = config(&[&dir(0), &dir(1), &dir(2)]);
    let ran = opal.call(&["apply", "a.yaml"]);
    ran.code(0).says("done: 3 steps in ").hides("at the end");
    // Nothing was changed since.
    assert_eq!(last_looks(&opal, &["apply", "a.yaml"]), [""; 0]);
    fs::remove_dir(opal.path().join("d1")).unwrap();
    // The one that was made has been seen after the last change.
    assert_eq!(last_looks(&opal, &["apply", "a.yaml", "--jobs", "1"]), ["satisfied"]);
    fs::remove_dir(opal.path().join("d2")).unwrap();
    let two = ["satisfied", "satisfied"];
    assert_eq!(last_looks(&opal, &["apply", "a.yaml", "--jobs", "1"]), two);
    fs::remove_dir(opal.path().join("d0")).unwrap();
    assert_eq!(last_looks(&opal, &["apply", "a.yaml", "--jobs", "1"]), [""; 0]);
}

#[test]
fn what_is_only_validated_is_not_looked_at_again() {
    let dir = "id: d, type: directory, path: d";
    let opal = Opal::machine("").file(
        "a.yaml",
        format!(
            "version: 1\nsteps:\n  - {{{dir}}}\nvalidations:\n  - {{type: file_exists, path: d}}\n"
        ),
    );
    for _ in 0..2 {
        assert_eq!(last_looks(&opal, &["apply", "a.yaml"]), [""; 0]);
    }
}

#[test]
fn the_steps_of_a_task_may_undo_each_other() {
    for steps in [
        "    @file.directory(\"d\")\n    rmdir d",
        "    @file.absent(\"dist\", recursive=true)\n    mkdir dist",
        "    @file.directory(\"tmp\")\n    try { @file.line(\"tmp/x\", \"x\") } finally { \
         @file.absent(\"tmp\", recursive=true) }",
        "    @file.line(\"stage\", \"x\")\n    @file.copy(\"stage\", \"app.conf\")\n    @file.absent(\"stage\")",
        "    @file.absent(\"build\", recursive=true)\n    @shell(\"mkdir build\", check=\"test -d build\")",
    ] {
        let opal = task(steps);
        opal.call(&["a"]).code(0).hides("no longer");
        opal.call(&["a", "--verify-first"]).code(0);
    }
}

#[test]
fn steps_that_were_skipped_are_not_looked_at() {
    let opal = template_and_line().file("app.conf", "port=80\n");
    let ran = opal.call(&["apply", "a.yaml", "--from", "step:2"]);
    ran.code(0).hides("no longer");
}

#[test]
fn the_time_of_the_run_is_that_of_the_last_look_too() {
    let slow = "id: slow, type: command, command: touch done, check: \"test -e done && { test ! -e late || sleep 20; }\"";
    let opal = config(&[slow, "id: late, type: command, command: touch late, depends_on: [slow]"]);
    let ran = opal.call(&["apply", "a.yaml", "--timeout", "2s"]);
    ran.code(124).says("the run timed out");
}

#[test]
fn a_signal_ends_the_last_look() {
    let slow = "id: slow, type: command, command: touch done, \
                check: \"test -e done && { test ! -e late || { touch looking; sleep 20; }; }\"";
    let opal = config(&[slow, "id: late, type: command, command: touch late, depends_on: [slow]"]);
    let child = opal.interruptible().args(["apply", "a.yaml"]).spawn().unwrap();
    eventually("the last look begins", || opal.path().join("looking").exists());
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130).says("interrupted: 2 steps done");
}

#[test]
fn a_run_that_has_failed_is_not_looked_at_again() {
    let fails = "id: end, type: command, command: exit 7, depends_on: [port]";
    let opal = config(&[TEMPLATE, LINE, fails]).file("conf.j2", "port=80\n");
    opal.call(&["apply", "a.yaml"]).code(1).says("exit code 7").hides("no longer");
    assert_eq!(last_looks(&opal, &["apply", "a.yaml"]), [""; 0]);
}
