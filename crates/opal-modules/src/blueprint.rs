//! Blueprints: modules as steps, and what each of them waits for.

use opal_core::{Code, Span};
use serde_json::{Map, Value};

use super::document::{
    self, Checked, caption, checked, needed, needed_name, needed_text, optional_map, referred,
    switch, typos, unused,
};
use super::keep::Instance;
use super::reference::{ModuleRef, Name, shorten};
use super::run::Command;
use super::value::mapping;
use opal_config::dependencies::{self, Draft};
use opal_config::document::Node;
use opal_config::report::Report;
use opal_yaml::fields::Fields;

/// Keys that a step may have.
const MAY: [&str; 7] =
    ["action", "inputs", "optional", "requires", "skip_if_state_ok", "state_instance", "with_deps"];

/// Keys of a step that are for people and other tools.
const OF_OTHERS: [&str; 8] = [
    "contracts",
    "destroy_gate",
    "destroy_subsumed_by",
    "execution_profile",
    "phase",
    "presentation",
    "retain_on_destroy",
    "verify_state_on_skip",
];

/// A blueprint without faults.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub blueprint_ref: Name,
    /// Where the reference is.
    pub span: Span,
    pub title: Option<String>,
    /// Whether a step that fails is the last; else those that do not require it go on.
    pub fail_fast: bool,
    /// In the order of the file.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub id: String,
    pub module_ref: ModuleRef,
    /// Where the reference is.
    pub span: Span,
    /// What is done with it.
    pub action: Command,
    /// The ids of the steps that come before it.
    pub requires: Vec<String>,
    pub skip_if_state_ok: bool,
    pub with_deps: bool,
    pub state_instance: Option<Instance>,
    /// Whether the blueprint does without it: its failure is none of the whole.
    pub optional: bool,
    /// Without a check for placeholders: the user of the blueprint fills them in.
    pub inputs: Map<String, Value>,
}

impl Blueprint {
    #[must_use]
    pub fn read(text: &str) -> Checked<Self> {
        checked(text, "BlueprintSpec", blueprint)
    }
}

fn blueprint(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Blueprint> {
    let named = needed_name(fields, "blueprint_ref", "blueprint", report);
    if let Some((name, span)) = &named {
        document::timeless(name.time(), *span, report);
    }
    typos(fields, &["metadata", "policy"], report);
    let title = optional_map(fields, "metadata", report).and_then(|mut metadata| {
        typos(&mut metadata, &["title"], report);
        caption(&mut metadata, "title")
    });
    let fail_fast = optional_map(fields, "policy", report).is_none_or(|mut policy| {
        typos(&mut policy, &["fail_fast"], report);
        switch(&mut policy, "fail_fast", true, report)
    });
    let node = needed(fields, "steps", report)?;
    let items = document::list(node, "steps", report);
    let mut drafts = Vec::new();
    let mut steps = Vec::new();
    for item in items {
        let Some(mut fields) = Fields::of(item, "a step", report) else { continue };
        drafts.push(Draft::of(&fields, "requires"));
        steps.extend(step(&mut fields, report));
    }
    if drafts.is_empty() {
        let message = "a blueprint needs at least one step";
        report.error(
            Code::ConfigValue,
            node.head(),
            message,
            "write `- id: …` with a `module_ref`",
        );
    }
    dependencies::check(&drafts, report);
    let (blueprint_ref, span) = named?;
    Some(Blueprint { blueprint_ref, span, title, fail_fast, steps })
}

fn step(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Step> {
    typos(fields, &MAY, report);
    let id = needed_text(fields, "id", report).and_then(|given| word(given, "id", report));
    let module = needed_text(fields, "module_ref", report).and_then(|given| {
        Some((referred(ModuleRef::parse(given.text), given.span, report)?, given.span))
    });
    let action = fields
        .take("action")
        .and_then(|field| document::text(field.value, "action", report))
        .map(|given| action(given, report));
    let requires = document::optional_list(fields, "requires", report)
        .into_iter()
        .filter_map(|node: &Node| Some(document::text(node, "requires", report)?.text.to_owned()))
        .collect();
    let skip_if_state_ok = switch(fields, "skip_if_state_ok", false, report);
    let with_deps = switch(fields, "with_deps", false, report);
    let state_instance = fields
        .take("state_instance")
        .and_then(|field| document::text(field.value, "state_instance", report))
        .and_then(|given| referred(Instance::parse(given.text), given.span, report));
    let optional = switch(fields, "optional", false, report);
    let inputs = fields.take("inputs").map(|field| mapping(field.value, "`inputs`", report));
    astray(fields, report);
    let (module_ref, span) = module?;
    Some(Step {
        id: id?,
        module_ref,
        span,
        action: action.unwrap_or(Some(Command::Apply))?,
        requires,
        skip_if_state_ok,
        with_deps,
        state_instance,
        optional,
        inputs: inputs.unwrap_or_else(|| Some(Map::new()))?,
    })
}

/// Warns about what is left of a step and was meant to count: an input beside `inputs` reaches nobody.
fn astray(fields: &mut Fields<'_>, report: &mut Report<'_>) {
    let others: Vec<&str> = fields.keys().filter(|key| !OF_OTHERS.contains(key)).collect();
    for key in others {
        let Some(field) = fields.take(key) else { continue };
        let why = match key {
            "inputs_file" => "move its content below `inputs`",
            _ => "an input of the module belongs below `inputs`",
        };
        unused(&shorten(key), field.key, why, report);
    }
}

/// What a step may do with its module: destroying it is not a step towards anything.
fn action(given: document::Text<'_>, report: &mut Report<'_>) -> Option<Command> {
    let known = Command::ALL.into_iter().filter(|command| *command != Command::Destroy);
    let known: Vec<Command> = known.collect();
    let found = Command::named(given.text).filter(|command| known.contains(command));
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|command| command.name()).collect();
        let message = format!("unknown action `{}` of a step", shorten(given.text));
        let help = format!("expected one of: `{}`", names.join("`, `"));
        report.error(Code::ConfigValue, given.span, message, help);
    }
    found
}

/// A name that becomes the name of a file.
fn word(given: document::Text<'_>, key: &str, report: &mut Report<'_>) -> Option<String> {
    match Name::parse(given.text, key) {
        Ok(name) if !name.as_str().contains('/') => Some(name.as_str().to_owned()),
        _ => {
            let message = format!("invalid {key} `{}`", shorten(given.text));
            let help = "use letters, digits, `_` and `-`, and begin with a letter or a digit";
            report.error(Code::SpecReference, given.span, message, help);
            None
        }
    }
}
