//! One module, and what is to be done with it.

use std::path::PathBuf;

use opal_modules::ModuleRef;
use opal_modules::inputs::Given;
use opal_modules::keep::Instance;
use opal_modules::run::Command;

#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) module: ModuleRef,
    pub(crate) command: Command,
    pub(crate) instance: Option<Instance>,
    pub(crate) given: Given,
    /// The file of inputs, as it was typed.
    pub(crate) file: Option<String>,
    /// The files of variables, as they were typed.
    pub(crate) env_files: Vec<PathBuf>,
    pub(crate) is_named: bool,
}

impl Job {
    /// A module that comes along with another, and of which variables alone can say something.
    pub(crate) fn along(module: ModuleRef, command: Command, given: Given) -> Self {
        let (file, env_files) = (None, Vec::new());
        Self { module, command, instance: None, given, file, env_files, is_named: false }
    }
}
