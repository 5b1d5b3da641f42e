//! The published schema: every view is valid, and documents that are not views are refused.

use jsonschema::Validator;
use opal_core::view::{Facts, Json, PlanFormatter};
use serde_json::{Value as Node, json};

use crate::view::build::*;
use crate::view::everything::{all_facts, blake3, plan_of_everything};

fn schema() -> Validator {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/plan-1.json");
    let text = std::fs::read_to_string(path).unwrap();
    let document: Node = serde_json::from_str(&text).unwrap();
    jsonschema::draft202012::meta::validate(&document).expect("the schema is one itself");
    jsonschema::draft202012::options().should_validate_formats(true).build(&document).unwrap()
}

fn document(view: &opal_core::view::PlanView<'_>) -> Node {
    serde_json::from_slice(&Json.format(view)).unwrap()
}

fn assert_valid(schema: &Validator, document: &Node) {
    let errors: Vec<String> = schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

#[test]
fn every_kind_of_step_argument_and_fact_is_in_the_schema() {
    let schema = schema();
    for plan in [plan_of_everything(), blake3(plan_of_everything()), plan(Vec::new())] {
        for facts in [Facts::default(), all_facts()] {
            let view = view(&plan).with_facts(facts).with_notes(vec!["a note".into()]);
            assert_valid(&schema, &document(&view));
        }
    }
}

#[test]
fn each_step_alone_is_valid_too() {
    let schema = schema();
    let whole = plan_of_everything();
    for step in whole.steps.clone() {
        let mut alone = whole.clone();
        alone.steps = vec![step];
        assert_valid(&schema, &document(&view(&alone)));
    }
}

#[test]
fn documents_that_are_not_views_are_refused() {
    let schema = schema();
    let plan = plan_of_everything();
    let good = document(&view(&plan).with_facts(all_facts()));
    let wrong: [(&str, Node); 22] = [
        ("/header/format_version", json!("2.0.0")),
        ("/header/plan_hash", json!("sha256:abc")),
        ("/header/plan_hash", json!("md5:00")),
        ("/header/mode", json!("direct")),
        ("/header/timestamp", json!("yesterday Z")),
        ("/header/timestamp", json!("2025-10-12T20:00:00+02:00")),
        ("/header/hash_algorithm", json!("md5")),
        ("/target", json!(3)),
        ("/steps", json!({})),
        ("/steps/0", json!("echo")),
        ("/steps/0/path", json!("")),
        ("/steps/0/decorator", json!("@")),
        ("/steps/0/args/command", json!({"$shell": "date"})),
        ("/steps/0/let/handle", json!("opal:h:xyz")),
        ("/steps/1/redirects/0", json!({"operator": ">"})),
        ("/steps/3/args/value", json!({"$value": "env.N"})),
        ("/steps/3/args/value", json!({"$value": "env.N", "shown": "3"})),
        ("/steps/3/args/value", json!({"$unknown": 1})),
        ("/values/env.N", json!("3")),
        ("/public/env.PUBLIC", json!({"$value": "env.N", "shown": "<1:sha256:abcdef>"})),
        ("/deferred/0", json!("shell.output")),
        ("/provenance/once", json!("yes")),
    ];
    for (pointer, node) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is there")) = node.clone();
        assert!(!schema.is_valid(&bad), "{pointer} = {node}");
    }
}

#[test]
fn unknown_and_missing_keys_are_refused() {
    let schema = schema();
    let plan = plan_of_everything();
    let good = document(&view(&plan).with_facts(all_facts()));
    for object in ["", "/header", "/provenance", "/steps/0", "/steps/0/let", "/deferred/0"] {
        let mut bad = good.clone();
        bad.pointer_mut(object).unwrap()["surprise"] = json!(1);
        assert!(!schema.is_valid(&bad), "{object}/surprise");
    }
    for key in good.as_object().unwrap().keys() {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&bad), "without {key}");
    }
}
