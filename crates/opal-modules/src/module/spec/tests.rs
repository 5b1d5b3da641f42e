use opal_core::Code;
use proptest::prelude::*;
use serde_json::json;

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
    let more = "probes: []\nconstraints: [a, {b: c}]\nmetadata: {owner: x}\nx-own: 1\noutputs: {publish: [], note: y}\n";
    assert_eq!(codes(&format!("{SPEC}{more}")), []);
}

#[test]
fn a_slip_of_a_key_is_pointed_out() {
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
fn steps_of_a_blueprint_are_there_once_and_in_no_circle() {
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
