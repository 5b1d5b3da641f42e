//! The table of a fleet: how each target ended.

use opal_core::view::visible;
use opal_vault::event::{Event, Started};
use opal_vault::targets::TargetRow;

use super::State;
use super::alike::heading;
use crate::view::targets;

impl State {
    /// Says where the steps that follow run, where it is another machine than before. Lines of branches
    /// have the name themselves.
    pub(super) fn name_site(&mut self, step: &Started<'_>, event: &Event<'_>) {
        let site = match &event.alike {
            Some(alike) => Some(heading(&alike.names).into()),
            None => event.target.clone(),
        };
        let is_named = step.branch.is_some() && event.alike.is_none();
        if step.is_block || is_named || self.site == site {
            return;
        }
        self.site = site;
        self.release();
        self.in_sight = None;
        let prefix = step.branch.as_ref().map(|branch| self.prefix_of(branch)).unwrap_or_default();
        let place = self.site.as_deref().map_or_else(|| "this machine".to_owned(), visible::line);
        self.usual(|ink| format!("{prefix}{}", ink.mark(&format!("{place}:"))));
    }

    pub(super) fn targets(&mut self, rows: &[TargetRow]) {
        self.release();
        let table = targets::table(rows, self.ink);
        self.say(&table);
    }
}
