use serde_json::json;

use super::*;
use crate::Spec;

const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: core/net
inputs: {defaults: {n: 1, name: a, size: small, list: [], on: false, a: {zone: x, cidr: ''}, b: {zone: y}}}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1.0, pack_ref: {id: net@v1.0}}
";

fn constraints(text: &str) -> Vec<Constraint> {
    let checked = Spec::read(&format!("{SPEC}constraints: [{text}]\n"));
    checked.found.unwrap_or_else(|| panic!("{text}: {:?}", checked.diagnostics)).constraints
}

#[test]
fn every_rule_holds_or_says_what_it_wants_without_the_value() {
    for (rule, good, bad, words) in [
        ("input: n, at_least: 2", json!({"n": 2}), json!({"n": 1}), "`n` must be at least 2"),
        ("input: n, at_most: 2.5", json!({"n": 2}), json!({"n": 3}), "`n` must be at most 2.5"),
        (
            "input: list, at_least: 1",
            json!({"list": ["x"]}),
            json!({"list": []}),
            "`list` must have at least 1 elements",
        ),
        ("input: n, at_most: 2", json!({"n": null}), json!({"n": "canary"}), "must be a number"),
        (
            "input: size, one_of: [small, 7]",
            json!({"size": 7}),
            json!({"size": "canary"}),
            "`size` must be one of `small`, `7`",
        ),
        (
            "input: name, matches: '[a-z]+'",
            json!({"name": "ab"}),
            json!({"name": "canary\n"}),
            "`name` must match `[a-z]+`",
        ),
        (
            "input: list, matches: '[a-z]+'",
            json!({"list": ["a", "b"]}),
            json!({"list": ["a", "CANARY"]}),
            "`list` must match",
        ),
        ("input: name, set: true", json!({"name": 0}), json!({"name": ""}), "must have a value"),
        (
            "input: a.zone, differs_from: b.zone",
            json!({"a": {"zone": "x"}, "b": {"zone": "y"}}),
            json!({"a": {"zone": "canary"}, "b": {"zone": "canary"}}),
            "`a.zone` must differ from `b.zone`",
        ),
        (
            "input: name, needs: a.cidr",
            json!({"name": "", "a": {}}),
            json!({"name": "canary", "a": {"cidr": ""}}),
            "`name` needs `a.cidr`",
        ),
        (
            "input: list, within: a.cidr",
            json!({"list": ["10.1.0.0/16"], "a": {"cidr": "10.0.0.0/8"}}),
            json!({"list": ["10.1.0.0/16", "11.0.0.0/16"], "a": {"cidr": "10.0.0.0/8"}}),
            "`list` must be inside `a.cidr`",
        ),
        (
            "input: name, within: 10.0.0.0/8",
            json!({"name": "10.1.2.3"}),
            json!({"name": "canary"}),
            "`name` must be a range of addresses",
        ),
    ] {
        let constraints = constraints(&format!("{{{rule}}}"));
        let faults = |inputs: &Value| of_inputs(&constraints, inputs.as_object().unwrap());
        assert_eq!(faults(&good), Vec::<String>::new(), "{rule}");
        let [fault] = &faults(&bad)[..] else { panic!("{rule}: {:?}", faults(&bad)) };
        assert!(fault.contains(words) && !fault.to_lowercase().contains("canary"), "{fault}");
    }
}

#[test]
fn a_value_that_is_not_set_keeps_every_rule_but_set() {
    let all =
        "{input: name, one_of: [a], matches: b, within: 10.0.0.0/8, needs: n, differs_from: n}";
    for inputs in [json!({}), json!({"name": null}), json!({"name": ""})] {
        assert!(of_inputs(&constraints(all), inputs.as_object().unwrap()).is_empty());
    }
}

#[test]
fn all_broken_rules_are_reported_with_the_reason_of_the_spec() {
    let text =
        "{input: n, at_least: 3, message: two nodes cannot vote}, {input: size, one_of: [x]}";
    let inputs = json!({"n": 2, "size": "y"});
    let faults = of_inputs(&constraints(text), inputs.as_object().unwrap());
    let expected = ["`n` must be at least 3 (two nodes cannot vote)", "`size` must be one of `x`"];
    assert_eq!(faults, expected);
}

#[test]
fn outputs_have_rules_too_and_compare_with_inputs() {
    let text = "{output: a.url, set: true, matches: 'https://.*'}, {output: ip, within: a.cidr}";
    let constraints = constraints(text);
    let inputs = json!({"a": {"cidr": "10.0.0.0/8"}});
    let faults = |outputs: Value| {
        of_outputs(&constraints, outputs.as_object().unwrap(), inputs.as_object().unwrap())
    };
    assert!(faults(json!({"a.url": "https://a", "ip": "10.0.0.1"})).is_empty());
    assert_eq!(
        faults(json!({"ip": "11.0.0.1"})),
        ["`a.url` must have a value", "`ip` must be inside `a.cidr`"]
    );
    assert!(of_inputs(&constraints, inputs.as_object().unwrap()).is_empty());
}
