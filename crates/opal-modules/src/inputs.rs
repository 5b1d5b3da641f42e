//! The inputs of a run: who may say what, and whose word counts.
//!
//! From the weakest to the strongest: the defaults of the spec, the preset that `preset_ref` names,
//! what is imported from dependencies, the file of inputs, `HYOPS_INPUT_<path__to__key>`,
//! `HYOPS_INPUTS_JSON`. Maps are merged key by key, everything else is replaced. An error names keys
//! and never a value.

mod decode;
mod placeholders;
mod schema;
mod tree;
mod validators;

use std::collections::BTreeSet;

use opal_core::Diagnostic;
use serde_json::{Map, Value};

use super::reference::{ModuleRef, shorten};
use super::spec::Spec;
use super::{constraint, document, offer, value};

pub use schema::Schema;
#[cfg(test)]
pub(crate) use schema::engine;

pub(super) use decode::{LARGE, Unread, json};
use placeholders::placeholders;
pub(super) use placeholders::{is_placeholder, placeholder};
use tree::{Match, set};
pub(super) use tree::{merge, place, reserve};

/// The beginning of the variables that set one input each.
pub const VARIABLE: &str = "HYOPS_INPUT_";
/// The variable that holds an object of inputs.
pub const JSON_VARIABLE: &str = "HYOPS_INPUTS_JSON";

const PRESET: &str = "preset_ref";
/// What is said besides the spec.
#[derive(Clone, Default)]
pub struct Given {
    /// Paths of inputs, with what dependencies have published.
    pub imports: Vec<(String, Value)>,
    /// The file of inputs.
    pub file: Map<String, Value>,
    /// The variables that begin with [`VARIABLE`], without that beginning.
    pub variables: Vec<(String, String)>,
    /// The value of [`JSON_VARIABLE`].
    pub json: Option<String>,
}

impl Given {
    /// Whether nobody has said anything.
    fn is_nothing(&self) -> bool {
        self.imports.is_empty()
            && self.file.is_empty()
            && self.variables.is_empty()
            && self.json.is_none()
    }

    /// What of it is for a module that was not named itself: variables are for all modules of a command,
    /// and such a one takes those that it has an input for.
    #[must_use]
    pub fn fitting(mut self, spec: &Spec) -> Self {
        let has = |key: &str| spec.defaults.keys().any(|known| known.eq_ignore_ascii_case(key));
        self.variables.retain(|(path, _)| path.split("__").next().is_some_and(has));
        self.json = self.json.map(|text| match json(&text) {
            Ok(Value::Object(mut map)) => {
                map.retain(|key, _| has(key));
                Value::Object(map).to_string()
            }
            _ => text,
        });
        self
    }

    /// Inputs that were given and that the module does not have: probably typos.
    #[must_use]
    pub fn unknown(&self, spec: &Spec) -> Vec<String> {
        let json = self.json.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let json: Map<String, Value> = json.unwrap_or_default();
        let variables = self.variables.iter().filter_map(|(path, _)| path.split("__").next());
        let keys = self.file.keys().chain(json.keys()).map(String::as_str).chain(variables);
        let presets = spec.presets.values().flat_map(Map::keys);
        let known: Vec<&str> = spec.defaults.keys().chain(presets).map(String::as_str).collect();
        let is_known = |key: &str| {
            key.eq_ignore_ascii_case(PRESET)
                || known.iter().any(|one| one.eq_ignore_ascii_case(key))
        };
        let unknown: BTreeSet<&str> = keys.filter(|key| !is_known(key)).collect();
        let reported = unknown.into_iter().map(|key| {
            let near = opal_core::suggest::nearest(key, known.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("unknown input `{}`{near}", shorten(key))
        });
        reported.collect()
    }
}

/// Any of it may be a secret.
impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Given")
            .field("imports", &self.imports.len())
            .field("file", &self.file.len())
            .field("variables", &self.variables.len())
            .field("json", &self.json.is_some())
            .finish()
    }
}

/// Inputs that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidInputs {
    pub module_ref: ModuleRef,
    pub reason: String,
}

impl std::fmt::Display for InvalidInputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "input validation failed for {}: {}", self.module_ref, self.reason)
    }
}

impl std::error::Error for InvalidInputs {}

/// Reads a file of inputs.
pub fn read_file(text: &str) -> Result<Map<String, Value>, Vec<Diagnostic>> {
    let read =
        document::plain(text, |node, report| value::mapping(node, "a file of inputs", report));
    match read.found {
        Some(found) => Ok(found),
        None if read.diagnostics.is_empty() => Ok(Map::new()),
        None => Err(read.diagnostics),
    }
}

/// The inputs of a module, merged and looked through; `schema` is that of `inputs.schema.json`.
pub fn resolve(
    spec: &Spec,
    given: &Given,
    schema: Option<&Schema>,
) -> Result<Map<String, Value>, InvalidInputs> {
    let inputs = merged(spec, given, schema).and_then(|inputs| {
        if let Some((path, word)) = placeholder(&inputs) {
            return Err(format!("`{path}` still contains the placeholder `{word}`"));
        }
        if let Some(reason) = schema.and_then(|schema| schema.fault(&inputs)) {
            return Err(reason);
        }
        validators::check(&spec.module_ref, &inputs)?;
        let faults = constraint::of_inputs(&spec.constraints, &inputs);
        if faults.is_empty() { Ok(inputs) } else { Err(faults.join("; ")) }
    });
    inputs.map_err(|reason| InvalidInputs { module_ref: spec.module_ref.clone(), reason })
}

/// Which inputs a module has, and which of them are still missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    pub keys: Vec<String>,
    /// The places that a run would refuse as they are: placeholders, and what the schema misses. A dot
    /// is all of them together.
    pub open: Vec<String>,
}

/// The inputs of a module that is checked and not run. Where inputs were given, none may be
/// missing. Where none were given, a missing input is not an error; a default of the wrong type is.
pub fn outlook(
    spec: &Spec,
    given: &Given,
    schema: Option<&Schema>,
) -> Result<Outlook, InvalidInputs> {
    let keys = |inputs: Map<String, Value>| inputs.into_iter().map(|(key, _)| key).collect();
    if !given.is_nothing() {
        let inputs = resolve(spec, given, schema)?;
        return Ok(Outlook { keys: keys(inputs), open: Vec::new() });
    }
    let read = merged(spec, given, schema).and_then(|inputs| {
        let mut open: BTreeSet<String> =
            placeholders(&inputs).into_iter().map(|(path, _)| path).collect();
        if let Some(schema) = schema {
            open.extend(schema.open(&inputs)?);
        }
        let comes =
            |path: &str| open.contains(path) || !constraint::is_set(constraint::at(&inputs, path));
        let settled = spec.constraints.iter().filter(|one| !one.inputs().any(comes));
        let faults = constraint::of_inputs(settled, &inputs);
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        Ok(Outlook { keys: keys(inputs), open: open.into_iter().collect() })
    });
    read.map_err(|reason| InvalidInputs { module_ref: spec.module_ref.clone(), reason })
}

/// Refuses inputs that can never do, while what is imported is not known yet.
pub fn foreseen(spec: &Spec, given: &Given) -> Result<(), InvalidInputs> {
    let imported = || spec.dependencies.iter().flat_map(|it| it.imports.values());
    let comes = |path: &str| imported().any(|import| path.starts_with(import.as_str()));
    let found = merged(spec, given, None).and_then(|inputs| {
        match placeholders(&inputs).into_iter().find(|(path, _)| !comes(path)) {
            Some((path, word)) => Err(format!("`{path}` still contains the placeholder `{word}`")),
            None => Ok(()),
        }
    });
    found.map_err(|reason| InvalidInputs { module_ref: spec.module_ref.clone(), reason })
}

fn merged(
    spec: &Spec,
    given: &Given,
    schema: Option<&Schema>,
) -> Result<Map<String, Value>, String> {
    let strong = |inputs: Map<String, Value>| -> Result<Map<String, Value>, String> {
        let mut inputs = inputs;
        for (path, value) in &given.imports {
            let keys: Vec<&str> = path.split('.').collect();
            set(&mut inputs, &keys, value.clone(), Match::AsWritten)?;
        }
        merge(&mut inputs, given.file.clone());
        let mut variables = given.variables.clone();
        variables.sort();
        for (path, text) in variables {
            let keys: Vec<&str> = path.split("__").collect();
            let of_variable = |reason| format!("`{VARIABLE}{}`: {reason}", shorten(&path));
            let wish = decode::wish(&inputs, &keys, schema);
            let value = decode::variable(text, wish).map_err(of_variable)?;
            set(&mut inputs, &keys, value, Match::AnyCase).map_err(of_variable)?;
        }
        if let Some(text) = &given.json {
            match json(text) {
                Ok(Value::Object(map)) => merge(&mut inputs, map),
                Err(Unread::Lossy(why)) => return Err(format!("`{JSON_VARIABLE}`: {why}")),
                _ => return Err(format!("`{JSON_VARIABLE}` is not a JSON object")),
            }
        }
        Ok(inputs)
    };
    let inputs = strong(spec.defaults.clone())?;
    // Which preset is meant may be said by anybody; what it holds is only a little more than a default.
    let name = match inputs.get(PRESET) {
        Some(Value::String(name)) if !spec.presets.is_empty() && !name.is_empty() => name,
        _ => return Ok(inputs),
    };
    let preset = spec.presets.get(name).ok_or_else(|| {
        let known = spec.presets.keys().cloned().collect();
        let help = offer::offer(name, "presets", known, String::new());
        format!("`{PRESET}` names a preset that does not exist; {help}")
    })?;
    let mut weak = spec.defaults.clone();
    merge(&mut weak, preset.clone());
    strong(weak)
}

#[cfg(test)]
mod tests;
