//! Files among what is completed.

use std::ffi::OsStr;
use std::path::Path;

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};

use crate::project;

/// Any file or directory: for a parameter that is a text.
pub(crate) fn any() -> ArgValueCompleter {
    ArgValueCompleter::new(|begun: &OsStr| without_here(PathCompleter::any().complete(begun)))
}

/// Files that opal runs by their name, once something of it is typed: tasks and commands are not
/// buried under them.
pub(crate) fn sources() -> ArgValueCompleter {
    let is_source =
        |path: &Path| path.extension().is_some_and(|it| it == "opl") || project::is_config(path);
    ArgValueCompleter::new(move |begun: &OsStr| match begun.is_empty() {
        true => Vec::new(),
        false => without_here(PathCompleter::any().filter(is_source).complete(begun)),
    })
}

fn without_here(mut found: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    found.retain(|candidate| candidate.get_value() != ".");
    found
}
