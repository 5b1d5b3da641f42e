//! A text whose lines are the items of a list, each in its own quotes: `'password: |-'`, then `'
//! …'`, as Ansible shows `stdout_lines`. The items may appear in one line or below each other.

use std::ops::Range;

use super::line::Kind;
use super::margin::{LONGEST, shape};
use super::scan::Scan;
use super::values::{Until, is_blank, is_quote, opening};

/// A key whose lines are the items after its own.
#[derive(Clone, Debug)]
pub(super) struct Items {
    /// What precedes its item, letter by letter.
    lead: Vec<u8>,
    /// How far in the key is, within its item.
    column: usize,
}

impl Items {
    /// Notes the items in a line that belong to the key. Gives where they have ended in it; nothing if
    /// they go on.
    pub(super) fn hide_below(&self, scan: &mut Scan<'_>) -> Option<usize> {
        let text = scan.text;
        let lead = text.get(..self.lead.len()).unwrap_or_default();
        let is_like = lead.iter().map(shape).eq(self.lead.iter().copied());
        if text.trim_ascii().is_empty() {
            None
        } else if is_like && self.own(text, lead.len()).is_some() {
            self.hide(scan, 0, lead.len())
        } else {
            Some(0)
        }
    }

    /// Notes the items from `at` on, and gives the same. `from` is where that begins which makes them
    /// secrets.
    fn hide(&self, scan: &mut Scan<'_>, from: usize, mut at: usize) -> Option<usize> {
        let text = scan.text;
        loop {
            let is_between = |byte: &&u8| is_blank(**byte) || **byte == b',';
            let next = at + text[at..].iter().take_while(is_between).count();
            if next == text.len() {
                scan.perhaps(from, at);
                return None;
            }
            let Some((said, until)) = self.own(text, next) else { return Some(at) };
            at = until.after(text, said.end);
            let is_cut = said.end == text.len();
            scan.find(from, said, until, true);
            if is_cut {
                return None;
            }
        }
    }

    /// What an item says that begins at `at`, if it is further in than the key, or empty.
    fn own(&self, text: &[u8], at: usize) -> Option<(Range<usize>, Until)> {
        let (until, inside) = opening(text, at)?;
        let blanks = text[inside..].iter().take_while(|byte| is_blank(**byte)).count();
        let start = inside + blanks;
        let is_empty = || opening(text, start).is_some_and(|(closing, _)| closing == until);
        // How far another item goes nobody has to know.
        let is_own = blanks > self.column || start == text.len() || is_empty();
        is_own.then(|| (start..until.end(text, start, false), until))
    }
}

impl Scan<'_> {
    /// The items after that of a key, whose sign for lines below it ends at `end`. Gives where to
    /// go on; nothing if the key is in no item.
    pub(super) fn items(&mut self, from: usize, key: usize, end: usize) -> Option<usize> {
        let text = self.text;
        let (_, after) = opening(text, self.skip_blanks(end))?;
        let is_margin = |byte: &&u8| is_blank(**byte) || **byte == b'-';
        let column = text[..key].iter().rev().take_while(is_margin).count();
        let (quote, before) = text[..key - column].split_last()?;
        if !is_quote(*quote) || text[after - 1] != *quote {
            return None;
        }
        let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        let lead = &before[..before.len() - slashes];
        let items = Items { lead: lead.iter().take(LONGEST).map(shape).collect(), column };
        let on = items.hide(self, from, after);
        if on.is_none() && !self.goes_on && lead.len() <= LONGEST {
            self.below = Some(Kind::Items(items));
        }
        Some(on.unwrap_or(text.len()))
    }
}
