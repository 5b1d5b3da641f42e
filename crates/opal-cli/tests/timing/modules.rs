//! Runs of modules whose time is over.

use serde_json::json;

use crate::release::{self, Release, SCRIPT};

#[test]
fn the_time_of_a_run_is_over_and_says_so() {
    let release = Release::new("echo begun; sleep 600\n");
    let ran = release.apply(&["--timeout", "300ms"]);
    ran.code(124).says("timed out");
    assert_eq!(
        (&release.state()["status"], &release.document("driver_result.json")["status"]),
        (&json!("error"), &json!("error"))
    );
    assert_ne!(release.document("shell_apply.result.json")["rc"], 0);
}

#[test]
fn the_time_that_a_profile_gives_a_tool_is_a_limit_and_part_of_the_plan() {
    let release =
        Release::new("sleep 600\n").profile("policy: {defaults: {command_timeout_s: 1}}\n");
    release.apply(&["--dry-run"]).code(0).says("@timeout(duration=1s)");
    release.apply(&[]).code(124);
    let envelope = release::json(&release.evidence().join("shell_apply.result.json"));
    assert_eq!(envelope["rc"], 124, "{envelope}");
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn a_look_that_is_stopped_has_found_nothing() {
    let release = Release::new("sleep 600; exit 2\n");
    let ran = release.run(&["verify", "core/net", "--timeout", "200ms"]);
    ran.code(3).says("timed out");
    assert_eq!(release.document("driver_result.json")["status"], "error");
}

#[test]
fn the_time_of_a_blueprint_is_that_of_all_its_steps() {
    let blueprint = |first: &str| {
        format!(
            "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/slow@v1\nsteps:\n  \
             - {{id: slow, module_ref: core/slow{first}}}\n  - {{id: net, module_ref: core/net}}\n"
        )
    };
    for first in ["", ", optional: true"] {
        let release = Release::new(SCRIPT)
            .module("core/slow", &[], "sleep 60\n")
            .file("rel/blueprints/demo/slow@v1/blueprint.yml", blueprint(first));
        let words = ["blueprint", "apply", "demo/slow@v1", "--timeout", "2s", "--json"];
        let document = release.opal().call(&words).code(124).json();
        let ends: Vec<_> =
            document["steps"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
        assert_eq!(ends, ["failed", "not run"], "{first}");
        let message = document["error"]["message"].as_str().unwrap();
        assert!(message.contains("the run timed out"), "{document}");
        assert_eq!(release.runs(), 0, "{first}");
    }
}
