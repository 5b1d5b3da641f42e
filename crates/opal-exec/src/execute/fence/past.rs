//! What a journal says about the steps of a target: which were begun, and how that ended.

use std::collections::BTreeMap;
use std::ops::Bound;

use opal_core::journal::{Entry, What};

/// The number of the entry that says how a step ended, and its code.
pub(super) type Ended = (u64, i32);

/// The steps that were begun and that this run has not come to, by name: how they ended, where anything says
/// so.
#[derive(Debug, Default)]
pub(super) struct Past(BTreeMap<String, Option<Ended>>);

impl Past {
    /// A resource that was begun twice was verified again in between: what ended it last counts.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut past = Self::default();
        for Entry { number, path: name, what } in entries {
            let ended = past.0.entry(name.clone()).or_default();
            if let What::Ended { code } = what {
                *ended = Some((*number, *code));
            }
        }
        past
    }

    /// The run comes to a step: how it ended, where it was begun.
    pub(super) fn come_to(&mut self, name: &str) -> Option<Option<Ended>> {
        self.0.remove(name)
    }

    /// Whether a step was begun that is inside of the one with this name, in any attempt.
    pub(super) fn has_inside(&self, name: &str) -> bool {
        // `#` begins an attempt and `.` a step; `/` comes after both.
        let (start, end) = (format!("{name}#"), format!("{name}/"));
        let between = (Bound::Included(start.as_str()), Bound::Excluded(end.as_str()));
        self.0.range::<str, _>(between).any(|(it, _)| it[name.len()..].starts_with(['#', '.']))
    }

    /// Whether the step was begun, or one inside of it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name) || self.has_inside(name)
    }

    /// Forgets a step and what is inside of it, in all attempts.
    pub(super) fn forget(&mut self, name: &str) {
        self.0.retain(|it, _| {
            let rest = it.strip_prefix(name);
            !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '#']))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `+NAME` has begun, `-NAME CODE` has ended.
    fn past(lines: &[&str]) -> Past {
        let entries = lines.iter().zip(1..).map(|(line, number)| match line.split_once(' ') {
            Some((name, code)) => {
                let what = What::Ended { code: code.parse().unwrap() };
                Entry { number, path: name[1..].to_owned(), what }
            }
            None => {
                let what = What::Begun { marker: "m".into() };
                Entry { number, path: line[1..].to_owned(), what }
            }
        });
        Past::of(&entries.collect::<Vec<_>>())
    }

    #[test]
    fn each_step_is_come_to_once() {
        let mut past = past(&["+a", "-a 1", "+b", "-b 0", "+r#2.a", "-r#2.a 0", "+c"]);
        assert_eq!(past.come_to("a"), Some(Some((2, 1))));
        assert_eq!(past.come_to("a"), None);
        assert_eq!(past.come_to("r#2.a"), Some(Some((6, 0))));
        assert_eq!(past.come_to("c"), Some(None));
        assert_eq!((past.come_to("c"), past.come_to("d")), (None, None));
    }

    #[test]
    fn a_step_that_was_verified_again_ended_as_its_last_entry_says() {
        let mut past = past(&["+a", "+a", "-a 0"]);
        assert_eq!(past.come_to("a"), Some(Some((3, 0))));
        assert_eq!(past.come_to("a"), None);
    }

    #[test]
    fn what_is_inside_of_a_step_is_below_its_name() {
        let mut past = past(&["+a[0]", "+a[0].b", "-a[0].b 0", "+a[01].b", "+c", "+t[0]#2.x"]);
        assert!(past.has_inside("a[0]") && past.has("a[0].b"));
        assert!(!past.has_inside("a[0].b") && !past.has_inside("a") && !past.has("a"));
        assert!(past.has_inside("t[0]#2") && past.has_inside("t[0]") && !past.has_inside("t"));
        past.come_to("a[0].b");
        assert!(!past.has_inside("a[0]") && past.has("a[0]"));
    }

    #[test]
    fn a_step_is_forgotten_with_all_that_is_inside_of_it_and_nothing_beside_it() {
        let mut past = past(&["+a", "+a.b", "+a.r[0]#2.c", "+a#2.b", "+ab", "+a[1]"]);
        past.forget("a");
        assert_eq!(past.0.keys().collect::<Vec<_>>(), ["a[1]", "ab"]);
    }
}
