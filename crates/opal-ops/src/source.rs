//! A source that has been read and parsed, once for everything that is done with it.

use std::path::PathBuf;
use std::sync::Arc;

use opal_config::Config;
use opal_core::{Code, Diagnostic, Registry};
use opal_modules::run::Run;
use opal_plan::{Words, check, lower};
use opal_syntax::{Foreign, Parse};

#[derive(Debug)]
pub struct Loaded {
    pub path: PathBuf,
    /// As the user knows it.
    pub name: String,
    pub text: String,
    pub form: Form,
}

/// What a text was read as.
#[derive(Debug)]
pub enum Form {
    Language(Parse),
    /// A declarative configuration, or all that is wrong with it.
    Config(Result<Box<Config>, Vec<Diagnostic>>),
    /// The spec of a module, with everything for a run of it.
    Module(Arc<Run>),
}

impl Loaded {
    /// A text in the language.
    #[must_use]
    pub fn language(path: PathBuf, name: String, text: String, registry: &Registry) -> Self {
        let form = Form::Language(opal_syntax::parse(&text, &Words(registry)));
        Self { path, name, text, form }
    }

    /// A declarative configuration.
    #[must_use]
    pub fn configuration(path: PathBuf, name: String, text: String, registry: &Registry) -> Self {
        let form = Form::Config(opal_config::read(&text, registry).map(Box::new));
        Self { path, name, text, form }
    }

    /// A module that is to be run.
    #[must_use]
    pub fn module(run: Arc<Run>) -> Self {
        let (path, text) = (run.prepared.spec_path.clone(), run.prepared.spec_text.clone());
        Self { name: path.display().to_string(), path, text, form: Form::Module(run) }
    }

    /// Every file that it is made of: of a module also its schema, its profile and the files of its pack.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.form {
            Form::Module(run) => run.prepared.files.iter().map(|file| file.path.clone()).collect(),
            Form::Language(_) | Form::Config(_) => vec![self.path.clone()],
        }
    }

    /// Only of what is written in the language.
    #[must_use]
    pub fn parse(&self) -> Option<&Parse> {
        match &self.form {
            Form::Language(parse) => Some(parse),
            Form::Config(_) | Form::Module(_) => None,
        }
    }

    /// Whether anything in it reads the arguments of a script. If not, words after the file are
    /// options.
    #[must_use]
    pub fn reads_script_arguments(&self) -> bool {
        let parse = self.parse();
        parse.is_some_and(|parse| lower::unit(parse, &self.text).reads_script_arguments())
    }

    /// A configuration without faults.
    #[must_use]
    pub fn config(&self) -> Option<&Config> {
        match &self.form {
            Form::Config(Ok(config)) => Some(config),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_config(&self) -> bool {
        matches!(self.form, Form::Config(_))
    }

    /// What to say of a file of another tool.
    #[must_use]
    pub fn foreign(&self, registry: &Registry) -> Option<Diagnostic> {
        // A file of ours is not checked for this.
        let parse = self.parse().filter(|_| Foreign::of(&self.text).is_some())?;
        let found = check::check_parsed(parse, &self.text, registry).diagnostics;
        found.into_iter().find(|found| found.code == Code::ForeignFile)
    }

    /// Errors that keep it from being read in full.
    #[must_use]
    pub fn syntax_errors(&self) -> usize {
        let errors = match &self.form {
            Form::Language(parse) => parse.errors.as_slice(),
            Form::Config(Err(errors)) => errors,
            Form::Config(Ok(_)) | Form::Module(_) => &[],
        };
        errors.iter().filter(|error| error.is_error()).count()
    }
}
