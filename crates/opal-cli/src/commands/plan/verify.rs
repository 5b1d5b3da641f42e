//! `opal plan verify FILE`: whether a contract is whole, meant for this runner and accepted by the policy here.

use std::path::Path;

use clap::ArgMatches;

use super::contract::{open, read_file};
use super::trust;
use crate::commands::run;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::source::Loaded;
use crate::view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let path = matches.get_one::<String>("file").map_or("", String::as_str);
    let path = Path::new(path);
    let bytes = read_file(path)?;
    let opened = open(context, &options, path, &bytes)?;
    let contract = &opened.contract;
    let source = run::source_path(contract, context.file(matches));
    let policy = trust::policy(context, &options, &required(matches), source.as_deref())?;
    trust::judge(&policy, &bytes, contract)?;
    trust::not_over(context, &options, path, &opened, &|| {
        if let Some(words) = run::of_module(context, &options, contract, path) {
            return Some(words);
        }
        let loaded = Loaded::read(source.as_deref()?, &context.registry).ok()?;
        Some(run::mend(context, &options, contract, &loaded, path))
    })?;
    view::plan::verified(path, contract, "whole", options.is_json())
}

/// `--require-signature[=KEY]`.
pub(crate) fn required(matches: &ArgMatches) -> trust::Required {
    let given = matches.get_one::<String>("require-signature");
    trust::Required {
        signature: given.is_some(),
        key: given.filter(|key| !key.is_empty()).cloned(),
    }
}
