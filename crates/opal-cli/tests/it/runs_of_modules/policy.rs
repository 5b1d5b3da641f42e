//! What the policy of a profile asks for: versions of tools, what credentials hold, where state is kept,
//! what workspaces are called.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use super::release::{PROFILE, Release, SCRIPT, SPEC, tree};
use crate::support::Ran;
use opal_testing::processes::{eventually, is_running, signal, unique};

/// A release on a machine with these programs and a shell, and what it is called with.
struct Machine(Release, String);

impl Machine {
    fn new(release: Release, programs: &[(&str, &str)]) -> Self {
        let release = release.file("bin/.keep", "");
        for program in ["sh", "bash", "cat", "sleep", "touch"] {
            symlink(format!("/bin/{program}"), release.path("bin").join(program)).unwrap();
        }
        let release = programs.iter().fold(release, |release, (name, script)| {
            let release = release.file(name, format!("#!/bin/sh\n{script}\n"));
            fs::set_permissions(release.path(name), fs::Permissions::from_mode(0o755)).unwrap();
            release
        });
        let path = release.path("bin").display().to_string();
        Self(release, path)
    }

    #[track_caller]
    fn run(&self, words: &[&str]) -> Ran {
        self.0.run_with(&[("PATH", &self.1)], words)
    }

    #[track_caller]
    fn preflight(&self) -> Ran {
        self.run(&["preflight", "core/net"])
    }
}

/// `core/net` of another driver, with a profile that says more.
fn of_driver(driver: &str, files: &[(&str, &str)], profile: &str) -> Release {
    let pack = format!("rel/packs/{driver}/net/stack");
    let release = Release::new(SCRIPT)
        .file("rel/modules/core/net/spec.yml", SPEC.replace("shell/script", driver))
        .file(
            &format!("rel/drivers/{driver}/profiles/local@v1.profile.yml"),
            format!("{}{profile}", PROFILE.replace("shell/script", driver)),
        );
    files
        .iter()
        .fold(release, |release, (name, text)| release.file(&format!("{pack}/{name}"), text))
}

fn terragrunt(profile: &str) -> Release {
    of_driver("iac/terragrunt", &[("main.tf", "")], profile)
}

const TOFU: &str = "case $1 in --version) echo 'OpenTofu v1.8.2' ;; output) echo '{}' ;; esac";

#[test]
fn a_tool_of_another_version_stops_a_run_before_it_begins() {
    let wants =
        |wanted: &str| terragrunt(&format!("policy: {{tool_versions: {{tofu: '{wanted}'}}}}\n"));
    let machine = Machine::new(wants(">=1.9.0,<2.0.0"), &[("bin/tofu", TOFU)]);
    let told = "`tofu` is version 1.8.2, but `>=1.9.0, <2.0.0` is required";
    machine.run(&["apply", "core/net"]).code(69).says(told).says("policy.tool_versions");
    let checks = machine.0.document("meta.json")["preflight"]["checks"].clone();
    let failed = checks.as_array().unwrap().iter().find(|it| it["name"] == "version:tofu");
    assert_eq!(failed.unwrap()["detail"], told);
    assert!(!machine.0.has_state());
    machine.preflight().code(69).says("version:tofu").says(told);
    machine.run(&["apply", "core/net", "--skip-preflight=it is near"]).code(0);

    let machine = Machine::new(wants(">=1.6.0,<2.0.0"), &[("bin/tofu", TOFU)]);
    machine.run(&["apply", "core/net"]).code(0);
    machine.preflight().code(0).says("ok       version:tofu");
}

#[test]
fn a_tool_is_asked_in_the_stack_without_input_and_without_a_call_home() {
    let tofu = "\
case $1 in
--version) cat > /dev/null; test \"$CHECKPOINT_DISABLE\" = 1 && echo \"v$(cat version)\" ;;
output) echo '{}' ;;
esac";
    let profile = "policy: {tool_versions: {tofu: '^1.7'}}\n";
    let release = of_driver("iac/terragrunt", &[("main.tf", ""), ("version", "1.7")], profile);
    let machine = Machine::new(release, &[("bin/tofu", tofu)]);
    let before = tree(&machine.0.path("rel"));
    machine.run(&["apply", "core/net"]).code(0);
    assert_eq!(tree(&machine.0.path("rel")), before);
}

#[test]
fn a_tool_that_says_no_version_is_told_of() {
    let profile = "policy: {tool_versions: {tofu: '1'}}\n";
    for (script, why) in [
        ("echo unknown", "does not print a version"),
        ("echo 'needs GLIBC 2.34'; exit 1", "ended with 1"),
    ] {
        let machine = Machine::new(terragrunt(profile), &[("bin/tofu", script)]);
        machine.preflight().code(69).says("unknown version of `tofu`").says(why);
    }
}

#[test]
fn a_question_for_a_version_ends_with_opal() {
    let release = Release::new(SCRIPT).profile("policy: {tool_versions: {slow: '1'}}\n");
    let word = unique(&release.path(""));
    let slow = format!("python3 -c 'import time; time.sleep(600)' {word}");
    let Machine(release, path) = Machine::new(release, &[("bin/slow", &slow)]);
    let path = format!("{path}:/usr/local/bin:/usr/bin:/bin");
    let child = release.started(&["apply", "core/net"]).env("PATH", path).spawn().unwrap();
    eventually("it is asked", || is_running(&word));
    signal(&child, "INT");
    Ran::from(child.wait_with_output().unwrap()).code(130).says("opal was asked to stop");
    eventually("it has ended", || !is_running(&word));
    assert!(!release.has_state());
}

#[test]
fn what_is_not_there_not_named_or_not_started_is_not_asked() {
    let asked = "touch \"$ASKED/${0##*/}\"; echo v1.0.0";
    let other = &asked.replace("v1", "v2");
    let programs = [("bin/tofu", asked), ("bin/terraform", asked), ("own/terraform", other)];
    let asked_of = |profile: &str| {
        let Machine(release, path) =
            Machine::new(terragrunt(profile).file("asked/.keep", ""), &programs);
        let folder = release.path("asked").display().to_string();
        let ran = release
            .run_with(&[("PATH", &path), ("ASKED", &folder)], &["preflight", "core/net", "--json"]);
        let document = ran.code(0).json();
        let checks = document["checks"].as_array().unwrap();
        let names = checks.iter().map(|it| it["name"].as_str().unwrap().to_owned());
        let versions: Vec<String> = names.filter(|it| it.starts_with("version:")).collect();
        let marks = fs::read_dir(folder).unwrap().count() - 1;
        (versions, marks)
    };
    assert_eq!(asked_of(""), (vec![], 0));
    let all = "policy: {tool_versions: {terragrunt: '9', terraform: '1', python3: '2', ls: '1'}}";
    assert_eq!(asked_of(all), (vec!["version:terraform".to_owned()], 1));
    let own = "terragrunt: {terraform_bin: ../../../../../../own/terraform}\npolicy: {tool_versions: {tofu: '9', terraform: '2'}}";
    assert_eq!(asked_of(own), (vec!["version:terraform".to_owned()], 1));
}

#[test]
fn a_script_may_use_any_tool_so_any_is_asked() {
    let release = Release::new(SCRIPT).profile("policy: {tool_versions: {yq: '>=4'}}\n");
    let machine = Machine::new(release, &[("bin/yq", "echo 'yq version 3.4'")]);
    machine.preflight().code(69).says("`yq` is version 3.4.0");
}

#[test]
fn credentials_hold_what_the_profile_wants_in_them() {
    let profile = "policy: {constraints: {credential_contracts: {\
                   proxmox: {required_tfvars: [url, token_secret, insecure]}, aws: {required_tfvars: [a]}}}}\n";
    let release = || {
        Release::new(SCRIPT).profile(profile).spec(&[("credentials: []", "credentials: [proxmox]")])
    };
    let missing = release();
    missing.run(&["preflight", "core/net"]).code(69).hides("credential_contract");
    let short = release().private(
        "root/credentials/proxmox.credentials.tfvars",
        "url = \"canary-url-88\"\ntoken_secret = \"\"\nother = { insecure = true }\n",
    );
    for words in [&["preflight", "core/net"][..], &["apply", "core/net"]] {
        let ran = short.run(words);
        ran.code(69)
            .says("the credentials `proxmox` have no value for `token_secret` and `insecure`")
            .says("proxmox.credentials.tfvars")
            .hides("canary-url-88");
    }
    let kept = fs::read_to_string(short.evidence().join("meta.json")).unwrap();
    assert!(
        kept.contains("credential_contract:proxmox") && kept.contains("`token_secret`"),
        "{kept}"
    );
    for (form, text) in [
        ("tfvars", "url = \"u\"\ntoken_secret = \"s-1234\"\ninsecure = true\n"),
        ("json", r#"{"url": "u", "token_secret": "s-1234", "insecure": false}"#),
        ("yml", "url: u\ntoken_secret: s-1234\ninsecure: false\n"),
        ("env", "TF_VAR_url=u\nTF_VAR_token_secret=s-1234\ninsecure=0\n"),
    ] {
        let release = release().private(&format!("root/credentials/proxmox.{form}"), text);
        release
            .run(&["preflight", "core/net"])
            .code(0)
            .says("ok       credential_contract:proxmox");
    }
}

#[test]
fn state_is_kept_where_the_key_of_the_state_says() {
    let tofu = "case $1 in output) echo \"{}\" ;; apply) echo \"mode=$HYOPS_TERRAFORM_BACKEND_MODE\" ;; esac";
    let both = "workspace_policy: {mode: local}\npolicy: {workspace: {backend_mode: cloud, mode: local}}\n";
    for (profile, mode) in [
        ("", "local"),
        ("workspace_policy: {mode: remote}\n", "remote"),
        ("workspace_policy: {mode: remote}\npolicy: {workspace: {mode: local}}\n", "local"),
        (both, "cloud"),
    ] {
        let machine = Machine::new(terragrunt(profile), &[("bin/tofu", tofu)]);
        let ran = machine.run(&["apply", "core/net"]);
        ran.code(0).says(&format!("mode={mode}"));
        let backend = machine.0.work().join("hyops_override.tf.json");
        assert!(fs::read_to_string(backend).unwrap().contains("terraform.tfstate"), "{mode}");
        if mode == "cloud" {
            ran.says(
                "`policy.workspace.backend_mode: cloud` is passed to the stack; it does not \
                 configure",
            );
        }
    }
    let wrong = terragrunt("policy: {workspace: {backend_mode: clodu}}\n");
    wrong.apply(&[]).code(65).says("must be `local` or `cloud`");
}

#[test]
fn a_workspace_is_called_by_the_pattern_of_the_profile() {
    let script = "echo \"named=$HYOPS_WORKSPACE_NAME.\"\n";
    let release = |pattern: &str, inputs: &str| {
        let profile = format!(
            "workspace_policy: {{provider: aws}}\npolicy: {{naming: {{workspace_pattern: '{pattern}'}}}}\n"
        );
        Release::new(script).profile(&profile).spec(&[
            ("{size: small, ", inputs),
            ("outputs: {publish: [name]}", "outputs: {publish: []}"),
        ])
    };
    let pattern = "{name_prefix}-{provider}-{module}-{pack}";
    let ran = release(pattern, "{name_prefix: acme, ").apply(&[]);
    ran.code(0)
        .says("named=acme-aws-net-net.")
        .hides("HYOPS_WORKSPACE_NAME")
        .hides("has no effect");
    for (pattern, inputs, why) in [
        ("{name_prefix}-{context_id}", "{name_prefix: acme, ", "`{context_id}`, but no input"),
        ("{api_token}", "{api_token: '', ", "`{api_token}`, but the input of that name is secret"),
        ("{n}", "{n: \"a\\nb\", ", "`{n}`, but no input"),
    ] {
        let release = release(pattern, inputs).env("HYOPS_INPUT_api_token", "canary-0071");
        let ran = release.apply(&[]);
        ran.code(0).says("named=.").says("`HYOPS_WORKSPACE_NAME` is not set").says(why);
        ran.hides("canary-0071");
        let warnings = release.document("driver_result.json")["warnings"].to_string();
        assert!(warnings.contains(why), "{warnings}");
    }
}

#[test]
fn another_pattern_or_another_place_of_state_is_another_plan() {
    for (before, after) in [
        ("", "policy: {naming: {workspace_pattern: 'x-{module}'}}\n"),
        ("policy: {workspace: {mode: local}}\n", "policy: {workspace: {mode: cloud}}\n"),
    ] {
        let release = Release::new(SCRIPT).profile(before);
        release.apply(&["--dry-run", "-o", "net.plan"]).code(0);
        let release = release.profile(after);
        assert_ne!(release.opal().call(&["run", "--plan", "net.plan"]).code, 0, "{after}");
        assert_eq!(release.runs(), 0, "{after}");
    }
}

#[test]
fn what_a_driver_does_not_read_is_told_of_wherever_a_run_is() {
    let release = Release::new(SCRIPT).profile("defaults: {runner: local}\nansibel: {bin: a}\n");
    let told = "`defaults` has no effect: the driver `shell/script` does not read it";
    release.apply(&[]).code(0).says(told).says("`ansibel` has no effect");
    let warnings = release.document("driver_result.json")["warnings"].clone();
    assert_eq!(warnings.as_array().map(Vec::len), Some(2), "{warnings}");
    assert!(
        warnings.as_array().unwrap().contains(&json!(
            "`ansibel` has no effect: the driver `shell/script` does not read it"
        ))
    );
}

#[test]
fn a_look_before_a_run_tells_what_a_profile_says_for_nobody() {
    let policy = "policy: {tool_version: {tofu: '1'}, constraints: {credential_contracts: {a: {required_tfvar: [b]}}}}\n";
    let release = Release::new(SCRIPT).profile(policy);
    let ran = release.run(&["preflight", "core/net"]);
    ran.code(0).says("`policy.tool_version` has no effect").says("required_tfvar` has no effect");
    assert!(!ran.stdout.contains("warning"), "{ran:?}");
    let json = release.run(&["preflight", "core/net", "--json"]).code(0).json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 2, "{json}");
    let json = Release::new(SCRIPT).run(&["preflight", "core/net", "--json"]).code(0).json();
    assert_eq!(json["warnings"], json!([]));
}

#[test]
fn a_look_before_a_run_tells_all_that_a_validation_does() {
    let hook = "pack_ref: {id: core-2026-net}, hooks: {tell: {target: x}}";
    let more =
        "outputs: {publish: [name]}\ndependencies: [{module_ref: core/gone, required: false}]";
    let changes = [
        ("pack_ref: {id: core-2026-net}", hook),
        ("outputs: {publish: [name]}", more),
        ("inputs:", "metdata: {title: a}\ninputs:"),
    ];
    let release = Release::new(SCRIPT)
        .module("core/2026/net", &changes, "true\n")
        .profile("hooks: {tell: {command: [echo], other: 1}}\ndefaults: {}\n");
    let run =
        |verb| release.run(&[verb, "core/2026/net", "--json"]).code(0).json()["warnings"].clone();
    let (validated, looked) = (run("validate"), run("preflight"));
    let (validated, looked) = (validated.as_array().unwrap(), looked.as_array().unwrap());
    for part in
        ["contains a time", "`core/gone`", "`target`", "`metdata`", "tell.other", "`defaults`"]
    {
        let told = validated.iter().filter_map(|it| it.as_str()).filter(|it| it.contains(part));
        let told: Vec<&str> = told.collect();
        assert_eq!(told.len(), 1, "{part}: {validated:?}");
        let again = looked.iter().filter(|it| it.as_str().unwrap().starts_with(told[0]));
        assert_eq!(again.count(), 1, "{part}: {looked:?}");
    }
    let ran = release.run(&["preflight", "core/2026/net"]);
    ran.code(0).says("warning: the reference contains a time: `2026`");
}

#[test]
fn a_tool_is_named_without_where_it_is() {
    for name in ["''", "/usr/bin/tofu", "bin/tofu"] {
        let policy = format!("policy: {{tool_versions: {{{name}: '1'}}}}\n");
        let release = Release::new(SCRIPT).profile(&policy);
        for line in [&["lint", "rel"], &["preflight", "core/net"], &["validate", "core/net"]] {
            release.run(line).code(65).says("E1005").says("invalid program name");
        }
    }
}
