//! `.SHELLFLAGS`: the options that make gives to the shell.

use super::constants::Constants;

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
