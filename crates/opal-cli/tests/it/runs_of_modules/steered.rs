//! Only the inputs, the profile, the driver and the pack say what the tools of a run work on: nothing
//! that happens to be in the environment does, and no file of a pack wins over an input.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::release::{PROFILE, Release, SCRIPT, SPEC};

const STACK: &str = "rel/packs/iac/terragrunt/net/stack";

/// `core/net` of another driver, on a stand-in for its tool.
fn release(driver: &str, (tool, script): (&str, &str), profile: &str) -> Release {
    let profile = format!("{}{profile}", PROFILE.replace("shell/script", driver));
    let release = Release::new(SCRIPT)
        .file("rel/modules/core/net/spec.yml", SPEC.replace("shell/script", driver))
        .file(&format!("rel/drivers/{driver}/profiles/local@v1.profile.yml"), profile)
        .file(&format!("bin/{tool}"), format!("#!/bin/sh\n{script}"));
    let program = release.path("bin").join(tool);
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", release.path("bin").display());
    release.env("PATH", &path)
}

/// On Terraform, which prints the variables that it has.
fn terraform(profile: &str) -> Release {
    let script = "case $1 in output) echo '{\"name\": {\"value\": \"a\"}}' ;;\n\
        *) env | grep -E '^(TF|TG|TERRAGRUNT|AWS)_' | sort ;; esac\n";
    release("iac/terragrunt", ("terraform", script), profile).file(&format!("{STACK}/main.tf"), "")
}

/// On Ansible, which prints the same, and this.
fn ansible(prints: &str) -> Release {
    let script = format!("env | grep ^ANSIBLE_ | sort\n{prints}\n");
    release("config/ansible", ("ansible-playbook", &script), "")
        .file("rel/packs/config/ansible/net/stack/playbook.yml", "- hosts: all\n")
}

fn printed(release: &Release, label: &str) -> String {
    fs::read_to_string(release.evidence().join(format!("{label}.stdout.txt"))).unwrap()
}

const ASTRAY: [(&str, &str); 6] = [
    ("TF_CLI_ARGS", "-no-such"),
    ("TF_CLI_ARGS_apply", "-destroy"),
    ("TF_DATA_DIR", "elsewhere"),
    ("TF_WORKSPACE", "elsewhere"),
    ("TERRAGRUNT_WORKING_DIR", "elsewhere"),
    ("TG_CONFIG", "elsewhere"),
];

#[test]
fn terraform_does_not_get_what_would_lead_it_elsewhere_and_a_warning_names_it() {
    let release = terraform("");
    let around = [&ASTRAY[..], &[("AWS_PROFILE", "mine"), ("TF_VAR_a", "b")]].concat();
    let ran = release.run_with(&around, &["apply", "core/net", "--json"]).code(0).json();
    let told = ran["warnings"][0].as_str().unwrap();
    for (name, value) in ASTRAY {
        assert!(told.contains(&format!("`{name}`")) && !told.contains(value), "{told}");
        assert!(!printed(&release, "terragrunt_apply").contains(&format!("{name}={value}")));
    }
    for kept in ["AWS_PROFILE=mine\n", "TF_VAR_a=b\n", "TF_INPUT=0\n", "TF_CLI_ARGS=-no-color\n"] {
        assert!(printed(&release, "terragrunt_apply").contains(kept), "{kept}");
    }
    let ran = release.run_with(&[("TF_WORKSPACE", "")], &["apply", "core/net", "--json"]);
    assert_eq!(ran.code(0).json()["warnings"], serde_json::json!([]), "it says nothing");
}

#[test]
fn a_preflight_asks_the_tools_as_a_run_does() {
    let wants = "policy: {tool_versions: {terraform: '>=1.6'}}\n";
    let script = "test -z \"$TF_WORKSPACE\" || exit 1\n\
        case $1 in --version) echo 'Terraform v1.9.0' ;; output) echo '{}' ;; esac\n";
    let release = release("iac/terragrunt", ("terraform", script), wants)
        .file(&format!("{STACK}/main.tf"), "");
    for verb in ["plan", "preflight"] {
        let ran = release.run_with(&ASTRAY, &[verb, "core/net", "--json"]).code(0).json();
        let told = ran["warnings"][0].as_str().unwrap();
        assert!(told.contains("`TF_WORKSPACE`"), "{verb}: {told}");
    }
}

#[test]
fn a_contract_is_not_led_elsewhere_either() {
    let release = terraform("");
    release.apply(&["--dry-run", "-o", "net.plan"]).code(0);
    let ran = release.opal().call_with(&ASTRAY, &["run", "--plan", "net.plan"]);
    ran.code(0).says("`TF_CLI_ARGS_apply`").says("`TF_WORKSPACE`");
    let printed = printed(&release, "terragrunt_apply");
    assert!(printed.contains("TF_CLI_ARGS=-no-color\n") && !printed.contains("TF_CLI_ARGS_apply"));
}

#[test]
fn a_profile_may_say_what_the_environment_may_not() {
    let release = terraform("env: {TF_WORKSPACE: of-the-profile}\n");
    release.run_with(&ASTRAY, &["apply", "core/net"]).code(0);
    assert!(printed(&release, "terragrunt_apply").contains("TF_WORKSPACE=of-the-profile\n"));
    let release = terraform("env: {TF_CLI_ARGS: -parallelism=2}\n");
    release.apply(&[]).code(0);
    let printed = printed(&release, "terragrunt_apply");
    assert!(printed.contains("TF_CLI_ARGS=-no-color -parallelism=2\n"), "{printed}");
}

#[test]
fn ansible_reports_what_it_did_whatever_the_environment_wants() {
    let release = ansible(&left(r#"{"hosts": {"localhost": {"changed": 0}}}"#));
    let around = [
        ("ANSIBLE_CHECK_MODE_MARKERS", "1"),
        ("ANSIBLE_CONFIG", "elsewhere"),
        ("ANSIBLE_SKIP_TAGS", "all"),
        ("ANSIBLE_ROLES_PATH", "roles"),
    ];
    let ran = release.run_with(&around, &["verify", "core/net"]);
    ran.code(0).says("`ANSIBLE_SKIP_TAGS`").hides("`ANSIBLE_ROLES_PATH`");
    let printed = printed(&release, "ansible_verify");
    assert!(printed.contains("ANSIBLE_CHECK_MODE_MARKERS=0\n"), "{printed}");
    assert!(printed.contains("ANSIBLE_ROLES_PATH=roles\n"), "{printed}");
    assert!(!printed.contains("SKIP_TAGS") && !printed.contains("_CONFIG"), "{printed}");
}

#[test]
fn a_playbook_that_is_for_no_host_has_failed() {
    let release = ansible(&left(r#"{"hosts": {}}"#));
    release.apply(&[]).code(65).says("ansible_apply did nothing").says("no host");
    assert_eq!(release.state()["status"], "error");
    release.run(&["verify", "core/net"]).code(3).says("no host");
}

/// A stand-in for Ansible leaves this report, and prints something else.
fn left(report: &str) -> String {
    let recap = "PLAY RECAP ***\\nlocalhost : ok=1  changed=7  failed=0\\n";
    format!("printf '{recap}'\nprintf '%s' '{report}' > \"$HYOPS_STATS_FILE\"")
}

#[test]
fn what_ansible_prints_for_people_decides_nothing() {
    for (changed, code) in [(0, 0), (2, 1)] {
        let report = format!("{{\"hosts\": {{\"localhost\": {{\"changed\": {changed}}}}}}}");
        ansible(&left(&report)).run(&["verify", "core/net"]).code(code);
    }
}

#[test]
fn a_verification_without_a_report_that_can_be_read_has_failed() {
    let unreadable = "mkdir \"$HYOPS_STATS_FILE\"";
    for (script, why) in [
        ("printf 'PLAY RECAP ***\\nlocalhost : ok=1  changed=0\\n'", "left no"),
        (&*left("PLAY RECAP"), "does not hold the counts"),
        (unreadable, "not a regular file"),
    ] {
        let release = ansible(script);
        release.run(&["verify", "core/net"]).code(3).says("nobody knows what it did").says(why);
    }
    // Without a report, an apply has done what its exit code says.
    ansible("true").apply(&[]).code(0);
    ansible(unreadable).apply(&[]).code(65).says("nobody knows what it did");
}

#[test]
fn groups_without_a_host_are_refused_before_anything_runs() {
    let release = ansible("").env("HYOPS_INPUTS_JSON", r#"{"inventory_groups": {"web": []}}"#);
    release.apply(&[]).code(65).says("no host given").says("inventory_groups");
    assert_eq!(release.runs(), 0);
}

#[test]
fn values_of_a_pack_that_would_win_over_the_inputs_are_refused() {
    for name in ["zz.auto.tfvars", "inputs.auto.tfvars.json.auto.tfvars", "net.auto.tfvars.json"] {
        let release = terraform("").file(&format!("{STACK}/{name}"), "");
        for words in [&["validate", "core/net"][..], &["apply", "core/net"]] {
            release.run(words).code(65).says(name).says("`terraform.tfvars`");
        }
        release.run(&["lint", "rel"]).code(65).says(name).says("would override the inputs");
        assert_eq!(release.runs(), 0, "{name}");
    }
    for name in ["terraform.tfvars", "a.auto.tfvars", "inputs.auto.tfvars", "deep/zz.auto.tfvars"] {
        let release = terraform("").file(&format!("{STACK}/{name}"), "");
        release.apply(&[]).code(0);
        release.run(&["lint", "rel"]).code(0);
    }
}

#[test]
fn neither_does_a_template_win_over_the_inputs() {
    let release = terraform("templates: [{src: a.tfvars, dst: zz.auto.tfvars}]\n")
        .file("rel/drivers/iac/terragrunt/templates/a.tfvars", "");
    release.apply(&[]).code(65).says("`zz.auto.tfvars` would override the inputs");
}
