//! The plan of now, made with the keys of a contract.

use std::collections::BTreeSet;

use opal_core::contract::{Difference, Drift};
use opal_core::selection::Selection;
use opal_core::{Code, Diagnostic};
use opal_plan::plan::{Purpose, Resolved, Unplanned};
use opal_trust::contracts::Opened;

use super::{News, Now, Part, Refusal, Stopped, Undecided};
use crate::planning::{Aim, Subject, permits_skips};
use crate::targets;

/// The plan of now.
pub(super) struct Again {
    pub(super) fresh: Resolved,
    /// The targets that it is for, where those are not all.
    pub(super) limit: Option<String>,
    /// Machines that do not answer, and that it does without.
    pub(super) missing: Vec<Difference>,
}

/// Plans again. Where that is forced, fleets do without machines that do not answer and whose values would
/// be needed.
pub(super) fn plan(
    opened: &mut Opened,
    now: &Now<'_>,
    is_forced: bool,
    tell: &dyn Fn(News<'_>),
) -> Result<Again, Stopped> {
    let (mut limit, mut missing) = (now.limit.map(str::to_owned), Vec::new());
    let mut omitted = BTreeSet::new();
    loop {
        let narrowed = Now { limit: limit.as_deref(), ..*now };
        let refusal = match plan_again(opened, &narrowed, tell) {
            Ok(fresh) => return Ok(Again { fresh, limit, missing }),
            Err(Stopped::Refused(refusal)) => refusal,
            Err(stopped) => return Err(stopped),
        };
        let Some(reach) = now.place.reach.as_deref() else { return Err(refusal.into()) };
        let found = targets::refused(reach).map_err(|key| Refusal::HostKey(key.0))?;
        let names = targets::omitted(&found);
        let is_missing = found.iter().all(|it| it.code == Drift::InfraMissing);
        // Only fleets can do without a target.
        if !is_forced || !is_missing || names.is_subset(&omitted) {
            return Err(if found.is_empty() { refusal } else { Refusal::Targets(found) }.into());
        }
        let left: Vec<&str> = names.iter().map(String::as_str).collect();
        limit = Some(format!("{}:!{}", now.limit.unwrap_or("all"), left.join(":!")));
        (missing, omitted) = (found, names);
    }
}

/// Plans what the contract has planned, with the contract's keys.
fn plan_again(
    opened: &mut Opened,
    now: &Now<'_>,
    tell: &dyn Fn(News<'_>),
) -> Result<Resolved, Stopped> {
    let planned = opened.contract.plan();
    let subject = Subject::of_plan(now.source, planned);
    let moved = now.source.source_hash(planned.algorithm) != planned.source_hash;
    let is_older = opened.contract.is_older();
    let purpose = if is_older { Purpose::OldContract } else { Purpose::Contract };
    let may_skip = permits_skips(planned);
    let selection = Selection { limit: now.limit, ..Selection::default() };
    let algorithm = planned.algorithm;
    let aim = Aim { algorithm, purpose, selection, may_skip };
    let fresh = subject.examine(now.registry).map_err(Unplanned::Errors).and_then(|examined| {
        if examined.elsewhere > 0 {
            tell(News::Elsewhere(examined.elsewhere, &subject));
        }
        subject.resolve(now.registry, &examined.program, aim, now.probe, &mut opened.keys)
    });
    match fresh {
        Ok(resolved) => {
            tell(News::Planned(&resolved));
            Ok(resolved)
        }
        Err(Unplanned::Key(error)) => Err(Undecided::Key(error).into()),
        Err(Unplanned::Errors(_)) if now.stop.why().is_some() => {
            Err(Undecided::CutOff(Part::Planning).into())
        }
        Err(Unplanned::Errors(errors)) => {
            let code = drift(&errors, moved);
            Err(Refusal::NotPlannable { errors, code }.into())
        }
    }
}

/// Why there is no plan now: what is gone, or else the source.
fn drift(errors: &[Diagnostic], moved: bool) -> Drift {
    if errors.iter().any(|error| error.code == Code::ValueUnreachable) {
        return Drift::InfraMissing;
    }
    let missing = errors.iter().find(|error| error.code == Code::ValueMissing);
    match missing.and_then(|error| error.unread) {
        Some(decorator) => Drift::of_missing(decorator),
        None if moved => Drift::SourceChanged,
        None => Drift::ValueChanged,
    }
}
