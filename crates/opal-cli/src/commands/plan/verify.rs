//! `opal plan verify FILE`: whether a contract is whole, meant for this runner and trusted here.

use std::path::Path;

use clap::ArgMatches;

use super::contract::{open, read_file};
use super::trust;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let path = matches.get_one::<String>("file").map_or("", String::as_str);
    let path = Path::new(path);
    let bytes = read_file(path)?;
    let opened = open(context, &options, path, &bytes)?;
    let contract = &opened.contract;
    let source = contract.provenance().source.as_ref().map(|source| Path::new(&source.path));
    let policy = trust::policy(context, &options, &required(matches), source)?;
    trust::judge(&policy, &bytes, contract)?;
    trust::in_time(path, contract)?;
    trust::unused(context, &options, path, &opened)?;
    view::plan::verified(path, contract, options.is_json())
}

/// `--require-signature[=KEY]`.
pub(crate) fn required(matches: &ArgMatches) -> trust::Required {
    let given = matches.get_one::<String>("require-signature");
    trust::Required {
        signature: given.is_some(),
        key: given.filter(|key| !key.is_empty()).cloned(),
    }
}
