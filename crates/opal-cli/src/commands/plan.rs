//! `opal plan`, and `opal TASK --dry-run`.

mod contract;
mod diff;
pub(crate) mod file;
pub(crate) mod make;
mod show;
pub(crate) mod trust;
pub(crate) mod verify;

use clap::ArgMatches;

use super::task;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::verb::Verb;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("show", matches)) => return show::run(context, matches),
        Some(("diff", matches)) => return diff::run(context, matches),
        Some(("verify", matches)) => return verify::run(context, matches),
        _ => {}
    }
    task::typed(context, matches, Verb::Plan)
}
