//! The spec of a module: the desired result, and nothing about how to reach it.
//!
//! `execution`, `constraints` and `probes` are closed. Everything else may hold more than is read here: it is for people and for
//! other tools.

mod constraints;
mod execution;
mod probes;
pub(super) mod secret;

use std::collections::BTreeMap;

use opal_core::{Code, Diagnostic, Span};
use serde_json::{Map, Value};

use super::constraint::Constraint;
use super::document::{
    self, Checked, caption, checked, needed, needed_map, optional_list, optional_map, referred,
    typos,
};
use super::inputs::{merge, reserve};
use super::probe::Probe;
use super::profile::Profile;
use super::reference::{ModuleRef, Name, shorten};
use super::value::mapping;
use opal_config::document::Node;
use opal_config::report::Report;
use opal_yaml::fields::Fields;

/// Providers whose credentials a module needs when they are named in its reference or its pack.
pub(super) const PROVIDERS: [&str; 8] =
    ["aws", "azure", "digitalocean", "gcp", "hetzner", "openstack", "proxmox", "vsphere"];

/// Keys at the top that could say nothing but how a module is implemented.
const LEAKS: [&str; 10] = [
    "ansible",
    "backend",
    "hooks",
    "packer",
    "state",
    "terraform",
    "terragrunt",
    "tool_versions",
    "toolchain",
    "workspace",
];

/// A module spec without faults.
#[derive(Clone, Debug)]
pub struct Spec {
    pub module_ref: ModuleRef,
    /// Where the reference is.
    pub span: Span,
    pub title: Option<String>,
    pub description: Option<String>,
    pub defaults: Map<String, Value>,
    pub presets: BTreeMap<String, Map<String, Value>>,
    /// Identifiers, in the order of the spec.
    pub credentials: Vec<String>,
    pub execution: Execution,
    pub spans: Spans,
    pub dependencies: Vec<Dependency>,
    /// The outputs that others may see.
    pub publish: Vec<String>,
    /// What must hold for inputs and outputs.
    pub constraints: Vec<Constraint>,
    /// How it is seen to work.
    pub probes: Vec<Probe>,
}

#[derive(Clone, Debug)]
pub struct Execution {
    pub driver: Name,
    pub profile: Name,
    pub pack: Name,
    pub hooks: Vec<Hook>,
}

/// Where `execution` names what.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    pub driver: Span,
    pub profile: Span,
    pub pack: Span,
}

/// A hook of the driver or the profile, and how the module sets it.
#[derive(Clone, Debug)]
pub struct Hook {
    pub name: String,
    pub span: Span,
    /// Flat.
    pub settings: Map<String, Value>,
}

#[derive(Clone, Debug)]
pub struct Dependency {
    pub module_ref: ModuleRef,
    pub span: Span,
    /// Whether the module can do nothing without it.
    pub required: bool,
    /// Which of its outputs becomes which input: `output` to `input.path`.
    pub imports: BTreeMap<String, String>,
}

impl Spec {
    /// Reads a spec. Whether its profile owns its hooks is said by [`Spec::unknown_hooks`].
    #[must_use]
    pub fn read(text: &str) -> Checked<Self> {
        checked(text, "ModuleSpec", spec)
    }

    /// The hooks that neither the driver nor the profile owns.
    #[must_use]
    pub fn unknown_hooks(&self, profile: Option<&Profile>) -> Vec<Diagnostic> {
        execution::unknown_hooks(&self.execution.hooks, profile)
    }
}

fn spec(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Spec> {
    typos(fields, &["constraints", "dependencies", "metadata", "outputs", "probes"], report);
    leaks(fields, report);
    // What is secret in the others is reported where they are read.
    let others = fields.keys().filter(|key| !["execution", "inputs", "requirements"].contains(key));
    let others: Vec<&Node> = others.filter_map(|key| fields.get(key)).collect();
    others.into_iter().for_each(|node| secret::recognise(node, report));
    let module_ref = document::needed_text(fields, "module_ref", report).and_then(|given| {
        let module = referred(ModuleRef::parse(given.text), given.span, report)?;
        document::timeless(module.time(), given.span, report);
        Some((module, given.span))
    });
    let (mut title, mut description) = (None, None);
    if let Some(mut metadata) = optional_map(fields, "metadata", report) {
        typos(&mut metadata, &["description", "title"], report);
        title = caption(&mut metadata, "title");
        description = caption(&mut metadata, "description");
    }
    let inputs = needed_map(fields, "inputs", report).map(|inputs| read_inputs(inputs, report));
    let credentials = needed_map(fields, "requirements", report)
        .and_then(|mut requirements| read_credentials(&mut requirements, report));
    let execution = needed_map(fields, "execution", report)
        .and_then(|execution| execution::read(execution, report));
    let dependencies: Vec<Dependency> = optional_list(fields, "dependencies", report)
        .into_iter()
        .filter_map(|node| dependency(node, report))
        .collect();
    let publish: Vec<String> = optional_map(fields, "outputs", report)
        .map(|mut outputs| {
            typos(&mut outputs, &["publish"], report);
            optional_list(&mut outputs, "publish", report)
        })
        .unwrap_or_default()
        .into_iter()
        .filter_map(|node| Some(document::text(node, "publish", report)?.text.to_owned()))
        .collect();
    let (constraints, probes) =
        checks(fields, inputs.as_ref().and_then(Option::as_ref), &dependencies, &publish, report);
    let ((module_ref, span), (defaults, presets)) = (module_ref?, inputs??);
    let (credentials, place) = credentials?;
    let (execution, spans) = execution?;
    let named = [(module_ref.as_str(), span), (execution.pack.as_str(), spans.pack)];
    providers(&named, &credentials, place, report);
    Some(Spec {
        module_ref,
        span,
        title,
        description,
        defaults,
        presets,
        credentials,
        execution,
        spans,
        dependencies,
        publish,
        constraints,
        probes,
    })
}

/// What is checked before and after a run. A secret in there has been reported, and is not repeated.
fn checks(
    fields: &mut Fields<'_>,
    inputs: Option<&Inputs>,
    dependencies: &[Dependency],
    publish: &[String],
    report: &mut Report<'_>,
) -> (Vec<Constraint>, Vec<Probe>) {
    let mut known = Map::new();
    if let Some((defaults, presets)) = inputs {
        let presets = presets.values().cloned();
        [defaults.clone()].into_iter().chain(presets).for_each(|it| merge(&mut known, it));
    }
    let imports = dependencies.iter().flat_map(|it| it.imports.values());
    imports.for_each(|path| reserve(&mut known, path));
    let is_clean = |key| fields.get(key).is_none_or(|node| !secret::is_found(node));
    let (constraints, probes) = (is_clean("constraints"), is_clean("probes"));
    let constraints =
        if constraints { constraints::read(fields, &known, report) } else { Vec::new() };
    let probes = if probes { probes::read(fields, &known, publish, report) } else { Vec::new() };
    (constraints, probes)
}

/// Refuses what a driver, a profile or a pack has to say.
fn leaks(fields: &mut Fields<'_>, report: &mut Report<'_>) {
    for (key, field) in LEAKS.iter().filter_map(|key| Some((key, fields.take(key)?))) {
        let message =
            format!("`{key}` describes the implementation of a module, not the desired result");
        let error = Diagnostic::new(Code::SpecLeak, field.key, message);
        report.push(error.help("remove it: the driver, its profile and the pack decide that"));
    }
}

type Inputs = (Map<String, Value>, BTreeMap<String, Map<String, Value>>);

fn read_inputs(mut inputs: Fields<'_>, report: &mut Report<'_>) -> Option<Inputs> {
    let defaults = needed(&mut inputs, "defaults", report);
    defaults.inspect(|node| secret::refuse(node, secret::named, report));
    let defaults = defaults.and_then(|node| mapping(node, "`defaults`", report));
    let mut presets = BTreeMap::new();
    if let Some(mut found) = optional_map(&mut inputs, "presets", report) {
        let names: Vec<&str> = found.keys().collect();
        for name in names {
            let Some(field) = found.take(name) else { continue };
            secret::refuse(field.value, secret::named, report);
            let what = format!("the preset `{}`", shorten(name));
            presets.extend(mapping(field.value, &what, report).map(|map| (name.to_owned(), map)));
        }
    }
    let help = "describe the inputs in `inputs.schema.json`, next to the spec";
    let defaults = defaults?;
    // A schema that nobody reads protects nothing, not even with `writeOnly`.
    document::closed(&mut inputs, "`inputs`", &["defaults", "presets"], help, report);
    Some((defaults, presets))
}

/// The identifiers, and where a missing one is missed.
fn read_credentials(
    requirements: &mut Fields<'_>,
    report: &mut Report<'_>,
) -> Option<(Vec<String>, Span)> {
    let node = needed(requirements, "credentials", report)?;
    let mut names = Vec::new();
    for item in document::list(node, "credentials", report) {
        // What is refused is not repeated: it may be the secret itself.
        match document::text(item, "credentials", report) {
            Some(given) if is_identifier(given.text) && !secret::shows_secret(given.text) => {
                names.push(given.text.to_owned())
            }
            Some(given) => {
                let message = "invalid credential name";
                let error = Diagnostic::new(Code::SpecCredential, given.span, message);
                report.push(error.help(
                    "name it with lower-case letters, digits, `_` and `-`, as in `gcp`; a spec \
                     never contains its value",
                ));
            }
            None => {}
        }
    }
    for key in requirements.keys() {
        requirements.get(key).into_iter().for_each(|node| secret::recognise(node, report));
    }
    Some((names, node.head()))
}

fn is_identifier(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
}

fn providers(named: &[(&str, Span)], credentials: &[String], place: Span, report: &mut Report<'_>) {
    for provider in PROVIDERS.iter().filter(|name| !credentials.iter().any(|one| one == *name)) {
        let names_it =
            |text: &str| text.split('/').any(|part| part.split('@').next() == Some(*provider));
        let Some((_, span)) = named.iter().find(|(text, _)| names_it(text)) else { continue };
        let message =
            format!("the provider `{provider}` is used, but its credentials are not required");
        let error = Diagnostic::new(Code::SpecProvider, *span, message);
        let error = error.also(place, "the credentials");
        report.push(error.help(format!("add `{provider}` to `requirements.credentials`")));
    }
}

fn dependency(node: &Node, report: &mut Report<'_>) -> Option<Dependency> {
    let mut fields = Fields::of(node, "a dependency", report)?;
    typos(&mut fields, &["imports", "required"], report);
    let given = document::needed_text(&mut fields, "module_ref", report);
    let module = given.and_then(|given| referred(ModuleRef::parse(given.text), given.span, report));
    let required = document::switch(&mut fields, "required", true, report);
    let mut imports = BTreeMap::new();
    if let Some(mut found) = optional_map(&mut fields, "imports", report) {
        let outputs: Vec<&str> = found.keys().collect();
        for output in outputs {
            let Some(field) = found.take(output) else { continue };
            let Some(path) = document::text(field.value, "imports", report) else { continue };
            if path.text.split('.').any(str::is_empty) {
                let message = format!("invalid path of an input: `{}`", shorten(path.text));
                let help = "write the keys with dots between them: `network.cidr`";
                report.error(Code::ConfigValue, path.span, message, help);
            }
            imports.insert(output.to_owned(), path.text.to_owned());
        }
    }
    Some(Dependency { module_ref: module?, span: given?.span, required, imports })
}

#[cfg(test)]
mod tests;
