//! From `opal` to `opal-commands`, the same program with all commands.
//!
//! ```text
//! opal runs list ──▶ opal: not one of mine ──▶ becomes opal-commands, with the same words
//! ```

use std::ffi::{OsStr, OsString};
use std::io::{Seek as _, Write as _};
use std::path::Path;

use opal_helper::{COMMANDS, Unusable, become_program};

use crate::ambient::Ambient;
use crate::failure::{Exit, Failure};
use crate::inner::{ALL, HYOPS, ROUND, TARGET};
use crate::{builtins, helpers};

/// The version, and the sources of all that this program is linked with: more than what a helper must have.
const BUILD: &str = env!("OPAL_BUILD");

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

/// The same once a contract was read: what this program becomes reads it again.
pub(crate) fn complete_after(
    ambient: &Ambient,
    path: &Path,
    contract: &[u8],
) -> Result<(), Failure> {
    if ambient.has_all || path.is_file() {
        return complete(ambient);
    }
    if !["-", "/dev/stdin"].iter().any(|name| path == Path::new(name)) {
        let message = format!("`{}` can be read only once", path.display());
        let help = "a contract of a module is read twice: write it to a file, or name it `-`";
        return Err(Failure::new(Exit::NoFile, message, help));
    }
    let again = tempfile::tempfile().and_then(|mut file| {
        file.write_all(contract)?;
        file.rewind()?;
        Ok(rustix::stdio::dup2_stdin(file)?)
    });
    again.map_err(|error| Failure::unwritable("the contract in a temporary file", &error))?;
    complete(ambient)
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
    let is_target = first == TARGET[0] && second.is_some_and(|second| second == TARGET[1]);
    if first == HYOPS || first == ROUND || is_target {
        return None;
    }
    match second {
        Some(build) if first == ALL && build == BUILD => None,
        Some(build) if first == ALL => {
            let build = build.to_string_lossy();
            let build: String = build.chars().filter(char::is_ascii_graphic).take(80).collect();
            let message =
                format!("`{COMMANDS}` is of another build: it is {BUILD}, and opal is {build}");
            let help = Unusable::OtherBuild { name: COMMANDS, build }.help();
            Some(Failure::new(Exit::Unavailable, message, help))
        }
        _ => Some(Failure::usage(
            format!("`{COMMANDS}` is a helper, which `opal` starts when it needs it"),
            "see `opal --help`",
        )),
    }
}
