//! What can be verified next, machine by machine: each has room for so many verifications at a time.
//!
//! A target answers slowly because it is far away, not because it is busy: what waits for it takes
//! nobody's place on opal's machine, nor on another target.

use std::collections::{BTreeMap, BTreeSet};

/// Verifications at a time on one target.
const ON_TARGET: usize = 32;

/// And on all machines together; each is a thread.
const EVERYWHERE: usize = 256;

/// The name of a target; none is opal's machine.
type Name<'m> = Option<&'m str>;

pub(super) struct Machines<'m> {
    /// Verifications at a time on opal's machine.
    here: usize,
    all: BTreeMap<Name<'m>, Machine>,
    /// Those that have something ready, and room for it.
    open: BTreeSet<Name<'m>>,
    running: usize,
}

#[derive(Default)]
struct Machine {
    /// In the order of the plan.
    ready: BTreeSet<usize>,
    running: usize,
}

impl<'m> Machines<'m> {
    pub(super) fn new(here: usize) -> Self {
        Self { here, all: BTreeMap::new(), open: BTreeSet::new(), running: 0 }
    }

    pub(super) fn add(&mut self, name: Name<'m>, index: usize) {
        self.all.entry(name).or_default().ready.insert(index);
        self.renew(name);
    }

    /// Takes what is next, where there is room; it runs until [`Self::ended`].
    pub(super) fn next(&mut self) -> Option<usize> {
        if self.running == EVERYWHERE {
            return None;
        }
        let name = *self.open.first()?;
        let machine = self.all.get_mut(&name)?;
        let index = machine.ready.pop_first()?;
        machine.running += 1;
        self.running += 1;
        self.renew(name);
        Some(index)
    }

    pub(super) fn ended(&mut self, name: Name<'m>) {
        if let Some(machine) = self.all.get_mut(&name) {
            machine.running -= 1;
            self.running -= 1;
        }
        self.renew(name);
    }

    fn renew(&mut self, name: Name<'m>) {
        let room = if name.is_some() { ON_TARGET } else { self.here };
        let has_room = |it: &Machine| !it.ready.is_empty() && it.running < room;
        match self.all.get(&name).is_some_and(has_room) {
            true => self.open.insert(name),
            false => self.open.remove(&name),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_full_holds_up_no_other_one() {
        let mut machines = Machines::new(2);
        for index in 0..4 {
            machines.add(None, index);
        }
        for index in 4..44 {
            machines.add(Some("web1"), index);
        }
        let taken: Vec<usize> = std::iter::from_fn(|| machines.next()).collect();
        assert_eq!(taken, [0, 1].into_iter().chain(4..36).collect::<Vec<_>>());
        machines.ended(None);
        assert_eq!((machines.next(), machines.next()), (Some(2), None));
        machines.ended(Some("web1"));
        assert_eq!((machines.next(), machines.next()), (Some(36), None));
    }

    #[test]
    fn many_targets_share_a_limited_number_of_threads() {
        let names: Vec<String> = (0..100).map(|index| format!("web{index}")).collect();
        let mut machines = Machines::new(1);
        for (index, name) in names.iter().enumerate() {
            for more in 0..10 {
                machines.add(Some(name), index * 10 + more);
            }
        }
        assert_eq!(std::iter::from_fn(|| machines.next()).count(), EVERYWHERE);
    }
}
