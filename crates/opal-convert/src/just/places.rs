//! Where a file is: `source_directory()` and its like, which depend on the file that they are in.

use crate::files::folder_of;
use crate::form::Expr;

const SOURCE_FILE: &str = "the source file";
const SOURCE_DIRECTORY: &str = "the source directory";
const MODULE_FILE: &str = "the module file";
const MODULE_DIRECTORY: &str = "the module directory";

/// A name for a place; a blank keeps it apart from names of the file.
pub(super) fn function(name: &str) -> Option<Expr> {
    let place = match name {
        "source_file" => SOURCE_FILE,
        "source_directory" | "source_dir" => SOURCE_DIRECTORY,
        "module_file" => MODULE_FILE,
        "module_directory" | "module_dir" => MODULE_DIRECTORY,
        _ => return None,
    };
    Some(Expr::Name(place.to_owned()))
}

/// The places of a file and of its module, by their paths from the directory of the main file.
pub(super) fn places(source: &str, module: &str) -> impl Fn(&str) -> Option<Expr> {
    move |name| {
        Some(match name {
            SOURCE_FILE => Expr::below_here(source),
            SOURCE_DIRECTORY => Expr::below_here(folder_of(source)),
            MODULE_FILE => Expr::below_here(module),
            MODULE_DIRECTORY => Expr::below_here(folder_of(module)),
            _ => return None,
        })
    }
}
