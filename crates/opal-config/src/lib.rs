//! Declarative configurations: steps that describe a state, written in YAML.
//!
//! ```text
//! text ──document──▶ nodes ──steps, values──▶ Config ─┬─lower────▶ Unit
//!                                                     └─convert──▶ .opl text
//! ```
//!
//! | stage | what it does | where |
//! |---|---|---|
//! | document | YAML to nodes, within limits | `document`, scalars in `scalar` |
//! | fields | keys: known, given twice, missing | `fields` |
//! | values | nodes to values, against the parameters of the descriptors | `values`, `given` |
//! | steps | steps, settings and validations | `steps`, `validations`, tables in `keys` |
//! | repeats | variables, conditions and lists of steps | `repeats`, `expressions` |
//! | dependencies | ids, unknown and disabled prerequisites, circles | `dependencies` |
//! | lower, convert | the same program as a unit and as source text | `lower`, `convert` |
//! | schema | the JSON Schema for editors | `schema` |
//!
//! A value of a configuration is plain data, but for references to its own variables: `@var.NAME`
//! where it declares `vars`, and `@var.item` in a step with `for_each`. Only `command` and `check` are
//! shell text, which no reference reaches. Everything that is wrong is reported at once.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

mod convert;
pub mod dependencies;
pub mod document;
mod expressions;
pub mod fields;
mod given;
mod keys;
mod lower;
mod repeats;
pub mod report;
pub mod scalar;
mod schema;
mod shell;
mod steps;
mod validations;
mod values;

use opal_core::decorator::{Descriptor, Param};
use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Duration, Registry, Span, Value};
use opal_syntax::Foreign;

pub use convert::convert;
pub use given::{Given, Whole};
pub use lower::lower;
pub use schema::schema;
pub use validations::Check;

use report::Report;

/// A configuration without faults.
#[derive(Clone, Debug)]
pub struct Config {
    pub name: Option<String>,
    pub description: Option<String>,
    pub settings: Settings,
    pub variables: Vec<Variable>,
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
    fn id_source(&self) -> String {
        let id = Given::Data(Value::String(self.id.clone().into())).to_string();
        match &self.for_each {
            Some(for_each) => format!("{}.{}\"", id.trim_end_matches('"'), for_each.key),
            None => id,
        }
    }
}

/// Reads a configuration; the step types are the resources of `registry`.
///
/// Spans are places in `text`. What is wrong is reported in the order of the places, all of it
/// that can be seen.
pub fn read(text: &str, registry: &Registry) -> Result<Config, Vec<Diagnostic>> {
    if text.len() > MAX_SOURCE_BYTES {
        let error = Diagnostic::new(Code::TooLarge, Span::at(0), "the file is larger than 16 MiB");
        return Err(vec![error.help("move the data into files that the steps name")]);
    }
    let root = document::read(text).map_err(|error| vec![*error])?.ok_or_else(|| {
        vec![document::empty(text, "begin with `version: 1` and a list of `steps`")]
    })?;
    let mut report = Report::new(registry);
    let config = steps::config(&root, &mut report);
    let errors = report.into_errors();
    if let Some(foreign) = Foreign::of(text).filter(|it| *it == Foreign::Task && !errors.is_empty())
    {
        return Err(vec![foreign.diagnostic(text)]);
    }
    match config {
        Some(config) if errors.is_empty() => Ok(config),
        _ => Err(errors),
    }
}
