//! Where the target is among the words of `plan`, `run` and `verify`.

use std::ffi::OsString;
use std::path::Path;

use clap::{Arg, Command};

use crate::project::is_config;

/// The words of `plan`, `run` and `verify` with a `--` behind the target: what follows it is the
/// target's, `--help` included, whatever options of that name opal has. A configuration takes nothing.
pub(crate) fn marked(command: &Command, rest: &[OsString]) -> Vec<OsString> {
    let mut words = rest.to_vec();
    if let Some((at, word)) = target(command, rest) {
        let subcommand = at == 0 && (word == "help" || command.find_subcommand(word).is_some());
        if !subcommand && !is_config(Path::new(word)) {
            words.insert(at + 1, "--".into());
        }
    }
    words
}

/// The first word that is neither an option nor the value of one, and its index; none after a `--`.
pub(crate) fn target<'w>(command: &Command, words: &'w [OsString]) -> Option<(usize, &'w str)> {
    let mut at = 0;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        match word {
            "--" => return None,
            _ if !word.starts_with('-') => return Some((at, word)),
            _ => at += if value_follows(command, word) { 2 } else { 1 },
        }
    }
    None
}

fn value_follows(command: &Command, word: &str) -> bool {
    let is_meant = |arg: &&Arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => {
            arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&short.to_string()))
        }
    };
    let option = command.get_arguments().find(is_meant);
    option.is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set())
}
