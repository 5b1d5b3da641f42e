//! The suite of the standard, and the same answers as another implementation of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Value, json};

use super::evaluate::faults;
use super::*;

struct Group {
    name: String,
    schema: Value,
    tests: Vec<(Value, bool)>,
}

/// The suite, by file, without what only describes.
fn suite() -> Vec<Vec<Group>> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("test_data/json-schema-suite");
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let files: BTreeSet<PathBuf> = files.collect();
    files.iter().map(|path| groups(&std::fs::read_to_string(path).unwrap())).collect()
}

fn groups(text: &str) -> Vec<Group> {
    let groups: Vec<Value> = serde_json::from_str(text).unwrap();
    let read = |group: &Value| Group {
        name: group["description"].as_str().unwrap().to_owned(),
        schema: group["schema"].clone(),
        tests: group["tests"].as_array().unwrap().iter().map(test).collect(),
    };
    groups.iter().map(read).collect()
}

fn test(test: &Value) -> (Value, bool) {
    (test["data"].clone(), test["valid"].as_bool().unwrap())
}

/// Without what only follows from other faults, in which the implementations differ.
fn compared(faults: impl Iterator<Item = (String, String)>) -> BTreeSet<(String, String)> {
    let faults: BTreeSet<_> = faults.collect();
    let follows = |(_, reason): &(String, String)| reason.starts_with("Unevaluated");
    if faults.iter().all(follows) {
        return faults;
    }
    faults.into_iter().filter(|fault| !follows(fault)).collect()
}

fn ours(rules: &Rules, value: &Value) -> BTreeSet<(String, String)> {
    compared(faults(rules, value, MOST_OPEN).into_iter().map(|fault| (fault.place, fault.reason)))
}

fn theirs(validator: &Validator, value: &Value) -> BTreeSet<(String, String)> {
    compared(validator.iter_errors(value).map(|error| {
        (error.instance_path().to_string(), error.masked_with("this value").to_string())
    }))
}

#[test]
fn the_suite_of_the_standard_passes() {
    let mut wrong = Vec::new();
    let mut outside = 0;
    for group in suite().into_iter().flatten() {
        let rules = match Rules::read(&group.schema) {
            Ok(rules) => rules,
            // Those that need another document, which nobody fetches.
            Err(reason) => {
                assert!(reason.ends_with("nothing is fetched"), "{}: {reason}", group.name);
                outside += 1;
                continue;
            }
        };
        for (value, valid) in group.tests {
            if faults(&rules, &value, 1).is_empty() != valid {
                wrong.push(format!("{}: {value}", group.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(outside, 6);
}

#[test]
fn another_implementation_says_the_same_of_every_value_of_the_suite() {
    let options = jsonschema::options().with_draft(Draft::Draft202012);
    let options = options.with_pattern_options(PatternOptions::regex());
    let mut compared = 0;
    for file in suite() {
        for group in &file {
            // Here every key is named, there none.
            if group.name == "propertyNames with boolean schema false" {
                continue;
            }
            let Ok(rules) = Rules::read(&group.schema) else { continue };
            let validator = options.build(&group.schema).unwrap();
            for (value, _) in file.iter().flat_map(|group| &group.tests) {
                let name = &group.name;
                assert_eq!(ours(&rules, value), theirs(&validator, value), "{name}: {value}");
                compared += 1;
            }
        }
    }
    assert!(compared > 19_000, "{compared}");
}

#[test]
fn what_is_not_a_schema_is_refused_with_its_place() {
    for (schema, reason) in [
        (json!(5), "`` must be a map"),
        (json!({"properties": {"a": 5}}), "`/properties/a` must be a map"),
        (json!({"properties": []}), "`/properties` must be a map of schemas"),
        (json!({"allOf": []}), "`/allOf` must be a list of schemas"),
        (json!({"type": "text"}), "`/type` must be a type"),
        (json!({"type": []}), "`/type` must be a type"),
        (json!({"type": ["null", "null"]}), "`/type` must be a type"),
        (json!({"$defs": {"a/b": {"minimum": "1"}}}), "`/$defs/a~1b/minimum` must be a number"),
        (json!({"multipleOf": 0}), "`/multipleOf` must be a number above 0"),
        (json!({"minLength": -1}), "`/minLength` must be a whole number"),
        (json!({"maxItems": 1.5}), "`/maxItems` must be a whole number"),
        (json!({"required": ["a", "a"]}), "`/required` must be a list of different texts"),
        (json!({"dependentRequired": {"a": "b"}}), "`/dependentRequired` must be a map"),
        (json!({"uniqueItems": 1}), "`/uniqueItems` must be `true` or `false`"),
        (json!({"writeOnly": "yes"}), "`/writeOnly` must be `true` or `false`"),
        (json!({"title": 1}), "`/title` must be a text"),
        (json!({"enum": 1}), "`/enum` must be a list"),
        (json!({"pattern": "("}), "`/pattern` must be a regular expression"),
        (json!({"patternProperties": {"(?=a)": true}}), "without look-around"),
        (json!({"$ref": "#/$defs/no"}), "refers to `#/$defs/no`, which is not in the schema"),
        (json!({"$ref": "#no"}), "refers to `#no`, which is not in the schema"),
        (json!({"$ref": "#/unknown", "unknown": 5}), "`/unknown` must be a map"),
        (json!({"$anchor": "a b"}), "`/$anchor` must be a name"),
        (json!({"$id": "a#b"}), "`/$id` must be an address without a fragment"),
        (json!({"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}}), "the address of two schemas"),
        (
            json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}),
            "the name of two schemas",
        ),
    ] {
        let error = Schema::read(&schema.to_string()).unwrap_err();
        assert!(
            error.starts_with("it is not a JSON Schema: ") && error.contains(reason),
            "{error}"
        );
    }
}

#[test]
fn a_schema_that_would_take_for_ever_is_refused() {
    let chain = |length: usize, link: fn(Value) -> Value| {
        let mut defs = Map::new();
        for at in 0..length {
            let mut schema = link(json!({"$ref": format!("#a{}", at + 1)}));
            schema["$anchor"] = format!("a{at}").into();
            defs.insert(at.to_string(), schema);
        }
        defs.insert(length.to_string(), json!({"$anchor": format!("a{length}"), "type": "object"}));
        Schema::read(&json!({"$defs": defs, "$ref": "#a0"}).to_string()).unwrap()
    };
    let once: fn(Value) -> Value = |next| next;
    let twice: fn(Value) -> Value = |next| json!({"allOf": [next, next]});
    let inputs = Map::new();
    assert_eq!(chain(20, once).fault(&inputs), None);
    assert_eq!(chain(10, twice).fault(&inputs), None);
    for schema in [chain(1_000, once), chain(40, twice)] {
        let fault = schema.fault(&inputs).unwrap();
        assert!(fault.contains("takes too long"), "{fault}");
        assert!(schema.open(&inputs).is_err());
    }
    // Not even where the answer would be turned around.
    let keys: Map<String, Value> = (0..1_000)
        .map(|at| (at.to_string(), json!({"$ref": format!("#/$defs/{}", at + 1)})))
        .chain([("1000".to_owned(), json!({}))])
        .collect();
    let schema = json!({"not": {"propertyNames": {"$ref": "#/$defs/0"}}, "$defs": keys});
    let schema = Schema::read(&schema.to_string()).unwrap();
    let inputs = Map::from_iter([("a".to_owned(), json!(1))]);
    assert!(schema.fault(&inputs).unwrap().contains("takes too long"));
}
