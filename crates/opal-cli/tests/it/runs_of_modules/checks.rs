//! Constraints and probes of a spec: checked before and after the run, with evidence.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use super::release::{Release, SCRIPT};

/// `core/net` with these lines at the end of its spec.
fn checked(more: &str) -> Release {
    Release::new(SCRIPT).spec(&[(
        "outputs: {publish: [name]}\n",
        &format!("outputs: {{publish: [name]}}\n{more}\n"),
    )])
}

/// A server that answers every request with this body, and its port.
fn server(body: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        }
    });
    port
}

/// A port that nobody listens on.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn an_input_that_breaks_a_constraint_is_refused_before_anything_runs() {
    let release = checked(
        "constraints: [{input: size, one_of: [small, large], message: two sizes are sold}, \
         {input: network.cidr, within: 10.0.0.0/8}]",
    );
    release.apply(&[]).code(0);
    let set = [("HYOPS_INPUT_size", "canary-7"), ("HYOPS_INPUT_network__cidr", "11.0.0.0/8")];
    for verb in ["apply", "plan", "verify", "validate", "destroy"] {
        let ran = release.run_with(&set, &[verb, "core/net"]);
        ran.code(65)
            .says("input validation failed for core/net: `size` must be one of `small`, `large` (two sizes are sold); `network.cidr` must be inside `10.0.0.0/8`")
            .hides("canary-7");
    }
    assert_eq!(release.runs(), 1, "only the first has run");
}

#[test]
fn a_default_that_breaks_a_constraint_is_a_fault_and_one_that_is_still_open_is_not() {
    let release = checked("constraints: [{input: size, one_of: [huge]}]");
    release.run(&["validate", "core/net"]).code(65).says("`size` must be one of `huge`");
    let more =
        "constraints: [{input: size, one_of: [huge]}, {input: network.cidr, differs_from: size}]";
    let release = Release::new(SCRIPT)
        .spec(&[("size: small", "size: CHANGE_ME"), ("outputs:", &format!("{more}\noutputs:"))]);
    release.run(&["validate", "core/net"]).code(0).says("still to be filled in: size");
}

#[test]
fn unknown_constraints_and_probes_are_refused_with_file_and_rule() {
    for (more, code, message) in [
        ("constraints: [{input: size, minimum: 1}]", "E1113", "unknown constraint `minimum`"),
        ("probes: [{name: a, command: 'true'}]", "E1114", "unknown probe `command`"),
    ] {
        let release = checked(more);
        let lint = release.run(&["lint", &release.path("rel").display().to_string()]);
        lint.code(65).says(code).says(message).says("spec.yml").says("expected one of: ");
        release.apply(&[]).code(65).says(code).says(message);
        assert_eq!(release.runs(), 0);
    }
}

#[test]
fn outputs_are_checked_after_the_tools_and_a_broken_constraint_fails_the_run() {
    let release = checked(
        "constraints: [{output: name, matches: 'net-(small|large)'}, {output: other, at_most: 1}]",
    );
    release.apply(&["--dry-run"]).code(0).says("@module.check");
    release.apply(&[]).code(0).says("apply core/net: ok");
    assert_eq!(release.document("check_outputs.result.json")["rc"], 0);
    assert_eq!(release.state()["status"], "ok");

    let document =
        release.run_with(&[("HYOPS_INPUT_size", "odd")], &["apply", "core/net", "--json"]);
    let document = document.code(1).json();
    let error = "the outputs violate the constraints: `name` must match `net-(small|large)`";
    assert_eq!(
        (&document["status"], &document["error"]["message"]),
        (&json!("error"), &json!(error))
    );
    let envelope = release.document("check_outputs.result.json");
    assert_eq!((&envelope["rc"], &envelope["message"]), (&json!(1), &json!(error)));
    let state = release.state();
    assert_eq!(
        (&state["status"], &state["outputs"]["name"]),
        (&json!("error"), &json!("net-small"))
    );
    for verb in ["plan", "verify", "destroy"] {
        release.run(&[verb, "core/net", "--dry-run"]).code(0).hides("@module.check");
    }
}

#[test]
fn probes_run_after_the_tools_with_inputs_and_outputs_and_leave_evidence() {
    let port = server("all is well");
    let script = format!(
        "{SCRIPT}echo \"{{\\\"name\\\": \\\"127.0.0.1:{port}\\\"}}\" > \"$HYOPS_OUTPUTS_FILE\"\n"
    );
    let release = checked(
        "probes: [{name: answers, http: 'http://{outputs.name}/health', contains: well}, \
         {name: port, tcp: '{outputs.name}'}, {name: file, file: '/{inputs.size}'}]",
    )
    .script("net", &script);
    let root = [("HYOPS_INPUT_size", "etc/passwd")];
    let planned = release.run_with(&root, &["apply", "core/net", "--dry-run"]);
    planned.code(0).says("http://{outputs.name}/health").says("/etc/passwd");
    release.run_with(&root, &["apply", "core/net"]).code(0).says("apply core/net: ok");
    for name in ["answers", "port", "file"] {
        let envelope = release.document(&format!("probe_{name}.result.json"));
        assert_eq!((&envelope["rc"], &envelope["attempts"]), (&json!(0), &json!(1)), "{name}");
    }
    assert_eq!(
        release.document("driver_meta.json")["tools"],
        json!(["shell_apply", "probe_answers", "probe_port", "probe_file"])
    );
    // A verify asks for what the last apply has published.
    release.run_with(&root, &["verify", "core/net"]).code(0);
    assert_eq!(release.document("probe_answers.result.json")["rc"], 0);
    for verb in ["plan", "destroy"] {
        release.run_with(&root, &[verb, "core/net"]).code(0);
        assert!(!release.evidence().join("probe_port.result.json").exists(), "{verb}");
    }
}

#[test]
fn a_failed_probe_fails_an_apply_and_is_a_difference_for_verify() {
    let port = closed_port();
    let release = checked(&format!(
        "probes: [{{name: up, tcp: '127.0.0.1:{port}', attempts: 2, delay_s: 1, timeout_s: 5}}]"
    ));
    let refused = format!("the probe `up` failed: `127.0.0.1:{port}` refused the connection");
    let document = release.apply(&["--json"]).code(1).json();
    assert_eq!(
        (&document["status"], &document["error"]["message"]),
        (&json!("error"), &json!(refused))
    );
    let envelope = release.document("probe_up.result.json");
    assert_eq!((&envelope["attempts"], &envelope["message"]), (&json!(2), &json!(refused)));
    assert_eq!(release.state()["status"], "error");

    let verify = release.run(&["verify", "core/net", "--json"]).code(1).json();
    assert_eq!((&verify["status"], &verify["error"]), (&json!("drifted"), &json!(null)));
    assert_eq!(verify["warnings"], json!([refused]));
    assert_eq!(release.document("probe_up.result.json")["attempts"], 1);
    release.run(&["verify", "core/net"]).code(1).says(&refused);
}

#[test]
fn a_probe_that_cannot_be_asked_is_no_difference() {
    let release = checked("probes: [{name: up, http: 'http://{outputs.name}'}]");
    let ran = release.run(&["verify", "core/net"]);
    ran.code(3).says("the probe `up` failed").says("no output `name`");
    let set = [("HYOPS_INPUT_size", "")];
    let release = checked("probes: [{name: up, http: 'http://{inputs.size}'}]");
    let ran = release.run_with(&set, &["apply", "core/net"]);
    ran.code(65).says("the probe `up` needs `size`, which is not a text or a number");
}

#[test]
fn a_secret_never_becomes_part_of_a_probe() {
    let release = Release::new(SCRIPT).spec(&[
        ("size: small", "size: small, api_token: ''"),
        ("outputs:", "probes: [{name: up, http: 'http://localhost/{inputs.api_token}'}]\noutputs:"),
    ]);
    let set = [("HYOPS_INPUT_api_token", "canary-token-7")];
    let ran = release.run_with(&set, &["apply", "core/net"]);
    ran.code(65).says("`api_token`, which is secret").hides("canary-token-7");
    let token = checked("probes: [{name: up, http: 'http://{outputs.name}', attempts: 1}]").script(
        "net",
        "echo '{\"name\": \"https://bob:canary-hunter2@host\"}' > \"$HYOPS_OUTPUTS_FILE\"\n",
    );
    token.apply(&[]).says("no output `name`").hides("canary-hunter2");
}

#[test]
fn what_is_checked_is_part_of_a_contract() {
    let port = server("ok");
    let release = checked(&format!("probes: [{{name: up, tcp: '127.0.0.1:{port}'}}]"));
    let plan = release.path("net.plan").display().to_string();
    release.apply(&["--dry-run", "-o", &plan]).code(0);
    release.opal().call(&["run", "--plan", &plan]).code(0);
    assert_eq!(release.document("probe_up.result.json")["rc"], 0);
    let release =
        release.spec(&[("outputs:", "probes: [{name: up, tcp: '127.0.0.1:1'}]\noutputs:")]);
    release.opal().call(&["run", "--plan", &plan]).code(76);
}
