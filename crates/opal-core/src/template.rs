//! Templates, and whoever renders them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::wiped::Wiped;

use crate::data::Data;

/// Renders templates. What one can do is large, so that opal asks a helper.
pub trait Templates: Send + Sync + fmt::Debug {
    /// The names that a template uses and does not set itself.
    fn names(&self, template: &Template<'_>) -> Result<BTreeSet<String>, Fault>;

    /// The text, with each of these values under its name.
    fn render(&self, template: &Template<'_>, values: &Values<'_>) -> Result<Rendered, Fault>;
}

/// What a template that computes may use: memory, and seconds of CPU time.
pub const MAX_MEMORY_MIB: u64 = 768;
pub const MAX_SECONDS: u64 = 30;

/// Values by their names.
pub type Values<'a> = BTreeMap<&'a str, &'a Data>;

/// What a template renders to.
pub type Rendered = Wiped<Vec<u8>>;

#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// In Jinja's spelling.
    pub source: &'a str,
    /// Whether an undefined name is an empty text.
    pub allow_missing: bool,
}

/// Why a template cannot be rendered. Holds words of the template and none of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: Option<usize>,
    pub reason: Reason,
    /// How to correct it, where that is known.
    pub help: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A name without a value, as the template writes it.
    Missing {
        name: String,
        /// Whether its last part is the name of a method.
        is_method: bool,
        /// A name that the template sets itself, and which is like it.
        near: Option<String>,
    },
    Other(String),
}

impl Fault {
    #[must_use]
    pub fn other(message: impl Into<String>) -> Self {
        Self { line: None, reason: Reason::Other(message.into()), help: None }
    }

    #[must_use]
    pub fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::other(message) }
    }

    #[must_use]
    pub fn with_help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

static RENDERER: OnceLock<Arc<dyn Templates>> = OnceLock::new();

/// From now on templates are rendered by `templates`. The first one stays.
pub fn render_by(templates: Arc<dyn Templates>) {
    let _ = RENDERER.set(templates);
}

/// Whoever renders templates in this process; none before [`render_by`].
#[must_use]
pub fn renderer() -> Option<&'static Arc<dyn Templates>> {
    RENDERER.get()
}
