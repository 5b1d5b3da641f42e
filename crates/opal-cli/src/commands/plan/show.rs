//! `opal plan show FILE`.

use std::path::Path;

use clap::ArgMatches;
use opal_core::contract::Contract;
use opal_core::view::{PlanView, marks};

use super::file::{Seen, read};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let path = matches.get_one::<String>("file").map_or("", String::as_str);
    let path = Path::new(path);
    let Seen { contract, note } = read(context, &options, path)?;
    show(context, &contract, &options, note.into_iter().collect())
}

/// Shows a contract with what a reviewer must not miss, and `notes`, under it.
pub(super) fn show(
    context: &Context<'_>,
    contract: &Contract,
    options: &PlanOptions,
    notes: Vec<String>,
) -> Result<Exit, Failure> {
    let marks = marks(contract.plan(), &|_| true);
    let mut plan = PlanView::new(contract.plan(), contract.plan_hash())
        .with_registry(&context.registry)
        .with_facts(view::plan::facts(contract))
        .with_notes([notes, marks].concat());
    // A reviewer decides by it.
    plan.is_whole = true;
    view::plan::show(&plan, options, context.out())
}
