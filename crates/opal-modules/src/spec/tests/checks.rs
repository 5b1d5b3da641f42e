//! Constraints and probes: each kind by its name, and nothing else.

use super::*;

fn reported(more: &str) -> Vec<(Code, String)> {
    let outputs = "outputs: {publish: [url]}\n";
    let spec = SPEC.replace("count: 3", "count: 3, cidr: 10.0.0.0/8");
    let read = Spec::read(&format!("{spec}{outputs}{more}\n"));
    assert_eq!(read.found.is_some(), read.diagnostics.is_empty(), "{more}");
    read.diagnostics.into_iter().map(|one| (one.code, one.message)).collect()
}

#[test]
fn an_invalid_constraint_is_refused_by_name() {
    for (constraint, message) in [
        ("{input: cidr, minimum: 1}", "unknown constraint `minimum`"),
        ("{input: cidr, at_lest: 1}", "unknown constraint `at_lest`"),
        ("{input: cidr}", "a constraint without a rule checks nothing"),
        ("{set: true}", "a constraint names one input or one output"),
        ("{input: cidr, output: url, set: true}", "a constraint names one input or one output"),
        ("{input: cidr, set: false}", "invalid value for the constraint `set`"),
        ("{input: cidr, one_of: []}", "invalid value for the constraint `one_of`"),
        ("{input: cidr, one_of: [[a]]}", "invalid value for the constraint `one_of`"),
        ("{input: cidr, at_least: '1'}", "invalid value for the constraint `at_least`"),
        ("{input: cidr, matches: '('}", "invalid value for the constraint `matches`"),
        ("{input: cidr, within: 10.0.0.0/99}", "invalid value for the constraint `within`"),
        ("{input: cidr, needs: a..b}", "invalid value for the constraint `needs`"),
        ("{input: cdir, set: true}", "unknown input `cdir`"),
        ("{input: cidr, differs_from: other}", "unknown input `other`"),
        ("{output: url, within: other}", "unknown input `other`"),
    ] {
        let expected = (Code::SpecConstraint, message.to_owned());
        assert_eq!(reported(&format!("constraints: [{constraint}]")), [expected], "{constraint}");
    }
    for other in ["constraints: {a: b}", "constraints: [a]", "constraints: a"] {
        assert_eq!(reported(other).len(), 1, "{other}");
    }
    assert_eq!(reported("constraints: [{input: cidr, within: 10.0.0.0/8, message: why}]"), []);
    assert_eq!(reported("constraints: [{output: anything, set: true}]"), []);
    assert_eq!(reported("constraints:\nprobes:"), []);
}

#[test]
fn an_invalid_probe_is_refused_by_name() {
    for (probe, message) in [
        ("{name: a, command: 'true'}", "unknown probe `command`"),
        ("{name: a, htpp: 'http://a'}", "unknown probe `htpp`"),
        ("{name: a}", "a probe must have exactly one target"),
        ("{name: a, tcp: 'a:1', http: 'http://a'}", "a probe must have exactly one target"),
        ("{http: 'http://a'}", "a probe needs a name, which is also the name of its evidence"),
        (
            "{name: A b, http: 'http://a'}",
            "a probe needs a name, which is also the name of its evidence",
        ),
        ("{name: a, http: 'ftp://a'}", "invalid target of a probe `http`"),
        ("{name: a, tcp: a}", "invalid target of a probe `tcp`"),
        ("{name: a, file: etc/motd}", "invalid target of a probe `file`"),
        ("{name: a, tcp: 'a:1', contains: b}", "a TCP connection has no text to search"),
        ("{name: a, tcp: 'a:1', attempts: 0}", "`attempts` must be between 1 and 1000"),
        ("{name: a, tcp: 'a:1', timeout_s: 1.5}", "`timeout_s` must be between 1 and 3600"),
        ("{name: a, tcp: 'a:1', delay_s: 9999}", "`delay_s` must be between 1 and 3600"),
        ("{name: a, tcp: '{env.A}:1'}", "`{env.A}` is not an input or an output"),
        ("{name: a, tcp: '{inputs.cdir}:1'}", "unknown input `cdir`"),
        ("{name: a, tcp: '{outputs.host}:1'}", "the module does not publish an output `host`"),
        ("{name: a, tcp: 'a:1'}, {name: a, tcp: 'b:1'}", "duplicate probe name `a`"),
    ] {
        let expected = (Code::SpecProbe, message.to_owned());
        assert_eq!(reported(&format!("probes: [{probe}]")), [expected], "{probe}");
    }
    assert_eq!(
        reported("probes: [{name: up, http: '{outputs.url}/{inputs.cidr}', contains: ok}]"),
        []
    );
}

#[test]
fn the_published_schema_knows_the_same_keys() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/module-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let is_valid = |more: &str| {
        let text = format!("{SPEC}{more}\n");
        validator.is_valid(&Value::Object(crate::inputs::read_file(&text).unwrap()))
    };
    for good in [
        "constraints: [{input: cidr, set: true, one_of: [a, 1], at_least: 1, at_most: 2.5, matches: a}]",
        "constraints: [{output: url, within: 10.0.0.0/8, needs: a, differs_from: b, message: c}]",
        "probes: [{name: a, http: 'https://a', contains: b, attempts: 1, delay_s: 1, timeout_s: 1}]",
        "probes: [{name: a, tcp: 'a:1'}, {name: b, file: /a}]",
        "constraints:\nprobes:",
    ] {
        assert!(is_valid(good), "{good}");
    }
    for bad in [
        "constraints: [{input: cidr}]",
        "constraints: [{set: true}]",
        "constraints: [{input: cidr, output: url, set: true}]",
        "constraints: [{input: cidr, minimum: 1}]",
        "constraints: [{input: cidr, set: false}]",
        "constraints: {}",
        "probes: [{name: a}]",
        "probes: [{http: 'https://a'}]",
        "probes: [{name: a, http: 'https://a', tcp: 'a:1'}]",
        "probes: [{name: a, command: b}]",
        "probes: [{name: a, tcp: 'a:1', attempts: 0}]",
        "probes: {}",
    ] {
        assert!(!is_valid(bad), "{bad}");
        assert!(Spec::read(&format!("{SPEC}{bad}\n")).found.is_none(), "{bad}");
    }
}
