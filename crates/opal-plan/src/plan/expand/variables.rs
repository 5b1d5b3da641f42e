//! Setting variables, and taking it back where assignments stay inside.

use opal_core::Code;

use crate::plan::demand::Stop;
use crate::plan::graph::Cell;
use crate::plan::planner::Planner;
use crate::plan::scoped::Slot;

/// A variable and what it was.
#[derive(Debug)]
pub(in crate::plan) struct Change {
    frame: usize,
    slot: Slot,
    old: Option<Cell>,
}

impl Change {
    pub(super) fn slot(&self) -> Slot {
        self.slot
    }
}

impl Planner<'_> {
    pub(super) fn set(&mut self, slot: Slot, value: Cell) {
        let frame = self.frames.len().saturating_sub(1);
        let place = match slot {
            Slot::Local(index) => self.frames.last_mut().and_then(|f| f.get_mut(index as usize)),
            Slot::Global(index) => self.globals.get_mut(index as usize),
        };
        if let Some(place) = place {
            let old = place.replace(value);
            if self.copies > 0 {
                self.journal.push(Change { frame, slot, old });
            }
        }
    }

    /// The same for a declaration.
    pub(super) fn declare(&mut self, slot: Slot, value: Cell) {
        if let Slot::Global(index) = slot {
            self.declared[index as usize] = Some(value.clone());
        }
        self.set(slot, value);
    }

    /// Gives top-level variables the values of their declarations, where they have none yet. That
    /// is not an assignment: it holds outside of the block in which it was first needed.
    pub(super) fn declare_globals(&mut self, wanted: &[u32]) {
        // Whichever block needs it first, it is a value of opal's machine and of no block.
        let (target, around) = (self.target.take(), self.around.take());
        for index in wanted {
            let at = *index as usize;
            if self.globals[at].is_none()
                && let Some(value) = self.program.globals[at].clone()
            {
                let value = self.eval(&value);
                self.declared[at] = Some(value.clone());
                self.globals[at] = Some(value);
            }
        }
        (self.target, self.around) = (target, around);
    }

    /// Runs `body` with variables whose assignments stay inside.
    pub(super) fn inside<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<(T, Vec<Slot>), Stop> {
        let (mark, frames) = (self.journal.len(), self.frames.len());
        self.copies += 1;
        let given = body(self);
        self.copies -= 1;
        self.frames.truncate(frames);
        let here = frames.saturating_sub(1);
        let mut changed = Vec::new();
        for change in self.journal.split_off(mark).into_iter().rev() {
            if change.frame == here || matches!(change.slot, Slot::Global(_)) {
                changed.push(change.slot);
            }
            let place = match change.slot {
                Slot::Local(index) => {
                    self.frames.get_mut(change.frame).and_then(|f| f.get_mut(index as usize))
                }
                Slot::Global(index) => self.globals.get_mut(index as usize),
            };
            if let Some(place) = place {
                *place = change.old;
            }
        }
        Ok((given?, changed))
    }

    /// Plans what may never run: what is missing there is no reason to fail. The words for what
    /// keeps it from being planned, if something does.
    pub(super) fn perhaps(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(Vec<Slot>, Option<String>), Stop> {
        let (errors, ahead) = (self.errors.len(), self.ahead.len());
        let (depth, open) = (self.depth, self.open);
        self.perhaps += 1;
        let outcome = self.inside(|this| Ok(body(this)))?;
        self.perhaps -= 1;
        let (planned, changed) = outcome;
        if planned.is_ok() {
            return Ok((changed, None));
        }
        let found = self.errors.split_off(errors);
        if found.iter().any(|error| error.code == Code::TooManySteps) {
            self.errors.extend(found);
            return Err(Stop);
        }
        self.depth = depth;
        self.open = open;
        self.ahead.truncate(ahead);
        Ok((changed, found.first().map(|error| error.message.clone())))
    }
}
