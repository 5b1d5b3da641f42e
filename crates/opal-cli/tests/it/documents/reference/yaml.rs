//! Steps of a plan as a configuration.

use std::fmt::Write as _;

use serde_json::Value;

use super::{list, text};

/// A whole configuration with these steps, all of them of one resource.
pub(super) fn configuration(resource: &Value, steps: &[Value]) -> String {
    let kind = text(&resource["resource"], "type");
    let mut out = "version: 1\nsteps:\n".to_owned();
    for (index, step) in steps.iter().enumerate() {
        let (task, _) = text(step, "path").split_once('.').unwrap();
        let number = if steps.len() == 1 { String::new() } else { format!("-{}", index + 1) };
        let _ = write!(out, "  - id: {task}{number}\n    type: {kind}\n");
        for (name, value) in arguments(resource, step) {
            let _ = writeln!(out, "    {name}: {}", written(value));
        }
    }
    out
}

/// In the order of the parameters.
fn arguments<'v>(resource: &'v Value, step: &'v Value) -> Vec<(&'v str, &'v Value)> {
    let names = list(resource, "params")
        .iter()
        .flat_map(|param| [param["name"].as_str(), param["alias"].as_str()].into_iter().flatten());
    let given = names.filter_map(|name| Some((name, step["args"].get(name)?)));
    given.filter(|(name, value)| !is_default(resource, name, value)).collect()
}

/// A plan has every default; a configuration need not say it.
fn is_default(resource: &Value, name: &str, value: &Value) -> bool {
    let params = list(resource, "params");
    let written = value.to_string();
    params.iter().any(|param| param["name"] == name && param["default"] == written.as_str())
}

fn written(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => match fields.get("$shell") {
            Some(command) => written(command),
            None => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{}: {}", scalar(name), written(value)))
                    .collect();
                format!("{{{}}}", fields.join(", "))
            }
        },
        other => other.to_string(),
    }
}

/// Without quotes where nothing in it could mean anything to YAML.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._~ -".contains(c);
    let begins =
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') || text.starts_with("~/");
    let is_word = !["true", "false", "null", "yes", "no", "on", "off"].contains(&text);
    if begins && is_word && text.chars().all(is_plain) && !text.ends_with(' ') {
        return text.to_owned();
    }
    assert!(!text.contains(char::is_control), "{text:?}");
    format!("'{}'", text.replace('\'', "''"))
}

#[test]
fn what_means_something_to_yaml_is_quoted() {
    let plain = ["nginx", "/etc/app.conf", "~/.vimrc", "PermitRootLogin no"];
    assert_eq!(plain.map(scalar), plain);
    let quoted = ["0640", "true", "a: b", "^#?x", "it's", "", "~", "10.0.0.7 db"];
    assert!(quoted.iter().all(|text| scalar(text).starts_with('\'')), "{quoted:?}");
    assert_eq!(scalar("it's"), "'it''s'");
}
