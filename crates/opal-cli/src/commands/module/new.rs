//! `opal module new`: a module that works at once.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_modules::Places;
use opal_modules::skeleton::{self, USUAL_DRIVER, Unmade};

use super::inputs::reference;
use crate::context::Context;
use crate::failure::module::not_found;
use crate::failure::{Exit, Failure};
use crate::module_roots::RootVariables;
use crate::view::module as view;

/// Where a new module goes that nobody has named a root for.
const USUAL_ROOT: &str = "modules";

pub(super) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let module = reference(matches)?;
    let variables = RootVariables::read();
    let typed = matches.get_one::<PathBuf>("module-root").map(PathBuf::as_path);
    let named = typed.or(variables.modules.as_deref().map(|path: &OsStr| Path::new(path)));
    let root = named.unwrap_or(Path::new(USUAL_ROOT));
    let is_known = typed.is_none() && named.is_some();
    std::fs::create_dir_all(root).map_err(|error| unwritten(root, &error))?;
    let places = Places::find(&variables.hints(Some(root)))
        .map_err(|missing| not_found(missing, Exit::Configuration))?;
    let driver = matches.get_one::<String>("driver").map_or(USUAL_DRIVER, String::as_str);
    let files = skeleton::skeleton(&places, &module, driver).map_err(unmade)?;
    skeleton::make(&files).map_err(unmade)?;
    let here = std::env::current_dir().unwrap_or_default();
    let shown = |path: &Path| path.strip_prefix(&here).unwrap_or(path).display().to_string();
    let made: Vec<String> = files.iter().map(|file| shown(&file.path)).collect();
    let root = (!is_known).then(|| root.display().to_string());
    view::made(&module, &made, root.as_deref(), context.typed.wants_json())
}

fn unmade(unmade: Unmade) -> Failure {
    match unmade {
        Unmade::Exists(path) => {
            let message = format!("`{}` already exists; nothing was overwritten", path.display());
            Failure::new(Exit::Write, message, "choose another reference, or remove it first")
        }
        Unmade::Missing(missing) => not_found(missing, Exit::Usage),
        Unmade::Unwritten(path, error) => unwritten(&path, &error),
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("`{}` cannot be written: {error}", path.display());
    Failure::new(Exit::Write, message, "name another directory with `--module-root DIR`")
}
