//! The table of a fleet: how each target ended.

use std::sync::Arc;

use opal_core::view::visible;
use opal_vault::event::{Started, TargetEnd, TargetRow};

use super::super::super::table::Table;
use super::super::words::time;
use super::State;

/// Characters of a step in the table.
const MAX_STEP: usize = 60;

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
        let ink = self.ink;
        let mut table = Table::new(["TARGET", "STATUS", "STEP", "CODE", "TIME"]);
        for row in rows {
            let end = row.end.name();
            let end = match row.end {
                TargetEnd::Ok => ink.good(end),
                TargetEnd::Skipped => ink.faint(end),
                TargetEnd::Failed | TargetEnd::Unreachable | TargetEnd::Lost => ink.error(end),
            };
            // Of one that was not reached, why.
            let what = row.step.as_ref().or(row.message.as_ref());
            table.row([
                visible::line(&row.name.text()),
                end,
                what.map(|text| visible::brief(&text.text(), MAX_STEP)).unwrap_or_default(),
                row.code.map(|code| code.to_string()).unwrap_or_default(),
                row.took.map(time).unwrap_or_default(),
            ]);
        }
        self.say(table.finish(|head| ink.faint(head)).trim_end());
    }
}
