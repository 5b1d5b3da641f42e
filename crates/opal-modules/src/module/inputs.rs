//! The inputs of a run: who may say what, and whose word counts.
//!
//! From the weakest to the strongest: the defaults of the spec, the preset that `preset_ref` names,
//! what is imported from dependencies, the file of inputs, `HYOPS_INPUT_<path__to__key>`,
//! `HYOPS_INPUTS_JSON`. Maps are merged key by key, everything else is replaced. An error names keys
//! and never a value.

mod schema;

use opal_core::Diagnostic;
use serde_json::{Map, Value};

use super::reference::{ModuleRef, shorten};
use super::spec::Spec;
use super::{document, value};

pub use schema::Schema;

/// The beginning of the variables that set one input each.
pub const VARIABLE: &str = "HYOPS_INPUT_";
/// The variable that holds an object of inputs.
pub const JSON_VARIABLE: &str = "HYOPS_INPUTS_JSON";

const PRESET: &str = "preset_ref";
const PLACEHOLDERS: [&str; 4] = ["CHANGE_ME", "CHANGEME", "REPLACE_ME", "REPLACEME"];
/// As deep as a document can be.
const MOST_LEVELS: usize = 64;

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
    let inputs = merged(spec, given).and_then(|inputs| {
        if let Some((path, word)) = placeholder(&inputs) {
            return Err(format!("`{path}` still holds the placeholder `{word}`"));
        }
        match schema.and_then(|schema| schema.fault(&inputs)) {
            Some(reason) => Err(reason),
            None => Ok(inputs),
        }
    });
    inputs.map_err(|reason| InvalidInputs { module_ref: spec.module_ref.clone(), reason })
}

fn merged(spec: &Spec, given: &Given) -> Result<Map<String, Value>, String> {
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
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            set(&mut inputs, &keys, value, Match::AnyCase)
                .map_err(|reason| format!("`{VARIABLE}{}`: {reason}", shorten(&path)))?;
        }
        if let Some(json) = &given.json {
            match serde_json::from_str(json) {
                Ok(Value::Object(map)) => merge(&mut inputs, map),
                _ => return Err(format!("`{JSON_VARIABLE}` is no JSON object")),
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
        let known: Vec<&str> = spec.presets.keys().map(String::as_str).collect();
        format!("`{PRESET}` names no preset; there are `{}`", known.join("`, `"))
    })?;
    let mut weak = spec.defaults.clone();
    merge(&mut weak, preset.clone());
    strong(weak)
}

/// Puts `over` onto `inputs`: maps key by key, everything else as a whole.
fn merge(inputs: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (inputs.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => drop(inputs.insert(key, value)),
        }
    }
}

/// How a key finds the one it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    AsWritten,
    /// Where there is none as written: variables are often written in capitals.
    AnyCase,
}

fn set(
    inputs: &mut Map<String, Value>,
    keys: &[&str],
    value: Value,
    how: Match,
) -> Result<(), String> {
    let Some((last, parents)) = keys.split_last() else { return Ok(()) };
    if keys.len() > MOST_LEVELS || keys.iter().any(|key| key.is_empty()) {
        return Err("the path has an empty part, or too many".to_owned());
    }
    let mut map = inputs;
    for parent in parents {
        let key = meant(map, parent, how)?;
        let entry = map.entry(key).or_insert(Value::Null);
        if entry.is_null() {
            *entry = Value::Object(Map::new());
        }
        map = match entry {
            Value::Object(below) => below,
            _ => return Err(format!("`{}` has no keys below it", shorten(parent))),
        };
    }
    let key = meant(map, last, how)?;
    match (map.get_mut(&key), value) {
        (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
        (_, value) => drop(map.insert(key, value)),
    }
    Ok(())
}

fn meant(map: &Map<String, Value>, key: &str, how: Match) -> Result<String, String> {
    if how == Match::AsWritten || map.contains_key(key) {
        return Ok(key.to_owned());
    }
    let mut alike = map.keys().filter(|other| other.eq_ignore_ascii_case(key));
    match (alike.next(), alike.next()) {
        (Some(first), Some(second)) => {
            Err(format!("it may mean `{}` or `{}`", shorten(first), shorten(second)))
        }
        (Some(only), None) => Ok(only.clone()),
        (None, _) => Ok(key.to_owned()),
    }
}

/// The first text that was left for somebody to fill in: its path, and the word.
fn placeholder(inputs: &Map<String, Value>) -> Option<(String, &'static str)> {
    inputs.iter().find_map(|(key, value)| held(&shorten(key), value))
}

fn held(path: &str, value: &Value) -> Option<(String, &'static str)> {
    match value {
        Value::String(text) => {
            let word = PLACEHOLDERS.into_iter().find(|word| text.contains(word))?;
            Some((path.to_owned(), word))
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| held(&format!("{path}[{index}]"), item))
        }
        Value::Object(map) => {
            map.iter().find_map(|(key, value)| held(&format!("{path}.{}", shorten(key)), value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests;
