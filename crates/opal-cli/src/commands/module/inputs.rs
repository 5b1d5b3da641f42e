//! What the command line and the environment say to a module.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_modules::inputs::{self, Given};
use opal_modules::keep::Instance;
use opal_modules::{ModuleRef, Places};
use serde_json::{Map, Value};

use super::masked::masked;
use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::module::not_found;
use crate::failure::{Exit, Failure};
use crate::module_roots::RootVariables;
use crate::project;
use crate::view::module as view;

pub(super) fn places(matches: &ArgMatches) -> Result<Places, Failure> {
    let variables = RootVariables::read();
    let module_root = matches.get_one::<PathBuf>("module-root").map(PathBuf::as_path);
    let hints = variables.hints(module_root);
    Places::find(&hints).map_err(|missing| not_found(missing, Exit::Configuration))
}

pub(super) fn reference(matches: &ArgMatches) -> Result<ModuleRef, Failure> {
    let named = |id| matches.try_get_one::<String>(id).ok().flatten();
    let text = named("module").or_else(|| named("module-option")).map_or("", String::as_str);
    ModuleRef::parse(text).map_err(|no| Failure::usage(no.message, no.help))
}

/// What is said besides the spec; none where the file of inputs has faults, which have been shown.
pub(super) fn given(
    context: &Context<'_>,
    matches: &ArgMatches,
    env_files: &[PathBuf],
) -> Result<Option<Given>, Failure> {
    let path = matches.get_one::<PathBuf>("inputs").map(PathBuf::as_path);
    given_with(context, path, env_files, context.typed.wants_json())
}

/// The same, with this file, and with these of variables for what the environment does not set.
pub(crate) fn given_with(
    context: &Context<'_>,
    path: Option<&Path>,
    env_files: &[PathBuf],
    json: bool,
) -> Result<Option<Given>, Failure> {
    let mut given = Given::default();
    if let Some(path) = path {
        match file_of_inputs(path) {
            Ok(file) => given.file = file,
            Err(NoInputs::Faults(faults)) => {
                view::faults(&faults, context.err(), json)?;
                return Ok(None);
            }
            Err(NoInputs::Unread(failure)) => return Err(failure),
        }
    }
    for (name, value) in &**context.environment(env_files)? {
        let Some(name) = name.to_str() else { continue };
        let is_json = name == inputs::JSON_VARIABLE;
        let Some(path) = name.strip_prefix(inputs::VARIABLE).or(is_json.then_some("")) else {
            continue;
        };
        let value = value.to_str().ok_or_else(|| {
            let message = format!("the variable `{name}` is not UTF-8");
            Failure::new(Exit::Source, message, "inputs must be text")
        })?;
        if is_json {
            given.json = Some(value.to_owned()).filter(|value| !value.is_empty());
        } else {
            given.variables.push((path.to_owned(), value.to_owned()));
        }
    }
    Ok(Some(given))
}

/// A file of inputs that is none.
enum NoInputs {
    Unread(Failure),
    /// With what is wrong in it.
    Faults(CheckedFile),
}

fn file_of_inputs(path: &Path) -> Result<Map<String, Value>, NoInputs> {
    let source = project::read(path).map_err(|failure| {
        let help = vec!["`--inputs` names a file in YAML".to_owned()];
        NoInputs::Unread(Failure { help, ..failure })
    })?;
    let faulty = |shown, faults| NoInputs::Faults(CheckedFile::new(source.name, shown, faults));
    match source.text {
        Ok(text) => inputs::read_file(&text).map_err(|faults| faulty(masked(&text), faults)),
        Err(no_text) => Err(faulty(masked(&no_text.shown), vec![no_text.diagnostic])),
    }
}

/// The one of several that `--state-instance` names.
pub(super) fn instance(matches: &ArgMatches) -> Result<Option<Instance>, Failure> {
    let text = matches.try_get_one::<String>("state-instance").ok().flatten();
    let parsed = text.map(|text| Instance::parse(text)).transpose();
    parsed.map_err(|no| Failure::usage(no.message, no.help))
}
