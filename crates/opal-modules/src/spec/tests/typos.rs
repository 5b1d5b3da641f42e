//! Typos in keys where any key may appear.

use super::*;

const OPEN: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
metadata: {title: a, description: b}
inputs: {defaults: {}, presets: {}}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1.0, pack_ref: {id: net@v1.0}}
dependencies: [{module_ref: core/base, required: true, imports: {a: b}}]
outputs: {publish: [a]}
constraints: []
probes: []
";

const SITE: &str = "\
api_version: hybridops/v1
kind: BlueprintSpec
blueprint_ref: core/site@v1
metadata: {title: a}
policy: {fail_fast: true}
steps: [{id: a, module_ref: m, action: apply, requires: [], skip_if_state_ok: true, with_deps: true,
  state_instance: x, optional: true, inputs: {}}]
";

fn reported(text: &str) -> Vec<(Code, String)> {
    let diagnostics = match text.contains("BlueprintSpec") {
        true => Blueprint::read(text).diagnostics,
        false => Spec::read(text).diagnostics,
    };
    diagnostics.into_iter().map(|one| (one.code, one.message)).collect()
}

#[test]
fn a_typo_of_every_key_that_may_be_there_is_reported_and_is_not_an_error() {
    for (whole, typos) in [
        (
            OPEN,
            &[
                ("metadata", "metdata"),
                ("title", "tilte"),
                ("description", "decription"),
                ("dependencies", "dependences"),
                ("required", "requred"),
                ("imports", "import"),
                ("outputs", "ouputs"),
                ("constraints", "constrains"),
                ("probes", "probs"),
                ("publish", "publsh"),
            ][..],
        ),
        (
            SITE,
            &[
                ("metadata", "Metadata"),
                ("title", "titel"),
                ("policy", "polices"),
                ("fail_fast", "failfast"),
                ("action", "acton"),
                ("requires", "require"),
                ("skip_if_state_ok", "skip_if_state_okay"),
                ("with_deps", "with_dep"),
                ("state_instance", "state_instanse"),
                ("optional", "optinal"),
                ("inputs", "input"),
            ],
        ),
    ] {
        assert_eq!(reported(whole), []);
        for (key, typo) in typos {
            let wrong = whole.replacen(&format!("{key}:"), &format!("{typo}:"), 1);
            let message = format!("`{typo}` has no effect: did you mean `{key}`?");
            assert_eq!(reported(&wrong), [(Code::SpecUnused, message)]);
        }
    }
}

#[test]
fn a_typo_of_a_key_that_must_be_there_is_one_error_and_other_keys_are_for_others() {
    for (key, typo) in [("defaults", "default"), ("credentials", "credentails")] {
        let wrong = OPEN.replacen(&format!("{key}:"), &format!("{typo}:"), 1);
        let message = format!("missing key `{key}`; found `{typo}`");
        assert_eq!(reported(&wrong), [(Code::ConfigMissingKey, message)]);
    }
    for others in ["owner: me\noutputs: {private: [a]}", "outputs: {publish: [a], publishs: [b]}"] {
        assert_eq!(reported(&OPEN.replace("outputs: {publish: [a]}", others)), []);
    }
}

#[test]
fn inputs_are_closed() {
    for key in ["schema", "prests", "properties", "default"] {
        let wrong = OPEN.replacen("presets:", &format!("{key}:"), 1);
        let message = format!("unknown key `{key}` in `inputs`");
        assert_eq!(reported(&wrong), [(Code::SpecLeak, message)]);
    }
}
