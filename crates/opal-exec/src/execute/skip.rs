//! Steps that do not run: those before the first one, and those that `--only` or `--skip` leave out.
//!
//! A step that was not selected changes nothing. Where a selected step depends on it, it is verified:
//! what is missing or blocked there blocks the selected step, as it does in a verification.

use std::collections::BTreeSet;

use opal_core::action::Halt;
use opal_core::plan::{Node, Step};
use opal_core::resource::{self, Status};
use opal_core::shell::Movement;
use opal_vault::event::{Kind, NOT_SELECTED};

use super::chain::pipelines;
use super::context::Context;
use super::fates::Fate;
use super::halts::{failed, go_on};
use super::inputs::inputs;
use super::run::Walk;
use super::steps::moves;
use super::values::Values;
use crate::threads::lock;

impl<'p> Walk<'p> {
    /// Notes that a step does not run. Where it is nothing but `cd DIR` it still moves.
    pub(super) fn skip(&'p self, step: &'p Step, here: &mut Context<'p>) -> Result<(), Halt> {
        if step.is_leaf() {
            lock(&here.ledger.tally).skipped();
            let (path, decorator) = (&*step.path, step.node.name());
            self.tell(Kind::Skipped { path, decorator, why: None }, here)?;
            self.note(step, Fate::Met, here);
            let fail = |it, here: &Context<'p>| self.hidden(step, here, failed(step, 1, it));
            let values = Values::before(self.job.values).of(here.member());
            if let Movement::Only(directory) = moves(step, values).map_err(|it| fail(it, here))? {
                let session = here.session(self.job);
                let found =
                    session.directory(&here.directory, directory.expose(), false, &here.stop);
                let found = found.map_err(|it| fail(it, here))?.into();
                here.previous = Some(std::mem::replace(&mut here.directory, found));
            }
            return Ok(());
        }
        // What is tried again after this runs on all targets.
        lock(&self.earlier).remove(&*step.path);
        if step.node != Node::Chain {
            let mut inner = here.clone();
            return step.block.iter().try_for_each(|step| self.skip(step, &mut inner));
        }
        // A run does not begin after a chain of which it is unknown which operands run.
        pipelines(step).try_for_each(|(_, operands)| match operands {
            [operand] => self.skip(operand, here),
            operands => operands.iter().try_for_each(|it| self.skip(it, &mut here.clone())),
        })
    }

    pub(super) fn is_unselected(&self, step: &Step) -> bool {
        self.job.passes_over(step)
    }

    /// Skips a step, and notes what those that depend on it have to know.
    pub(super) fn pass_over(&'p self, step: &'p Step, here: &Context<'p>) -> Result<(), Halt> {
        go_on(&here.stop)?;
        lock(&here.ledger.tally).skipped();
        let (path, decorator) = (&*step.path, step.node.name());
        let why = Some(self.job.vault.scrub(NOT_SELECTED));
        self.tell(Kind::Skipped { path, decorator, why }, here)?;
        if self.is_prerequisite(step) {
            let fate = self.fate_of_unselected(step, here);
            self.note(step, fate, here);
        }
        Ok(())
    }

    /// Whether a selected step depends on it.
    fn is_prerequisite(&'p self, step: &Step) -> bool {
        let needed = self.needed.get_or_init(|| {
            let mut needed = BTreeSet::new();
            for step in self.job.plan.all_steps() {
                if !self.is_unselected(step) {
                    needed.extend(resource::depends_on(step, self.job.values));
                }
            }
            needed
        });
        resource::id(step, self.job.values).is_some_and(|id| needed.contains(id))
    }

    fn fate_of_unselected(&self, step: &'p Step, here: &Context<'p>) -> Fate {
        let Some(described) = self.described(step) else { return Fate::Met };
        let values = here.values(self.job);
        let found = inputs(step, described.descriptor, values)
            .and_then(|inputs| self.see(described, &inputs, &here.spot(), &here.stop));
        match found.map(|found| found.status) {
            Ok(Status::Missing) => Fate::Unselected(Status::Missing),
            Ok(Status::Blocked) | Err(_) => Fate::Unselected(Status::Blocked),
            Ok(Status::Satisfied | Status::Drifted | Status::Unknown) => Fate::Met,
        }
    }
}
