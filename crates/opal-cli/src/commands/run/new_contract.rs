//! The command that makes a new contract, with all the options of the old one. What is typed now comes
//! in place of what the contract says.

use std::path::Path;

use opal_core::contract::Contract;
use opal_core::hash::Algorithm;
use opal_core::on::ON;
use opal_core::plan::Target;
use opal_core::{Duration, Value};
use opal_ops::module::arguments::env_files;
use opal_ops::planning::permits_skips;
use opal_ops::source::Loaded;
use opal_trust::keys::{Credentials, PublicKey};

use super::current::recorded;
use crate::commands::module::of_contract::typed;
use crate::context::Context;
use crate::options::PlanOptions;
use crate::tasks::{self, quoted};
use crate::{builtins, projects};

pub(crate) fn new_contract(
    context: &Context<'_>,
    options: &PlanOptions,
    contract: &Contract,
    source: &Loaded,
    path: &Path,
) -> String {
    if let Some(words) = of_module(context, options, contract, path) {
        return words;
    }
    let plan = contract.plan();
    let target = &plan.target;
    let task = tasks::find(source, &target.name).filter(|_| target.name != Target::SCRIPT);
    // Options of a task stand behind its name, opal's before it: they can have the same names.
    let tree = projects::Target::word(&source.path, &target.name);
    let is_task = source.is_global || task.is_some() && tree.is_none();
    let opal = if is_task { context.opal_for(source) } else { context.opal() };
    let mut words = vec![opal, "plan -o".to_owned(), quoted(&output(path))];
    let named = options.root.as_ref().or(context.typed.root.as_ref());
    let root = named.map(|root| root.display().to_string());
    let root = root.or_else(|| kept(contract, "root").first().cloned());
    root.iter().for_each(|root| option(&mut words, "--root", root));
    if options.env_files.is_empty() {
        kept(contract, "env-file").iter().for_each(|file| option(&mut words, "--env-file", file));
    }
    words.extend(terms(context, options, contract));
    kept(contract, "changed-since").iter().for_each(|it| option(&mut words, "--changed-since", it));
    if let Some(Value::String(targets)) = target.arguments.get(ON) {
        option(&mut words, ON, targets);
    }
    match &task {
        _ if tree.is_some() => words.extend(tree.map(|word| quoted(&word))),
        Some(task) => {
            if builtins::is_reserved_by_plan(&task.name) {
                words.push("--".to_owned());
            }
            words.extend(tasks::words(task, &target.arguments));
        }
        None => {
            words.push(tasks::path_word(&source.path.display().to_string()));
            if let Some(Value::Array(items)) = target.arguments.get("args") {
                words.extend(items.iter().map(tasks::word));
            }
        }
    }
    words.join(" ")
}

/// The same where it is a contract of a module.
pub(crate) fn of_module(
    context: &Context<'_>,
    options: &PlanOptions,
    contract: &Contract,
    path: &Path,
) -> Option<String> {
    let spec = recorded(contract);
    let target = &contract.plan().target;
    let mut words = typed(target, spec.as_deref())?;
    // What is named now comes in place of what was.
    if options.env_files.is_empty() {
        let files = env_files(target);
        files.into_iter().for_each(|file| option(&mut words, "--env-file", file));
    }
    words.extend(terms(context, options, contract));
    option(&mut words, "--dry-run -o", &output(path));
    Some(words.join(" "))
}

/// What was said about the contract itself.
fn terms(context: &Context<'_>, options: &PlanOptions, contract: &Contract) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(key) = signer(context, options, contract) {
        option(&mut words, "--sign", &key);
    }
    kept(contract, "recipient").iter().for_each(|who| option(&mut words, "--recipient", who));
    if let Some(identity) = &options.identity {
        option(&mut words, "--identity", identity);
    }
    for file in &options.env_files {
        option(&mut words, "--env-file", &file.display().to_string());
    }
    let algorithm = contract.plan().algorithm;
    if algorithm != Algorithm::default() {
        option(&mut words, "--hash-algo", algorithm.name());
    }
    if let Some(end) = contract.provenance().expires.filter(|end| *end > contract.created()) {
        let nanos = (end - contract.created()).saturating_mul(1_000_000_000);
        option(&mut words, "--expires", &Duration::from_nanos(nanos).to_string());
    }
    if contract.provenance().once {
        words.push("--once".to_owned());
    }
    if permits_skips(contract.plan()) {
        words.push("--cache".to_owned());
    }
    words
}

/// An option that the contract was made with.
fn kept<'c>(contract: &'c Contract, name: &str) -> &'c [String] {
    contract.provenance().options.get(name).map_or(&[], Vec::as_slice)
}

/// What the contract was signed with. One of format 1.0 has only the public key: the name is that of
/// the key of this machine that goes with it.
fn signer(context: &Context<'_>, options: &PlanOptions, contract: &Contract) -> Option<String> {
    if let Some(name) = kept(contract, "sign").first() {
        return Some(name.clone());
    }
    let signer = PublicKey::from_bytes(contract.provenance().signer?).to_string();
    let root = context.root(options.root.as_ref())?;
    let keys = Credentials::new(&root).list().unwrap_or_default();
    let mut keys = keys.into_iter().filter_map(|key| key.found.ok());
    let named = keys.find(|key| key.public == signer);
    Some(named.map_or_else(|| "KEY".to_owned(), |key| key.name.as_str().to_owned()))
}

/// Where the new contract goes: a file, also where the old one came from standard input. A name that
/// begins with a dash would be taken for an option.
fn output(path: &Path) -> String {
    let path = path.display().to_string();
    match path.strip_prefix('-') {
        Some("") => "new.plan".to_owned(),
        Some(_) => format!("./{path}"),
        None => path,
    }
}

fn option(words: &mut Vec<String>, name: &str, value: &str) {
    words.extend(tasks::option(name, value));
}
