//! `opal apply`: brings about what a configuration describes.

pub(crate) mod first;
pub(crate) mod preview;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ArgMatches;

use super::task::{self, Wish};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::project;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let path = given(matches)?;
    config(context, path, &[], asked)
}

/// The configuration that was named.
pub(crate) fn given(matches: &ArgMatches) -> Result<&Path, Failure> {
    let Some(path) = matches.get_one::<PathBuf>("config") else {
        return Err(Failure::usage("a configuration is needed", "name one, as in `server.yaml`"));
    };
    if project::is_config(path) {
        return Ok(path);
    }
    let shown = path.display();
    Err(Failure::usage(
        format!("`{shown}` is no configuration: the name of one ends in .yaml or .yml"),
        format!("tasks and scripts are run with `opal run {shown}`"),
    ))
}

/// Runs a configuration.
pub(crate) fn config(
    context: &Context<'_>,
    path: &Path,
    rest: &[OsString],
    asked: Asked,
) -> Result<Exit, Failure> {
    of_config(task::script(context, path, rest, asked, Wish::Run))
}

/// 2 for whatever is wrong with a configuration.
pub(crate) fn of_config(ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    let of_config = |exit| match exit {
        Exit::Source | Exit::NoValue | Exit::NoFile => Exit::Usage,
        exit => exit,
    };
    match ended {
        Ok(exit) => Ok(of_config(exit)),
        Err(failure) => Err(Failure { exit: of_config(failure.exit), ..failure }),
    }
}
