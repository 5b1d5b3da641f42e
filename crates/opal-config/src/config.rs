//! A configuration that has been read.

use opal_core::decorator::{Descriptor, Param};
use opal_core::{Duration, Span, Value};

use crate::given::Given;

/// A configuration without faults.
#[derive(Clone, Debug)]
pub struct Config {
    pub name: Option<String>,
    pub description: Option<String>,
    pub settings: Settings,
    pub variables: Vec<Variable>,
    /// What configures providers, in the order of the file.
    pub providers: Vec<ProviderSettings>,
    /// In the order of the file, disabled ones included.
    pub steps: Vec<Step>,
    pub validations: Vec<Validation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many steps run at a time.
    pub parallel: i64,
    /// How long a step may take.
    pub timeout: Option<Duration>,
    /// Whether a failure leaves the steps that do not depend on it alone.
    pub continue_on_error: bool,
    pub dry_run: bool,
    pub verbose: bool,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub id: String,
    pub enabled: bool,
    pub when: Option<When>,
    pub for_each: Option<ForEach>,
    /// The resource of its type.
    pub descriptor: &'static Descriptor,
    /// In the order of the parameters, `id` and `depends_on` among them.
    pub arguments: Vec<Argument>,
    /// Its first key.
    pub span: Span,
}

/// What configures a provider for all steps.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// Of its block.
    pub descriptor: &'static Descriptor,
    pub arguments: Vec<Argument>,
    pub span: Span,
}

/// A variable of the whole configuration.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub value: Value,
    pub span: Span,
}

/// A condition, as the language writes it.
#[derive(Clone, Debug)]
pub struct When {
    pub source: String,
    pub span: Span,
}

/// A step that is there once for each element of a list.
#[derive(Clone, Debug)]
pub struct ForEach {
    /// The variable that holds the list, as the language writes it.
    pub source: Option<String>,
    pub items: Vec<Value>,
    /// What names an element: `@var.item` or a field of it.
    pub key: &'static str,
    /// The ids of the elements' steps.
    pub ids: Vec<String>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Argument {
    pub param: &'static Param,
    pub value: Given,
    pub span: Span,
}

/// What must hold after an apply.
#[derive(Clone, Debug)]
pub struct Validation {
    pub check: Check,
    pub span: Span,
}

impl Config {
    /// The steps that are not left out.
    pub fn enabled(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.enabled)
    }
}

impl Step {
    /// The id as the language writes it: that of an element ends in the element's name.
    pub(crate) fn id_source(&self) -> String {
        let id = Given::Data(Value::String(self.id.clone().into())).to_string();
        match &self.for_each {
            Some(for_each) => format!("{}.{}\"", id.trim_end_matches('"'), for_each.key),
            None => id,
        }
    }
}

/// What a validation looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It can be called by its name.
    CommandExists { command: String },
    /// A file or a directory is there.
    FileExists { path: String },
    /// The file holds the text somewhere.
    PathContains { file: String, text: String },
}
