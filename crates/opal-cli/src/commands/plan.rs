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

use crate::context::Context;
use crate::failure::{Exit, Failure};

/// The commands of `opal plan` that are given a contract.
pub(crate) fn of_contracts(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("show", matches)) => show::run(context, matches),
        Some(("diff", matches)) => diff::run(context, matches),
        Some(("verify", matches)) => verify::run(context, matches),
        Some(("approve", matches)) => approve::run(context, matches, Decision::Approve),
        Some(("reject", matches)) => approve::run(context, matches, Decision::Reject),
        Some(("submit", matches)) => inbox::submit(context, matches),
        _ => inbox::list(context, matches),
    }
}
