//! The values in a file, each with its name, whatever the form of the file. Messages quote nothing.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::Secret;
use opal_core::class::HIDDEN_ANYWHERE_FROM;
use opal_core::parameter::listed;
use serde_json::Value;

use super::text;
use crate::inputs::is_placeholder;
use crate::keep::secrecy::is_secret_key;
use opal_config::document::{self, Node, NodeKind};
use opal_yaml::scalar::{Meaning, meaning};

/// A value, and the name that is nearest to it.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) value: Secret,
    /// A name around it says that it is a secret.
    pub(super) is_below_secret: bool,
}

impl Leaf {
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Secret::new(value), is_below_secret: false }
    }

    /// The values in it, where it is a document of JSON itself, as the key of a service account in a
    /// variable: a tool may print them one by one.
    pub(super) fn within(&self) -> Vec<Self> {
        let read = serde_json::from_str(self.value.expose()).ok();
        let mut leaves = Vec::new();
        if let Some(document) = read.filter(|it: &Value| it.is_object() || it.is_array()) {
            json(&document, "", false, &mut leaves);
        }
        let below: Vec<Self> = leaves.iter().flat_map(Self::within).collect();
        leaves.extend(below);
        leaves
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `NAME=value`.
    Variables,
    Json,
    /// `name = "value"`.
    Terraform,
    Yaml,
    /// Nothing but the secret.
    Text,
}

impl Form {
    pub(super) fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("env") => Self::Variables,
            Some("json") => Self::Json,
            Some("tfvars") => Self::Terraform,
            Some("yml" | "yaml") => Self::Yaml,
            _ => Self::Text,
        }
    }

    /// Whether the end of a name says that the file is a credential.
    pub(super) fn is_known(extension: &str) -> bool {
        matches!(
            extension,
            "env" | "json" | "tfvars" | "tfvars.json" | "yml" | "yaml" | "token" | "key" | "pem"
        )
    }

    pub(super) fn leaves(self, text: &str) -> Result<Vec<Leaf>, String> {
        match self {
            Self::Variables => text::variables(text),
            Self::Terraform => text::terraform(text).map(|read| read.leaves),
            Self::Json if text.trim().is_empty() => Ok(Vec::new()),
            Self::Json => {
                let value = serde_json::from_str(text)
                    .map_err(|error| format!("invalid JSON from line {} on", error.line()))?;
                let mut leaves = Vec::new();
                json(&value, "", false, &mut leaves);
                Ok(leaves)
            }
            Self::Yaml => {
                let root = document::read(text).map_err(|fault| {
                    let before = text.get(..fault.primary.span.start as usize).unwrap_or_default();
                    let line = before.matches('\n').count() + 1;
                    format!("invalid YAML from line {line} on")
                })?;
                let mut leaves = Vec::new();
                if let Some(root) = root {
                    yaml(&root, "", false, text, &mut leaves);
                }
                Ok(leaves)
            }
            Self::Text if text.trim().is_empty() => Ok(Vec::new()),
            // Whole, as a program would print it, and line by line.
            Self::Text => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                let all = std::iter::once(text.trim()).chain(lines);
                Ok(all.map(|line| Leaf { is_below_secret: true, ..Leaf::new("", line) }).collect())
            }
        }
    }
}

/// The names that a file gives a value at its top; none in one that makes no sense. An empty text
/// is not a value.
pub(super) fn assigned(form: Form, text: &str) -> BTreeSet<String> {
    match form {
        Form::Variables => {
            let leaves = text::variables(text).unwrap_or_default().into_iter();
            leaves.filter(|leaf| !leaf.value.expose().is_empty()).map(|leaf| leaf.name).collect()
        }
        Form::Terraform => text::terraform(text).unwrap_or_default().names,
        Form::Json => {
            let Ok(Value::Object(map)) = serde_json::from_str(text) else { return BTreeSet::new() };
            let is_value = |value: &Value| !value.is_null() && value.as_str() != Some("");
            map.into_iter().filter(|(_, value)| is_value(value)).map(|(key, _)| key).collect()
        }
        Form::Yaml => {
            let Ok(Some(root)) = document::read(text) else { return BTreeSet::new() };
            let NodeKind::Map(pairs) = &root.kind else { return BTreeSet::new() };
            let is_value = |node: &Node| match &node.kind {
                NodeKind::Scalar { text, plain } => {
                    !text.is_empty() && (!*plain || meaning(text) != Meaning::Null)
                }
                NodeKind::List(_) | NodeKind::Map(_) => true,
            };
            let named = pairs.iter().filter(|(_, value)| is_value(value));
            let name = |key: &Node| match &key.kind {
                NodeKind::Scalar { text, .. } => Some(text.clone()),
                NodeKind::List(_) | NodeKind::Map(_) => None,
            };
            named.filter_map(|(key, _)| name(key)).collect()
        }
        Form::Text => BTreeSet::new(),
    }
}

/// The names that wait for a value, in words: those with a placeholder, those of a secret with
/// nothing after them, and any with nothing where nothing has a value.
pub(super) fn open(leaves: &[Leaf]) -> Option<String> {
    let is_blank = |leaf: &Leaf| leaf.value.expose().trim().is_empty();
    let is_vain = leaves.iter().all(is_blank);
    let is_open = |leaf: &&Leaf| {
        let is_secret = leaf.is_below_secret || is_secret_key(&leaf.name);
        is_placeholder(leaf.value.expose()) || is_blank(leaf) && (is_secret || is_vain)
    };
    let names: BTreeSet<&str> = leaves.iter().filter(is_open).map(|it| it.name.as_str()).collect();
    match names.first() {
        None => None,
        Some(&"") => Some("the secret that it should contain".to_owned()),
        Some(_) => Some(listed(names)),
    }
}

fn json(value: &Value, name: &str, is_below_secret: bool, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            leaves.push(Leaf { is_below_secret, ..Leaf::new(name, number.to_string()) });
        }
        Value::String(text) => {
            leaves.push(Leaf { is_below_secret, ..Leaf::new(name, text.as_str()) })
        }
        Value::Array(items) => {
            items.iter().for_each(|item| json(item, name, is_below_secret, leaves));
        }
        Value::Object(map) => {
            for (key, value) in map {
                json(value, key, is_below_secret || is_secret_key(key), leaves);
            }
        }
    }
}

fn yaml(node: &Node, name: &str, is_below_secret: bool, source: &str, leaves: &mut Vec<Leaf>) {
    match &node.kind {
        NodeKind::Scalar { text, plain } => {
            let is_empty = *plain && matches!(meaning(text), Meaning::Null | Meaning::Bool(_));
            if !is_empty {
                let all = std::iter::once(text.as_str()).chain(folded(node, source));
                leaves.extend(all.map(|text| Leaf { is_below_secret, ..Leaf::new(name, text) }));
            }
        }
        NodeKind::List(items) => {
            items.iter().for_each(|item| yaml(item, name, is_below_secret, source, leaves));
        }
        NodeKind::Map(pairs) => {
            for (key, value) in pairs {
                let key = match &key.kind {
                    NodeKind::Scalar { text, .. } => text.as_str(),
                    _ => "",
                };
                yaml(value, key, is_below_secret || is_secret_key(key), source, leaves);
            }
        }
    }
}

/// The lines of a text that goes over several, as they are in the file: who prints that prints them
/// apart. A short one is a part that tells little, and may appear anywhere.
fn folded<'s>(node: &Node, source: &'s str) -> impl Iterator<Item = &'s str> {
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    let written = source.get(start..end).filter(|written| written.contains('\n'));
    let lines = written.unwrap_or_default().lines();
    let bare = lines.map(|line| line.trim().trim_matches(['"', '\'']));
    bare.filter(|line| line.len() >= HIDDEN_ANYWHERE_FROM)
}
