//! `opal plan`, and `opal TASK --dry-run`.

mod approve;
pub(crate) mod approver;
mod contract;
mod diff;
pub(crate) mod file;
mod inbox;
pub(crate) mod make;
pub(crate) mod named;
mod show;
pub(crate) mod trust;
pub(crate) mod verify;

use clap::ArgMatches;
use opal_core::contract::approval::Decision;

pub(crate) use diff::beside;

use super::task;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::verb::Verb;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("show", matches)) => return show::run(context, matches),
        Some(("diff", matches)) => return diff::run(context, matches),
        Some(("verify", matches)) => return verify::run(context, matches),
        Some(("approve", matches)) => return approve::run(context, matches, Decision::Approve),
        Some(("reject", matches)) => return approve::run(context, matches, Decision::Reject),
        Some(("submit", matches)) => return inbox::submit(context, matches),
        Some(("inbox", matches)) => return inbox::list(context, matches),
        _ => {}
    }
    task::typed(context, matches, Verb::Plan)
}
