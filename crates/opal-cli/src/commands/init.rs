//! `opal init`: a first `commands.opl`, from what is in the directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::ArgMatches;
use opal_convert::Format;
use opal_files::atomic::{self, Unfinished};
use opal_files::regular;
use rustix::io::Errno;
use serde_json::Value;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::{self, DEFAULT_FILE};
use crate::starter::Found;
use crate::view::starter::{self, Written};

/// The most names that are looked at, and bytes of a `package.json`.
const NAMES: usize = 10_000;
const PACKAGE_BYTES: u64 = 4 * 1024 * 1024;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    if context.typed.global || context.typed.file.is_some() {
        let message = format!("`opal init` writes `{DEFAULT_FILE}` of the working directory");
        return Err(Failure::usage(message, "omit `-f` and `-g`; `-C DIR` names the directory"));
    }
    let path = Path::new(DEFAULT_FILE);
    if path.symlink_metadata().is_ok() {
        return Err(exists());
    }
    // Where one above is used so far, it no longer is.
    let above = project::find().ok().flatten().map(|chosen| chosen.path.display().to_string());
    let names = names().map_err(|error| Failure::unreadable(Path::new("."), &error))?;
    let convertible: Vec<String> = convertible_of(&names).cloned().collect();
    let scripts = if names.contains("package.json") { scripts() } else { BTreeSet::new() };
    let made = Found { names, scripts }.starter();
    add(path, made.text.as_bytes()).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => Failure::unwritable(&format!("`{DEFAULT_FILE}`"), &error),
    })?;
    let (opal, above) = (context.opal(), above.as_deref());
    let written = Written { made: &made, convertible: &convertible, opal: &opal, above };
    starter::show(&written, matches.get_flag("json"), context.out())
}

/// A file here that `opal convert` can convert.
pub(crate) fn convertible() -> Option<String> {
    convertible_of(&names().ok()?).next().cloned()
}

fn convertible_of(names: &BTreeSet<String>) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| Format::of_file(name).is_some())
}

fn exists() -> Failure {
    Failure::new(
        Exit::Write,
        format!("`{DEFAULT_FILE}` already exists, and is not changed"),
        "list its tasks with `opal`",
    )
}

/// What is here; the name of a directory ends in `/`.
fn names() -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(".")?.take(NAMES) {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
        names.insert(if is_folder { format!("{name}/") } else { name });
    }
    Ok(names)
}

/// The names of the scripts of a `package.json`; none where it cannot be read.
fn scripts() -> BTreeSet<String> {
    let text = regular::read_to_string(Path::new("package.json"), PACKAGE_BYTES);
    let document: Option<Value> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    let scripts = document.as_ref().and_then(|it| it.get("scripts")).and_then(Value::as_object);
    scripts.map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

/// Writes a file whole, or not at all; what has its name in the meantime stays, links included.
fn add(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let usual = atomic::usual_mode(atomic::directory_of(path)?)?;
    let mut file = Unfinished::beside(path)?;
    file.write_all(bytes)?;
    file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
    file.add(rustix::fs::CWD, path).map_err(Errno::into)
}
