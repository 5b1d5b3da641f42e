//! The keys of a step or a validation that are parameters.

use opal_core::decorator::{Param, Presence, Resource};
use opal_core::{Code, Span, Value};

use super::config::Argument;
use super::document::NodeKind;
use super::given::Given;
use super::report::Report;
use super::values;
use opal_yaml::fields::Fields;

/// The value of `type`, which steps and validations have.
pub(super) fn type_name<'n>(
    fields: &mut Fields<'n>,
    report: &mut Report<'_>,
) -> Option<(&'n str, Span)> {
    let Some(field) = fields.take("type") else {
        fields.missing(&["type"], report);
        return None;
    };
    match &field.value.kind {
        NodeKind::Scalar { text, .. } if !text.is_empty() => Some((text, field.value.span)),
        _ => {
            let help = "write the name of a type";
            report.error(
                Code::ConfigValue,
                field.value.head(),
                "`type` must be a single word",
                help,
            );
            None
        }
    }
}

/// What a configuration calls a parameter: a `command` has its `command`, whatever the decorator
/// calls it.
pub(super) fn key(param: &Param, resource: Option<&Resource>) -> &'static str {
    match (param.alias, resource) {
        (Some(alias), Some(resource)) if alias == resource.yaml => alias,
        _ => param.name,
    }
}

/// Reads the keys that are parameters, and complains about those that must be there and are not.
pub(super) fn arguments(
    fields: &mut Fields<'_>,
    params: impl Iterator<Item = &'static Param>,
    resource: Option<&'static Resource>,
    report: &mut Report<'_>,
) -> Vec<Argument> {
    let mut arguments = Vec::new();
    let mut missing = Vec::new();
    for param in params {
        let name = key(param, resource);
        match fields.take_either(param.name, param.alias, report) {
            Some(field) => {
                let span = field.value.head();
                let value = values::given(param, name, field.value, report);
                arguments.extend(value.map(|value| Argument { param, value, span }));
            }
            None if is_required(param, resource) => missing.push(name),
            None => {}
        }
    }
    fields.missing(&missing, report);
    arguments
}

/// A step of a configuration has an id, which is how others depend on it.
pub(super) fn is_required(param: &Param, resource: Option<&Resource>) -> bool {
    matches!(param.presence, Presence::Required) || (resource.is_some() && param.name == "id")
}

pub(super) fn find<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Given> {
    arguments.iter().find(|argument| argument.param.name == name).map(|argument| &argument.value)
}

/// The text of the parameter `name`, where there is one.
pub(super) fn text(arguments: &[Argument], name: &str) -> Option<String> {
    match find(arguments, name)? {
        Given::Data(Value::String(text)) => Some(text.to_string()),
        _ => None,
    }
}
