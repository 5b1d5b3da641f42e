//! `opal plugin init`: a first package, in opal or in a language that gives WebAssembly.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::files::write;
use super::templates;
use crate::failure::{Exit, Failure};
use crate::view;

/// The words of `--language` and `--kind`.
pub(crate) const LANGUAGES: [&str; 5] = ["opal", "rust", "python", "javascript", "c"];
pub(crate) const KINDS: [&str; 4] = ["value", "state", "action", "wrapper"];

pub(super) fn init(matches: &ArgMatches) -> Result<Exit, Failure> {
    let directory: &PathBuf = matches.get_one("directory").expect("clap demands it");
    let word = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (language, kind) = (word("language"), word("kind"));
    let is_given = matches.value_source("kind") == Some(clap::parser::ValueSource::CommandLine);
    if language == "opal" && is_given {
        let message = "a decorator in opal has no `--kind`: it is what its steps are";
        return Err(Failure::usage(message, "add `--language`, or omit `--kind`"));
    }
    let name = name_of(directory)?;
    let segment = name.replace('-', "_");
    let files = match language {
        "opal" => in_opal(&name, &segment),
        language => templates::package(language, kind, &name, &segment),
    };
    let unwritable =
        |path: &Path, error| Failure::unwritable(&format!("`{}`", path.display()), &error);
    for (file, text) in &files {
        let path = directory.join(file);
        let folder = path.parent().unwrap_or(directory);
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
        write(&path, text)?;
    }
    let names: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
    let next = if language == "opal" {
        view::plugin::Next::Use(&segment)
    } else {
        view::plugin::Next::Build
    };
    view::plugin::begun(directory, &names, next, matches.get_flag("json"))
}

/// The name of a package in a new directory.
fn name_of(directory: &Path) -> Result<String, Failure> {
    if directory.symlink_metadata().is_ok() {
        let message = format!("`{}` already exists, and is not changed", directory.display());
        return Err(Failure::new(Exit::Write, message, "name a new directory"));
    }
    let name = directory.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name: String = name.unwrap_or_default();
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_part);
    if !fits || name.len() > 64 {
        let help = "use lower case letters, digits and `-`, as in `plugins/house`";
        return Err(Failure::usage(format!("`{name}` is not a name for a package"), help));
    }
    Ok(name)
}

fn in_opal(name: &str, segment: &str) -> Vec<(String, String)> {
    let toml = format!(
        "[package]\nname = \"local/{name}\"\nversion = \"0.1.0\"\ndescription = \"Decorators of this project\"\n"
    );
    let hello = format!(
        "# Greet somebody.\n# name: whom to greet\nfun {segment}.hello(name: String = \"world\") {{\n    @log(\"hello @var.name\")\n}}\n"
    );
    vec![("opal.toml".to_owned(), toml), ("decorators/hello.opl".to_owned(), hello)]
}
