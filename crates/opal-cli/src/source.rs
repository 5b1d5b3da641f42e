//! A source that has been read and parsed, once for everything that is done with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_config::Config;
use opal_core::{Code, Diagnostic, Registry};
use opal_modules::run::decorators::Run;
use opal_plan::Words;
use opal_plan::check;
use opal_plan::lower;
use opal_syntax::source::NoText;
use opal_syntax::{Foreign, Parse};

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::tasks::{self, Task};
use crate::{project, view};

#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    /// As the user knows it.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) form: Form,
}

/// What a text was read as.
#[derive(Debug)]
pub(crate) enum Form {
    Language(Parse),
    /// A declarative configuration, or all that is wrong with it.
    Config(Result<Box<Config>, Vec<Diagnostic>>),
    /// The spec of a module, with everything for a run of it.
    Module(Arc<Run>),
}

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

impl Loaded {
    pub(crate) fn read(path: &Path, registry: &Registry) -> Result<Self, NotLoaded> {
        let source = project::read(path).map_err(NotLoaded::Failure)?;
        let text = match source.text {
            Ok(text) => text,
            Err(found) => return Err(NotLoaded::NoText { name: source.name, found }),
        };
        let form = if project::is_config(path) {
            Form::Config(opal_config::read(&text, registry).map(Box::new))
        } else {
            Form::Language(opal_syntax::parse(&text, &Words(registry)))
        };
        Ok(Self { path: path.to_owned(), name: source.name, text, form })
    }

    /// A module that is to be run.
    pub(crate) fn module(run: Arc<Run>) -> Self {
        let (path, text) = run.prepared.source.clone();
        Self { name: path.display().to_string(), path, text, form: Form::Module(run) }
    }

    /// Only of what is written in the language.
    pub(crate) fn parse(&self) -> Option<&Parse> {
        match &self.form {
            Form::Language(parse) => Some(parse),
            Form::Config(_) | Form::Module(_) => None,
        }
    }

    /// A configuration without faults.
    pub(crate) fn config(&self) -> Option<&Config> {
        match &self.form {
            Form::Config(Ok(config)) => Some(config),
            _ => None,
        }
    }

    pub(crate) fn is_config(&self) -> bool {
        matches!(self.form, Form::Config(_))
    }

    /// The tasks in source order; a name that stands twice counts once.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        let Some(parse) = self.parse() else { return Vec::new() };
        tasks::all(&lower::outline(parse, &self.text), &self.text)
    }

    /// Functions that are defined twice.
    pub(crate) fn duplicates(&self) -> Vec<Diagnostic> {
        let outline = self.parse().map(|parse| lower::outline(parse, &self.text));
        outline.map(|unit| check::duplicates(&unit)).unwrap_or_default()
    }

    /// The task called `name`; `-` and `_` are equal where no task has exactly this name.
    pub(crate) fn task(&self, name: &str) -> Option<Task> {
        let parse = self.parse()?;
        let find = |wanted: &dyn Fn(&str) -> bool| lower::find(parse, &self.text, wanted);
        let loose = name.replace('-', "_");
        let found = find(&|known| known == name)
            .or_else(|| find(&|known| known.replace('-', "_") == loose))?;
        Some(tasks::task(&found, &self.text))
    }

    /// What to say of a file of another tool.
    pub(crate) fn foreign(&self, registry: &Registry) -> Option<Diagnostic> {
        // A file of ours is not checked for this.
        let parse = self.parse().filter(|_| Foreign::of(&self.text).is_some())?;
        let found = check::check_parsed(parse, &self.text, registry).diagnostics;
        found.into_iter().find(|found| found.code == Code::ForeignFile)
    }

    /// Errors that keep it from being read in full.
    pub(crate) fn syntax_errors(&self) -> usize {
        let errors = match &self.form {
            Form::Language(parse) => parse.errors.as_slice(),
            Form::Config(Err(errors)) => errors,
            Form::Config(Ok(_)) | Form::Module(_) => &[],
        };
        errors.iter().filter(|error| error.is_error()).count()
    }
}

impl NotLoaded {
    /// Reports a file that is not text as a fault in it, everything else as a failure.
    pub(crate) fn show(self, context: &Context<'_>, json: bool) -> Result<Exit, Failure> {
        match self {
            Self::Failure(failure) => Err(failure.in_json(json)),
            Self::NoText { name, found } => {
                view::check::not_text(name, *found, context)?;
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
