//! `vars`, `when` and `for_each`: what a configuration has of a program.

use std::collections::BTreeSet;

use opal_core::parameter::matches;
use opal_core::{Code, Diagnostic, Value};

use super::document::{Node, NodeKind};
use super::expressions;
use super::report::Report;
use super::{ForEach, Variable, When, values};
use opal_yaml::fields::Field;

/// The variable that holds an element of `for_each`.
pub(super) const ITEM: &str = "item";

pub(super) fn variables(node: &Node, report: &mut Report<'_>) -> Vec<Variable> {
    let NodeKind::Map(pairs) = &node.kind else {
        let message = "`vars` must be a mapping of names to values";
        report.error(
            Code::ConfigValue,
            node.head(),
            message,
            "write `name: value`, one on each line",
        );
        return Vec::new();
    };
    let mut known = BTreeSet::new();
    let mut variables = Vec::new();
    for (key, value) in pairs {
        let NodeKind::Scalar { text: name, .. } = &key.kind else {
            report.error(
                Code::ConfigValue,
                key.head(),
                "a key must be a single word",
                "write a name",
            );
            continue;
        };
        if !matches("[A-Za-z_][A-Za-z0-9_]*", name) || name == ITEM {
            let message = format!("`{name}` cannot be the name of a variable");
            let help =
                format!("use letters, digits and `_`; `{ITEM}` is the element of `for_each`");
            report.error(Code::ConfigValue, key.span, message, help);
        } else if !known.insert(name) {
            let message = format!("`{name}` is given twice");
            report.error(Code::ConfigRepeatedKey, key.span, message, "remove one of them");
        } else if let Some(data) = values::any(name, value, report) {
            variables.push(Variable { name: name.clone(), value: data, span: value.head() });
        }
    }
    variables
}

/// A condition; `names` are the variables it can use.
pub(super) fn when(field: Field<'_>, names: &[&str], report: &mut Report<'_>) -> Option<When> {
    let span = field.value.head();
    let NodeKind::Scalar { text, .. } = &field.value.kind else {
        let help = "write it as `when: '@os.name == \"linux\"'`";
        report.error(Code::ConfigValue, span, "`when` must be an expression", help);
        return None;
    };
    let source = text.trim().to_owned();
    let parsed = match source.contains('\n') {
        true => Err("it has more than one line".to_owned()),
        false => expressions::parse(&source, report.registry, span),
    };
    match parsed {
        Ok(expr) => {
            expressions::check(&expr, names, report);
            Some(When { source, span })
        }
        Err(why) => {
            let message = format!("`when` is not an expression: {why}");
            let help =
                "write it as in the language: `'@var.stage == \"prod\" && @os.name == \"linux\"'`";
            report.push(Diagnostic::new(Code::ConfigValue, span, message).help(help));
            None
        }
    }
}

/// A list, or a variable that is one.
pub(super) fn for_each(
    field: Field<'_>,
    id: Option<&str>,
    variables: &[Variable],
    report: &mut Report<'_>,
) -> Option<ForEach> {
    let span = field.value.head();
    let (source, items) = match &field.value.kind {
        NodeKind::Scalar { text, .. } if expressions::is_reference(text) => {
            (Some(text.clone()), of_variable(text, variables))
        }
        NodeKind::List(_) => (None, Some(values::any("for_each", field.value, report)?)),
        _ => (None, None),
    };
    let Some(Value::Array(items)) = items else {
        let help = "write `[a, b]`, a line `- a` for each, or `\"@var.NAME\"` for a list in `vars`";
        report.error(Code::ConfigValue, span, "`for_each` must be a list", help);
        return None;
    };
    let Some((key, ids)) = ids(id.unwrap_or_default(), &items) else {
        let message = "every element of `for_each` needs a unique name";
        let help = "use different words, or mappings with a different `name` or `id`: the step of \
                    an element is called `ID.NAME`";
        report.error(Code::ConfigValue, span, message, help);
        return None;
    };
    Some(ForEach { source, items, key, ids, span })
}

fn of_variable(text: &str, variables: &[Variable]) -> Option<Value> {
    let mut path = text.strip_prefix(expressions::VARIABLE)?.trim_end_matches("()").split('.');
    let name = path.next()?;
    let mut value = &variables.iter().find(|it| it.name == name)?.value;
    for part in path {
        value = match value {
            Value::Map(fields) => fields.get(part)?,
            _ => return None,
        };
    }
    Some(value.clone())
}

/// What names an element, as the language writes it, and the ids of the elements' steps. None where
/// two elements would have one id, or an element has no name.
fn ids(id: &str, items: &[Value]) -> Option<(&'static str, Vec<String>)> {
    let field = |item: &Value, name: &str| match item {
        Value::Map(fields) => fields.get(name).and_then(word),
        _ => None,
    };
    let by = |name: &dyn Fn(&Value) -> Option<String>| {
        let words: Vec<String> = items.iter().map(name).collect::<Option<_>>()?;
        let differ = words.iter().collect::<BTreeSet<_>>().len() == words.len();
        differ.then(|| words.iter().map(|word| format!("{id}.{word}")).collect::<Vec<_>>())
    };
    let own = by(&word).map(|ids| ("@var.item", ids));
    own.or_else(|| Some(("@var.item.name", by(&|item| field(item, "name"))?)))
        .or_else(|| Some(("@var.item.id", by(&|item| field(item, "id"))?)))
}

/// A value that can be a part of an id.
fn word(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        _ => return None,
    };
    let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    (is_word && !text.is_empty()).then_some(text)
}
