//! Which branch of a `@parallel` is taken up next: the first in the plan whose prerequisites have
//! ended well.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::threads::lock;

#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    branches: Vec<Branch>,
    ready: BTreeSet<usize>,
    /// Neither taken up nor left out.
    left: usize,
    at_work: usize,
}

#[derive(Debug, Default)]
struct Branch {
    /// How many it still waits for.
    waits: usize,
    /// Who waits for it.
    before: Vec<usize>,
    is_left_out: bool,
}

impl Turns {
    /// For each branch those that it waits for.
    pub(super) fn new(after: &[BTreeSet<usize>]) -> Self {
        let mut branches: Vec<Branch> =
            after.iter().map(|after| Branch { waits: after.len(), ..Branch::default() }).collect();
        for (index, after) in after.iter().enumerate() {
            for &other in after {
                branches[other].before.push(index);
            }
        }
        let ready = (0..after.len()).filter(|&index| after[index].is_empty()).collect();
        let state = State { branches, ready, left: after.len(), at_work: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The next branch, once there is one; none where there will be no more.
    pub(super) fn take(&self) -> Option<usize> {
        let mut state = lock(&self.state);
        loop {
            if let Some(index) = state.ready.pop_first() {
                state.left -= 1;
                state.at_work += 1;
                return Some(index);
            }
            // Without anybody at work nothing changes: those that are left wait for each other.
            if state.left == 0 || state.at_work == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A branch has ended well, or everything is to stop: who waited for it has one less to wait for.
    pub(super) fn ended(&self, index: usize) {
        let mut state = lock(&self.state);
        state.at_work -= 1;
        for other in std::mem::take(&mut state.branches[index].before) {
            let branch = &mut state.branches[other];
            branch.waits -= 1;
            if branch.waits == 0 && !branch.is_left_out {
                state.ready.insert(other);
            }
        }
        self.changed.notify_all();
    }

    /// A branch has failed: all that wait for it, or for one of these, will not be taken up.
    pub(super) fn failed(&self, index: usize) -> BTreeSet<usize> {
        let mut state = lock(&self.state);
        state.at_work -= 1;
        let mut left_out = BTreeSet::new();
        let mut found = std::mem::take(&mut state.branches[index].before);
        while let Some(other) = found.pop() {
            if !std::mem::replace(&mut state.branches[other].is_left_out, true) {
                left_out.insert(other);
                found.extend(std::mem::take(&mut state.branches[other].before));
            }
        }
        state.left -= left_out.len();
        self.changed.notify_all();
        left_out
    }

    /// How many were never taken up.
    pub(super) fn left(&self) -> usize {
        lock(&self.state).left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(after: &[&[usize]]) -> Turns {
        let after: Vec<BTreeSet<usize>> =
            after.iter().map(|after| after.iter().copied().collect()).collect();
        Turns::new(&after)
    }

    #[test]
    fn the_first_that_is_ready_comes_next() {
        let turns = turns(&[&[2], &[], &[1], &[]]);
        assert_eq!(turns.take(), Some(1));
        assert_eq!(turns.take(), Some(3));
        turns.ended(1);
        assert_eq!(turns.take(), Some(2));
        turns.ended(3);
        turns.ended(2);
        assert_eq!((turns.take(), turns.take()), (Some(0), None));
    }

    #[test]
    fn a_failure_leaves_out_all_that_wait_for_it_and_nothing_else() {
        let turns = turns(&[&[], &[0], &[1], &[], &[2, 3]]);
        assert_eq!(turns.take(), Some(0));
        assert_eq!(turns.failed(0), BTreeSet::from([1, 2, 4]));
        assert_eq!(turns.take(), Some(3));
        turns.ended(3);
        assert_eq!((turns.take(), turns.left()), (None, 0));
    }

    #[test]
    fn a_cycle_ends_instead_of_waiting_for_ever() {
        let turns = turns(&[&[1], &[0]]);
        assert_eq!((turns.take(), turns.left()), (None, 2));
    }
}
