//! The arguments of the plan of a module: all that a contract says about its run.

use std::path::PathBuf;

use opal_core::Value;
use opal_core::plan::Target;

/// Which module it is of.
pub const MODULE: &str = "module";
/// What is done with the module.
pub const COMMAND: &str = "command";
/// The file of inputs, as it was typed.
pub const INPUTS: &str = "inputs";
/// Where that file was when the plan was made, for a run from another directory.
pub const INPUTS_AT: &str = "inputs_at";
pub const INSTANCE: &str = "instance";
pub const OUT_DIR: &str = "out_dir";
pub const ROOT: &str = "root";
/// Why the preflight is skipped.
pub const SKIP: &str = "skip_preflight";
/// Where the files of variables were: a contract has no values, so its run names them again.
pub const ENV_FILES: &str = "env_files";

/// One argument; none where the plan is not of a module.
#[must_use]
pub fn text<'t>(target: &'t Target, name: &str) -> Option<&'t str> {
    match target.arguments.get(name) {
        Some(Value::String(text)) if target.name == Target::SCRIPT => Some(text.as_ref()),
        _ => None,
    }
}

/// The file of inputs: as it was named if it is there, else where it was.
#[must_use]
pub fn inputs(target: &Target) -> Option<PathBuf> {
    let near = PathBuf::from(text(target, INPUTS)?);
    let is_near = near.is_file();
    let at = text(target, INPUTS_AT).filter(|_| !is_near);
    Some(at.map_or(near, PathBuf::from))
}

/// The files of variables.
#[must_use]
pub fn env_files(target: &Target) -> Vec<&str> {
    let Some(Value::Array(files)) = target.arguments.get(ENV_FILES) else { return Vec::new() };
    let texts = files.iter().filter_map(|file| match file {
        Value::String(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}
