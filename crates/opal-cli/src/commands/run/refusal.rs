//! The record of a contract that was not run: every refusal leaves one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use opal_core::Value;
use opal_core::contract::approval::Approval;
use opal_core::contract::{Contract, Frame};
use opal_core::hash::Algorithm;
use opal_ops::contract::Refusal;
use opal_ops::planning::record_name;
use opal_vault::Vault;
use opal_vault::event::{Counts, Status};
use opal_vault::record::{self, Contract as Named, Drifted, Ending, Header, RunId};

pub(super) use opal_vault::record::Refusal as Kept;

use super::compare::Here;
use super::new_contract::new_contract;
use crate::commands::execute::recording;
use crate::commands::share::Share;
use crate::context::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::telemetry::Telemetry;
use crate::{planning, view};

/// Somebody asked for a contract to be run.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) asked: &'a Asked,
    pub(super) path: &'a Path,
    pub(super) bytes: &'a [u8],
    pub(super) approvals: &'a [Approval],
    /// The share of an order that it is run as.
    pub(super) share: Option<&'a Share>,
}

impl Attempt<'_> {
    /// Records a refusal, and says why.
    pub(super) fn refuse(
        &self,
        here: &Here<'_>,
        contract: &Contract,
        refusal: Refusal,
    ) -> Result<Exit, Failure> {
        let Self { context, asked, path, .. } = *self;
        let new_contract = || new_contract(context, &asked.plan, contract, here.source, path);
        let failure =
            Refused { path, own: None, again: &|| Some(new_contract()) }.failure(&refusal);
        let (kept, json) = (Some(contract), asked.plan.is_json());
        match &refusal {
            Refusal::NotPlannable { errors, code } => {
                let first = errors.first().map_or("", |error| &error.message);
                let message = format!("{refusal}: {first}");
                let why = Kept { reason: refusal.reason(), message };
                self.keep(kept, why, failure.exit, Vec::new());
                context.stages.end("plan");
                view::plan::no_plan(&here.found(errors), *code, &failure, json, context.err())
            }
            Refusal::Differs(compared) | Refusal::SourceChanged(compared) => {
                let new_contract = new_contract();
                let comparison = here.comparison(contract, compared, Some(&new_contract));
                let is_other_plan = matches!(refusal, Refusal::Differs(_));
                let failure =
                    if is_other_plan { view::plan::hinted(failure, &comparison) } else { failure };
                let drift = compared.verdict.differences.iter().map(Drifted::from).collect();
                let why = Kept { reason: refusal.reason(), message: failure.message.clone() };
                self.keep(kept, why, failure.exit, drift);
                view::plan::refuse(&comparison, &failure, json, context.err())
            }
            Refusal::Targets(found) => {
                let drift = found.iter().map(Drifted::from).collect();
                let why = Kept { reason: refusal.reason(), message: failure.message.clone() };
                self.keep(kept, why, failure.exit, drift);
                view::plan::targets(found, &failure, json, context.err())
            }
            _ => Err(self.refused(failure, kept)),
        }
    }

    /// Records a failure that refuses the contract, and hands it on.
    pub(super) fn refused(&self, failure: Failure, contract: Option<&Contract>) -> Failure {
        if let Some(reason) = failure.refusal {
            let why = Kept { reason, message: failure.message.clone() };
            self.keep(contract, why, failure.exit, Vec::new());
        }
        failure
    }

    /// That it cannot be kept changes nothing. A dry run refuses nothing.
    pub(super) fn keep(
        &self,
        contract: Option<&Contract>,
        why: Kept,
        exit: Exit,
        drift: Vec<Drifted>,
    ) {
        if self.asked.plan.dry_run {
            return;
        }
        self.context.reported.because(&why.message);
        let Some(root) = self.context.root(self.asked.plan.root.as_ref()) else { return };
        // Of a file that nobody could open, what it says about itself.
        let frame = Frame::read(self.bytes).ok();
        let source = contract.and_then(super::current::recorded);
        let file = self.path.file_name().map(|name| name.to_string_lossy());
        let target = match (contract, &frame) {
            (Some(contract), _) => {
                record_name(source.as_deref().unwrap_or(self.path), contract.plan())
            }
            (None, Some(frame)) => frame.target(),
            (None, None) => file.as_deref().unwrap_or_default(),
        };
        let said = frame.as_ref().map(Frame::header);
        let nothing = BTreeMap::<String, Value>::new();
        let start = planning::here().ok();
        let at = crate::clock::now();
        let header = Header {
            id: RunId::new(at, opal_trust::keys::name()),
            at,
            target,
            arguments: contract.map_or(&nothing, |contract| &contract.plan().target.arguments),
            algorithm: said.map_or(Algorithm::default(), |header| header.algorithm),
            plan_hash: said.map(|header| header.plan_hash),
            contract: Some(Named::new(
                Algorithm::Sha256.digest(&[self.bytes]),
                self.path.display().to_string(),
            )),
            limit: self.asked.plan.limit.clone(),
            drift,
            refusal: Some(why),
            directory: start.as_deref().map(recording::directory),
            place: start.as_deref().and_then(recording::place),
            commit: source.as_deref().and_then(planning::checked_out),
            source: None,
            host: Some(planning::host()),
            user: self.context.ambient.user.clone(),
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            trace_parent: self.context.ambient.trace_parent,
            is_round: false,
        };
        let ending = Ending {
            at,
            took: Duration::ZERO,
            status: Status::Refused,
            code: i32::from(exit.code()),
            counts: Counts::default(),
            failed: None,
            beside: Vec::new(),
            hidden: &[],
            resources: Vec::new(),
            fleets: &[],
            modified: source
                .as_ref()
                .and_then(|it| planning::is_modified(std::slice::from_ref(it))),
        };
        match record::refused(&root, header, &ending) {
            Ok(folder) => {
                // Settings that cannot be read refuse a run, and this one is refused already.
                let vault = Vault::new();
                let telemetry = Telemetry::of_run(self.context, self.asked, &vault).ok().flatten();
                telemetry.iter().for_each(|it| it.after(Some(&folder), self.context, self.asked));
            }
            Err(unwritten) => view::plan::note(&unwritten.to_string()),
        }
    }
}
