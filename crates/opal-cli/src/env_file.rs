//! Files of variables, as `--env-file` names them.
//!
//! They are read by `opal_core::dotenv`. `$NAME` also works without quotes; what it names is in
//! the environment or is set further up. Of two lines that set one name the later counts, of two
//! files the later one, and the environment of the process wins over all of them: what someone
//! sets by hand for a single run is meant. Names that a shell, a loader or opal interprets are
//! refused.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use opal_core::dotenv::{self, DotenvError, Reader, Variable};
use opal_core::script::interpreted;
use opal_files::regular;

use crate::ambient::{Ambient, IDENTITY};
use crate::failure::{Exit, Failure};
use opal_core::gather::Gather as _;

/// Bytes a file may have.
const MAX_BYTES: u64 = 1024 * 1024;

/// The environment of the process, with what `files` add to it.
pub(crate) fn environment(files: &[PathBuf]) -> Result<BTreeMap<OsString, OsString>, Failure> {
    let own = Ambient::environment();
    let mut added = BTreeMap::new();
    for path in files {
        let bytes = read(path)?;
        extend(&own, &mut added, &bytes).map_err(|mistake| wrong(path, mistake))?;
    }
    let added = added.into_iter().map(|(name, value)| (OsString::from(name), value.into()));
    let mut all: BTreeMap<OsString, OsString> = added.gathered();
    all.extend(own);
    Ok(all)
}

/// Reads one file on top of the earlier ones.
fn extend(
    own: &BTreeMap<OsString, OsString>,
    added: &mut BTreeMap<String, String>,
    bytes: &[u8],
) -> Result<(), DotenvError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_text(bytes, error.valid_up_to(), "invalid UTF-8")),
    };
    if let Some(at) = text.find('\0') {
        return Err(not_text(bytes, at, "a variable cannot contain a NUL character"));
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
            return Err(DotenvError { place: reader.place(at), message, help });
        }
        added.insert(name, value);
    }
}

fn not_text(bytes: &[u8], at: usize, message: &'static str) -> DotenvError {
    let before = String::from_utf8_lossy(&bytes[..at]);
    let help = "save the file as UTF-8 text";
    DotenvError { place: dotenv::place(&before, before.len()), message: message.into(), help }
}

fn wrong(path: &Path, mistake: DotenvError) -> Failure {
    let (line, column) = mistake.place;
    let message = format!("{}:{line}:{column}: {}", path.display(), mistake.message);
    Failure::new(Exit::Configuration, message, mistake.help)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let all =
        regular::open_given(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    match all {
        Ok(_) if bytes.len() as u64 <= MAX_BYTES => Ok(bytes),
        Ok(_) => Err(Failure::new(
            Exit::Configuration,
            format!("`{}` is larger than 1 MiB", path.display()),
            "a file of variables is short: is it the right one?",
        )),
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
