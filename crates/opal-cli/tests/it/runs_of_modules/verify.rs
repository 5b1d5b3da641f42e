//! `opal module verify`: as wanted, not in the desired state, or not to be told.

use serde_json::json;

use super::release::{Release, SCRIPT};

#[test]
fn what_is_as_wanted_what_differs_and_a_failure_are_told_apart() {
    for (ends, code, status) in
        [("0", 0, "ok"), ("2", 1, "drifted"), ("5", 3, "error"), ("1", 3, "error")]
    {
        let release = Release::new(&format!("echo looked; exit {ends}\n"));
        let document = release.run(&["verify", "core/net", "--json"]).code(code).json();
        assert_eq!(
            (&document["status"], &document["exit_code"]),
            (&json!(status), &json!(code)),
            "{ends}"
        );
        assert_eq!(release.document("driver_result.json")["status"], status);
        let rc: i32 = ends.parse().unwrap();
        assert_eq!(release.document("shell_verify.result.json")["rc"], rc, "the tool's own");
        assert!(!release.has_state());
    }
}

#[test]
fn a_difference_is_said_in_words_and_is_no_failure_of_the_run() {
    let release = Release::new("echo 'size: small -> large'; exit 2\n");
    let ran = release.run(&["verify", "core/net"]);
    ran.code(1).says("verify core/net: not in the desired state").says("size: small -> large");
    // Its exit code says what it found, and is not a failure of the step.
    ran.says("done: ").hides("failed");
    ran.hides("ended with 2");
    assert_eq!(release.document("driver_result.json")["error"], json!(null));
}

#[test]
fn a_difference_is_not_looked_for_again_and_a_failing_apply_is() {
    let tries = "echo x >> \"$HYOPS_MEMORY_DIR/tries\"; test \"$(wc -l < \"$HYOPS_MEMORY_DIR/tries\")\" -ge 3 || exit 2\n";
    let release = Release::new(tries).profile("policy: {defaults: {retries: 2}}\n");
    release.run(&["verify", "core/net"]).code(1);
    assert_eq!(release.document("shell_verify.result.json")["attempts"], 1);
    release.apply(&[]).code(0);
    let envelope = release.document("shell_apply.result.json");
    assert_eq!(envelope["rc"], 0, "{envelope}");
}

#[test]
fn the_outputs_of_a_look_are_nobodys() {
    let release = Release::new(SCRIPT);
    release.apply(&[]).code(0);
    let set = [("HYOPS_INPUT_size", "large")];
    for verb in ["verify", "plan"] {
        let document = release.run_with(&set, &[verb, "core/net", "--json"]).code(0).json();
        assert_eq!(document["outputs"], json!({}), "{verb}");
    }
    assert_eq!(release.state()["outputs"]["name"], "net-small");
}
