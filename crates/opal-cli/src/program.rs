//! From `opal` to `opal-commands`, the same program with all commands.
//!
//! ```text
//! opal runs list ──▶ opal: not one of mine ──▶ becomes opal-commands, with the same words
//! ```

use std::ffi::{OsStr, OsString};

use opal_helper::{BUILD, COMMANDS, Unusable, become_program};

use crate::ambient::Ambient;
use crate::failure::{Exit, Failure};
use crate::inner::{ALL, HYOPS, ROUND, TARGET};
use crate::{builtins, helpers};

/// Has all commands: where this program does not, it becomes the one that does, before anything has happened.
pub(crate) fn complete(ambient: &Ambient) -> Result<(), Failure> {
    if ambient.has_all {
        return Ok(());
    }
    // `-C` is one of the words, and would be seen from the directory that it leads to.
    if let Some(began_in) = ambient.began_in.get() {
        std::env::set_current_dir(began_in).map_err(|error| {
            let message = format!("`{}` cannot be used again: {error}", began_in.display());
            Failure::new(Exit::NoFile, message, "start opal in another directory")
        })?;
    }
    let typed = ambient.arguments.iter().cloned();
    let words: Vec<OsString> = [ALL.into(), BUILD.into()].into_iter().chain(typed).collect();
    Err(helpers::failure(&become_program(COMMANDS, &ambient.name, &words)))
}

/// The same for one command, where this program does not have it.
pub(crate) fn complete_for(
    ambient: &Ambient,
    word: &str,
    rest: &[OsString],
) -> Result<(), Failure> {
    let first = rest.first().and_then(|first| first.to_str());
    let of_plan = word == "plan" && first.is_some_and(builtins::is_reserved_by_plan);
    if of_plan || builtins::is_of_rest(word) { complete(ambient) } else { Ok(()) }
}

/// Nobody types `opal-commands`: opal becomes it, and both must be of the same build.
pub(crate) fn refused(first: &OsStr, second: Option<&OsStr>) -> Option<Failure> {
    if first == HYOPS || first == ROUND || first == TARGET[0] {
        return None;
    }
    match second {
        Some(build) if first == ALL && build == BUILD => None,
        Some(build) if first == ALL => {
            let build = build.to_string_lossy();
            let build = build.chars().filter(char::is_ascii_graphic).take(80).collect();
            Some(helpers::failure(&Unusable::OtherBuild { name: COMMANDS, build }))
        }
        _ => Some(Failure::usage(
            format!("`{COMMANDS}` is a helper, which `opal` starts when it needs it"),
            "see `opal --help`",
        )),
    }
}
