//! Rounds that the task itself causes, by files that it writes.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use opal_session::watching::Change;

/// So many rounds in so long are too many.
const MAX_ROUNDS: usize = 10;
const WINDOW: Duration = Duration::from_secs(20);

/// The times of files are those of the last tick of the system's clock.
const SLACK_NANOS: i64 = 20_000_000;

#[derive(Debug, Default)]
pub(super) struct Own {
    /// When the last round began and ended: nanoseconds of Unix time.
    ran: Option<(i64, i64)>,
    /// Rounds that the task has caused, with the files.
    caused: VecDeque<(Instant, Vec<Box<str>>)>,
}

impl Own {
    pub(super) fn ran(&mut self, began: i64, ended: i64) {
        self.ran = Some((began, ended));
    }

    /// The files that the task writes, where too many rounds in a row were caused by them.
    pub(super) fn caused(
        &mut self,
        changes: &[Change],
        now: Instant,
    ) -> Option<BTreeSet<Box<str>>> {
        let (began, ended) = self.ran?;
        let is_own = |change: &Change| {
            let while_it_ran = began - SLACK_NANOS..=ended + SLACK_NANOS;
            change.at.is_none_or(|at| while_it_ran.contains(&at))
        };
        if !changes.iter().all(is_own) {
            self.caused.clear();
            return None;
        }
        self.caused.push_back((now, changes.iter().map(|change| change.name.clone()).collect()));
        while self.caused.front().is_some_and(|(then, _)| now.duration_since(*then) >= WINDOW) {
            self.caused.pop_front();
        }
        if self.caused.len() <= MAX_ROUNDS {
            return None;
        }
        let files = std::mem::take(&mut self.caused).into_iter().flat_map(|(_, files)| files);
        Some(files.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str, at: Option<i64>) -> Change {
        Change { name: name.into(), at }
    }

    #[test]
    fn more_than_ten_rounds_in_twenty_seconds_are_too_many() {
        let start = Instant::now();
        let second = |n: u64| start + Duration::from_secs(n);
        let mut own = Own::default();
        own.ran(1_000, 2_000);
        let names = ["a", "b"];
        for round in 0..10_u64 {
            let file = names[round as usize % 2];
            assert_eq!(own.caused(&[change(file, Some(1_500))], second(round)), None, "{round}");
        }
        let files = own.caused(&[change("a", None)], second(11)).unwrap();
        assert_eq!(files.into_iter().collect::<Vec<_>>(), ["a".into(), "b".into()]);
        // It starts afresh.
        assert_eq!(own.caused(&[change("a", Some(1_500))], second(12)), None);
        // A round every two seconds is none too many.
        let mut slow = Own::default();
        slow.ran(1_000, 2_000);
        for round in 0..100 {
            assert_eq!(slow.caused(&[change("a", Some(1_500))], second(2 * round + 2)), None);
        }
        // Somebody else writes too.
        let mut busy = Own::default();
        busy.ran(1_000, 2_000);
        for round in 0..100 {
            let late = (round % 5 == 0).then_some(i64::MAX).or(Some(1_500));
            let changes = [change("a", Some(1_500)), change("b", late)];
            assert_eq!(busy.caused(&changes, second(1)), None);
        }
    }
}
