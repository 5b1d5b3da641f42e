//! The state of a module: what each command makes of it, and what stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::release::{self, Release, SCRIPT};
use crate::support::Ran;
use opal_testing::processes::{eventually, signal};

#[test]
fn a_state_is_running_then_ok_and_destroyed_in_the_end() {
    let state = "$HYOPS_RUNTIME_ROOT/state/modules/core__net/latest.json";
    let release = Release::new(&format!("cp \"{state}\" ../seen.json\n{SCRIPT}"));
    release.apply(&[]).code(0);
    let seen = release::json(&release.work().join("../seen.json"));
    assert_eq!((&seen["status"], &seen["command"]), (&json!("running"), &json!("apply")));
    let state = release.state();
    assert_eq!(
        (&state["status"], &state["outputs"]),
        (&json!("ok"), &json!({"name": "net-small"}))
    );
    assert_eq!(state["evidence_dir"], json!(release.evidence()));
    assert_eq!(state["run_id"], seen["run_id"]);
    assert_eq!(state.get("last_error"), None);
    release.run(&["destroy", "core/net"]).code(0);
    let state = release.state();
    assert_eq!((&state["status"], &state["outputs"]), (&json!("destroyed"), &json!({})));
    release.run(&["deploy", "core/net"]).code(0).says("apply small");
    assert_eq!(
        (&release.state()["status"], &release.state()["command"]),
        (&json!("ok"), &json!("deploy"))
    );
}

#[test]
fn what_only_looks_leaves_the_state_alone() {
    let release = Release::new(SCRIPT);
    let look = |release: &Release| {
        for line in [&["plan"][..], &["verify"], &["validate", "--tools"]] {
            release.run(&[line, &["core/net"]].concat()).code(0);
            assert_eq!(release.document("module_state.json")["status"], "unchanged", "{line:?}");
        }
    };
    look(&release);
    assert!(!release.has_state());
    release.apply(&[]).code(0);
    let path = release.path("root/state/modules/core__net/latest.json");
    let before = fs::read(&path).unwrap();
    look(&release);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn after_a_failure_the_earlier_outputs_are_still_there() {
    let release =
        Release::new(&format!("{SCRIPT}test ! -e \"$HYOPS_RUNTIME_ROOT/fail\" || exit 9\n"));
    release.apply(&[]).code(0);
    fs::write(release.path("root/fail"), "").unwrap();
    let set = [("HYOPS_INPUT_size", "large")];
    release.run_with(&set, &["apply", "core/net"]).code(9).says("shell_apply ended with 9");
    let state = release.state();
    assert_eq!(
        (&state["status"], &state["outputs"]),
        (&json!("error"), &json!({"name": "net-small"}))
    );
    assert_eq!(state["last_error"], "shell_apply ended with 9");
    assert_eq!(release.document("driver_result.json")["status"], "error");
    release.run(&["destroy", "core/net"]).code(9);
    assert_eq!(release.state()["outputs"], json!({"name": "net-small"}));
    fs::remove_file(release.path("root/fail")).unwrap();
    release.apply(&[]).code(0);
    assert_eq!(release.state().get("last_error"), None);
}

#[test]
fn an_instance_has_a_state_and_a_memory_of_its_own() {
    let release =
        Release::new(&format!("{SCRIPT}echo \"$input_size\" > \"$HYOPS_MEMORY_DIR/size\"\n"));
    release.apply(&[]).code(0);
    let set = [("HYOPS_INPUT_size", "large")];
    release.run_with(&set, &["apply", "core/net", "--state-instance", "blue"]).code(0);
    assert_eq!(release.state()["outputs"]["name"], "net-small");
    let blue = release::json(&release.path("root/state/modules/core__net/instances/blue.json"));
    assert_eq!(
        (&blue["outputs"]["name"], &blue["state_instance"]),
        (&json!("net-large"), &json!("blue"))
    );
    let memory = release.path("root/state/tools/core__net");
    let remembered = |name: &str| fs::read_to_string(memory.join(name).join("size")).unwrap();
    assert_eq!(remembered("latest"), "small\n");
    assert_eq!(remembered("instances/blue"), "large\n");
    release.run(&["destroy", "core/net", "--state-instance", "blue"]).code(0);
    assert_eq!(release.state()["status"], "ok");
}

#[test]
fn an_instance_cannot_share_its_memory_with_a_module_of_a_similar_name() {
    let keep =
        "touch \"$HYOPS_MEMORY_DIR/$HYOPS_RUN_ID\"; ls \"$HYOPS_MEMORY_DIR\" | wc -l | tr -d ' '\n";
    let release = Release::new(keep).module("core/net/blue", &[], keep);
    release.apply(&["--state-instance", "blue"]).code(0).says("1\n");
    let ran = release.run(&["apply", "core/net/blue"]);
    ran.code(0);
    assert_eq!(ran.stdout, "1\n", "nothing of the instance is there");
}

#[test]
fn a_hostile_name_of_an_instance_is_refused() {
    let release = Release::new(SCRIPT);
    for name in ["", ".", "..", "../x", "a/b", "a b", "-x", "a\nb", &"a".repeat(65)] {
        let typed = format!("--state-instance={name}");
        release.apply(&[&typed]).code(2).says("invalid instance name");
    }
    assert!(!release.path("root").exists());
}

#[test]
fn of_two_applies_at_once_one_is_refused_and_another_instance_is_not() {
    let script = "touch \"$HYOPS_MEMORY_DIR/begun\"\n\
                  while ! test -e \"$HYOPS_RUNTIME_ROOT/go\"; do sleep 0.02; done\n";
    let release = Release::new(script);
    let first = release.started(&["apply", "core/net"]).spawn().unwrap();
    let begun = release.path("root/state/tools/core__net/latest/begun");
    eventually("the first begins", || begun.exists());
    for verb in ["apply", "destroy"] {
        let ran = release.run(&[verb, "core/net"]);
        ran.code(69)
            .says("another run of this module instance is in progress")
            .says("--state-instance");
    }
    assert_eq!(release.state()["status"], "running");
    fs::write(release.path("root/go"), "").unwrap();
    release.apply(&["--state-instance", "other"]).code(0);
    Ran::from(first.wait_with_output().unwrap()).code(0);
    assert_eq!((&release.state()["status"], release.runs()), (&json!("ok"), 2));
}

#[test]
fn a_run_that_was_killed_counts_as_failed_and_the_next_goes_on() {
    let begun = "test -e \"$HYOPS_MEMORY_DIR/begun\" && exit; touch \"$HYOPS_MEMORY_DIR/begun\"\n";
    let waits = "while test -d \"$HYOPS_RUNTIME_ROOT\" && ! test -e \"$HYOPS_RUNTIME_ROOT/go\"\n\
                 do sleep 0.02; done\n";
    let release = Release::new(&format!("{begun}{waits}")).module(
        "core/host",
        &[("execution:", "dependencies: [{module_ref: core/net}]\nexecution:")],
        "true\n",
    );
    let mut child = release.started(&["apply", "core/net"]).spawn().unwrap();
    eventually("it begins", || release.path("root/state/tools/core__net/latest/begun").exists());
    signal(&child, "KILL");
    child.wait().unwrap();
    assert_eq!(release.state()["status"], "running", "nobody could say otherwise");
    let (busy, runs) = (release.apply(&[]), release.runs());
    busy.code(69).says("another run of this module instance is in progress");
    assert_eq!(runs, 1, "the tool of the first still runs");
    fs::write(release.path("root/go"), "").unwrap();
    eventually("the tool has ended", || {
        release.run(&["apply", "core/host"]).stderr.contains("`core/net`, which has failed")
    });
    release.apply(&[]).code(0);
    assert_eq!(release.state()["status"], "ok");
}

#[test]
fn a_state_that_makes_no_sense_stops_a_run_and_is_named() {
    let release = Release::new("touch \"$HYOPS_MEMORY_DIR/ran\"\n");
    release.apply(&["--state-instance", "x"]).code(0);
    let path = "root/state/modules/core__net/latest.json";
    for text in ["", "{", "{\"status\": \"fine\"}", "[]"] {
        let release_path = release.path(path);
        fs::write(&release_path, text).unwrap();
        release.apply(&[]).code(74).says("latest.json").says("move it away, or fix it");
        assert_eq!(fs::read_to_string(&release_path).unwrap(), text, "it is left as it is");
    }
    assert!(!release.path("root/state/tools/core__net/latest/ran").exists(), "nothing ran");
    assert_eq!(release.runs(), 1, "only that of the other instance");
}

#[test]
fn a_preflight_that_fails_leaves_the_state_as_it_was() {
    let release = Release::new(SCRIPT).file("dir/sh", "");
    fs::set_permissions(release.path("dir/sh"), fs::Permissions::from_mode(0o644)).unwrap();
    release.apply(&[]).code(0);
    let before = release.state();
    let release = release.profile("policy: {defaults: {min_free_disk_mb: 4000000000}}\n");
    release.apply(&[]).code(69).says("MiB are free").says("--skip-preflight");
    assert_eq!(release.state(), before);
    assert_eq!(release.document("module_state.json")["status"], "unchanged");
}

#[test]
fn what_has_become_of_a_module_is_shown_with_it() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    release.apply(&["--state-instance", "blue"]).code(0);
    let ran = release.run(&["show", "core/net"]);
    ran.code(0).says("state         ok: apply-").says("state         ok (blue): apply-");
    assert!(ran.stdout.contains("name = net-"), "{ran:?}");
    let document = release.run(&["show", "core/net", "--json"]).code(0).json();
    assert_eq!(document["states"][1]["state_instance"], "blue");
}
