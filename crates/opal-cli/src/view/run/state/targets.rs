//! The table of a fleet: how each target ended.

use opal_core::view::visible;
use opal_vault::event::{TargetEnd, TargetRow};

use super::super::super::table::Table;
use super::super::words::seconds;
use super::State;

/// Characters of a step in the table.
const MAX_STEP: usize = 60;

impl State {
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
                row.took.map(seconds).unwrap_or_default(),
            ]);
        }
        self.say(table.finish(|head| ink.faint(head)).trim_end());
    }
}
