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
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::dotenv::{self, DotenvError, Reader, Variable};
use opal_core::script::interpreted;
use opal_core::{Code, Diagnostic};
use opal_files::regular;
use opal_ops::source::imports::{Imports, MAX_VARIABLES_BYTES, VariablesFile};

use crate::ambient::{Ambient, IDENTITY};
use crate::failure::{Exit, Failure};

/// What plans and steps see of the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) all: Arc<BTreeMap<OsString, OsString>>,
    /// The names that files set.
    pub(crate) declared: Vec<String>,
}

/// What is wrong with a file.
#[derive(Debug)]
struct Invalid {
    code: Code,
    error: DotenvError,
}

impl From<DotenvError> for Invalid {
    fn from(error: DotenvError) -> Self {
        Self { code: Code::VariablesFile, error }
    }
}

/// The environment of the process, with what files add to it.
pub(crate) fn environment(
    imported: &[VariablesFile],
    files: &[PathBuf],
) -> Result<Environment, Failure> {
    let own = Ambient::environment();
    let mut added = BTreeMap::new();
    for file in imported {
        let bytes = file.text.expose().as_bytes();
        extend(&own, &mut added, bytes).map_err(|found| wrong(&file.name, found))?;
    }
    for path in files {
        let bytes = read(path)?;
        extend(&own, &mut added, &bytes).map_err(|found| wrong(&path.display(), found))?;
    }
    let declared = added.keys().cloned().collect();
    let mut all = own;
    for (name, value) in added {
        all.entry(name.into()).or_insert_with(|| value.into());
    }
    Ok(Environment { all: all.into(), declared })
}

/// Keeps what is wrong with imported files beside what is wrong with the imports themselves.
pub(crate) fn check(imports: &mut Imports) {
    if imports.variables.is_empty() {
        return;
    }
    let own = Ambient::environment();
    let mut added = BTreeMap::new();
    for file in &imports.variables {
        let Err(found) = extend(&own, &mut added, file.text.expose().as_bytes()) else { continue };
        let Invalid { code, error: DotenvError { place: (line, column), message, help } } = found;
        let message = format!("{}:{line}:{column}: {message}", file.name);
        let error = Diagnostic::new(code, file.span, message).help(help);
        if !imports.errors.contains(&error) {
            imports.errors.push(error);
        }
    }
}

/// Reads one file on top of the earlier ones.
fn extend(
    own: &BTreeMap<OsString, OsString>,
    added: &mut BTreeMap<String, String>,
    bytes: &[u8],
) -> Result<(), Invalid> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_text(bytes, error.valid_up_to(), "invalid UTF-8").into()),
    };
    if let Some(at) = text.find('\0') {
        return Err(not_text(bytes, at, "a variable cannot contain a NUL character").into());
    }
    let mut reader = Reader::new(text);
    loop {
        let look_up = |name: &str| match own.get(std::ffi::OsStr::new(name)) {
            _ if name == IDENTITY => None,
            Some(value) => value.to_str().map(str::to_owned),
            None => added.get(name).cloned(),
        };
        let Some(Variable { name, value, at }) = reader.next(Some(&look_up))? else {
            return Ok(());
        };
        if let Some(row) = interpreted(&name) {
            let message = format!("`{name}` cannot be set in a file of variables: {}", row.why);
            let help = match name.as_str() {
                IDENTITY => "set it in the environment, or name the key with `--identity`",
                _ => "set it in the environment, or for single steps with `@environ`",
            };
            let error = DotenvError { place: reader.place(at), message, help };
            return Err(Invalid { code: Code::InterpretedVariable, error });
        }
        added.insert(name, value);
    }
}

fn not_text(bytes: &[u8], at: usize, message: &'static str) -> DotenvError {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let help = "save the file as UTF-8 text";
    DotenvError { place: dotenv::place(&before, before.len()), message: message.into(), help }
}

fn wrong(name: &dyn std::fmt::Display, Invalid { code, error }: Invalid) -> Failure {
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
