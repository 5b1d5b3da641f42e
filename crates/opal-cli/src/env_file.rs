//! Files of variables, as `--env-file` names them and sources import them.
//!
//! They are read by `opal_core::dotenv`. `$NAME` also works without quotes; what it names is in
//! the environment or is set further up. Of two lines that set one name the later counts, of two
//! files the later one, files of `--env-file` after imported ones, and the environment of the process
//! wins over all of them: what someone sets by hand for a single run is meant. Names that a shell, a
//! loader or opal interprets are refused.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::Code;
use opal_core::dotenv::{InvalidFile, Variables};
use opal_files::regular;
use opal_ops::source::imports::{Imports, MAX_VARIABLES_BYTES, VariablesFile};

use crate::ambient::Ambient;
use crate::failure::{Exit, Failure};

/// What plans and steps see of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) all: Arc<BTreeMap<OsString, OsString>>,
    /// The names that files set.
    pub(crate) declared: Vec<String>,
}

/// The environment of the process, with what files add to it.
pub(crate) fn environment(
    imported: &[VariablesFile],
    files: &[PathBuf],
) -> Result<Environment, Failure> {
    let own = Ambient::environment();
    let look_up = |name: &str| own.get(OsStr::new(name)).cloned();
    let mut variables = Variables::new(&look_up);
    for file in imported {
        let bytes = file.text.expose().as_bytes();
        variables.extend(bytes).map_err(|found| wrong(&file.name, found))?;
    }
    for path in files {
        let bytes = read(path)?;
        variables.extend(&bytes).map_err(|found| wrong(&path.display(), found))?;
    }
    let added = variables.added;
    let declared = added.keys().cloned().collect();
    let mut all = own;
    for (name, value) in added {
        all.entry(name.into()).or_insert_with(|| value.into());
    }
    Ok(Environment { all: all.into(), declared })
}

/// Keeps what is wrong with imported files beside what is wrong with the imports themselves.
pub(crate) fn check(imports: &mut Imports) {
    if imports.program.variables.is_empty() {
        return;
    }
    let own = Ambient::environment();
    imports.program.check_variables(&|name| own.get(OsStr::new(name)).cloned());
}

fn wrong(name: &dyn std::fmt::Display, InvalidFile { code, error }: InvalidFile) -> Failure {
    let (line, column) = error.place;
    let message = format!("{name}:{line}:{column}: {}", error.message);
    Failure::new(Exit::Source, message, error.help).coded(code)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let all = regular::open_given(path)
        .and_then(|file| file.take(MAX_VARIABLES_BYTES + 1).read_to_end(&mut bytes));
    match all {
        Ok(_) if bytes.len() as u64 <= MAX_VARIABLES_BYTES => Ok(bytes),
        Ok(_) => {
            let message = format!("`{}` is larger than 1 MiB", path.display());
            let help = "a file of variables is short: is it the right one?";
            Err(Failure::new(Exit::Source, message, help).coded(Code::VariablesFile))
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound => (
            format!("the file `{shown}` does not exist"),
            "check the path after `--env-file`".to_owned(),
        ),
        io::ErrorKind::PermissionDenied => (
            format!("`{shown}` cannot be read: permission denied"),
            format!("check it with `ls -l {shown}`"),
        ),
        io::ErrorKind::IsADirectory => (
            format!("`{shown}` is a directory"),
            format!("name the file in it, as in `--env-file {}`", path.join(".env").display()),
        ),
        _ => (
            format!("`{shown}` cannot be read: {error}"),
            "check the path after `--env-file`".to_owned(),
        ),
    };
    Failure::new(Exit::NoFile, message, help)
}
