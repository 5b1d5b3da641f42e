//! The resources of a contract: what is seen of them before its first step, and after its last.

use opal_core::contract::{self, Change, Earlier, Seen, Verdict};
use opal_core::placeholder::PlaceholderKey;
use opal_core::selection::Selection;
use opal_exec::execute;
use opal_exec::verify::{Direction, Report};
use opal_plan::plan::Resolved;
use opal_session::stop::Stop;
use opal_trust::contracts::Opened;
use opal_vault::Vault;
use opal_vault::record::reader;

use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::planning::{Outcome, Subject};
use crate::signals::Watched;
use crate::survey::{self, Look};
use crate::view;

/// What is seen of the resources now; none where looking was interrupted.
pub(crate) fn see(
    context: &Context<'_>,
    options: &PlanOptions,
    (subject, resolved): (&Subject<'_>, &Resolved),
    key: &PlaceholderKey,
    stop: &Stop,
) -> Result<Option<Vec<Seen>>, Failure> {
    let report = look(context, options, (subject, resolved), key, stop)?;
    Ok(report.map(|report| survey::seen(&report)))
}

fn look(
    context: &Context<'_>,
    options: &PlanOptions,
    (subject, resolved): (&Subject<'_>, &Resolved),
    key: &PlaceholderKey,
    stop: &Stop,
) -> Result<Option<Report>, Failure> {
    if !survey::has_resources(context, &resolved.plan) {
        return Ok(Some(Report::default()));
    }
    let vault = Vault::new();
    execute::register_planned(&vault, &resolved.plan, &resolved.showing);
    let (jobs, timeout, selection) = (None, None, Selection::default());
    let (vault, direction, key) = (&vault, Direction::Report, Some(key));
    let look = Look { subject, resolved, vault, stop, jobs, timeout, selection, direction, key };
    let report = look.take(context, options, &|_| {})?;
    Ok(Some(report).filter(|report| report.stopped.is_none()))
}

/// Whether the plan of today is the contract's, and the resources are as they were.
pub(crate) fn compare(
    context: &Context<'_>,
    options: &PlanOptions,
    (opened, key): (&Opened, &PlaceholderKey),
    fresh: (&Subject<'_>, &Resolved),
    watched: &Watched,
) -> Outcome<Verdict> {
    let mut verdict = contract::compare(&opened.contract, &fresh.1.plan);
    // Where it is another plan, its steps say nothing about those of the contract.
    if verdict.may_be_forced() {
        match look(context, options, fresh, key, watched.stop())? {
            Some(now) => {
                judge(context, options, &mut verdict, opened, &survey::seen(&now));
                explain(&mut verdict, &now);
            }
            None => {
                let ended = watched.cut_off("the look at its resources was cut off");
                return ended.unwrap_or(Ok(Exit::Source)).map(Err);
            }
        }
    }
    Ok(Ok(verdict))
}

/// Says of each resource that differs what was found.
fn explain(verdict: &mut Verdict, now: &Report) {
    let resources = verdict.differences.iter_mut().filter(|it| it.change == Change::Resource);
    for difference in resources {
        let found = now.verifications.iter().find(|it| Some(&it.path) == difference.path.as_ref());
        if let Some(found) = found {
            difference.words.push_str(&format!(": {}", found.message.text()));
        }
    }
}

/// Holds it against what the contract has seen, and what its earlier runs have left.
fn judge(
    context: &Context<'_>,
    options: &PlanOptions,
    verdict: &mut Verdict,
    opened: &Opened,
    now: &[Seen],
) {
    let algorithm = opened.contract.plan().algorithm;
    let earlier = || {
        let root = context.root(options.root.as_ref());
        let records = root.map(|root| reader::earlier(&root, opened.id, algorithm));
        match records {
            Some(Ok(earlier)) => earlier,
            // Who cannot be asked may know of a run.
            Some(Err(_)) => vec![Earlier::Unseen],
            None => Vec::new(),
        }
    };
    if !verdict.hold_resources(&opened.contract, now, earlier) {
        view::plan::note(
            "resources are not as they were, which an earlier run of this contract may have done: \
             it was cut off before anybody could look",
        );
    }
}
