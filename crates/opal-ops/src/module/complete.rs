//! A module with everything that it names.

use std::io;
use std::path::PathBuf;

use opal_core::Diagnostic;
use opal_core::suggest::nearest;
use opal_modules::inputs::{Given, Schema};
use opal_modules::lint::{self, Linted};
use opal_modules::load::{self, Read};
use opal_modules::named::{self, Lacking, Part};
use opal_modules::{ModuleRef, NotFound, Places, Spec};
use serde_json::{Map, Value};

/// A module that has what it names.
#[derive(Debug)]
pub struct Complete {
    pub spec: Spec,
    /// Where the files of its pack are.
    pub stack: PathBuf,
    pub schema: Option<Schema>,
    /// What is not as it should be, and stops nothing: the messages of all reports.
    pub warnings: Vec<String>,
}

/// What there is to say about a module, and whether it has what it names.
#[derive(Debug)]
pub struct Completion {
    /// Files with something in them to report, in the order in which they were read.
    pub reports: Vec<Linted>,
    pub result: Result<Complete, Incomplete>,
}

/// Why a module does not have what it names.
#[derive(Debug)]
pub enum Incomplete {
    NoModule(NotFound),
    Missing(NotFound),
    /// The last of the reports is of a file with errors.
    Faults,
    /// The pack cannot be searched.
    Unsearchable {
        stack: PathBuf,
        error: io::Error,
    },
}

/// Reads a module with everything that it names.
#[must_use]
pub fn complete(places: &Places, module: &ModuleRef) -> Completion {
    let mut reports = Vec::new();
    let result = completed(places, module, &mut reports);
    Completion { reports, result }
}

fn completed(
    places: &Places,
    module: &ModuleRef,
    reports: &mut Vec<Linted>,
) -> Result<Complete, Incomplete> {
    let read = load::spec(places, module).map_err(Incomplete::NoModule)?;
    let source = read.clone();
    let spec = whole(read, reports)?;
    let profile = whole(load::profile(places, &spec).map_err(Incomplete::Missing)?, reports)?;
    let of_source =
        |diagnostics| Linted { path: source.path.clone(), text: source.text.clone(), diagnostics };
    let unknown = spec.unknown_hooks(Some(&profile));
    let mut reported = if unknown.is_empty() { spec.reported_hooks(&profile) } else { unknown };
    if reported.iter().any(Diagnostic::is_error) {
        reports.push(of_source(reported));
        return Err(Incomplete::Faults);
    }
    let lacking = named::lacking(places, &spec).into_iter();
    let (grave, light): (Vec<_>, Vec<_>) = lacking.partition(|one| one.part.is_needed());
    if let Some(first) = grave.into_iter().next() {
        return Err(Incomplete::Missing(first.missing));
    }
    reported.extend(light.into_iter().map(Lacking::warning));
    if !reported.is_empty() {
        reports.push(of_source(reported));
    }
    let warnings = reports.iter().flat_map(|file| messages(&file.diagnostics)).collect();
    let stack = places.stack(&spec.execution.driver, &spec.execution.pack);
    let stack = stack.map_err(Incomplete::Missing)?;
    let unfit = lint::unfit(&stack, places.schemas());
    let unfit = unfit.map_err(|error| Incomplete::Unsearchable { stack: stack.clone(), error })?;
    if let Some(faulty) = named::cycle(places, source).or(unfit) {
        reports.push(faulty);
        return Err(Incomplete::Faults);
    }
    let schema = load::schema(places, module).map_err(Incomplete::Missing)?;
    Ok(Complete { spec, stack, schema, warnings })
}

/// What is in a file without errors.
fn whole<T>(read: Read<T>, reports: &mut Vec<Linted>) -> Result<T, Incomplete> {
    let Read { path, text, checked, .. } = read;
    if !checked.diagnostics.is_empty() {
        reports.push(Linted { path, text, diagnostics: checked.diagnostics });
    }
    checked.found.ok_or(Incomplete::Faults)
}

/// What a validation warns about and a run does not: `reported` is what that says.
#[must_use]
pub fn unreported_warnings(
    places: &Places,
    module: &ModuleRef,
    reported: &[String],
) -> Vec<String> {
    let Ok(read) = load::spec(places, module) else { return Vec::new() };
    let mut found = messages(&read.checked.diagnostics);
    if let Some(spec) = read.checked.found {
        let profile = load::profile(places, &spec);
        found.extend(profile.iter().flat_map(|read| messages(&read.checked.diagnostics)));
        // Whoever has prepared a run has found the rest.
        let lacking = named::lacking(places, &spec).into_iter();
        let lacking = lacking.filter(|one| matches!(one.part, Part::Dependency { .. }));
        found.extend(lacking.map(|one| one.missing.message));
    }
    found.retain(|message| !reported.contains(message));
    found
}

pub fn messages(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|one| one.message.clone()).collect()
}

impl Complete {
    /// Warnings about inputs that the module does not know. Where there is a schema, that is for it to say.
    #[must_use]
    pub fn unknown(&self, given: &Given) -> Vec<String> {
        match self.schema.is_some() || self.spec.defaults.is_empty() {
            true => Vec::new(),
            false => given.unknown(&self.spec),
        }
    }

    /// The inputs of a step that are a typo of one of the module, and which. Others are not
    /// reported of before a run: a blueprint may be written for more than one version of a module.
    #[must_use]
    pub fn typos<'s>(&'s self, inputs: &'s Map<String, Value>) -> Vec<(&'s str, &'s str)> {
        let (given, known) = (inputs.keys(), self.spec.defaults.keys());
        let absent: Vec<&str> =
            known.filter(|key| !inputs.contains_key(*key)).map(String::as_str).collect();
        let near = |key: &'s String| Some((key.as_str(), nearest(key, absent.iter().copied())?));
        let others = given.filter(|key| !self.spec.defaults.contains_key(*key));
        if self.schema.is_some() { Vec::new() } else { others.filter_map(near).collect() }
    }
}
