//! Diagnostics as people, programs and GitHub read them.
//!
//! | for | where |
//! |---|---|
//! | a terminal | [`human`] |
//! | a program | [`json`] |
//! | annotations on a pull request | [`github`] |
//!
//! All three work in time linear in the source and the number of diagnostics: positions come from
//! one index a report, and excerpts copy only the lines near a label.

mod github;
mod human;
mod json;
mod places;

pub(crate) use github::{escape as workflow_escape, github};
pub(crate) use human::human;
pub(crate) use json::json;
/// Words for one line of a terminal.
pub(crate) use opal_core::view::visible::words as visible;

use opal_core::{Code, Diagnostic};

/// One checked file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// As the reader knows the file: the path that was typed, or `<stdin>`.
    pub name: &'a str,
    pub text: &'a str,
}

/// What was found in one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report<'a> {
    pub source: Source<'a>,
    /// In the order they are shown.
    pub diagnostics: &'a [Diagnostic],
}

/// What is said of those that are not listed.
fn unlisted(code: Code, count: usize) -> String {
    let code = code.as_str();
    format!("{count} more {code} in this file are not listed: fix some of those above first")
}

#[cfg(test)]
mod tests;
