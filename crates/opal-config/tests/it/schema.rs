//! The JSON Schema that is published is the one that the descriptors give, and agrees with reading.

use serde_json::{Value, json};

use crate::support::{faults, file, registry, repository};

const PLACE: &str = "docs/schema/config-1.json";

fn is_valid(config: &Value) -> bool {
    let schema: Value = serde_json::from_str(&file(PLACE)).unwrap();
    jsonschema::draft202012::new(&schema).unwrap().is_valid(config)
}

/// A file with one step.
fn with_step(step: Value) -> Value {
    json!({ "version": 1, "steps": [step] })
}

#[test]
fn the_published_schema_is_up_to_date() {
    let schema = opal_config::schema(&registry());
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests")]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(repository().join(PLACE), &schema).unwrap();
    }
    assert!(schema == file(PLACE), "run this test with UPDATE_EXPECT=1 to rewrite {PLACE}");
}

#[test]
fn the_schema_is_a_schema() {
    let schema: Value = serde_json::from_str(&file(PLACE)).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn what_reading_accepts_the_schema_accepts() {
    let good = [
        json!({"id": "a", "type": "copy", "source": "s", "destination": "d", "depends_on": ["b"], "enabled": true}),
        json!({"id": "a", "type": "template", "source": "s", "destination": "d", "vars": {"x": [1, {"y": null}]}}),
        json!({"id": "a", "type": "command", "command": "x", "verify": "y", "verify_timeout": "1m30s"}),
        json!({"id": "a", "type": "command", "cmd": "x", "check": "y", "verify_timeout": 30, "env": {"A": 1}}),
        json!({"id": "a", "type": "package", "packages": ["x", {"name": "y", "version": "1"}]}),
        json!({"id": "a", "type": "directory", "path": "x", "mode": "0644"}),
        json!({"id": "a", "type": "service", "name": "x", "enabled": true}),
        json!({"id": "a", "type": "line_in_file", "file": "x", "line": "y", "match": "^y"}),
    ];
    for step in good {
        let mut config = with_step(step);
        config["steps"]
            .as_array_mut()
            .unwrap()
            .push(json!({"id": "b", "type": "absent", "path": "x"}));
        config["settings"] = json!({"parallel": 32, "timeout": 5, "dry_run": true});
        config["validations"] = json!([{"type": "path_contains", "path": "x", "text": "y"}]);
        assert!(is_valid(&config), "{config:#}");
        assert_eq!(faults(&config.to_string()), [""; 0], "{config:#}");
    }
}

#[test]
fn what_the_schema_can_know_it_refuses_as_reading_does() {
    let step = |step: Value| with_step(step);
    let good = json!({"id": "a", "type": "absent", "path": "x"});
    let bad = [
        json!([]),
        json!({}),
        json!({"version": 1}),
        json!({"version": 1, "steps": []}),
        json!({"version": "2", "steps": [good]}),
        json!({"version": 1, "steps": [good], "stepz": []}),
        json!({"version": 1, "steps": [good], "settings": {"parallel": 0}}),
        json!({"version": 1, "steps": [good], "settings": {"parallel": 33}}),
        json!({"version": 1, "steps": [good], "settings": {"timeout": "soon"}}),
        json!({"version": 1, "steps": [good], "settings": {"timeout": 0}}),
        json!({"version": 1, "steps": [good], "validations": [{"type": "file_exists"}]}),
        json!({"version": 1, "steps": [good], "validations": [{"type": "path_contains", "file": "a\nb", "text": "y"}]}),
        json!({"version": 1, "steps": [good], "validations": [{"type": "x"}]}),
        step(json!({"type": "absent", "path": "x"})),
        step(json!({"id": "a", "path": "x"})),
        step(json!({"id": "a b", "type": "absent", "path": "x"})),
        step(json!({"id": "a", "type": "gone", "path": "x"})),
        step(json!({"id": "a", "type": "absent"})),
        step(json!({"id": "a", "type": "absent", "path": ["x"]})),
        step(json!({"id": "a", "type": "absent", "path": null})),
        step(json!({"id": "a", "type": "absent", "path": true})),
        step(json!({"id": "a", "type": "absent", "path": "x", "recursive": "yes"})),
        step(json!({"id": "a", "type": "absent", "path": "x", "depends_on": "b"})),
        step(json!({"id": "a", "type": "absent", "path": "x", "extra": 1})),
        step(json!({"id": "a", "type": "command"})),
        step(json!({"id": "a", "type": "command", "command": "x", "cmd": "y"})),
        step(json!({"id": "a", "type": "command", "command": "x", "verify_timeout": "30m1h"})),
        step(json!({"id": "a", "type": "command", "command": "x", "verify_timeout": ""})),
        step(json!({"id": "a", "type": "directory", "path": "x", "mode": "rwx"})),
        step(json!({"id": "a", "type": "line_in_file", "file": "f", "line": "l", "state": "here"})),
        step(json!({"id": "a", "type": "repo", "url": "u", "destination": "d", "depth": 0})),
        step(json!({"id": "a", "type": "package", "packages": [{"version": "1"}]})),
    ];
    for config in bad {
        assert!(!is_valid(&config), "{config:#}");
        assert!(!faults(&config.to_string()).is_empty(), "{config:#}");
    }
}

#[test]
fn what_is_beyond_a_schema_is_left_to_reading() {
    let beyond = [
        json!([{"id": "a", "type": "absent", "path": "x"}, {"id": "a", "type": "absent", "path": "y"}]),
        json!([{"id": "a", "type": "absent", "path": "x", "depends_on": ["b"]}]),
        json!([{"id": "a", "type": "absent", "path": "x", "depends_on": ["a"]}]),
        json!([{"id": "a", "type": "directory", "path": "x", "mode": 420}]),
        json!([{"id": "a", "type": "line_in_file", "file": "f", "line": "l", "match": "(?=a)"}]),
    ];
    for steps in beyond {
        let config = json!({ "version": 1, "steps": steps });
        assert!(is_valid(&config), "{config:#}");
        assert!(!faults(&config.to_string()).is_empty(), "{config:#}");
    }
}
