//! Steps that `--only` or `--skip` leave out.
//!
//! A step that was not selected changes nothing. Where a selected step depends on it, it is verified:
//! what is missing or blocked there blocks the selected step, as it does in a verification.

use std::collections::BTreeSet;

use opal_core::action::Halt;
use opal_core::plan::Step;
use opal_core::resource::{self, Status};
use opal_vault::event::{Kind, NOT_SELECTED};

use super::from::is_leaf;
use super::here::Here;
use super::inputs::inputs;
use super::prepare::walk;
use super::resource::Fate;
use super::screen::lock;
use super::values::Values;
use super::walk::go_on;
use super::{Job, Walk};

impl Job<'_> {
    /// Whether a step is left out.
    pub(super) fn passes_over(&self, step: &Step) -> bool {
        is_leaf(step) && self.selected.is_some_and(|selected| !selected.contains(&step.path))
    }
}

impl<'p> Walk<'p> {
    pub(super) fn is_unselected(&self, step: &Step) -> bool {
        self.job.passes_over(step)
    }

    /// Skips a step, and notes what those that depend on it have to know.
    pub(super) fn pass_over(&'p self, step: &'p Step, here: &Here<'p>) -> Result<(), Halt> {
        go_on(&here.stop)?;
        lock(&self.tally).skipped();
        let (path, decorator) = (&*step.path, step.node.name());
        let why = Some(self.job.vault.scrub(NOT_SELECTED));
        self.tell(Kind::Skipped { path, decorator, why }, here)?;
        if self.is_prerequisite(step) {
            let fate = self.fate_of_unselected(step, here);
            self.note(step, fate);
        }
        Ok(())
    }

    /// Whether a selected step depends on it.
    fn is_prerequisite(&'p self, step: &Step) -> bool {
        let needed = self.needed.get_or_init(|| {
            let mut needed = BTreeSet::new();
            walk(&self.job.plan.steps, &mut |step| {
                if !self.is_unselected(step) {
                    needed.extend(resource::depends_on(step, self.job.values));
                }
            });
            needed
        });
        resource::id(step, self.job.values).is_some_and(|id| needed.contains(id))
    }

    fn fate_of_unselected(&self, step: &'p Step, here: &Here<'p>) -> Fate {
        let Some(described) = self.described(step) else { return Fate::Met };
        let values = Values { known: self.job.values, lets: Some(&here.lets) };
        let spot = (&*here.directory, &*here.environment);
        let found = inputs(step, described.descriptor, values)
            .and_then(|inputs| self.see(described, &inputs, spot, &here.stop));
        match found.map(|found| found.status) {
            Ok(Status::Missing) => Fate::Unselected(Status::Missing),
            Ok(Status::Blocked) | Err(_) => Fate::Unselected(Status::Blocked),
            Ok(Status::Satisfied | Status::Drifted | Status::Unknown) => Fate::Met,
        }
    }
}
