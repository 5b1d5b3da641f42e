//! `opal plan show FILE`.

use std::path::Path;

use clap::ArgMatches;
use opal_core::view::{Facts, PlanView};
use opal_runtime::contracts;

use super::contract::{open, read_file, refused};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let path = matches.get_one::<String>("file").map_or("", String::as_str);
    let path = Path::new(path);
    let bytes = read_file(path)?;
    // Whoever reviews a contract need not be able to run it.
    let contract = contracts::peek(&bytes).map_err(|unopened| refused(path, unopened))?;
    let mut notes = Vec::new();
    if open(context, &options, path, &bytes).is_err() {
        notes.push("this runner cannot open it, so it is not known to be whole".to_owned());
    }
    let plan = PlanView::new(contract.plan(), contract.plan_hash())
        .with_costs(&context.registry)
        .with_facts(Facts::of(&contract))
        .with_notes(notes);
    view::plan::show(&plan, options.format.as_deref(), context)
}
