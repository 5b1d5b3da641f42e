//! The table of a fleet: how each target ended.

use std::sync::Arc;

use opal_core::view::visible;
use opal_vault::event::Started;
use opal_vault::targets::TargetRow;

use super::State;
use crate::view::targets;

impl State {
    /// Says where the steps that follow run, where it is another machine than before. Lines of branches
    /// have the name themselves.
    pub(super) fn name_site(&mut self, step: &Started<'_>, target: Option<&Arc<str>>) {
        if step.is_block || step.branch.is_some() || self.site.as_ref() == target {
            return;
        }
        self.site = target.cloned();
        self.release();
        self.in_sight = None;
        let place = target.map_or_else(|| "this machine".to_owned(), |name| visible::line(name));
        self.usual(|ink| ink.mark(&format!("{place}:")));
    }

    pub(super) fn targets(&mut self, rows: &[TargetRow]) {
        self.release();
        let table = targets::table(rows, self.ink);
        self.say(&table);
    }
}
