//! A plan that is to run, and what it runs under.

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::action::Halt;
use opal_core::hash::Digest;
use opal_core::placeholder::PlaceholderKey;
use opal_exec::execute::Outcome;
use opal_ops::contract::{Refusal, functions};
use opal_ops::planning::{Subject, record_name};
use opal_plan::plan::Resolved;
use opal_vault::Vault;
use opal_vault::ledger::{ClaimError, Ledger, ShareOf};
use opal_vault::record::reader::Run;
use opal_vault::record::{Contract, Drifted};

use super::keeper::Keeper;
use crate::commands::command_line;
use crate::commands::plan::trust::{self, DirectRun};
use crate::commands::share::{Fence, Share};
use crate::context::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::signals::Watched;
use crate::view;

/// A plan that is to run, and where it comes from.
#[derive(Debug)]
pub(crate) struct Errand<'e> {
    pub(crate) subject: &'e Subject<'e>,
    pub(crate) resolved: &'e Resolved,
    pub(crate) watched: &'e Watched,
    pub(crate) contract: Option<Held>,
    /// Of a contract that may run once.
    pub(crate) claim: Option<Claim>,
    /// The words that take it up again, where that can be.
    pub(crate) again: Option<String>,
    /// Who keeps it besides the record.
    pub(crate) keeper: Option<&'e dyn Keeper>,
    /// The share of an order that it is, and what keeps its targets from two runners.
    pub(crate) share: Option<(&'e Share, &'e Fence<'e>)>,
}

/// The contract that a plan is run under.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) named: Contract,
    /// In what it is no longer true.
    pub(crate) drift: Vec<Drifted>,
    /// What its placeholders are keyed with.
    pub(crate) key: PlaceholderKey,
    /// The paths of steps whose objects it saw missing.
    pub(crate) missing: BTreeSet<Box<str>>,
}

/// The one run of a single-use contract.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) contract: Digest,
    /// The run of it that is continued.
    pub(crate) resumed: Option<Run>,
    /// Its file, as it was named.
    pub(crate) file: String,
    /// The command that makes a new one.
    pub(crate) new_contract: String,
}

impl Errand<'_> {
    /// Whether the policy lets it run, where no contract is there to say so.
    pub(super) fn is_allowed(&self, context: &Context<'_>, asked: &Asked) -> Result<(), Failure> {
        if self.contract.is_some() {
            return Ok(());
        }
        let loaded = self.subject.loaded;
        let target = record_name(&loaded.path, &self.resolved.plan);
        let words = match self.keeper {
            Some(_) => "opal module apply REF --dry-run -o FILE".to_owned(),
            None => command_line::plan(context, self.subject),
        };
        let functions = functions(&self.resolved.plan);
        let run = DirectRun { target, functions: &functions, words: &words };
        trust::may_run_directly(context, &asked.plan, &loaded.policed(), run)
            .map_err(|failure| self.abandoned(failure))
    }

    /// The last that may stand in the way.
    pub(super) fn set_off(&self, context: &Context<'_>, asked: &Asked) -> Result<(), Failure> {
        let share = self.share.map(|(share, _)| share);
        self.claim.as_ref().map_or(Ok(()), |it| it.make(context, asked, share))?;
        self.keeper.map_or(Ok(()), Keeper::set_off)
    }

    /// What is kept of its end, so that a share that has come to it is not run again.
    pub(super) fn has_ended(
        &self,
        context: &Context<'_>,
        asked: &Asked,
        outcome: &Outcome,
        vault: &Vault,
    ) {
        let Some((share, _)) = self.share else { return };
        share.ended(&outcome.fleets, vault);
        let is_cut_off = matches!(outcome.halt, Some(Halt::Stopped(_) | Halt::Unrecorded));
        let Some(claim) = self.claim.as_ref().filter(|_| !is_cut_off) else { return };
        let Some(root) = context.root(asked.plan.root.as_ref()) else { return };
        let (contract, of) = (claim.contract, share.of());
        let (order, number) = (of.order.to_owned(), of.number);
        share.at_end(move || {
            let share = ShareOf { order: &order, number };
            if let Err(ClaimError::Root(error)) = Ledger::new(&root).end_share(&contract, share) {
                view::plan::note(&error.to_string());
            }
        });
    }

    /// Nothing runs, and whoever was told that something would hears why.
    pub(super) fn abandoned(&self, failure: Failure) -> Failure {
        self.keeper.inspect(|keeper| keeper.abandon(&failure.message));
        failure
    }
}

impl Claim {
    /// Marks the contract as used. Nothing has run yet.
    fn make(
        &self,
        context: &Context<'_>,
        asked: &Asked,
        share: Option<&Share>,
    ) -> Result<(), Failure> {
        let root = context.needed_root(asked.plan.root.as_ref())?;
        let ledger = Ledger::new(&root);
        let claimed = match (share, &self.resumed) {
            (Some(share), _) => ledger.claim_share(&self.contract, share.of()),
            (None, Some(run)) => ledger.claim_continuation(&self.contract, &run.id),
            (None, None) => ledger.claim(&self.contract),
        };
        claimed.map_err(|error| match error {
            ClaimError::AlreadyUsed => {
                let again = || Some(self.new_contract.clone());
                Refused { path: Path::new(&self.file), own: None, again: &again }
                    .failure(&Refusal::Used)
            }
            ClaimError::Root(error) => {
                let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
                Failure::new(exit, error.to_string(), error.help())
                    .help("a single-use contract needs a directory for its record")
            }
        })
    }
}
