//! What an apply would do about each resource, from a verification alone.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::gather::Gather as _;
use opal_core::plan::{Mode, Step};
use opal_core::resource::{self, Status, runs_command};
use opal_exec::verify::Report;
use opal_plan::plan::Resolved;
use opal_vault::verification::Verification;

/// What an apply would do about a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it is in the desired state.
    Skip,
    Create,
    Correct,
    /// Nobody can tell: it runs.
    Run,
    /// A quick plan leaves open what it uses.
    Open,
    /// It cannot be verified yet: it waits for what it depends on, and is verified and applied then.
    Wait,
    /// It would fail, or what it depends on would.
    Blocked,
}

impl Effect {
    pub const ALL: [Self; 7] =
        [Self::Create, Self::Correct, Self::Run, Self::Skip, Self::Blocked, Self::Wait, Self::Open];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Create => "create",
            Self::Correct => "correct",
            Self::Run => "run",
            Self::Open => "unknown",
            Self::Wait => "wait",
            Self::Blocked => "blocked",
        }
    }
}

/// What an apply would do, in the order of the report.
#[must_use]
pub fn effects(resolved: &Resolved, report: &Report) -> Vec<Effect> {
    let mut left_open = BTreeSet::new();
    let is_quick = resolved.plan.mode == Mode::Quick;
    leave_open(&resolved.plan.steps, is_quick, false, &mut left_open);
    let effect = |it: &Verification| match it.status {
        Status::Unknown if left_open.contains(&*it.path) => Effect::Open,
        _ => effect(it),
    };
    let selected: BTreeSet<&str> = report.verifications.iter().map(|it| &*it.path).collect();
    // What it depends on is not selected, and so stays missing or blocked.
    let is_cut_off = |it: &Verification| it.unmet.iter().any(|path| !selected.contains(&**path));
    let effect = |it: &Verification| if is_cut_off(it) { Effect::Blocked } else { effect(it) };
    let mut effects: Vec<Effect> = report.verifications.iter().map(effect).collect();
    let dependents = dependents(resolved, report);
    let is_blocked = |index: &usize| effects[*index] == Effect::Blocked;
    let mut open: Vec<usize> = (0..effects.len()).filter(is_blocked).collect();
    while let Some(index) = open.pop() {
        for &other in &dependents[index] {
            // What is in the desired state stays so, whatever happens to others.
            if !matches!(effects[other], Effect::Blocked | Effect::Skip) {
                effects[other] = Effect::Blocked;
                open.push(other);
            }
        }
    }
    effects
}

/// The paths of what a quick plan left open, and of all that is in it.
fn leave_open<'p>(steps: &'p [Step], is_quick: bool, around: bool, found: &mut BTreeSet<&'p str>) {
    for step in steps {
        let is_open = around || step.is_left_open() || is_quick && runs_command(step);
        if is_open {
            found.insert(&step.path);
        }
        leave_open(&step.block, is_quick, is_open, found);
    }
}

fn effect(found: &Verification) -> Effect {
    match (found.status, &found.blocked) {
        _ if found.refusal.is_some() => Effect::Blocked,
        (Status::Satisfied, _) => Effect::Skip,
        (Status::Missing, _) => Effect::Create,
        (Status::Drifted, _) => Effect::Correct,
        (Status::Unknown, _) => Effect::Run,
        (Status::Blocked, Some(blocked)) if blocked.by_prerequisite => Effect::Wait,
        (Status::Blocked, _) => Effect::Blocked,
    }
}

/// Who depends on each.
fn dependents(resolved: &Resolved, report: &Report) -> Vec<Vec<usize>> {
    let all = report.verifications.iter().enumerate();
    let places: BTreeMap<&str, usize> = all.map(|(index, it)| (&*it.path, index)).gathered();
    let steps = resolved.plan.all_steps();
    let found = steps.filter_map(|step| Some((*places.get(&*step.path)?, step)));
    let found: Vec<(usize, &Step)> = found.collect();
    let values = &resolved.secrets;
    let id =
        |(index, step): &(usize, &'_ Step)| Some((resource::id(step, values)?.to_owned(), *index));
    let ids: BTreeMap<String, usize> = found.iter().filter_map(id).gathered();
    let mut dependents = vec![Vec::new(); report.verifications.len()];
    for (index, step) in &found {
        for wanted in resource::depends_on(step, values) {
            if let Some(&before) = ids.get(wanted) {
                dependents[before].push(*index);
            }
        }
    }
    dependents
}

#[cfg(test)]
mod tests;
