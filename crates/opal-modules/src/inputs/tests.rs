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
fn a_variable_stays_the_text_it_is_where_a_text_is_expected() {
    let given = variables(&[
        ("size", "1e3"),
        ("network__CIDR", "true"),
        ("db_password", "1e3"),
        ("max_tokens", "5"),
        ("port", "22"),
        ("code", "007"),
        ("pin", "22"),
    ]);
    let schema = json!({"properties": {"code": {"type": "string"}, "pin": {"type": "string"}}});
    let schema = Schema::here(&schema.to_string()).unwrap();
    let spec = Spec::read(SPEC).found.unwrap();
    let found = Value::Object(resolve(&spec, &given, Some(&schema)).unwrap());
    assert_eq!((&found["size"], &found["network"]["cidr"]), (&json!("1e3"), &json!("true")));
    assert_eq!((&found["db_password"], &found["max_tokens"]), (&json!("1e3"), &json!(5)));
    assert_eq!((&found["port"], &found["pin"]), (&json!(22), &json!("22")));
    let wants_number = json!({"properties": {"size": {"type": "integer"}}}).to_string();
    let wants_number = Schema::here(&wants_number).unwrap();
    let found = resolve(&spec, &variables(&[("SIZE", "3")]), Some(&wants_number)).unwrap();
    assert_eq!(found["size"], 3);
}

#[test]
fn a_validator_is_asked_by_the_reference_of_the_module() {
    let spec = Spec::read(&SPEC.replace("demo/net", "demo/network")).found.unwrap();
    let error = resolve(&spec, &variables(&[("cidr", "canary-8")]), None).unwrap_err().to_string();
    assert!(
        error.starts_with("input validation failed for demo/network: `cidr` is not a range"),
        "{error}"
    );
    assert!(!error.contains("canary-8"), "{error}");
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
        "input validation failed for demo/net: `HYOPS_INPUTS_JSON` is not a JSON object"
    );
}

#[test]
fn an_unknown_preset_is_refused_with_those_there_are() {
    let message = resolved(&variables(&[("preset_ref", "huge")])).unwrap_err();
    assert!(
        message.contains("names a preset that does not exist; existing presets: `large`"),
        "{message}"
    );
}

#[test]
fn placeholders_are_refused_wherever_they_are() {
    let file = map(json!({"vms": [{"zone": "<CHANGE_ME_ZONE>"}]}));
    let message = resolved(&Given { file, ..Given::default() }).unwrap_err();
    assert!(
        message.ends_with("`vms[0].zone` still contains the placeholder `CHANGE_ME`"),
        "{message}"
    );
}

#[test]
fn a_placeholder_is_a_word_of_its_own_in_any_case() {
    for text in ["CHANGE_ME", "change-me-project", "ssh-ed25519 ChangeMe", "<REPLACE_ME_1>"] {
        assert!(is_placeholder(text), "{text}");
    }
    for text in ["exchange-media", "interchangement", "change me", "changed-me"] {
        assert!(!is_placeholder(text), "{text}");
    }
}

fn untouched(inputs: Value, schema: &Value) -> Result<Vec<String>, String> {
    let mut spec = Spec::read(SPEC).found.unwrap();
    spec.defaults = map(inputs);
    let schema = Schema::here(&schema.to_string()).unwrap();
    let found = outlook(&spec, &Given::default(), Some(&schema));
    let found = found.map_err(|error| error.to_string())?;
    assert_eq!(found.keys, spec.defaults.keys().cloned().collect::<Vec<_>>());
    Ok(found.open)
}

#[test]
fn what_nobody_has_said_yet_is_open_and_no_fault() {
    let schema = json!({
        "required": ["project", "vms"],
        "properties": {
            "zone": {"minLength": 1},
            "port": {"type": "integer"},
            "vlan": {"type": "integer"},
            "vms": {"items": {"required": ["ip"], "properties": {"ip": {"pattern": "^10"}}}},
        },
    });
    let inputs = json!({
        "zone": "",
        "port": null,
        "vlan": "CHANGE_ME_VLAN",
        "vms": [{"ip": "10.0.0.1"}, {"ip": "CHANGE_ME"}, {}],
    });
    let open = ["port", "project", "vlan", "vms[1].ip", "vms[2].ip", "zone"];
    assert_eq!(untouched(inputs, &schema).unwrap(), open);
    let either = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(untouched(json!({}), &either).unwrap(), ["."]);
    assert_eq!(untouched(json!({"a": 1}), &either).unwrap(), [""; 0]);
}

#[test]
fn who_says_something_must_say_all() {
    let mut spec = Spec::read(SPEC).found.unwrap();
    spec.defaults = map(json!({"zone": "CHANGE_ME", "size": ""}));
    let error = outlook(&spec, &variables(&[("size", "large")]), None).unwrap_err();
    assert!(error.to_string().contains("`zone` still contains"), "{error}");
    let found = outlook(&spec, &variables(&[("zone", "a")]), None).unwrap();
    assert_eq!(found, Outlook { keys: vec!["size".into(), "zone".into()], open: Vec::new() });
}

#[test]
fn a_default_that_can_never_fit_is_a_fault() {
    let schema = json!({"properties": {"port": {"type": "integer"}}});
    let error = untouched(json!({"port": "canary-4410"}), &schema).unwrap_err();
    assert!(error.contains("`port`: this value is not of type"), "{error}");
    let closed = json!({"additionalProperties": false});
    assert!(untouched(json!({"size": 1}), &closed).is_err());
}

#[test]
fn a_schema_names_the_place_and_hides_the_value() {
    let schema = Schema::here(
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
        let error = Schema::here(&json!({"$ref": target}).to_string()).unwrap_err();
        assert!(error.contains("not a JSON Schema"), "{error}");
    }
    assert!(Schema::here("{").unwrap_err().contains("not JSON"));
}
