//! Keys that were mistyped where any key may stand, and things that a spec names and that are not there.

use serde_json::json;

use super::release::{Release, SCRIPT, SPEC};

const SLIP: &str = "`publsh` has no effect: did you mean `publish`?";

fn slipped() -> Release {
    Release::new(SCRIPT).spec(&[("publish:", "publsh:")])
}

#[test]
fn a_slip_in_an_open_part_is_told_wherever_the_spec_is_read() {
    let release = slipped();
    for line in [&["lint", "rel"][..], &["validate", "core/net"], &["show", "core/net"]] {
        release.run(line).code(0).says("W1111").says("spec.yml:5:11").says(SLIP);
    }
    let told = |words: &[&str]| release.run(words).code(0).json()["warnings"].clone();
    assert_eq!(told(&["validate", "core/net", "--json"]), json!([SLIP]));
    assert_eq!(told(&["apply", "core/net", "--json"]), json!([SLIP]));
    assert_eq!(release.document("driver_result.json")["warnings"], json!([SLIP]));
}

#[test]
fn a_run_tells_of_a_slip_once() {
    let release = slipped();
    for words in [&["--dry-run"][..], &[], &["--with-deps"]] {
        let ran = release.apply(words);
        ran.code(0);
        assert_eq!(ran.stderr.matches(SLIP).count(), 1, "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn a_slip_of_a_step_is_told_and_nothing_else_is_said_of_it() {
    let blueprint = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: core/site@v1
steps:
  - {id: a, module_ref: core/net, input: {size: large}}
";
    let release = Release::new(SCRIPT).file("rel/blueprints/core/site@v1/blueprint.yml", blueprint);
    let told = "`input` has no effect: did you mean `inputs`?";
    for verb in ["validate", "plan", "apply"] {
        let ran = release.opal().call(&["blueprint", verb, "core/site@v1"]);
        ran.code(0).says(told).hides("belongs below");
    }
    release.run(&["lint", "rel"]).code(0).says(told);
}

#[test]
fn an_input_that_nobody_knows_is_told_by_validate_too() {
    let told = "warning: unknown input `siez`; did you mean `size`?";
    let release = Release::new(SCRIPT).file("in.yml", "siez: large\n");
    let ran = release.run(&["validate", "core/net", "--inputs", "in.yml"]);
    ran.code(0).says(told);
    let blueprint = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: core/site@v1
steps: [{id: a, module_ref: core/net, inputs: {siez: large}}]
";
    let release = release.file("rel/blueprints/core/site@v1/blueprint.yml", blueprint);
    let ran = release.opal().call(&["blueprint", "validate", "core/site@v1"]);
    ran.code(0).says("warning: the step `a` has an input `siez`; did you mean `size`?");
}

#[test]
fn a_pack_that_its_driver_cannot_run_is_told_of_by_those_who_look_and_refused_by_a_run() {
    for (driver, file) in [
        ("shell/script", "`run.sh`"),
        ("config/ansible", "`playbook.yml`"),
        ("iac/terragrunt", "`.tf`"),
    ] {
        let profile = format!(
            "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1\ndriver: {driver}\n"
        );
        let release = Release::new(SCRIPT)
            .spec(&[("shell/script", driver), ("id: net", "id: bare")])
            .file(&format!("rel/drivers/{driver}/profiles/local@v1.profile.yml"), profile)
            .file(&format!("rel/packs/{driver}/bare/stack/README"), "");
        let ran = release.run(&["validate", "core/net"]);
        ran.code(0).says("W1112").says("the pack `bare` has n").says(file);
        let ran = release.run(&["apply", "core/net", "--dry-run"]);
        ran.code(65).says("the pack `bare` has n").says(file);
        let ran = release.run(&["lint", "rel"]);
        ran.code(0).says("W1112").says("the pack `bare` has n").says("spec.yml:7:");
    }
}

#[test]
fn a_pack_is_judged_without_the_inputs_that_nobody_has_given_yet() {
    let release = Release::new(SCRIPT)
        .spec(&[("shell/script", "config/ansible"), ("{size: small,", "{target_host: CHANGE_ME,")])
        .file(
            "rel/drivers/config/ansible/profiles/local@v1.profile.yml",
            "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1\ndriver: config/ansible\n",
        )
        .file("rel/packs/config/ansible/net/stack/playbook.yml", "[]\n");
    release.run(&["validate", "core/net"]).code(0).says("still to be filled in: target_host");
}

#[test]
fn where_templates_are_missing_nobody_knows_whether_the_pack_is_whole() {
    let profile = "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1\n\
        driver: iac/terragrunt\ntemplates: [{src: t.hcl, dst: terragrunt.hcl}]\n";
    let release = Release::new(SCRIPT)
        .spec(&[("shell/script", "iac/terragrunt")])
        .file("rel/drivers/iac/terragrunt/profiles/local@v1.profile.yml", profile)
        .file("rel/packs/iac/terragrunt/net/stack/README", "");
    let told = "the template `t.hcl` of the profile cannot be read";
    release.run(&["validate", "core/net"]).code(0).says("W1112").says(told);
    release.run(&["lint", "rel"]).code(0).hides(told);
    let release = release.file("rel/drivers/iac/terragrunt/templates/other.hcl", "");
    release.run(&["lint", "rel"]).code(0).says(told).says("local@v1.profile.yml");
    let release = release.file("rel/drivers/iac/terragrunt/templates/t.hcl", "");
    release.run(&["validate", "core/net"]).code(0).hides("W1112");
    release.run(&["lint", "rel"]).code(0).hides("W1112");
}

#[test]
fn what_a_spec_names_is_missed_where_the_directories_would_have_it() {
    let needs = format!("{SPEC}dependencies: [{{module_ref: core/gone}}]\n")
        .replace("local@v1", "gone@v1")
        .replace("id: net", "id: gone");
    let release = Release::new(SCRIPT).file("rel/modules/core/net/spec.yml", needs);
    let missed = ["no profile `gone@v1`", "unknown pack `gone`", "unknown module `core/gone`"];
    let ran = release.run(&["lint", "rel"]);
    ran.code(0).says("W1112").says(missed[0]).says(missed[1]).says(missed[2]);
    let ran = release.run(&["lint", "rel/modules", "rel/drivers"]);
    ran.code(0).says(missed[0]).hides(missed[1]).says(missed[2]);
    release.run(&["lint", "rel/modules/core/net"]).code(0).says("no problems found");
}

#[test]
fn a_driver_that_is_not_there_is_only_a_warning() {
    let release = Release::new(SCRIPT)
        .spec(&[("shell/script", "images/packer")])
        .file(
            "rel/drivers/images/packer/profiles/local@v1.profile.yml",
            "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1\ndriver: images/packer\n",
        )
        .file("rel/packs/images/packer/net/stack/a.pkr.hcl", "");
    for line in [&["lint", "rel"][..], &["validate", "core/net"]] {
        release
            .run(line)
            .code(0)
            .says("W1112")
            .says("spec.yml:7:21")
            .says("unknown driver `images/packer`");
    }
}

#[test]
fn a_step_of_a_module_that_is_not_there_is_linted() {
    let blueprint = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: core/site@v1
steps: [{id: a, module_ref: core/net}, {id: b, module_ref: core/gone}]
";
    let release = Release::new(SCRIPT).file("rel/blueprints/core/site@v1/blueprint.yml", blueprint);
    let ran = release.run(&["lint", "rel"]);
    ran.code(0).says("unknown module `core/gone`").says("blueprint.yml:4:");
    release.run(&["lint", "rel/blueprints"]).code(0).hides("W1112");
}

#[test]
fn a_circle_is_not_valid() {
    let needs = |on: &str| format!("dependencies: [{{module_ref: {on}, required: false}}]\nouts:");
    let release = Release::new(SCRIPT)
        .spec(&[("outputs:", &needs("core/b"))])
        .module("core/b", &[("outputs:", &needs("core/c"))], SCRIPT)
        .module("core/c", &[("outputs:", &needs("core/b"))], SCRIPT);
    for module in ["core/net", "core/b", "core/c"] {
        release.run(&["validate", module]).code(65).says("E1009").says("core/b -> core/c");
    }
}

#[test]
fn a_pack_that_cannot_travel_is_not_valid() {
    let release = Release::new("cd /home/me/repo\n");
    release.run(&["validate", "core/net"]).code(65).says("E1109").says("run.sh:2:");
}
