//! What a module must not hold, wherever it is.

use super::*;

fn with(more: &str) -> Vec<Diagnostic> {
    Spec::read(&format!("{SPEC}{more}\n")).diagnostics
}

#[test]
fn a_secret_is_refused_wherever_it_is_and_not_repeated() {
    let token = ["gh", "p_0123456789abcdefghij0123456789abcdef"].concat();
    let description = format!("metadata: {{title: A network, description: \"with {token}\"}}");
    for more in [
        description,
        format!("constraints: {{api_token: {token}}}"),
        format!("constraints: {{{token}: 1}}"),
        "probes: [{url: 'https://bob:hunter2canary@example.org/health'}]".to_owned(),
        format!("anything: [[{token}]]"),
    ] {
        let reported = with(&more);
        assert_eq!(
            reported.iter().map(|one| one.code).collect::<Vec<_>>(),
            [Code::SpecSecret],
            "{more}"
        );
        assert!(!format!("{reported:?}").contains("p_0123"), "{reported:?}");
    }
    let named = SPEC.replace("credentials: []", &format!("credentials: [{token}]"));
    assert_eq!(codes(&named), [Code::SpecCredential]);
    let prose = "metadata: {description: the password is in the vault}\nprobes: [{name: up, http: 'https://a.b/c'}]";
    assert_eq!(with(prose), []);
}

#[test]
fn how_a_module_is_implemented_is_refused_at_the_top() {
    for more in [
        "backend: {type: s3}",
        "terraform: {source: 'git::https://example.org/net'}",
        "toolchain: {terraform: 1.9.0}",
        "hooks: {after: ./notify.sh}",
    ] {
        let codes: Vec<Code> = with(more).iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::SpecLeak], "{more}");
    }
    assert_eq!(with("owner: the network team"), [], "anything else is for people");
}

#[test]
fn the_published_schema_refuses_the_same_at_the_top() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/module-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let forbidden = properties.iter().filter(|(_, said)| **said == Value::Bool(false));
    assert_eq!(forbidden.map(|(key, _)| key.as_str()).collect::<Vec<_>>(), LEAKS);
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let is_valid = |more: &str| {
        let text = format!("{SPEC}{more}\n");
        schema.is_valid(&Value::Object(crate::inputs::read_file(&text).unwrap()))
    };
    assert!(is_valid("owner: the network team"));
    for key in LEAKS {
        let more = format!("{key}: {{a: b}}");
        let codes: Vec<Code> = with(&more).iter().map(|one| one.code).collect();
        assert_eq!(codes, [Code::SpecLeak], "{more}");
        assert!(!is_valid(&more), "{more}");
    }
}
