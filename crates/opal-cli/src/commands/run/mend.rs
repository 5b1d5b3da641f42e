//! The command that makes a contract anew. Who signed it and whom it was sealed to is not known.

use std::path::Path;

use opal_core::contract::Contract;
use opal_core::hash::Algorithm;
use opal_core::plan::Target;
use opal_core::{Duration, Value};

use super::today::recorded;
use crate::commands::module;
use crate::dispatch::Context;
use crate::options::PlanOptions;
use crate::source::Loaded;
use crate::tasks::{self, quoted};
use crate::{builtins, project};

pub(crate) fn mend(
    context: &Context<'_>,
    options: &PlanOptions,
    contract: &Contract,
    source: &Loaded,
    path: &Path,
) -> String {
    if let Some(words) = of_module(options, contract, path) {
        return words;
    }
    let plan = contract.plan();
    let target = &plan.target;
    let task = source.task(&target.name).filter(|_| target.name != Target::SCRIPT);
    // Options of a task stand behind its name, opal's before it: they can have the same names.
    let mut words = vec!["opal plan -o".to_owned(), quoted(&path.display().to_string())];
    if task.is_some() && !project::is_default(&source.path) {
        option(&mut words, "-f", &source.path.display().to_string());
    }
    if let Some(root) = options.root.as_ref().or(context.typed.root.as_ref()) {
        option(&mut words, "--root", &root.display().to_string());
    }
    words.extend(terms(options, contract));
    match &task {
        Some(task) => {
            if builtins::is_reserved_by_plan(&task.name) {
                words.push("--".to_owned());
            }
            words.extend(tasks::words(task, &target.arguments));
        }
        None => {
            words.push(quoted(&source.name));
            if let Some(Value::Array(items)) = target.arguments.get("args") {
                words.extend(items.iter().map(tasks::word));
            }
        }
    }
    words.join(" ")
}

/// The same where it is a contract of a module.
pub(crate) fn of_module(options: &PlanOptions, contract: &Contract, path: &Path) -> Option<String> {
    let spec = recorded(contract);
    let target = &contract.plan().target;
    let mut words = module::run::typed(target, spec.as_deref())?;
    // What is named now comes in place of what was.
    if options.env_files.is_empty() {
        let files = module::run::env_files(target);
        files.into_iter().for_each(|file| option(&mut words, "--env-file", file));
    }
    words.extend(terms(options, contract));
    option(&mut words, "--dry-run -o", &path.display().to_string());
    Some(words.join(" "))
}

/// What was said about the contract itself.
fn terms(options: &PlanOptions, contract: &Contract) -> Vec<String> {
    let mut words = Vec::new();
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
    words
}

fn option(words: &mut Vec<String>, name: &str, value: &str) {
    words.extend([name.to_owned(), quoted(value)]);
}
