//! `opal verify`: whether what a task or a configuration describes is there. Nothing is changed, and
//! nothing is kept: no record, and no key is made.

pub(crate) mod report;
mod reporting;
pub(crate) mod survey;

use clap::ArgMatches;

use super::task;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::verb::Verb;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match task::typed(context, matches, Verb::Verify) {
        Ok(exit) => Ok(exit_of(exit)),
        Err(failure) => Err(Failure { exit: exit_of(failure.exit), ..failure }),
    }
}

/// 2 for whatever is wrong with what was given, 3 where it could not be done.
fn exit_of(exit: Exit) -> Exit {
    match exit {
        Exit::Source | Exit::NoFile => Exit::Usage,
        Exit::NoValue
        | Exit::Unavailable
        | Exit::Write
        | Exit::Refused
        | Exit::NotTrusted
        | Exit::Configuration => Exit::Unverified,
        exit => exit,
    }
}
