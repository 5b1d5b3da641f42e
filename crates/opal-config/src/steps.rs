//! The file, its settings and its steps.

use std::collections::BTreeMap;

use opal_core::decorator::{Descriptor, Presence, Resource};
use opal_core::parameter::{ExactlyOneError, exactly_one, listed};
use opal_core::{Code, Diagnostic, Registry, Span, Value};

use super::arguments::{arguments, find, key, text, type_name};
use super::dependencies::Draft;
use super::document::{Node, NodeKind};
use super::given::Given;
use super::report::Report;
use super::{
    Argument, Config, Settings, Step, Variable, dependencies, keys, providers, repeats, validations,
};
use opal_core::gather::Gather as _;
use opal_yaml::fields::Fields;

pub(super) fn config(root: &Node, report: &mut Report<'_>) -> Option<Config> {
    let mut fields = Fields::of(root, "a configuration", report)?;
    let about = arguments(&mut fields, keys::FILE.iter(), None, report);
    let about = |name| text(&about, name);
    let settings = match fields.take("settings") {
        Some(field) => settings(field.value, report),
        None => Some(Settings::of(&[])),
    };
    let variables = match fields.take("vars") {
        Some(field) => repeats::variables(field.value, report),
        None => Vec::new(),
    };
    let providers = match fields.take("providers") {
        Some(field) => providers::read(field.value, report),
        None => Vec::new(),
    };
    let steps = match fields.take("steps") {
        Some(field) => steps(field.value, &variables, report),
        None => {
            fields.missing(&["steps"], report);
            Vec::new()
        }
    };
    let validations = match fields.take("validations") {
        Some(field) => validations::read(field.value, report),
        None => Vec::new(),
    };
    let known = keys::FILE.iter().map(|param| param.name).chain(keys::SECTIONS);
    fields.finish(known, report);
    let (name, description) = (about("name"), about("description"));
    let settings = settings?;
    Some(Config { name, description, settings, variables, providers, steps, validations })
}

fn settings(node: &Node, report: &mut Report<'_>) -> Option<Settings> {
    let mut fields = Fields::of(node, "`settings`", report)?;
    let given = arguments(&mut fields, keys::SETTINGS.iter(), None, report);
    fields.finish(keys::SETTINGS.iter().map(|param| param.name), report);
    Some(Settings::of(&given))
}

impl Settings {
    fn of(given: &[Argument]) -> Self {
        let value = |name| {
            let param = keys::SETTINGS.iter().find(|param| param.name == name)?;
            match (find(given, name), &param.presence) {
                (Some(Given::Data(value)), _) | (None, Presence::Default(value)) => Some(value),
                _ => None,
            }
        };
        let truth = |name| matches!(value(name), Some(Value::Bool(true)));
        Self {
            parallel: match value("parallel") {
                Some(Value::Int(number)) => *number,
                _ => 1,
            },
            timeout: match value("timeout") {
                Some(Value::Duration(duration)) => Some(*duration),
                _ => None,
            },
            continue_on_error: truth("continue_on_error"),
            dry_run: truth("dry_run"),
            verbose: truth("verbose"),
        }
    }
}

fn steps(node: &Node, variables: &[Variable], report: &mut Report<'_>) -> Vec<Step> {
    let items = match &node.kind {
        NodeKind::List(items) if !items.is_empty() => items,
        _ => {
            let message = "`steps` must be a list of at least one step";
            let help = "begin each step with `- id: …`";
            report.error(Code::ConfigValue, node.head(), message, help);
            return Vec::new();
        }
    };
    let known = of_any_type(report.registry);
    let mut drafts = Vec::new();
    let mut steps = Vec::new();
    for item in items {
        let Some(fields) = Fields::of(item, "a step", report) else { continue };
        let mut draft = Draft::of(&fields, "depends_on");
        if let Some(step) = step(fields, &known, variables, report) {
            draft.enabled = step.enabled;
            steps.push(step);
        }
        drafts.push(draft);
    }
    dependencies::check(&drafts, report);
    of_elements(&mut steps);
    steps
}

/// To depend on a step with `for_each` is to depend on the steps of all its elements.
fn of_elements(steps: &mut [Step]) {
    let ids: BTreeMap<String, Vec<String>> = steps
        .iter()
        .filter_map(|step| Some((step.id.clone(), step.for_each.as_ref()?.ids.clone())))
        .gathered();
    let depends_on = |argument: &&mut Argument| argument.param.name == "depends_on";
    for argument in steps.iter_mut().flat_map(|step| &mut step.arguments).filter(depends_on) {
        if let Given::Data(Value::Array(wanted)) = &mut argument.value {
            let all = std::mem::take(wanted).into_iter().flat_map(|id| match &id {
                Value::String(text) if ids.contains_key(text.as_ref()) => {
                    let ids = ids[text.as_ref()].iter().map(|id| Value::String(id.clone().into()));
                    ids.collect()
                }
                _ => vec![id],
            });
            *wanted = all.collect();
        }
    }
}

/// `known` are the keys of all types.
fn step(
    mut fields: Fields<'_>,
    known: &[&str],
    variables: &[Variable],
    report: &mut Report<'_>,
) -> Option<Step> {
    let span = fields.head;
    let Some((given, place)) = type_name(&mut fields, report) else {
        fields.typos(known, report);
        return None;
    };
    let (descriptor, resource) = step_type(given, place, report)?;
    fields.rename(format!("a `{}` step", resource.yaml));
    // A parameter is meant before a key of the same name that every step has.
    let own = || keys::STEP.iter().filter(|param| descriptor.param(param.name).is_none());
    let about = arguments(&mut fields, own(), None, report);
    let id = fields.get("id").and_then(Node::word);
    let for_each = fields.take("for_each");
    let for_each = for_each.and_then(|it| repeats::for_each(it, id, variables, report));
    let mut names: Vec<&str> = variables.iter().map(|variable| &*variable.name).collect();
    names.extend(for_each.as_ref().map(|_| repeats::ITEM));
    let when = fields.take("when").and_then(|field| repeats::when(field, &names, report));
    report.variables = names.iter().map(|name| (*name).to_owned()).collect();
    let enabled = !matches!(find(&about, "enabled"), Some(Given::Data(Value::Bool(false))));
    one_of(&fields, descriptor, report);
    let arguments = arguments(&mut fields, descriptor.params.iter(), Some(resource), report);
    identified(descriptor, &arguments, span, report);
    let params = descriptor.params.iter().map(|param| key(param, Some(resource)));
    let program = keys::PROGRAM.iter().map(|(key, _)| *key);
    let known = params.chain(own().map(|param| param.name)).chain(program);
    fields.finish(known.chain(["type"]), report);
    report.variables.clear();
    let id = text(&arguments, "id")?;
    Some(Step { id, enabled, when, for_each, descriptor, arguments, span })
}

/// Whether a step says which object of a provider it is about.
fn identified(
    descriptor: &Descriptor,
    arguments: &[Argument],
    span: Span,
    report: &mut Report<'_>,
) {
    let given: Vec<&str> = arguments.iter().map(|argument| argument.param.name).collect();
    if let Some(fault) = descriptor.identified.and_then(|it| it.fault(&given)) {
        let error = Diagnostic::new(fault.code, span, fault.message);
        report.push(fault.help.into_iter().fold(error, Diagnostic::help));
    }
}

/// Of some keys exactly one is given.
fn one_of(fields: &Fields<'_>, descriptor: &Descriptor, report: &mut Report<'_>) {
    let names = || listed(descriptor.one_of.iter().copied());
    match exactly_one(descriptor.one_of, |key| Some(fields.get_field(key)?.key)) {
        Ok(()) => {}
        Err(ExactlyOneError::None) => fields.missing_one_of(&names(), report),
        Err(ExactlyOneError::Two { first: (first, place), second: (second, again) }) => {
            let message = format!("`{second}` and `{first}` are mutually exclusive");
            let error = Diagnostic::new(Code::ConfigRepeatedKey, again, message);
            let help = format!("give exactly one of {}", names());
            report.push(error.also(place, "first here").help(help));
        }
    }
}

/// The resource that a step describes.
fn step_type(
    given: &str,
    span: Span,
    report: &mut Report<'_>,
) -> Option<(&'static Descriptor, &'static Resource)> {
    let registry = report.registry;
    let found = types(registry).find(|(_, resource)| resource.yaml == given);
    let found = found.or_else(|| {
        let descriptor = registry.step_type(given)?;
        Some((descriptor, descriptor.resource.as_ref()?))
    });
    if found.is_none() {
        let message = format!("unknown step type `{given}`");
        let error = Diagnostic::new(Code::ConfigUnknownType, span, message);
        let known: Vec<&str> = types(registry).map(|(_, resource)| resource.yaml).collect();
        report.unknown(error, given, known.iter().copied());
    }
    found
}

/// The keys that a step can have, whatever its type is.
fn of_any_type(registry: &Registry) -> Vec<&'static str> {
    let params = types(registry).flat_map(|(descriptor, _)| descriptor.params);
    let mut keys = vec!["type", "when", "for_each"];
    for param in keys::STEP.iter().chain(params) {
        for key in [Some(param.name), param.alias].into_iter().flatten() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys
}

/// All step types.
pub(super) fn types(
    registry: &Registry,
) -> impl Iterator<Item = (&'static Descriptor, &'static Resource)> {
    let types = registry.iter().filter(|descriptor| descriptor.is_step_type());
    types.filter_map(|descriptor| Some((descriptor, descriptor.resource.as_ref()?)))
}
