//! Modules in order: each step is a run like any other.

use serde_json::json;

use super::release::{self, Release, SCRIPT};
use crate::support::Ran;
use opal_testing::processes::{eventually, signal};

const BLUEPRINT: &str = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: demo/site@v1
steps:
  - {id: host, module_ref: core/host, requires: [net]}
  - {id: net, module_ref: core/net, skip_if_state_ok: true, inputs: {size: large}}
";

fn release(host: &str) -> Release {
    let on_net =
        "dependencies: [{module_ref: core/net, imports: {name: network.name}}]\nexecution:";
    Release::new(SCRIPT)
        .module("core/host", &[("execution:", on_net)], host)
        .file("rel/blueprints/demo/site@v1/blueprint.yml", BLUEPRINT)
}

#[test]
fn steps_run_behind_what_they_require_and_are_skipped_where_that_is_said() {
    let release = release(". ./hyops.inputs.sh; echo \"on $input_network__name\"\n");
    let apply = ["blueprint", "apply", "demo/site@v1"];
    let ran = release.opal().call(&apply);
    ran.code(0);
    assert_eq!(ran.stdout, "apply large\non net-large\n");
    let ran = release.opal().call(&apply);
    ran.code(0).says("step=net module=core/net status=skipped reason=state-ok");
    assert_eq!(ran.stdout, "on net-large\n");
    assert_eq!(release.runs(), 1);
}

#[test]
fn a_plan_of_a_blueprint_runs_and_writes_nothing() {
    let release = release("true\n");
    let ran = release.opal().call(&["blueprint", "plan", "demo/site@v1"]);
    ran.code(0).says("./run.sh apply").says("it depends on `core/net`, which has not been applied");
    assert!(!release.path("root").exists());
}

const REPORTS: [&str; 4] =
    ["--report=r.xml", "--report=r.md", "--report=r.html", "--report=r.json"];

#[test]
fn a_report_of_a_blueprint_has_the_cases_of_all_its_runs() {
    let blueprint =
        format!("{BLUEPRINT}  - {{id: last, module_ref: core/host, requires: [host]}}\n");
    let release = release("echo out of space; exit 8\n")
        .file("rel/blueprints/demo/site@v1/blueprint.yml", &blueprint);
    let opal = release.opal();
    opal.call(&[&["blueprint", "apply", "demo/site@v1"][..], &REPORTS].concat()).code(8);
    let junit = opal.read("r.xml");
    let cases: Vec<&str> = junit.lines().filter(|line| line.contains("<testcase")).collect();
    assert_eq!(cases.len(), 3, "{junit}");
    assert!(cases[0].contains("classname=\"net.") && !cases[0].contains("<failure"), "{junit}");
    assert!(cases[1].contains("classname=\"host.") && cases[1].contains("<failure"), "{junit}");
    assert!(cases[2].contains("name=\"last: apply core/host\"") && cases[2].contains("<skipped"));
    assert!(junit.contains("out of space"), "{junit}");
    assert!(opal.read("r.md").starts_with("### ❌ <code>demo/site"));
    assert!(opal.read("r.html").contains("3 steps: 1 ok, 1 failed, 1 not run in "));
    let document: serde_json::Value = serde_json::from_str(&opal.read("r.json")).unwrap();
    assert_eq!(document["status"], "error");
    assert_eq!(document["runs"].as_array().unwrap().len(), 2);
    assert_eq!(document["runs"][1]["module_ref"], "core/host");
    // What is already applied is a case too.
    opal.call(&[&["blueprint", "apply", "demo/site@v1"][..], &REPORTS].concat()).code(8);
    assert!(opal.read("r.xml").contains("already applied"));
}

#[test]
fn a_blueprint_that_cannot_begin_has_reports_too() {
    let release = release("true\n")
        .file("rel/blueprints/demo/site@v1/blueprint.yml", "kind: BlueprintSpec\n");
    let opal = release.opal();
    opal.write("r.xml", "an earlier run: all fine\n");
    let ran = opal.call(&[&["blueprint", "apply", "demo/site@v1"][..], &REPORTS].concat());
    assert_ne!(ran.code, 0);
    assert!(opal.read("r.xml").contains("name=\"the run\""), "{}", opal.read("r.xml"));
    // A dry run has no report.
    opal.call(&["blueprint", "plan", "demo/site@v1", "--report=r.xml"]).code(2);
}

#[test]
fn the_failure_of_an_optional_step_is_not_a_failure_of_the_report() {
    let blueprint = BLUEPRINT.replace("requires: [net]}", "requires: [net], optional: true}");
    let release = release("exit 8\n").file("rel/blueprints/demo/site@v1/blueprint.yml", &blueprint);
    let opal = release.opal();
    opal.call(&[&["blueprint", "apply", "demo/site@v1"][..], &REPORTS].concat()).code(0);
    assert!(opal.read("r.xml").contains("failures=\"0\" errors=\"0\""), "{}", opal.read("r.xml"));
    assert!(opal.read("r.md").contains("failed, optional"));
}

#[test]
fn a_step_that_fails_is_the_last_and_json_is_one_document() {
    let release = release("exit 8\n");
    let document =
        release.opal().call(&["blueprint", "apply", "demo/site@v1", "--json"]).code(8).json();
    assert_eq!(document["status"], "error");
    let ends: Vec<_> =
        document["steps"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
    assert_eq!(ends, ["ok", "failed"]);
    assert_eq!(document["runs"][1]["exit_code"], 8);
    let state = release::json(&release.path("root/state/modules/core__host/latest.json"));
    assert_eq!(state["status"], "error");
}

#[test]
fn a_step_that_cannot_begin_is_named_in_one_document() {
    let release = release("true\n").profile("policy: {defaults: {min_free_disk_mb: 4000000000}}\n");
    let ran = release.opal().call(&["blueprint", "apply", "demo/site@v1", "--json"]);
    let document = ran.code(69).json();
    assert_eq!(document["steps"][1]["status"], "not run");
    assert_eq!((&document["status"], &document["runs"]), (&json!("error"), &json!([])));
    ran.says("it is the step `net` of the blueprint");
    assert!(document["error"]["message"].as_str().unwrap().contains("MiB are free"), "{document}");
}

/// Three steps, of which the first fails, with this in the first and this for all.
fn three(first: &str, policy: &str) -> Release {
    let blueprint = format!(
        "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/three@v1\n{policy}steps:\n  \
         - {{id: bad, module_ref: core/bad{first}}}\n  - {{id: next, module_ref: core/next, requires: [bad]}}\n  \
         - {{id: free, module_ref: core/net}}\n"
    );
    Release::new(SCRIPT)
        .module("core/bad", &[], "exit 8\n")
        .module("core/next", &[], "true\n")
        .file("rel/blueprints/demo/three@v1/blueprint.yml", blueprint)
}

#[test]
fn what_may_fail_does_not_fail_the_whole_and_what_requires_it_is_not_run() {
    for (first, policy, code, ends) in [
        ("", "", 8, ["failed", "not run", "not run"]),
        ("", "policy: {fail_fast: false}\n", 8, ["failed", "not run", "ok"]),
        (", optional: true", "", 0, ["failed", "not run", "ok"]),
    ] {
        let release = three(first, policy);
        let ran = release.opal().call(&["blueprint", "apply", "demo/three@v1", "--json"]);
        let document = ran.code(code).json();
        let found: Vec<_> =
            document["steps"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
        assert_eq!(found, ends, "{first} {policy}");
    }
}

#[test]
fn a_validation_of_a_blueprint_has_its_warnings_for_programs_too() {
    let blueprint = "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/two@v1\n\
                     steps:\n  - {id: a, module_ref: core/net, cidr: x}\n  \
                     - {id: b, module_ref: core/net, inputs: {sise: x}}\n";
    let release = Release::new(SCRIPT)
        .profile("defaults: {}\n")
        .file("rel/blueprints/demo/two@v1/blueprint.yml", blueprint);
    let ran = release.opal().call(&["blueprint", "validate", "demo/two@v1", "--json"]);
    let document = ran.code(0).json();
    let expected = [
        "`cidr` has no effect: an input of the module belongs below `inputs`",
        "`core/net`: `defaults` has no effect: the driver `shell/script` does not read it",
        "the step `b` has an input `sise`; did you mean `size`?",
    ];
    assert_eq!(document["warnings"], json!(expected), "each once");
    assert_eq!(ran.stderr, "");
    let ran = release.opal().call(&["blueprint", "validate", "demo/two@v1"]);
    ran.code(0).says("`cidr` has no effect").says("`defaults` has no effect");
    ran.says("warning: the step `b` has an input `sise`; did you mean `size`?");
    let none = three("", "").opal().call(&["blueprint", "validate", "demo/three@v1", "--json"]);
    assert_eq!(none.code(0).json()["warnings"], json!([]));
}

#[test]
fn a_dry_run_of_a_blueprint_is_its_plan() {
    let release = release("true\n");
    let ran = release.opal().call(&["blueprint", "apply", "demo/site@v1", "--dry-run"]);
    ran.code(0).says("which has not been applied");
    assert!(!release.path("root").exists());
    release.opal().call(&["blueprint", "apply", "demo/site@v1", "-o", "x.plan"]).code(2);
}

#[test]
fn variables_reach_every_step_that_has_such_an_input_and_a_step_runs_again_with_others() {
    let release = release("true\n");
    let apply = ["blueprint", "apply", "demo/site@v1"];
    release.opal().call(&apply).code(0);
    let ran = release.opal().call_with(&[("HYOPS_INPUT_size", "huge")], &apply);
    ran.code(0);
    assert!(ran.stdout.contains("apply huge"), "{ran:?}");
}

/// A look before something else, and how it all ended.
fn looked(ends: &str, optional: &str, policy: &str) -> (Release, String) {
    let blueprint = format!(
        "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/look@v1\n{policy}steps:\n  \
         - {{id: look, module_ref: core/net, action: verify{optional}}}\n  \
         - {{id: bad, module_ref: core/bad}}\n"
    );
    let release = Release::new(&format!("exit {ends}\n"))
        .module("core/bad", &[], "exit 8\n")
        .file("rel/blueprints/demo/look@v1/blueprint.yml", blueprint);
    (release, "demo/look@v1".to_owned())
}

#[test]
fn a_difference_is_no_failure_of_a_blueprint_and_a_failure_counts_more() {
    let goes_on = "policy: {fail_fast: false}\n";
    for (ends, optional, policy, code, status, steps) in [
        ("2", "", "", 1, "drifted", ["drifted", "not run"]),
        ("2", "", goes_on, 8, "error", ["drifted", "failed"]),
        ("2", ", optional: true", "", 8, "error", ["drifted", "failed"]),
        ("5", "", "", 3, "error", ["failed", "not run"]),
    ] {
        let (release, name) = looked(ends, optional, policy);
        let document =
            release.opal().call(&["blueprint", "apply", &name, "--json"]).code(code).json();
        assert_eq!(document["status"], status, "{document}");
        let found: Vec<_> =
            document["steps"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
        assert_eq!(found, steps, "{ends}{optional} {policy}");
        assert_eq!(document["error"].is_null(), status == "drifted", "{document}");
        assert_eq!(document["runs"][0]["status"], if ends == "2" { "drifted" } else { "error" });
    }
    let (release, name) = looked("2", "", "");
    let ran = release.opal().call(&["blueprint", "apply", &name]);
    ran.code(1).says("demo/look@v1: not in the desired state").says("look  drifted");
}

#[test]
fn a_step_is_skipped_only_where_secrets_the_pack_and_the_profile_are_the_same() {
    let release =
        release("true\n").spec(&[("{size: small,", "{size: small, db_password: CHANGE_ME,")]);
    let apply = ["blueprint", "apply", "demo/site@v1"];
    let run = |release: &Release, password: &str, is_skipped: bool, why: &str| {
        let ran = release.opal().call_with(&[("HYOPS_INPUT_db_password", password)], &apply);
        let found = ran.code(0).stderr.contains("module=core/net status=skipped reason=state-ok");
        assert_eq!(found, is_skipped, "{why}: {ran:?}");
        ran.hides(password);
    };
    run(&release, "canary-old-1", false, "the first time");
    run(&release, "canary-old-1", true, "the same again");
    run(&release, "canary-new-2", false, "another secret");
    run(&release, "canary-new-2", true, "the same again");
    let state = release.state().to_string();
    assert!(state.contains("basis_digest") && !state.contains("canary"), "{state}");
    let release = release.script("net", &format!("{SCRIPT}: changed\n"));
    run(&release, "canary-new-2", false, "other files in the pack");
    let release = release.profile("env: {COLOUR: red}\n");
    run(&release, "canary-new-2", false, "another profile");
    run(&release, "canary-new-2", true, "the same again");
    let at = release.path("root/state/modules/core__net/latest.json");
    let mut older = release.state();
    older.as_object_mut().unwrap().remove("basis_digest");
    std::fs::write(&at, older.to_string()).unwrap();
    run(&release, "canary-new-2", false, "a state that does not tell");
}

#[test]
fn a_blueprint_that_was_stopped_says_so_in_the_words_of_its_run() {
    let waits = "touch \"$HYOPS_MEMORY_DIR/begun\"; exec sleep 600\n";
    for (options, is_json) in [(&["--json"][..], true), (&[], false)] {
        let release = release("true\n").script("net", waits);
        let mut command = release.opal().interruptible();
        let words = [&["blueprint", "apply", "demo/site@v1"], options].concat();
        let child = command.args(words).spawn().unwrap();
        let begun = release.path("root/state/tools/core__net/latest/begun");
        eventually("the script begins", || begun.exists());
        signal(&child, "INT");
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.code(130);
        if !is_json {
            ran.says("demo/site@v1: cancelled\n  net  cancelled\n  host  not run\n");
            continue;
        }
        let document = ran.json();
        assert_eq!(document["status"], "cancelled", "{document}");
        assert_eq!(document["runs"][0]["status"], "cancelled");
        assert_eq!(document["steps"][0]["status"], "cancelled");
        assert_eq!(document["steps"][1]["status"], "not run");
        assert_eq!(document["error"]["message"], "it was interrupted");
    }
}

#[test]
fn a_module_that_is_not_there_is_missed_by_every_command() {
    let release = release("true\n");
    std::fs::remove_dir_all(release.path("rel/modules/core/host")).unwrap();
    for verb in ["validate", "plan", "apply"] {
        let ran = release.opal().call(&["blueprint", verb, "demo/site@v1"]);
        ran.code(66).says("unknown module `core/host`").says("the step `host`");
    }
}
