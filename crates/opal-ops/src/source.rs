//! A source that has been read and parsed, once for everything that is done with it.
//!
//! | what | where |
//! |---|---|
//! | reading the files that it imports | [`imports`] |
//! | opening them, below the directory of the project | `project` |
//! | which of them a target uses | `reach` |
//! | files of packages whose decorators it names | `packages` |
//! | files of variables | `variables` |
//! | which file a place is in, and the digests of all of them | [`files`] |

pub mod files;
pub mod imports;
mod packages;
mod project;
mod reach;
mod variables;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use opal_config::Config;
use opal_core::{Code, Diagnostic, Registry};
use opal_modules::load::ReadFile;
use opal_plan::unit::Unit;
use opal_plan::{Words, check, lower};
use opal_syntax::{Foreign, Parse};

use self::imports::Imports;
pub use self::project::{seen_from, top_around};

#[derive(Debug)]
pub struct Loaded {
    pub path: PathBuf,
    /// As the user knows it.
    pub name: String,
    /// Of the source, and after it of each file that it imports.
    pub text: String,
    pub form: Form,
    /// Found in a parent directory or in the user's configuration: neither named nor in the directory
    /// that somebody went to.
    pub is_found: bool,
    /// The tasks of the user, which start where opal was called.
    pub is_global: bool,
    /// What has been read of its imports.
    pub imports: Imports,
    /// Where the source was made of projects.
    pub selection: Option<Box<Selection>>,
}

/// The projects that a source was made of: there is no file with its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The commit since which they have changed, where that was asked.
    pub commit: Option<String>,
    /// Their directories, from the top of the repository.
    pub projects: Vec<String>,
    /// Those that were left out, each with the reason.
    pub omitted: Vec<(String, String)>,
}

/// What a text was read as.
#[derive(Debug)]
pub enum Form {
    Language(Parse),
    /// A declarative configuration, or all that is wrong with it.
    Config(Result<Box<Config>, Vec<Diagnostic>>),
    /// The spec of a module, with everything for a run of it.
    Module(Arc<dyn ModuleRun>),
}

/// A run of a module, as far as planning needs it. What only names this trait is not linked with the code of
/// modules.
pub trait ModuleRun: Debug + Send + Sync {
    /// Its spec, and after it what the spec led to.
    fn files(&self) -> &[ReadFile];
    fn spec_text(&self) -> &str;
    fn unit(&self) -> Unit;
}

impl Loaded {
    /// A text in the language.
    #[must_use]
    pub fn language(path: PathBuf, name: String, text: String, registry: &Registry) -> Self {
        let form = Form::Language(opal_syntax::parse(&text, &Words(registry)));
        Self::of(path, name, text, form)
    }

    /// A text that was made of the projects of a tree.
    #[must_use]
    pub fn tree(
        path: PathBuf,
        name: String,
        text: String,
        selection: Selection,
        registry: &Registry,
    ) -> Self {
        let selection = Some(Box::new(selection));
        Self { selection, ..Self::language(path, name, text, registry) }
    }

    /// A declarative configuration.
    #[must_use]
    pub fn configuration(path: PathBuf, name: String, text: String, registry: &Registry) -> Self {
        let form = Form::Config(opal_config::read(&text, registry).map(Box::new));
        Self::of(path, name, text, form)
    }

    /// A module that is to be run.
    #[must_use]
    pub fn module(path: PathBuf, run: Arc<dyn ModuleRun>) -> Self {
        let text = run.spec_text().to_owned();
        let name = path.display().to_string();
        Self::of(path, name, text, Form::Module(run))
    }

    fn of(path: PathBuf, name: String, text: String, form: Form) -> Self {
        let (imports, selection) = (Imports::default(), None);
        Self { path, name, text, form, is_found: false, is_global: false, imports, selection }
    }

    /// Every file that it is made of: its imports; of a module its schema, its profile and the files of
    /// its pack.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let imported = self.imports.files.iter().map(|file| file.path.clone());
        match &self.form {
            Form::Module(run) => run.files().iter().map(|file| file.path.clone()).collect(),
            Form::Language(_) | Form::Config(_) => {
                let own = self.selection.is_none().then(|| self.path.clone());
                own.into_iter().chain(imported).collect()
            }
        }
    }

    /// Every file around which a policy applies: the source itself also where it is not a file.
    #[must_use]
    pub fn policed(&self) -> Vec<PathBuf> {
        let imported = self.imports.files.iter().map(|file| file.path.clone());
        std::iter::once(self.path.clone()).chain(imported).collect()
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
        let found = check::check_linked(parse, &self.text, &self.imports.links, registry);
        let found = found.diagnostics;
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
