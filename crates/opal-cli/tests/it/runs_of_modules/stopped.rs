//! A run that somebody stops: what is left of it is true.

use std::process::Child;

use serde_json::json;

use super::release::{self, Release};
use crate::support::Ran;
use opal_testing::processes::{eventually, is_running, signal, unique};

/// A run whose script has said something and waits for ever, with a child of its own.
fn started(more: &[&str]) -> (Release, Child, String) {
    let release = Release::new("");
    let word = unique(&release.path(""));
    let stays = format!("python3 -c 'import time; time.sleep(600)' {word}");
    let script = format!(
        "echo working; echo '{{\"name\": \"half\"}}' > \"$HYOPS_OUTPUTS_FILE\"; ({stays} &); {stays}\n"
    );
    let release = release.script("net", &script);
    let child = release.started(&[&["apply", "core/net"], more].concat()).spawn().unwrap();
    eventually("the script begins", || is_running(&word));
    (release, child, word)
}

#[test]
fn a_signal_leaves_an_error_a_cancelled_result_and_the_envelope_of_the_stopped_tool() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let (release, child, word) = started(&[]);
        let output = release.evidence();
        eventually("its first words are kept", || {
            std::fs::read_dir(&output).unwrap().any(|entry| {
                let path = entry.unwrap().path();
                path.to_string_lossy().contains("stdout.txt")
                    && std::fs::read(&path).is_ok_and(|it| !it.is_empty())
            })
        });
        signal(&child, name);
        Ran::from(child.wait_with_output().unwrap()).code(code).says("cancelled");
        eventually("everything has ended", || !is_running(&word));
        let state = release.state();
        assert_eq!((&state["status"], &state["outputs"]), (&json!("error"), &json!({})), "{name}");
        assert_eq!(state["last_error"], "it was interrupted");
        let result = release.document("driver_result.json");
        assert_eq!(
            (&result["status"], &result["normalized_outputs"]),
            (&json!("cancelled"), &json!({}))
        );
        let envelope = release.document("shell_apply.result.json");
        assert!(envelope["rc"].as_i64().unwrap() >= 128, "{envelope}");
        assert_eq!(envelope["argv"], json!(["./run.sh", "apply"]));
        let printed = std::fs::read_to_string(release.evidence().join("shell_apply.stdout.txt"));
        assert_eq!(printed.unwrap(), "working\n");
        assert_eq!(release.document("module_state.json")["status"], "error");
        let record = release.opal().call(&["runs", "show", "last", "--json"]).json();
        assert_eq!(record["run"]["status"], "interrupted", "{name}");
    }
}

#[test]
fn a_signal_as_json_is_one_document_that_says_so() {
    let (_release, child, _) = started(&["--json"]);
    signal(&child, "INT");
    let ran = Ran::from(child.wait_with_output().unwrap());
    let document = ran.code(130).json();
    assert_eq!((&document["status"], &document["exit_code"]), (&json!("cancelled"), &json!(130)));
}

#[test]
fn a_tool_has_minutes_to_save_what_it_was_doing() {
    let script = "trap 'sleep 3; touch \"$HYOPS_MEMORY_DIR/saved\"; exit 1' INT TERM\n\
                  touch \"$HYOPS_MEMORY_DIR/begun\"; while :; do sleep 0.01; done\n";
    for (name, code) in [("INT", 130), ("HUP", 129)] {
        let release = Release::new(script);
        let mut command = release.opal().interruptible();
        let child = command.args(["module", "apply", "core/net"]).spawn().unwrap();
        let memory = release.path("root/state/tools/core__net/latest");
        eventually("the script begins", || memory.join("begun").exists());
        signal(&child, name);
        let ran = Ran::from(child.wait_with_output().unwrap());
        ran.code(code).says("waiting for running steps, at most 10 minutes");
        assert!(memory.join("saved").exists(), "{name}");
    }
}

#[test]
fn a_tool_that_takes_an_interrupt_for_success_is_stopped_all_the_same_and_the_last() {
    let blueprint = "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: demo/two@v1\nsteps:\n  \
                     - {id: one, module_ref: core/net}\n  - {id: two, module_ref: core/late}\n";
    let script =
        "trap 'exit 0' INT; touch \"$HYOPS_MEMORY_DIR/begun\"; while :; do sleep 0.01; done\n";
    let release = Release::new(script)
        .module("core/late", &[], "true\n")
        .file("rel/blueprints/demo/two@v1/blueprint.yml", blueprint);
    let mut command = release.opal().interruptible();
    let child = command.args(["blueprint", "apply", "demo/two@v1"]).spawn().unwrap();
    let begun = release.path("root/state/tools/core__net/latest/begun");
    eventually("the script begins", || begun.exists());
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130).says("two  not run");
    assert_eq!(release.state()["status"], "error");
    assert!(!release.path("root/state/modules/core__late").exists());
}

#[test]
fn a_signal_ends_a_probe_that_waits_at_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let probe =
        format!("probes: [{{name: up, tcp: '127.0.0.1:{port}', attempts: 50, delay_s: 60}}]\n");
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let release = Release::new(release::SCRIPT)
            .file("rel/modules/core/net/spec.yml", format!("{}{probe}", release::SPEC));
        let mut child = release.started(&["apply", "core/net"]).spawn().unwrap();
        let events = release.path("records/logs/run");
        eventually("the probe waits", || {
            let mut open = vec![events.clone()];
            let mut is_tried = false;
            while let Some(path) = open.pop() {
                match std::fs::read_dir(&path) {
                    Ok(entries) => open.extend(entries.map(|it| it.unwrap().path())),
                    Err(_) => {
                        let text = std::fs::read_to_string(&path).unwrap_or_default();
                        is_tried |= text.contains("\"kind\":\"step_started\"")
                            && text.contains("module.probe");
                    }
                }
            }
            is_tried
        });
        signal(&child, name);
        // Waiting for the pause would take an hour.
        eventually("it ends", || child.try_wait().unwrap().is_some());
        Ran::from(child.wait_with_output().unwrap()).code(code).says("cancelled");
        assert_eq!(release.state()["status"], "error");
    }
}
