mod checks;
mod idle;
mod leaks;
mod typos;

use opal_core::Code;
use proptest::prelude::*;
use serde_json::json;

use super::super::keep::Instance;
use super::super::{Blueprint, Profile};
use super::*;

const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
inputs:
  defaults: {mode: 0755, ratio: 1.10, count: 3, nothing: null}
requirements:
  credentials: []
execution:
  driver: shell/script
  profile: local@v1.0
  pack_ref: {id: net@v1.0}
  hooks: {export_infra: {enabled: true, target: cloud-gcp}}
";

fn codes(text: &str) -> Vec<Code> {
    let read = Spec::read(text);
    let unknown = read.found.iter().flat_map(|spec| spec.unknown_hooks(None));
    read.diagnostics.iter().cloned().chain(unknown).map(|one| one.code).collect()
}

#[test]
fn a_spec_is_read_with_its_values_as_they_were_written() {
    let spec = Spec::read(SPEC).found.unwrap();
    let defaults = json!({"mode": "0755", "ratio": 1.1, "count": 3, "nothing": null});
    assert_eq!(Value::Object(spec.defaults), defaults);
    assert_eq!(spec.execution.hooks[0].settings["target"], "cloud-gcp");
    assert!(spec.dependencies.is_empty() && spec.publish.is_empty());
}

#[test]
fn each_breach_has_its_code() {
    for (from, to, code) in [
        ("hybridops/v1", "hybridops/v2", Code::SpecKind),
        ("ModuleSpec", "DriverProfile", Code::SpecKind),
        ("core/net", "Core/Net", Code::SpecReference),
        ("net@v1.0", "../net", Code::SpecReference),
        ("shell/script", "/shell", Code::SpecReference),
        ("  defaults:", "  default:", Code::ConfigMissingKey),
        ("execution:", "excution:", Code::ConfigMissingKey),
        ("count: 3", "count: 3, count: 4", Code::ConfigRepeatedKey),
        ("count: 3", "count: .inf", Code::ConfigValue),
        ("count: 3", "token: abc", Code::SpecSecret),
        ("requirements:", "  presets: {a: {db: {password: abc}}}\nrequirements:", Code::SpecSecret),
        ("count: 3", "<<: {a: 1}", Code::ConfigValue),
        ("  profile:", "  version: 1\n  profile:", Code::SpecLeak),
        ("net@v1.0}", "net@v1.0, version: 1}", Code::SpecLeak),
        ("enabled: true", "enabled: {a: 1}", Code::SpecHook),
        ("enabled: true", "run: x", Code::SpecHook),
        ("cloud-gcp", "./script.sh", Code::SpecHook),
        ("cloud-gcp", "rm -r x", Code::SpecHook),
        ("export_infra", "export_infar", Code::SpecHook),
        ("{enabled: true, target: cloud-gcp}", "[curl]", Code::SpecHook),
        ("credentials: []", "credentials: [GCP]", Code::SpecCredential),
        ("credentials: []", "credentials: gcp", Code::ConfigValue),
        ("core/net", "core/gcp/net", Code::SpecProvider),
        ("net@v1.0", "hetzner/net@v1.0", Code::SpecProvider),
        ("core/net", "core/net-2026", Code::SpecTime),
        ("core/net", "[", Code::ConfigSyntax),
    ] {
        let text = SPEC.replacen(from, to, 1);
        assert_eq!(codes(&text), [code], "{text}");
    }
}

#[test]
fn what_nobody_reads_is_left_alone() {
    let more = "probes: []\nconstraints: []\nmetadata: {owner: x}\nx-own: 1\noutputs: {publish: [], note: y}\n";
    assert_eq!(codes(&format!("{SPEC}{more}")), []);
}

/// Shapes that specs of others have, in words of our own.
#[test]
fn specs_as_others_write_them_are_read() {
    let text = r#"
api_version: hybridops/v1
kind: ModuleSpec

module_ref: "platform/backup"

metadata:
  title: "Backups (of the store)"
  description: |
    Keeps copies — of everything: all of it.

    Before it, run `tool init --with-keys`:
      - roles/keeper is granted
      1. a list that is none

requirements:
  credentials: []

dependencies:
  # Dots in an output are a part of its name.
  - module_ref: "platform/store"
    required: true
    imports:
      cap.db.store: upstream.cap_db_store

  - module_ref: "platform/elsewhere"
    required: false
    imports:
      host: "store.host"

inputs:
  defaults:
    store_state_ref: "platform/store#first"
    reports: "{{ playbook_dir | default('.', true) }}/reports"
    options:
      - "-o StrictHostKeyChecking=no"
      - "--exclude=*~"
    since: 2026-03-19
    address: 02:00:00:00:00:01
    flags: 0x1F
    nothing:
    password: ""
    password_env: "STORE_PASSWORD"
    secret_key: "part.json"
    routes: |
      receivers:
        - name: default
    later: ""   # yes: later

execution:
  driver: "images/builder"
  profile: "onprem-linux@v1.0"
  pack_ref:
    # Shared with others.
    id: "linux/common/36-backup@v1.0"

outputs:
  publish:
    - cap.db.store-backup
    - gate.name
probes: []
constraints: []
"#;
    assert_eq!(codes(text), []);
    let spec = Spec::read(text).found.unwrap();
    assert_eq!(spec.defaults["since"], "2026-03-19");
    assert_eq!(spec.defaults["address"], "02:00:00:00:00:01");
    assert_eq!((&spec.defaults["flags"], &spec.defaults["nothing"]), (&json!(31), &json!(null)));
    assert_eq!(spec.dependencies[0].imports["cap.db.store"], "upstream.cap_db_store");
}

#[test]
fn blueprints_as_others_write_them_are_read() {
    let text = r#"
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: network/edge@v1
mode: hybrid
metadata:
  title: Edge (routers + watchers)
  description: Sets up routers, then watchers,
    and then what decides.
  notes:
    - A line that goes on
      in the next one.
policy: {fail_fast: true, ipam_authority: none}
access: {type: ssh-forward, state_ref: "platform/vm#edge"}
archive_before_destroy: {module_ref: platform/archive, inputs: {}}
steps:
  - id: first_step
    module_ref: "platform/vm"
    execution_profile: "local@v1.0"
    state_instance: "edge"
    action: deploy
    phase: bootstrap
    verify_state_on_skip: true
    contracts: {addressing_mode: static, requires_module_state_ok: [platform/ipam]}
    inputs:
      version: 2026.03.03-0027-rolling
      url: https://example.com/a#b
      zone: "CHANGE_ME_ZONE"
      query: rate(up{job="edge",target="main"}[1m]) * 100
      share: 1 - avg(up{job="edge"}[2m])
      pattern: edge.example.com/*
      ratio: 0.05
      open_to:
        - 0.0.0.0/0
      script: "${ROOT:-$HOME/app}/build.sh"
      user_data: |
        #cloud-config
        write_files:
          - permissions: '0644'
            content: |
              /srv 10.0.0.0/24(rw)
    firewall: a key that went astray
  - id: second
    module_ref: platform/watch
    optional: true
    destroy_gate: true
    requires:
      - first_step
    presentation: {label: Watching}
 
"#;
    let read = Blueprint::read(text);
    let reported: Vec<&str> = read.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        reported,
        ["`firewall` has no effect: an input of the module belongs below `inputs`"],
        "and nothing that is wrong"
    );
    let blueprint = read.found.unwrap();
    assert_eq!([blueprint.fail_fast, blueprint.steps[1].optional], [true; 2]);
    let step = &blueprint.steps[0];
    assert!(!step.optional);
    assert_eq!(step.inputs["query"], "rate(up{job=\"edge\",target=\"main\"}[1m]) * 100");
    assert_eq!(step.state_instance.as_ref().map(Instance::as_str), Some("edge"));
}

#[test]
fn a_typo_of_a_key_is_pointed_out() {
    let read = Spec::read(&SPEC.replace("execution:", "excution:"));
    assert_eq!(read.diagnostics[0].help, ["write `execution` for `excution`"]);
}

#[test]
fn the_hooks_of_a_profile_may_be_switched() {
    let profile = "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1.0\n\
                   driver: shell/script\nhooks: {notify: {command: [mail]}}\n";
    let profile = Profile::read(profile).found.unwrap();
    let spec = Spec::read(&SPEC.replace("export_infra: {", "notify: {")).found.unwrap();
    assert!(spec.unknown_hooks(Some(&profile)).is_empty());
    assert_eq!(spec.unknown_hooks(None).len(), 1);
}

#[test]
fn a_refused_credential_is_not_repeated() {
    let read = Spec::read(&SPEC.replace("credentials: []", "credentials: [TOKEN=canary-1]"));
    assert!(!format!("{:?}", read.diagnostics).contains("canary-1"));
}

#[test]
fn steps_of_a_blueprint_are_there_once_and_in_no_cycle() {
    let blueprint = |steps: &str| {
        let text = format!(
            "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: a@v1\nsteps: [{steps}]\n"
        );
        Blueprint::read(&text).diagnostics.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    assert_eq!(blueprint("{id: a, module_ref: m}, {id: b, module_ref: m, requires: [a]}"), []);
    assert_eq!(blueprint(""), [Code::ConfigValue]);
    assert_eq!(blueprint("{id: a, module_ref: m, requires: [b]}"), [Code::ConfigDependency]);
    assert_eq!(blueprint("{id: a, module_ref: m, requires: [a]}"), [Code::ConfigCycle]);
    assert_eq!(
        blueprint("{id: a, module_ref: m}, {id: a, module_ref: m}"),
        [Code::ConfigRepeatedId]
    );
    assert_eq!(blueprint("{id: ../a, module_ref: m}"), [Code::SpecReference]);
    let instance =
        |name: &str| blueprint(&format!("{{id: a, module_ref: m, state_instance: {name}}}"));
    assert_eq!(instance("a.b-1"), []);
    assert_eq!(instance(&"a".repeat(65)), [Code::SpecReference]);
    assert_eq!(instance("../a"), [Code::SpecReference]);
}

#[test]
fn what_a_step_says_beside_its_inputs_is_reported() {
    let text = "api_version: hybridops/v1\nkind: BlueprintSpec\nblueprint_ref: a@v1\n\
                policy: {fail_fast: false}\n\
                steps: [{id: a, module_ref: m, size: 3, inputs_file: x.yml, phase: bootstrap}]\n";
    let read = Blueprint::read(text);
    let codes: Vec<Code> = read.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::SpecUnused; 2]);
    assert!(!read.found.unwrap().fail_fast);
}

fn profile(driver: &str, more: &str) -> Vec<(Code, String)> {
    let text = format!(
        "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: a@v1\ndriver: {driver}\n{more}\n"
    );
    let reported = Profile::read(&text).diagnostics.into_iter();
    reported.map(|one| (one.code, format!("{} {}", one.message, one.help.join(" ")))).collect()
}

#[test]
fn what_a_profile_says_without_effect_is_reported() {
    for (driver, more, reported) in [
        ("shell/script", "policy: {naming: {env: {}}}", "`policy.naming.env` has"),
        ("shell/script", "policy: {workspace: {}}", "`policy.workspace` has"),
        ("iac/terragrunt", "policy: {workspace: {bakend_mode: cloud}}", "mean `backend_mode`?"),
        ("shell/script", "policy: {constraints: {a: 1}}", "`policy.constraints.a` has"),
        (
            "shell/script",
            "policy: {constraints: {credential_contracts: {a: {required_tfvar: [b]}}}}",
            "did you mean `required_tfvars`?",
        ),
        ("shell/script", "policy: {tool_version: {}}", "did you mean `tool_versions`?"),
        ("iac/terragrunt", "policy: {tool_versions: {terrafrom: '1'}}", "mean `terraform`?"),
        ("config/ansible", "ansibel: {bin: a}", "`ansibel` has no effect: the driver"),
        ("config/ansible", "ansibel: {bin: a}", "did you mean `ansible`?"),
        ("config/ansible", "ansible: {inventory_file: a}", "`ansible.inventory_file` has"),
        ("iac/terragrunt", "terragrunt: {bim: a}", "did you mean `bin`?"),
        ("iac/terragrunt", "ansible: {bin: a}", "`ansible` has no effect"),
    ] {
        let [(code, one)] = &profile(driver, more)[..] else { panic!("{more}") };
        assert_eq!(*code, Code::SpecUnused);
        assert!(one.contains(reported), "{more}: {one}");
    }
    let reported = profile("shell/script", "policy: {defaults: {redact: false, parallel: 4}}");
    assert_eq!(reported.iter().map(|it| it.0).collect::<Vec<_>>(), [Code::SpecUnused; 2]);
    let mode = "workspace_policy: {mode: cloud}";
    assert_eq!(profile("shell/script", mode)[0].0, Code::SpecUnused);
    assert_eq!(profile("iac/terragrunt", mode), []);
    let named =
        "workspace_policy: {provider: a}\npolicy: {naming: {workspace_pattern: '{provider}'}}";
    assert_eq!(profile("shell/script", named), []);
    assert_eq!(profile("images/packer", "packer: {a: b}\nother: 1"), [], "of another tool");
}

#[test]
fn versions_modes_and_patterns_that_make_no_sense_are_refused() {
    for (more, reported) in [
        ("policy: {tool_versions: {sh: pinned}}", "write `sh: \">=1.6.0, <2.0.0\"`"),
        (
            "policy: {tool_versions: {sh: '>=1.0.0 <2.0.0'}}",
            "invalid version range in `policy.tool_versions.sh`",
        ),
        ("policy: {tool_versions: {sh: }}", "invalid version range"),
        ("policy: {tool_versions: {sh: [1]}}", "invalid version range"),
        ("policy: {tool_versions: 1.6}", "`tool_versions` must be a mapping"),
        (
            "policy: {workspace: {mode: clodu}}",
            "`policy.workspace.mode` must be `local` or `cloud`",
        ),
        ("policy: {naming: {workspace_pattern: '{a'}}", "a text with names in braces"),
        ("policy: {constraints: {credential_contracts: [a]}}", "must be a mapping"),
        (
            "policy: {constraints: {credential_contracts: {a: {required_tfvars: b}}}}",
            "`required_tfvars` must be a list",
        ),
    ] {
        let found = profile("iac/terragrunt", more);
        let [(code, one)] = &found[..] else { panic!("{more}: {found:?}") };
        assert_eq!(*code, Code::ConfigValue, "{one}");
        assert!(one.contains(reported), "{more}: {one}");
    }
    assert_eq!(profile("shell/script", "policy: {tool_versions: {sh: 1.6, a: 5, b: '*'}}"), []);
}

#[test]
fn a_typo_in_the_defaults_of_a_policy_is_an_error_that_names_the_key() {
    let reported = profile("shell/script", "policy: {defaults: {command_timeout: 5}}");
    assert_eq!(reported[0].0, Code::ConfigUnknownKey);
    assert!(reported[0].1.contains("did you mean `command_timeout_s`?"), "{}", reported[0].1);
}

#[test]
fn a_secret_among_the_variables_of_a_profile_is_refused_and_not_repeated() {
    let reported =
        profile("shell/script", "env: {DB_PASSWORD: canary-31, TG_LOG: '', CREDENTIALS_FILE: /a}");
    assert_eq!(reported.len(), 1);
    assert_eq!(reported[0].0, Code::SpecSecret);
    assert!(
        reported[0].1.contains("`DB_PASSWORD`") && !reported[0].1.contains("canary-31"),
        "{}",
        reported[0].1
    );
}

proptest! {
    #[test]
    fn no_text_is_too_broken_to_be_read(
        lines in prop::collection::vec(prop::sample::select(SPEC.lines().collect::<Vec<_>>()), 0..16),
        noise in "[\\PC\n]{0,20}",
        at in 0..16_usize,
    ) {
        let mut lines = lines;
        lines.insert(at.min(lines.len()), &noise);
        let text = lines.join("\n");
        for diagnostics in [
            Spec::read(&text).diagnostics,
            Profile::read(&text).diagnostics,
            Blueprint::read(&text).diagnostics,
        ] {
            for one in diagnostics {
                prop_assert!(!one.help.is_empty(), "{:?}", one);
                prop_assert!(text.get(one.primary.span.start as usize..one.primary.span.end as usize).is_some());
            }
        }
    }
}
