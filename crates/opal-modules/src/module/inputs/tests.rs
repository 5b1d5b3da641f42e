use serde_json::{Value, json};

use super::*;

const SPEC: &str = "\
api_version: hybridops/v1
kind: ModuleSpec
module_ref: demo/net
inputs:
  defaults:
    size: small
    network: {cidr: 10.0.0.0/8, dns: [a, b]}
    preset_ref: \"\"
  presets:
    large: {size: large, network: {mtu: 9000}}
requirements: {credentials: []}
execution: {driver: shell/script, profile: local@v1, pack_ref: {id: net}}
";

fn resolved(given: &Given) -> Result<Value, String> {
    let spec = Spec::read(SPEC).found.unwrap();
    resolve(&spec, given, None).map(Value::Object).map_err(|error| error.to_string())
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn variables(pairs: &[(&str, &str)]) -> Given {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Given { variables: pairs.collect(), ..Given::default() }
}

#[test]
fn each_layer_wins_over_the_one_below_it() {
    let mut given = Given::default();
    let size = |given: &Given| resolved(given).unwrap()["size"].clone();
    assert_eq!(size(&given), "small");
    given.json = Some(r#"{"preset_ref": "large"}"#.into());
    assert_eq!(size(&given), "large");
    given.imports.push(("size".into(), json!("imported")));
    assert_eq!(size(&given), "imported");
    given.file = map(json!({"size": "file"}));
    assert_eq!(size(&given), "file");
    given.variables.push(("size".into(), "variable".into()));
    assert_eq!(size(&given), "variable");
    given.json = Some(r#"{"size": "json"}"#.into());
    assert_eq!(size(&given), "json");
}

#[test]
fn maps_are_merged_and_lists_replaced() {
    let file = map(json!({"network": {"dns": ["c"], "mtu": 1500}}));
    let found = resolved(&Given { file, ..Given::default() }).unwrap();
    assert_eq!(found["network"], json!({"cidr": "10.0.0.0/8", "dns": ["c"], "mtu": 1500}));
}

#[test]
fn variables_reach_nested_keys_and_are_decoded_where_they_parse() {
    let given =
        variables(&[("network__mtu", "3"), ("NETWORK__CIDR", "\"::/0\""), ("new__a", "x y")]);
    let found = resolved(&given).unwrap();
    assert_eq!(found["network"]["mtu"], 3);
    assert_eq!(found["network"]["cidr"], "::/0");
    assert_eq!(found["new"], json!({"a": "x y"}));
}

#[test]
fn variables_that_mean_nothing_are_refused() {
    let message = |given: &Given| resolved(given).unwrap_err();
    assert!(message(&variables(&[("size__x", "1")])).contains("`size` has no keys"));
    assert!(message(&variables(&[("a____b", "1")])).contains("empty part"));
    let file = map(json!({"SIZE": 1}));
    let given = Given { file, ..variables(&[("Size", "2")]) };
    assert!(message(&given).contains("it may mean `SIZE` or `size`"));
    let given = Given { json: Some("[1]".into()), ..Given::default() };
    assert_eq!(
        message(&given),
        "input validation failed for demo/net: `HYOPS_INPUTS_JSON` is no JSON object"
    );
}

#[test]
fn an_unknown_preset_is_refused_with_those_there_are() {
    let message = resolved(&variables(&[("preset_ref", "huge")])).unwrap_err();
    assert!(message.contains("names no preset; there are `large`"), "{message}");
}

#[test]
fn placeholders_are_refused_wherever_they_stand() {
    let file = map(json!({"vms": [{"zone": "<CHANGE_ME_ZONE>"}]}));
    let message = resolved(&Given { file, ..Given::default() }).unwrap_err();
    assert!(
        message.ends_with("`vms[0].zone` still holds the placeholder `CHANGE_ME`"),
        "{message}"
    );
}

#[test]
fn a_schema_names_the_place_and_hides_the_value() {
    let schema = Schema::read(
        r#"{"properties": {"network": {"properties": {"cidr": {"type": "integer"}}}}}"#,
    );
    let file = map(json!({"network": {"cidr": "canary-5511"}}));
    let spec = Spec::read(SPEC).found.unwrap();
    let given = Given { file, ..Given::default() };
    let error = resolve(&spec, &given, Some(&schema.unwrap())).unwrap_err().to_string();
    assert!(error.contains("`network.cidr`: this value is not of type"), "{error}");
    assert!(!error.contains("canary-5511"), "{error}");
    assert!(!format!("{given:?}").contains("canary-5511"));
}

#[test]
fn a_schema_fetches_nothing() {
    for target in ["https://example.com/a.json", "file:///etc/hostname"] {
        let error = Schema::read(&json!({"$ref": target}).to_string()).unwrap_err();
        assert!(error.contains("no JSON Schema"), "{error}");
    }
    assert!(Schema::read("{").unwrap_err().contains("no JSON"));
}
