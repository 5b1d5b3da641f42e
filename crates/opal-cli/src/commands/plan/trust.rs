//! The policy here, and what it says about a run without a contract.

use std::collections::BTreeSet;
use std::path::PathBuf;

use opal_trust::keys::Credentials;
use opal_trust::policy::Policy;

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::rules;

/// `--require-signature`, with the key it names.
#[derive(Debug, Default)]
pub(crate) struct Required {
    pub(crate) signature: bool,
    pub(crate) key: Option<String>,
}

/// All rules that hold here.
pub(crate) fn policy(
    context: &Context<'_>,
    options: &PlanOptions,
    required: &Required,
    sources: &[PathBuf],
) -> Result<Policy, Failure> {
    let root = context.root(options.root.as_ref());
    let flags = match (required.signature, &required.key, &root) {
        (false, ..) => Policy::default(),
        (true, None, _) => Policy { require_signature: true, ..Policy::default() },
        (true, Some(key), Some(root)) => {
            let key = Credentials::new(root).public_key(key).map_err(Failure::key)?;
            Policy::requiring_signature(Some(key))
        }
        (true, Some(key), None) => {
            Policy::requiring_signature(Some(key.parse().map_err(Failure::key)?))
        }
    };
    rules::of(root.as_ref(), flags, sources)
}

/// Refuses a run that draws random values without a contract, where the rules say so.
pub(crate) fn may_draw(
    context: &Context<'_>,
    options: &PlanOptions,
    sources: &[PathBuf],
) -> Result<(), Failure> {
    let policy = policy(context, options, &Required::default(), sources)?;
    if policy.allows_random_values() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotTrusted,
        "the plan has random values, which the policy allows only in a contract",
        "make one with `opal plan TASK -o FILE`, and run it with `opal run --plan FILE`",
    ))
}

/// A run without a contract.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectRun<'d> {
    /// What a record calls it.
    pub(crate) target: &'d str,
    /// The functions that its steps call.
    pub(crate) functions: &'d BTreeSet<&'d str>,
    /// What is typed to plan it.
    pub(crate) words: &'d str,
}

/// Refuses a run without a contract, where the rules demand one.
pub(crate) fn may_run_directly(
    context: &Context<'_>,
    options: &PlanOptions,
    sources: &[PathBuf],
    run: DirectRun<'_>,
) -> Result<(), Failure> {
    let DirectRun { target, functions, words } = run;
    let policy = policy(context, options, &Required::default(), sources)?;
    if policy.allows_direct(target, functions) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::NotTrusted,
        format!("the policy requires a contract for `{target}`; nothing was run"),
        format!("make one with `{words}`, and run it with `opal run --plan FILE`"),
    ))
}
