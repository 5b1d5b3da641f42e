//! Modules that cannot be found, read or kept.

use std::io;
use std::path::Path;

use opal_modules::NotFound;
use opal_modules::inputs::InvalidInputs;
use opal_modules::keep::Unkept;

use super::{Exit, Failure};

pub(crate) fn not_found(missing: NotFound, exit: Exit) -> Failure {
    Failure::new(exit, missing.message, missing.help)
}

pub(crate) fn invalid(invalid: &InvalidInputs) -> Failure {
    let help = "set it with `--inputs FILE`, `HYOPS_INPUT_<key>` or `HYOPS_INPUTS_JSON`";
    Failure::new(Exit::Source, invalid.to_string(), help)
}

pub(crate) fn unwritten(unkept: &Unkept) -> Failure {
    let exit = if unkept.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
    Failure::new(exit, unkept.to_string(), unkept.help())
}

pub(crate) fn unseen(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("`{}` cannot be searched: {error}", folder.display());
    let help = "name a directory of modules or packs";
    Failure::new(Exit::NoFile, message, help)
}
