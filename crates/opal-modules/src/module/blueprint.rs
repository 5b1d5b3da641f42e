//! Blueprints: modules as steps, and what each of them waits for.

use opal_core::{Code, Span};
use serde_json::{Map, Value};

use super::document::{
    self, Checked, caption, checked, needed, needed_name, needed_text, optional_map, referred,
    switch,
};
use super::reference::{ModuleRef, Name, shorten};
use super::value::mapping;
use crate::config::dependencies::{self, Draft};
use crate::config::document::Node;
use crate::config::fields::Fields;
use crate::config::report::Report;

/// A blueprint without faults.
#[derive(Clone, Debug)]
pub struct Blueprint {
    pub blueprint_ref: Name,
    /// Where the reference stands.
    pub span: Span,
    pub title: Option<String>,
    /// In the order of the file.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub id: String,
    pub module_ref: ModuleRef,
    /// The ids of the steps that come before it.
    pub requires: Vec<String>,
    pub skip_if_state_ok: bool,
    pub with_deps: bool,
    pub state_instance: Option<String>,
    /// Without a look at placeholders: they are for whoever uses the blueprint to fill in.
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
    let title = optional_map(fields, "metadata", report)
        .and_then(|mut metadata| caption(&mut metadata, "title"));
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
        let message = "a blueprint has at least one step";
        report.error(
            Code::ConfigValue,
            node.head(),
            message,
            "write `- id: …` with a `module_ref`",
        );
    }
    dependencies::check(&drafts, report);
    let (blueprint_ref, span) = named?;
    Some(Blueprint { blueprint_ref, span, title, steps })
}

fn step(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Step> {
    let id = needed_text(fields, "id", report).and_then(|given| word(given, "id", report));
    let module = needed_text(fields, "module_ref", report)
        .and_then(|given| referred(ModuleRef::parse(given.text), given.span, report));
    let requires = document::optional_list(fields, "requires", report)
        .into_iter()
        .filter_map(|node: &Node| Some(document::text(node, "requires", report)?.text.to_owned()))
        .collect();
    let skip_if_state_ok = switch(fields, "skip_if_state_ok", false, report);
    let with_deps = switch(fields, "with_deps", false, report);
    let state_instance = fields
        .take("state_instance")
        .and_then(|field| document::text(field.value, "state_instance", report))
        .and_then(|given| word(given, "state_instance", report));
    let inputs = fields.take("inputs").map(|field| mapping(field.value, "`inputs`", report));
    Some(Step {
        id: id?,
        module_ref: module?,
        requires,
        skip_if_state_ok,
        with_deps,
        state_instance,
        inputs: inputs.unwrap_or_else(|| Some(Map::new()))?,
    })
}

/// A name that becomes the name of a file.
fn word(given: document::Text<'_>, key: &str, report: &mut Report<'_>) -> Option<String> {
    match Name::parse(given.text, key) {
        Ok(name) if !name.as_str().contains('/') => Some(name.as_str().to_owned()),
        _ => {
            let message = format!("`{}` is no {key}", shorten(given.text));
            let help = "use letters, digits, `_` and `-`, beginning with a letter or a digit";
            report.error(Code::SpecReference, given.span, message, help);
            None
        }
    }
}
