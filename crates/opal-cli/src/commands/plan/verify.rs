//! `opal plan verify FILE`: whether a contract is whole, meant for this runner and accepted by the policy here.

use std::path::Path;

use clap::ArgMatches;
use opal_ops::contract::{Rules, accept};
use opal_plugins::installed::allowed;
use opal_vault::ledger::Ledger;

use super::file::open;
use super::named::Named;
use super::trust;
use crate::clock::unix_time;
use crate::commands::run::current::{policed, source_path};
use crate::commands::run::new_contract::{new_contract, of_module};
use crate::context::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::project::Chosen;
use crate::{source, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let path = matches.get_one::<String>("file").map_or("", String::as_str);
    let named = Named::find(context, options.root.as_ref(), path)?;
    let (path, bytes) = (Path::new(path), &named.bytes);
    let approvals = named.approvals()?;
    let opened = open(context, &options, path, bytes)?;
    let contract = &opened.contract;
    let source = source_path(contract, context.file(matches));
    let sources = policed(contract, context.file(matches));
    let policy = trust::policy(context, &options, &required(matches), &sources)?;
    let root = context.root(options.root.as_ref());
    let ledger = root.as_ref().map(Ledger::new);
    let rules = Rules { approvals: &approvals, ..Rules::new(&policy, ledger, unix_time()) };
    let again = || {
        if let Some(words) = of_module(context, &options, contract, path) {
            return Some(words);
        }
        let chosen = Chosen::named(source.as_deref()?);
        let mut loaded = source::read(&chosen, &context.registry).ok()?;
        let target = &contract.plan().target.name;
        source::task(&mut loaded, target, &context.registry).ok()?;
        Some(new_contract(context, &options, contract, &loaded, path))
    };
    accept(bytes, &opened, &rules)
        .map_err(|refusal| Refused { path, own: None, again: &again }.failure(&refusal))?;
    for package in &contract.provenance().plugins {
        allowed(package, &policy.plugins).map_err(|why| {
            let (name, version) = (&package.name, &package.version);
            let message = format!("the package {name} {version} may not be used: {why}");
            Failure::new(Exit::NotTrusted, message, "ask the owner of the policy")
        })?;
    }
    view::plan::verified(path, contract, "intact", options.is_json())
}

/// `--require-signature[=KEY]`.
pub(crate) fn required(matches: &ArgMatches) -> trust::Required {
    let given = matches.get_one::<String>("require-signature");
    trust::Required {
        signature: given.is_some(),
        key: given.filter(|key| !key.is_empty()).cloned(),
    }
}
