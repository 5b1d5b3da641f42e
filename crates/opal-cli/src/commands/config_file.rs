//! Commands that take a configuration.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project;
use crate::tasks::path_word;

/// The configuration that was named.
pub(crate) fn given<'m>(
    context: &Context<'_>,
    matches: &'m ArgMatches,
) -> Result<&'m Path, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("config") else {
        return Err(Failure::usage("missing configuration", "name one, as in `server.yaml`"));
    };
    if project::is_config(path) {
        return Ok(path);
    }
    let (shown, word) = (path.display(), path_word(&path.display().to_string()));
    Err(Failure::usage(
        format!("`{shown}` is not a configuration: the name of one ends in .yaml or .yml"),
        format!("run tasks and scripts with `{} run {word}`", context.opal()),
    ))
}

/// 2 for whatever is wrong with a configuration.
pub(crate) fn exit_of(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let exit_of = |exit| match exit {
        Exit::Source | Exit::NoValue | Exit::NoFile => Exit::Usage,
        exit => exit,
    };
    match ended {
        Ok(exit) => Ok(exit_of(exit)),
        Err(failure) => Err(Failure { exit: exit_of(failure.exit), ..failure }),
    }
}
