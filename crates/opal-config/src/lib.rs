//! Declarative configurations: steps that describe a state, written in YAML.
//!
//! ```text
//! text ──document──▶ nodes ──steps, values──▶ Config ─┬─lower────▶ Unit
//!                                                     └─convert──▶ .opl text
//! ```
//!
//! | stage | what it does | where |
//! |---|---|---|
//! | – | what a configuration is | `config` |
//! | document | YAML to nodes, within limits | `document`, scalars in `opal_yaml::scalar` |
//! | fields | keys: known, given twice, missing | `opal_yaml::fields` |
//! | values | nodes to values, against the parameters of the descriptors | `values`, `given`, `braces` |
//! | steps | steps, settings and validations | `steps`, `validations`, `arguments`, tables in `keys` |
//! | providers | what configures Terraform providers | `providers` |
//! | repeats | variables, conditions and lists of steps | `repeats`, `expressions` |
//! | dependencies | ids, unknown and disabled prerequisites, cycles | `dependencies` |
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

mod arguments;
mod braces;
mod config;
mod convert;
pub mod dependencies;
pub mod document;
mod expressions;
mod given;
mod keys;
mod lower;
mod providers;
mod repeats;
pub mod report;
mod schema;
mod shell;
mod steps;
mod validations;
mod values;

use opal_core::text::MAX_SOURCE_BYTES;
use opal_core::{Code, Diagnostic, Registry, Span};
use opal_syntax::Foreign;

pub use config::{
    Argument, Check, Config, ForEach, ProviderSettings, Settings, Step, Validation, Variable, When,
};
pub use convert::convert;
pub use given::{Given, Whole};
pub use lower::lower;
pub use schema::schema;

use report::Report;

/// Reads a configuration; the step types are the resources of `registry`.
///
/// Spans are places in `text`. What is wrong is reported in the order of the places, all of it
/// that can be seen.
pub fn read(text: &str, registry: &Registry) -> Result<Config, Vec<Diagnostic>> {
    if text.len() > MAX_SOURCE_BYTES {
        let error = Diagnostic::new(Code::TooLarge, Span::at(0), "the file is larger than 16 MiB");
        return Err(vec![error.help("move the data to files that the steps name")]);
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
