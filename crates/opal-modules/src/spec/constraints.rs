//! `constraints`: rules of inputs and outputs. The list of rules is closed.

use opal_core::parameter::listed;
use opal_core::{Code, Span};
use serde_json::{Map, Value};

use super::super::constraint::{Bounds, Constraint, Pattern, Rule, Subject, unknown_input};
use super::super::document::{optional_list, text, unknown_key};
use super::super::reference::shorten;
use super::super::value::value;
use opal_config::document::Node;
use opal_config::report::Report;
use opal_yaml::fields::{Field, Fields};

/// More than this is a program, and belongs in a schema or a pack.
const MOST: usize = 200;

const KEYS: [&str; 11] = [
    "input",
    "output",
    "message",
    "set",
    "one_of",
    "at_least",
    "at_most",
    "matches",
    "differs_from",
    "needs",
    "within",
];

/// Reads the constraints; `known` are the inputs that the spec itself has.
pub(super) fn read(
    fields: &mut Fields<'_>,
    known: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Vec<Constraint> {
    let items = optional_list(fields, "constraints", report);
    if let Some(item) = items.get(MOST) {
        let message = format!("a module has at most {MOST} constraints");
        refuse(item.head(), message, "check the rest in `inputs.schema.json`", report);
    }
    items.into_iter().take(MOST).filter_map(|item| constraint(item, known, report)).collect()
}

fn constraint(
    node: &Node,
    known: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Option<Constraint> {
    let mut fields = Fields::of(node, "a constraint", report)?;
    let (input, output) = (fields.take("input"), fields.take("output"));
    let message = fields.take("message").and_then(|it| text(it.value, "message", report));
    let mut rules = Vec::new();
    let keys: Vec<&str> = fields.keys().collect();
    for key in keys {
        let Some(field) = fields.take(key) else { continue };
        match rule(key, field, report) {
            Some(rule) => rules.push((rule, field.value.head())),
            None if KEYS.contains(&key) => return None,
            None => {
                unknown_key(Code::SpecConstraint, "constraint", key, field.key, &KEYS, report);
                return None;
            }
        }
    }
    let subject = match (input, output) {
        (Some(field), None) => Subject::Input(text(field.value, "input", report)?.text.to_owned()),
        (None, Some(field)) => {
            Subject::Output(text(field.value, "output", report)?.text.to_owned())
        }
        _ => {
            let help = "write `input: network.cidr` or `output: url`";
            refuse(node.head(), "a constraint names one input or one output", help, report);
            return None;
        }
    };
    if rules.is_empty() {
        let help = format!("add one of {}", listed(KEYS.into_iter().skip(3)));
        refuse(node.head(), "a constraint without a rule checks nothing", help, report);
        return None;
    }
    let spans: Vec<Span> = rules.iter().map(|(_, span)| *span).collect();
    let rules: Vec<Rule> = rules.into_iter().map(|(rule, _)| rule).collect();
    let found = Constraint { subject, rules, message: message.map(|it| it.text.to_owned()) };
    let own = match &found.subject {
        Subject::Input(path) => {
            Some((path.as_str(), input.map_or(node.head(), |it| it.value.span)))
        }
        Subject::Output(_) => None,
    };
    let here = spans.first().copied().unwrap_or(node.head());
    for (path, span) in own.into_iter().chain(found.others().map(|path| (path, here))) {
        if let Some(help) = unknown_input(known, path) {
            refuse(span, format!("unknown input `{}`", shorten(path)), help, report);
        }
    }
    Some(found)
}

/// A rule by its key; none where the key is unknown, or its value unfit, which is reported.
fn rule(key: &str, field: Field<'_>, report: &mut Report<'_>) -> Option<Rule> {
    if !KEYS.contains(&key) {
        return None;
    }
    let span = field.value.head();
    let read = value(field.value, report)?;
    let (rule, wanted) = match (key, &read) {
        ("set", Value::Bool(true)) => (Some(Rule::Set), ""),
        ("set", _) => (None, "`true`"),
        ("one_of", Value::Array(items)) if is_scalars(items) => {
            (Some(Rule::OneOf(items.clone())), "")
        }
        ("one_of", _) => (None, "a list of texts, numbers, `true` and `false`"),
        ("at_least", Value::Number(bound)) => (Some(Rule::AtLeast(bound.clone())), ""),
        ("at_most", Value::Number(bound)) => (Some(Rule::AtMost(bound.clone())), ""),
        ("at_least" | "at_most", _) => (None, "a number"),
        ("matches", Value::String(text)) => (Pattern::parse(text).map(Rule::Matches), "a pattern"),
        ("matches", _) => (None, "a pattern"),
        ("within", Value::String(text)) if is_path(text) || text.contains('/') => {
            (Bounds::parse(text).map(Rule::Within), "a range such as `10.0.0.0/8`, or an input")
        }
        ("differs_from", Value::String(path)) if is_path(path) => {
            (Some(Rule::DiffersFrom(path.clone())), "")
        }
        ("needs", Value::String(path)) if is_path(path) => (Some(Rule::Needs(path.clone())), ""),
        _ => (None, "the path of an input, such as `network.cidr`"),
    };
    if rule.is_none() {
        let help = format!("expects {wanted}");
        refuse(span, format!("invalid value for the constraint `{key}`"), help, report);
    }
    rule
}

fn is_scalars(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(|it| it.is_string() || it.is_number() || it.is_boolean())
}

/// Keys with dots between them.
pub(super) fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.split('.').any(str::is_empty)
}

fn refuse(
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
    report: &mut Report<'_>,
) {
    report.error(Code::SpecConstraint, span, message, help);
}
