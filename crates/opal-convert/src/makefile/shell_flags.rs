//! `.SHELLFLAGS`: the options that make gives to the shell.

use super::constants::Constants;
use super::reader::Reader;
use crate::dialect::{Runner, Shell};
use crate::form::{Expr, Piece};

/// `SHELL`: the program that runs the lines.
pub(super) fn runner(file: &Reader<'_>, constants: &Constants) -> Runner {
    let is_direct = shell_flags(constants).is_empty() && !file.one_shell;
    Runner { is_direct, ..shell(file, constants).into() }
}

fn shell(file: &Reader<'_>, constants: &Constants) -> Shell {
    let Some(value) = file.variables.get("SHELL") else { return Shell::Sh };
    let known = constants.known.get("SHELL").cloned();
    let text = known.unwrap_or_else(|| named(value));
    let mut words = text.split_whitespace().filter_map(|it| it.rsplit('/').next());
    match words.find(|it| *it != "env" && !it.starts_with('-')) {
        None | Some("sh" | "dash" | "ash") => Shell::Sh,
        Some("bash") => Shell::Bash,
        Some(other) => Shell::Other(other.to_owned()),
    }
}

/// The shell that a computed value names, as in `$(shell which bash)`.
fn named(value: &Expr) -> String {
    let mut text = String::new();
    value.visit(&mut |it| match it {
        Expr::Text(part) => text.push_str(part),
        Expr::Output(pieces) => {
            let parts = pieces.iter().filter_map(|it| match it {
                Piece::Text(part) => Some(part.as_str()),
                Piece::Value(_) => None,
            });
            text.extend(parts);
        }
        _ => {}
    });
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut words = text.split(|c| !is_word(c));
    let found = words.find(|it| ["bash", "zsh", "fish", "ksh", "pwsh"].contains(it));
    found.unwrap_or("sh").to_owned()
}

/// The options that make gives to the shell.
pub(super) fn shell_flags(constants: &Constants) -> &str {
    constants.known.get(".SHELLFLAGS").map_or("", String::as_str)
}

/// What a line needs before it where those options stop the shell (`-e`, `-u`); none where they change
/// nothing for the line.
pub(super) fn stops(flags: &str, line: &str) -> Option<&'static str> {
    let bundles = || flags.split_whitespace().filter_map(|word| word.strip_prefix('-'));
    let has = |letter| bundles().any(|bundle| bundle.contains(letter));
    let is_list = line.contains([';', '\n']);
    let (fails, unset) = (is_list && has('e'), line.contains("$$") && has('u'));
    match (fails, unset) {
        (true, true) => Some("set -eu; "),
        (true, false) => Some("set -e; "),
        (false, true) => Some("set -u; "),
        (false, false) => None,
    }
}

pub(super) const EXTENDED: &str = "its patterns need `extglob`";

/// Whether a line has a pattern that bash reads only with `extglob`.
pub(super) fn has_extended_glob(line: &str) -> bool {
    ["!(", "@(", "?(", "*(", "+("].iter().any(|it| line.contains(it))
}
