//! `opal plugin init`: a first package.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::files::write;
use crate::failure::{Exit, Failure};
use crate::view;

pub(super) fn init(matches: &ArgMatches) -> Result<Exit, Failure> {
    let directory: &PathBuf = matches.get_one("directory").expect("clap demands it");
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
    let segment = name.replace('-', "_");
    let files = [
        (
            "opal.toml",
            format!(
                "[package]\nname = \"local/{name}\"\nversion = \"0.1.0\"\ndescription = \"Decorators of this project\"\n"
            ),
        ),
        (
            "decorators/hello.opl",
            format!(
                "# Greet somebody.\n# name: whom to greet\nfun {segment}.hello(name: String = \"world\") {{\n    @log(\"hello @var.name\")\n}}\n"
            ),
        ),
    ];
    let unwritable =
        |path: &Path, error| Failure::unwritable(&format!("`{}`", path.display()), &error);
    fs::create_dir_all(directory.join("decorators"))
        .map_err(|error| unwritable(directory, error))?;
    for (file, text) in &files {
        write(&directory.join(file), text)?;
    }
    let names: Vec<&str> = files.iter().map(|(file, _)| *file).collect();
    view::plugin::begun(directory, &names, &segment, matches.get_flag("json"))
}
