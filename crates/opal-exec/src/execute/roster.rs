//! Which targets of a fleet take part in a run, and where each begins.
//!
//! A run that is resumed skips the targets that ended well, and continues the others where they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use opal_core::Data;
use opal_core::action::Fleet;
use opal_core::gather::Gather as _;
use opal_core::plan::{ChainOperator, Key, Plan, Step};
use opal_core::unready::Unready;
use opal_vault::targets::{FleetTable, TargetEnd, TargetRow};

use super::actor::Actor;
use super::resume::{From, begins, together_in};
use super::values::Values;
use crate::spot::member_block;
use crate::threads::lock;

/// What a target does in a run.
pub(super) enum Part<'p> {
    Runs(Arc<From<'p>>),
    /// It ended well in the run that is resumed.
    Earlier(TargetRow),
}

impl<'p> Actor<'_, 'p> {
    /// The parts of all targets, in the order of the plan.
    pub(super) fn parts(&self, fleet: &Fleet) -> Vec<Part<'p>> {
        let (walk, step) = (self.walk, self.begun.step);
        // Once: what is tried again runs on all of them.
        let earlier = lock(&walk.earlier).remove(&*step.path);
        let rows = earlier.map(|table| table.rows.as_slice()).unwrap_or_default();
        let rows: BTreeMap<&str, &TargetRow> = rows.iter().map(|row| (&*row.name, row)).gathered();
        let part = |name: &str| match rows.get(name) {
            None => Part::Runs(Arc::new(self.here.from.apart())),
            Some(row) if row.end == TargetEnd::Ok => {
                let (step, message) = (None, None);
                Part::Earlier(TargetRow {
                    step,
                    message,
                    took: None,
                    is_earlier: true,
                    ..(*row).clone()
                })
            }
            Some(row) => {
                let block = member_block(step, name);
                let path = row.continued_at().and_then(|path| together_in(block, path));
                Part::Runs(Arc::new(From::of(block, path)))
            }
        };
        let parts = fleet.crossings.iter().map(|it| part(it.target.name.as_str())).collect();
        self.here.from.reach_in(step);
        parts
    }
}

/// The tables of an earlier run that its continuation goes by: those of fleets that are right in part.
/// What one writes into a pipe or a file would have no beginning.
#[must_use]
pub fn continued(plan: &Plan, tables: Vec<FleetTable>) -> Vec<FleetTable> {
    let mut whole = BTreeSet::new();
    find_whole(&plan.steps, false, &mut whole);
    tables.into_iter().filter(|table| !whole.contains(&*table.path)).collect()
}

fn find_whole<'p>(steps: &'p [Step], is_whole: bool, into: &mut BTreeSet<&'p str>) {
    for step in steps {
        let pipes = step.operators().contains(&ChainOperator::Pipe);
        let is_whole = is_whole || pipes || !step.redirects.is_empty();
        if is_whole {
            into.insert(&step.path);
        }
        find_whole(&step.block, is_whole, into);
    }
}

/// Whether every target can be continued.
#[must_use]
pub fn can_continue(plan: &Plan, values: &BTreeMap<Key, Data>, tables: &[FleetTable]) -> bool {
    unready(plan, values, tables).is_empty()
}

/// Why targets cannot be continued where they ended: the first one for each step.
pub(super) fn unready(
    plan: &Plan,
    values: &BTreeMap<Key, Data>,
    tables: &[FleetTable],
) -> Vec<Unready> {
    let mut found = Vec::new();
    for table in tables {
        let Some(fleet) = plan.step(&table.path) else { continue };
        let mut known = BTreeSet::new();
        for row in &table.rows {
            let Some(path) = row.continued_at().filter(|path| known.insert(*path)) else {
                continue;
            };
            let block = member_block(fleet, &row.name);
            let path = together_in(block, path).unwrap_or(path);
            found.extend(begins(block, Values::before(values).of(Some(&row.name)), path));
        }
    }
    found
}
