//! What `opal explain` explains: the decorators of the project, those of its packages too, and error codes.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use opal_core::{Code, Registry};

/// Decorators are found with and without their `@`. Codes are offered once their letter is typed: there are
/// hundreds of them.
pub(super) fn topics(registry: &Registry) -> ArgValueCompleter {
    let decorators = registry.iter().map(|it| (it.path.to_owned(), it.summary.to_owned()));
    let decorators: Vec<(String, String)> = decorators.collect();
    ArgValueCompleter::new(move |begun: &OsStr| {
        let Some(begun) = begun.to_str() else { return Vec::new() };
        let sign = if begun.starts_with('@') { "@" } else { "" };
        let paths =
            decorators.iter().map(|(path, summary)| (format!("{sign}{path}"), summary.as_str()));
        let codes = Code::ALL.iter().map(|code| (code.as_str().to_owned(), code.title()));
        let codes = codes.filter(|_| !begun.is_empty());
        paths
            .chain(codes)
            .filter(|(word, _)| word.starts_with(begun))
            .map(|(word, about)| CompletionCandidate::new(word).help(Some(about.to_owned().into())))
            .collect()
    })
}
