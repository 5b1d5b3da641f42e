//! Sources from files.

use std::path::Path;

use opal_core::Registry;
use opal_ops::source::Loaded;
use opal_syntax::source::NoText;

use crate::failure::{Exit, Failure};
use crate::view::ink::Ink;
use crate::{project, view};

/// Why a source could not be loaded.
#[derive(Debug)]
pub(crate) enum NotLoaded {
    Failure(Failure),
    /// It is there, and no text.
    NoText {
        name: String,
        found: Box<NoText>,
    },
}

/// Reads a source and parses it.
pub(crate) fn read(path: &Path, registry: &Registry) -> Result<Loaded, NotLoaded> {
    let source = project::read(path).map_err(NotLoaded::Failure)?;
    let text = match source.text {
        Ok(text) => text,
        Err(found) => return Err(NotLoaded::NoText { name: source.name, found }),
    };
    let is_config = project::is_config(path);
    let load = if is_config { Loaded::configuration } else { Loaded::language };
    Ok(load(path.to_owned(), source.name, text, registry))
}

impl NotLoaded {
    /// Reports a file that is not text as a fault in it, everything else as a failure.
    pub(crate) fn show(self, ink: Ink, json: bool) -> Result<Exit, Failure> {
        match self {
            Self::Failure(failure) => Err(failure.in_json(json)),
            Self::NoText { name, found } => {
                view::check::not_text(name, *found, ink)?;
                Ok(Exit::Source)
            }
        }
    }

    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Failure(failure) => failure,
            Self::NoText { name, found } => {
                let diagnostic = found.diagnostic;
                let help = diagnostic.help.join("; ");
                Failure::new(Exit::Source, format!("{name}: {}", diagnostic.message), help)
            }
        }
    }
}
