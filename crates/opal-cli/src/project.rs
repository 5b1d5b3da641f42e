//! Files: finding the project's, reading sources.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use opal_core::text::MAX_SOURCE_BYTES;
use opal_syntax::source::{self, NoText};

use crate::failure::{Exit, Failure};

/// The file that is looked for when none is named.
pub(crate) const DEFAULT_FILE: &str = "commands.opl";

/// A source that could be read as bytes; whether it is text is said by `text`.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// As the user knows it.
    pub(crate) name: String,
    pub(crate) text: Result<String, Box<NoText>>,
}

/// `commands.opl` here or in a parent.
pub(crate) fn find() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(DEFAULT_FILE)).find(|p| p.is_file())?;
    // Beside the user, the short name is the one to show.
    Some(found.strip_prefix(&here).map(Path::to_path_buf).unwrap_or(found))
}

/// Whether it is a declarative configuration.
pub(crate) fn is_config(path: &Path) -> bool {
    let is = |extension: &OsStr| {
        extension.eq_ignore_ascii_case("yaml") || extension.eq_ignore_ascii_case("yml")
    };
    path.extension().is_some_and(is)
}

/// Whether it is the file that is found without being named.
pub(crate) fn is_default(path: &Path) -> bool {
    let found = find().and_then(|found| found.canonicalize().ok());
    found.is_some() && found == path.canonicalize().ok()
}

/// The file named with `-f`, or the project's.
pub(crate) fn file_or_project(file: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    file.cloned().or_else(find).ok_or_else(|| {
        Failure::new(
            Exit::NoFile,
            format!("there is no `{DEFAULT_FILE}` here or in a parent directory"),
            "create one, or name a file with `-f FILE`; `opal` alone shows how to start",
        )
    })
}

/// Reads a source, `-` from standard input. Never more than the limit of a source.
pub(crate) fn read(path: &Path) -> Result<SourceFile, Failure> {
    if path == Path::new("-") {
        let text = read_bytes(&mut io::stdin().lock())
            .map_err(|error| Failure::unreadable(Path::new("standard input"), &error))?;
        return Ok(SourceFile { name: "<stdin>".into(), text: source::decode(text) });
    }
    let bytes = File::open(path)
        .and_then(|mut file| {
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            read_bytes(&mut file)
        })
        .map_err(|error| Failure::unreadable(path, &error))?;
    Ok(SourceFile { name: path.display().to_string(), text: source::decode(bytes) })
}

fn read_bytes(from: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
