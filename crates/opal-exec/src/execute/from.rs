//! Where a run begins that does not begin at the first step.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use opal_core::action::Halt;
use opal_core::plan::{Node, Plan, Step};
use opal_core::resolver::Trouble;
use opal_vault::event::Kind;

use super::Walk;
use super::here::Here;
use super::redirect::is_plain;
use super::resource::Fate;
use super::screen::lock;
use super::values::Values;
use super::walk::failed;
use opal_core::shell::{Movement, movement};

/// The path of the `n`th step that has no block, in the order of the plan, from 1.
#[must_use]
pub fn leaf(plan: &Plan, n: usize) -> Option<&str> {
    fn nth<'p>(steps: &'p [Step], left: &mut usize) -> Option<&'p str> {
        for step in steps {
            if let Some(found) = nth(&step.block, left) {
                return Some(found);
            }
            if is_leaf(step) {
                *left = left.checked_sub(1)?;
                if *left == 0 {
                    return Some(&step.path);
                }
            }
        }
        None
    }
    nth(&plan.steps, &mut { n })
}

pub(super) fn is_leaf(step: &Step) -> bool {
    !step.is_construct() && step.block.is_empty()
}

/// What stands before the first step to run.
#[derive(Debug, Default)]
pub(super) struct From<'p> {
    /// The step itself, and what is around it.
    around: BTreeSet<&'p str>,
    /// What ends before it, without what is inside.
    before: Vec<Before<'p>>,
    skipped: BTreeSet<&'p str>,
    first: Option<&'p str>,
    /// Whether the first step has been come to: what is tried again from then on runs as a whole.
    is_reached: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'p> {
    pub(super) step: &'p Step,
    /// What it stands in; none for the plan.
    pub(super) parent: Option<&'p Step>,
}

impl<'p> From<'p> {
    pub(super) fn new(plan: &'p Plan, path: Option<&str>) -> Self {
        let mut from = Self::default();
        if let Some(path) = path {
            from.find(&plan.steps, None, path);
        }
        from.skipped = from.before.iter().map(|before| &*before.step.path).collect();
        from
    }

    fn find(&mut self, steps: &'p [Step], parent: Option<&'p Step>, path: &str) -> bool {
        let known = self.before.len();
        for step in steps {
            let is_first = &*step.path == path;
            if is_first || self.find(&step.block, Some(step), path) {
                self.first = self.first.or(Some(&step.path));
                self.around.insert(&step.path);
                return true;
            }
            self.before.push(Before { step, parent });
        }
        self.before.truncate(known);
        false
    }

    pub(super) fn skips(&self, step: &Step) -> bool {
        !self.is_reached.load(Ordering::SeqCst) && self.skipped.contains(&*step.path)
    }

    /// Whether the first step is the step itself, or in it.
    pub(super) fn is_inside(&self, step: &Step) -> bool {
        self.around.contains(&*step.path)
    }

    /// Whether the run has still to begin, and does so in this step.
    pub(super) fn begins_in(&self, step: &Step) -> bool {
        !self.is_reached.load(Ordering::SeqCst) && self.is_inside(step)
    }

    /// The run has come to a step.
    pub(super) fn reach(&self, step: &Step) {
        if self.first == Some(&*step.path) {
            self.is_reached.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn is_found(&self) -> bool {
        !self.around.is_empty()
    }

    pub(super) fn before(&self) -> &[Before<'p>] {
        &self.before
    }
}

impl<'p> Walk<'p> {
    /// Notes that a step does not run. Where it is nothing but `cd DIR` it still moves.
    pub(super) fn skip(&'p self, step: &'p Step, here: &mut Here<'p>) -> Result<(), Halt> {
        if is_leaf(step) {
            lock(&self.tally).skipped();
            let (path, decorator) = (&*step.path, step.node.name());
            self.tell(Kind::Skipped { path, decorator, why: None }, here)?;
            self.note(step, Fate::Met);
            let fail = |trouble| self.hidden(failed(step, 1, trouble));
            let values = Values { known: self.job.values, lets: None };
            if let Movement::Only(directory) = moves(step, values).map_err(fail)? {
                let session = self.job.session;
                let found = session.directory(&here.directory, directory.expose(), false);
                let found = found.map_err(fail)?.into();
                here.previous = Some(std::mem::replace(&mut here.directory, found));
            }
            return Ok(());
        }
        let mut inner = here.clone();
        step.block.iter().try_for_each(|step| self.skip(step, &mut inner))?;
        if step.node == Node::Chain {
            (here.directory, here.previous) = (inner.directory, inner.previous);
        }
        Ok(())
    }
}

/// What a step does to the directory that it stands in.
pub(crate) fn moves(step: &Step, values: Values<'_>) -> Result<Movement, Trouble> {
    match step.command() {
        Some(pieces) if is_plain(step) && step.arg("workdir").is_none() => {
            Ok(movement(&values.script(pieces)?))
        }
        _ => Ok(Movement::Stays),
    }
}
