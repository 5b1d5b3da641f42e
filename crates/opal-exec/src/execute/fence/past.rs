//! What a journal says about the steps of a target: how often each was begun, and how that ended.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use opal_core::journal::{Entry, What};

/// By path: the turns of each step that this run has not come to again.
#[derive(Debug, Default)]
pub(super) struct Past(BTreeMap<String, VecDeque<Turn>>);

/// A step was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The number of the entry that says that it was begun.
    first: u64,
    /// The number of the entry that says how it ended, and its code; none where nothing does.
    pub(super) end: Option<(u64, i32)>,
}

impl Past {
    /// A step that was begun twice without an end was lost in between, and repeated: that is one turn.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut past = Self::default();
        for Entry { number, path, what } in entries {
            let turns = past.0.entry(path.clone()).or_default();
            let open = turns.back_mut().filter(|turn| turn.end.is_none());
            match (what, open) {
                (What::Begun { .. }, None) => turns.push_back(Turn { first: *number, end: None }),
                (What::Ended { code }, Some(turn)) => turn.end = Some((*number, *code)),
                (What::Begun { .. }, Some(_)) | (What::Ended { .. }, None) => {}
            }
        }
        past
    }

    /// The next turn of a step: it is come to, and does not come again.
    pub(super) fn next(&mut self, path: &str) -> Option<Turn> {
        self.0.get_mut(path)?.pop_front()
    }

    /// Whether a step was begun that is inside of the one at this path.
    pub(super) fn has_inside(&self, path: &str) -> bool {
        let start = format!("{path}.");
        let from = self.0.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let mut inside = from.take_while(|(path, _)| path.starts_with(&start));
        inside.any(|(_, turns)| !turns.is_empty())
    }

    /// Whether the step at this path was begun, or one inside of it.
    pub(super) fn has(&self, path: &str) -> bool {
        self.0.get(path).is_some_and(|turns| !turns.is_empty()) || self.has_inside(path)
    }

    /// Forgets what began before an entry, at this path or inside of it.
    pub(super) fn forget(&mut self, path: &str, before: u64) {
        let start = format!("{path}.");
        let is_at_or_in = |it: &str| it == path || it.starts_with(&start);
        for (_, turns) in self.0.iter_mut().filter(|(path, _)| is_at_or_in(path)) {
            turns.retain(|turn| turn.first > before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+PATH` has begun, `-PATH CODE` has ended.
    fn past(lines: &[&str]) -> Past {
        let entries = lines.iter().zip(1..).map(|(line, number)| match line.split_once(' ') {
            Some((path, code)) => {
                let what = What::Ended { code: code.parse().unwrap() };
                Entry { number, path: path[1..].to_owned(), what }
            }
            None => {
                let what = What::Begun { marker: "m".into() };
                Entry { number, path: line[1..].to_owned(), what }
            }
        });
        Past::of(&entries.collect::<Vec<_>>())
    }

    #[test]
    fn each_turn_of_a_step_is_come_to_once() {
        let mut past = past(&["+a", "-a 1", "+b", "-b 0", "+a", "-a 0", "+c"]);
        assert_eq!(past.next("a"), Some(Turn { first: 1, end: Some((2, 1)) }));
        assert_eq!(past.next("a"), Some(Turn { first: 5, end: Some((6, 0)) }));
        assert_eq!(past.next("a"), None);
        assert_eq!(past.next("c"), Some(Turn { first: 7, end: None }));
        assert_eq!((past.next("c"), past.next("d")), (None, None));
    }

    #[test]
    fn a_step_that_was_lost_and_repeated_has_one_turn() {
        let mut past = past(&["+a", "+a", "-a 0", "-a 0", "+a"]);
        assert_eq!(past.next("a"), Some(Turn { first: 1, end: Some((3, 0)) }));
        assert_eq!(past.next("a"), Some(Turn { first: 5, end: None }));
        assert_eq!(past.next("a"), None);
    }

    #[test]
    fn what_is_inside_of_a_step_is_below_its_path() {
        let mut past = past(&["+a[0]", "+a[0].b", "-a[0].b 0", "+a[01].b", "+c"]);
        assert!(past.has_inside("a[0]") && past.has("a[0].b"));
        assert!(!past.has_inside("a[0].b") && !past.has_inside("a") && !past.has("a"));
        past.next("a[0].b");
        assert!(!past.has_inside("a[0]") && past.has("a[0]"));
    }

    #[test]
    fn what_a_skipped_block_has_done_is_forgotten_and_nothing_after_it() {
        let mut past =
            past(&["+a", "+a.b", "-a.b 1", "-a 1", "+a", "+a.b", "-a.b 0", "+a.c", "+ab"]);
        past.next("a");
        past.forget("a", 4);
        assert_eq!(past.next("a.b"), Some(Turn { first: 6, end: Some((7, 0)) }));
        assert_eq!(past.next("a.c"), Some(Turn { first: 8, end: None }));
        assert!(past.has("ab"));
    }
}
