//! What is kept of a run stays readable and true, whatever is secret.

use serde_json::json;

use super::release::{Release, SCRIPT};

const PASSWORD: &str = "inputs: {defaults: {size: small, db_password: ''}}";
const INPUTS: &str = "inputs: {defaults: {size: small, network: {cidr: 10.0.0.0/8}}}";

#[test]
fn a_secret_that_equals_a_word_of_opals_own_spoils_no_document() {
    let release =
        Release::new(&format!("{SCRIPT}. ./hyops.inputs.sh; echo \"$input_db_password\"\n"))
            .spec(&[(INPUTS, PASSWORD)]);
    for word in ["core", "apply", "name", "status", "module_ref", "core/net", "outputs"] {
        let set = [("HYOPS_INPUT_db_password", word)];
        let shown = release.run_with(&set, &["apply", "core/net", "--json"]).code(0).json();
        assert_eq!((&shown["module_ref"], &shown["status"]), (&json!("core/net"), &json!("ok")));
        let state = release.state();
        assert_eq!(state["module_ref"], "core/net", "{word}");
        assert_eq!((&state["command"], &state["status"]), (&json!("apply"), &json!("ok")));
        assert_eq!(state["evidence_dir"], json!(release.evidence()), "{word}");
        let meta = release.document("meta.json");
        assert_eq!((&meta["module_ref"], &meta["command"]), (&json!("core/net"), &json!("apply")));
        let result = release.document("driver_result.json");
        assert_eq!((&result["status"], &result["command"]), (&json!("ok"), &json!("apply")));
        assert_eq!(result["driver"]["ref"], "shell/script");
        let envelope = release.document("shell_apply.result.json");
        assert_eq!((&envelope["rc"], &envelope["status"]), (&json!(0), &json!("done")), "{word}");
        let stamp: serde_json::Value =
            serde_json::from_slice(&std::fs::read(release.path("root/meta/runtime.json")).unwrap())
                .unwrap();
        assert_eq!((&stamp["command"], &stamp["run_id"]), (&json!("apply"), &state["run_id"]));
        let printed = std::fs::read_to_string(release.evidence().join("shell_apply.stdout.txt"));
        assert!(!printed.unwrap().contains(word), "{word}: what a tool prints is hidden");
    }
    assert_eq!(release.state()["outputs"], json!({"name": "net-small"}));
}

#[test]
fn what_is_in_credentials_that_nobody_has_asked_for_is_hidden() {
    let release = Release::new("cat \"$HYOPS_CREDENTIALS_DIR\"/*.env; echo \"got $OTHER\"\n")
        .private("root/credentials/other.env", "OTHER=canary-5150-Zx\n")
        .private("root/credentials/torn.json", "{");
    let ran = release.apply(&[]);
    ran.code(0).says("torn.json").hides("canary-5150-Zx");
    let printed = std::fs::read_to_string(release.evidence().join("shell_apply.stdout.txt"));
    assert_eq!(printed.unwrap(), "OTHER=<redacted>\ngot \n");
    let warnings = release.document("driver_result.json")["warnings"].to_string();
    assert!(warnings.contains("torn.json"), "{warnings}");
}

#[test]
fn what_a_tool_leaves_running_on_purpose_locks_nobody_out() {
    let leaves = "(while test -d \"$HYOPS_RUNTIME_ROOT\"; do sleep 0.1; done) >&- 2>&- <&- &\n";
    let release = Release::new(&format!("{leaves}{SCRIPT}"));
    release.apply(&[]).code(0);
    release.apply(&[]).code(0);
}

#[test]
fn a_target_with_nothing_to_fill_in_does_not_ask_for_it() {
    let release = Release::new("");
    let ran = release.run(&["init", "local"]);
    ran.code(0).says("local.yml` was created\n").says("local is ready").hides("fill it in");
    let ran = release.run(&["init", "gcp"]);
    ran.says("gcp.yml` was created: fill it in").says("gcp is not ready");
}
