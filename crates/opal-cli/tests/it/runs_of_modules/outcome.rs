//! How a run ends, in exit codes and in JSON; and what may be asked of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::release::{Release, SCRIPT};

#[test]
fn the_exit_code_of_the_tool_is_that_of_the_run() {
    for (ends, code) in
        [("exit 1", 1), ("exit 42", 42), ("kill -9 $$", 137), ("no-such-program-here", 127)]
    {
        let release = Release::new(&format!("{ends}\n"));
        release.apply(&[]).code(code).says(&format!("shell_apply ended with {code}"));
        assert_eq!(release.document("shell_apply.result.json")["rc"], code, "{ends}");
        assert_eq!(release.state()["status"], "error");
    }
    let release = Release::new("no-such-program-here\n");
    release.apply(&[]).says("shell_apply ended with 127: command not found");
}

#[test]
fn json_is_one_document_whether_it_works_or_not() {
    let release =
        Release::new(&format!("{SCRIPT}test ! -e \"$HYOPS_MEMORY_DIR/fail\" || exit 6\n"));
    let document = release.apply(&["--json"]).code(0).json();
    let expected = json!({
        "version": 1, "module_ref": "core/net", "state_instance": null, "command": "apply",
        "status": "ok", "exit_code": 0, "outputs": {"name": "net-small"}, "warnings": [], "error": null,
        "run_id": release.state()["run_id"], "evidence_dir": release.evidence(),
    });
    assert_eq!(document, expected);
    fs::write(release.path("root/state/tools/core__net/latest/fail"), "").unwrap();
    let document = release.apply(&["--json"]).code(6).json();
    assert_eq!((&document["status"], &document["exit_code"]), (&json!("error"), &json!(6)));
    assert_eq!(document["error"]["message"], "shell_apply ended with 6");
    for line in [
        &["apply", "core/gone", "--json"][..],
        &["apply", "Core/Net", "--json"],
        &["apply", "core/net", "--json", "--inputs", "gone.yml"],
        &["apply", "core/net", "--json", "--no-such-option"],
        &["apply", "core/net", "--json", "--state-instance", "../x"],
        &["apply", "core/net", "--json", "--module-root", "gone"],
    ] {
        let ran = release.run(line);
        assert_ne!(ran.code, 0, "{line:?}");
        assert!(ran.json()["error"]["message"].is_string(), "{line:?}: {ran:?}");
    }
}

#[test]
fn a_fault_in_a_file_is_one_document_too() {
    let release = Release::new(SCRIPT).spec(&[("kind: ModuleSpec", "kind: Other")]);
    release.apply(&["--json"]).code(65).json();
    let release = Release::new(SCRIPT).file("in.yml", "a: [\n");
    release.apply(&["--json", "--inputs", "in.yml"]).code(65).json();
    let release = Release::new(SCRIPT).profile("inputs: {}\n");
    release.apply(&["--json"]).code(65).json();
}

#[test]
fn a_tool_that_is_missing_is_127_in_its_envelope_and_the_run_cannot_begin() {
    let release = Release::new(SCRIPT)
        .file(
            "rel/modules/core/net/spec.yml",
            super::release::SPEC.replace("shell/script", "config/ansible"),
        )
        .file(
            "rel/drivers/config/ansible/profiles/local@v1.profile.yml",
            super::release::PROFILE.replace("shell/script", "config/ansible"),
        )
        .file("rel/packs/config/ansible/net/stack/playbook.yml", "- hosts: localhost\n")
        .file("bin/.keep", "");
    for program in ["sh", "bash"] {
        std::os::unix::fs::symlink(format!("/bin/{program}"), release.path("bin").join(program))
            .unwrap();
    }
    let path = release.path("bin").display().to_string();
    let ran = release.run_with(&[("PATH", &path)], &["apply", "core/net"]);
    ran.code(69)
        .says("the program `ansible-playbook` is not installed")
        .says("--skip-preflight=REASON");
    let envelope = release.document("ansible_apply.result.json");
    assert_eq!((&envelope["rc"], &envelope["argv"][0]), (&json!(127), &json!("ansible-playbook")));
    assert_eq!(release.document("driver_result.json")["status"], "error");
    assert!(!release.has_state());
    let ran = release.run_with(&[("PATH", &path)], &["preflight", "core/net"]);
    ran.code(69).says("missing  tool:ansible-playbook");
    let ran = release
        .run_with(&[("PATH", &path)], &["apply", "core/net", "--skip-preflight=it is there"]);
    ran.code(127);
    assert_eq!(release.document("ansible_apply.result.json")["rc"], 127);
    assert_eq!(release.state()["status"], "error");
}

#[test]
fn a_script_whose_shell_is_not_there_is_told_of_before_anything_runs() {
    let release = Release::new(SCRIPT).file("empty/.keep", "");
    let empty = release.path("empty").display().to_string();
    let script = release.stack().join("run.sh");
    for (first, path, says) in [
        ("#!/usr/bin/env bash", empty.as_str(), "`./run.sh` is a script for `bash`, which is not"),
        ("#! /usr/bin/env -S A=b zsh -e", "", "`./run.sh` is a script for `zsh`, which is not"),
        ("#!/usr/bin/env bash", "", "help: `PATH` is empty"),
        ("#!/nowhere/zsh -e", empty.as_str(), "`./run.sh` is a script for `/nowhere/zsh`"),
    ] {
        fs::write(&script, format!("{first}\n")).unwrap();
        for verb in ["preflight", "apply"] {
            let ran = release.run_with(&[("PATH", path)], &[verb, "core/net"]);
            ran.code(69).says(says.strip_prefix("help: ").unwrap_or(says));
        }
    }
    fs::write(&script, "true\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
    for (path, help) in [("", "`PATH` is empty"), (&empty, "to `PATH`")] {
        let ran = release.run_with(&[("PATH", path)], &["apply", "core/net"]);
        ran.code(69).says("the program `sh` is not installed").says(help);
    }
    assert!(!release.has_state());
}

#[test]
fn a_credential_that_others_may_read_is_one_line_of_a_preflight_and_stops_every_run() {
    let release = Release::new(SCRIPT)
        .spec(&[("credentials: []", "credentials: [acme, none]")])
        .file("root/credentials/acme.env", "A=canary-4711\n");
    let ran = release.run(&["preflight", "core/net"]);
    ran.code(69).says("ok       pack:net").says("missing  credentials:acme").says("chmod 600");
    ran.says("missing  credentials:none").says("ok       root").hides("canary-4711");
    let document = release.run(&["preflight", "core/net", "--json"]).code(69).json();
    assert_eq!(document["checks"].as_array().unwrap().len(), 5, "{document}");
    for more in [&[][..], &["--skip-preflight=why not"]] {
        release.apply(more).code(65).says("chmod 600").hides("canary-4711");
        assert_eq!(release.runs(), 0);
    }
}

#[test]
fn a_preflight_on_a_machine_without_a_root_looks_at_the_disk_it_would_be_on() {
    let release = Release::new(SCRIPT).profile("policy: {defaults: {min_free_disk_mb: 1}}\n");
    let document = release.run(&["preflight", "core/net", "--json"]).code(0).json();
    let names: Vec<&str> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"disk") && names.contains(&"tool:./run.sh"), "{names:?}");
    assert!(!release.path("root").exists(), "a look makes nothing");
}

#[test]
fn the_reason_to_skip_the_preflight_is_kept_and_must_be_one() {
    let release =
        Release::new(SCRIPT).profile("policy: {defaults: {min_free_disk_mb: 4000000000}}\n");
    let ran = release.apply(&["--skip-preflight=the disk is a network"]);
    ran.code(0);
    let preflight = release.document("meta.json")["preflight"].clone();
    assert_eq!(preflight, json!({"skipped": true, "reason": "the disk is a network"}));
    let before = release.runs();
    for empty in ["--skip-preflight=", "--skip-preflight=  "] {
        release.apply(&[empty]).code(2).says("needs a reason");
    }
    release.apply(&["--skip-preflight"]).code(2);
    assert_eq!(release.runs(), before);
}

#[test]
fn a_tool_that_fails_is_tried_as_often_as_the_profile_says() {
    let tries = "echo try >> \"$HYOPS_MEMORY_DIR/tries\"; echo said; test -e \"$HYOPS_MEMORY_DIR/enough\"\n";
    let release = Release::new(tries).profile("policy: {defaults: {retries: 1}}\n");
    release.apply(&["--dry-run"]).code(0).says("@retry(attempts=2)");
    release.apply(&[]).code(1);
    let tries =
        fs::read_to_string(release.path("root/state/tools/core__net/latest/tries")).unwrap();
    assert_eq!(tries.lines().count(), 2);
    let envelope = release.document("shell_apply.result.json");
    assert_eq!((&envelope["attempts"], &envelope["rc"]), (&json!(2), &json!(1)));
    let printed = fs::read_to_string(release.evidence().join("shell_apply.stdout.txt")).unwrap();
    assert_eq!(printed, "said\n".repeat(2));
    fs::write(release.path("root/state/tools/core__net/latest/enough"), "").unwrap();
    release.apply(&[]).code(0);
    assert_eq!(release.document("shell_apply.result.json")["attempts"], 1);
}

#[test]
fn the_variables_of_the_profile_reach_the_tool_and_what_is_set_outside_wins() {
    let release = Release::new("echo \"$REGION $FROM_PROFILE $HYOPS_COMMAND\"\n")
        .profile("env: {REGION: north, FROM_PROFILE: 7, HYOPS_COMMAND: hijacked}\n");
    release.run_with(&[("REGION", "south")], &["apply", "core/net"]).code(0).says("south 7 apply");
}

#[test]
fn what_means_nothing_to_a_module_is_refused() {
    let release = Release::new(SCRIPT);
    for option in ["--from=step:1", "--resume", "--verify-first", "--jobs=2"] {
        release.apply(&[option]).code(2);
    }
    release.apply(&["-o", "x.plan"]).code(2).says("--dry-run");
    release.apply(&["--json", "--events", "-"]).code(2);
    release.apply(&["--dry-run", "--timeout", "1s"]).code(2);
    assert!(!release.path("root").exists());
}

#[test]
fn events_tell_of_the_run_as_it_goes() {
    let release = Release::new(SCRIPT);
    let ran = release.apply(&["--events", "-"]);
    ran.code(0);
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 3, "{ran:?}");
    ran.says("shell_apply");
}

#[test]
fn a_run_of_a_module_has_reports_and_so_has_one_that_cannot_begin() {
    let release = Release::new(&format!("echo \"token=$TOKEN\"\n{SCRIPT}"));
    let report = ["--report", "r.md", "--report", "r.xml"];
    release.run(&[&["apply", "core/net"][..], &report].concat()).code(0);
    let text = fs::read_to_string(release.path("r.md")).unwrap();
    assert!(text.contains("core/net") || text.contains("core__net"), "{text}");
    assert!(fs::read_to_string(release.path("r.xml")).unwrap().contains("failures=\"0\""));
    release.run(&[&["apply", "core/none"][..], &report].concat()).code(66);
    let text = fs::read_to_string(release.path("r.md")).unwrap();
    assert!(text.contains("nothing was run") && text.contains("core/none"), "{text}");
    release.run(&[&["apply", "core/net", "--dry-run"][..], &report].concat()).code(2);
}
