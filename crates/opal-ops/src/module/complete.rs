//! A module with everything that it names.

use std::path::PathBuf;

use opal_core::suggest::nearest;
use opal_modules::Spec;
use opal_modules::inputs::{Given, Schema};
use serde_json::{Map, Value};

/// A module that has what it names.
#[derive(Debug)]
pub struct Complete {
    pub spec: Spec,
    /// Where the files of its pack are.
    pub stack: PathBuf,
    pub schema: Option<Schema>,
    /// What is not as it should be, and stops nothing. People have been shown it.
    pub warnings: Vec<String>,
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
