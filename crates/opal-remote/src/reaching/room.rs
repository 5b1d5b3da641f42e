//! Room for many targets: descriptors of this process, and connections that nobody uses any more.
//!
//! A connection stays for later blocks on the same target. Each has pipes and a process, and on the other
//! side a helper, so of many only some stay: whoever comes back to a target that was left connects again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Kept, Open, Opened, Slot, lock};

/// Connections that are open for later blocks, and those in use.
const MOST_OPEN: usize = 128;

/// Descriptors of one, while its steps run: its pipes, its process, and what requests wait for.
const EACH: u64 = 16;

/// Descriptors of everything else, and of what is being reached.
const OTHERS: u64 = 300;

/// What is raised is raised to that at least: not one by one.
const PLENTY: u64 = 4096;

/// The targets with a connection, in the order in which they were reached.
#[derive(Default)]
pub(super) struct Live(Mutex<VecDeque<Slot>>);

impl Live {
    pub(super) fn add(&self, slot: Slot) {
        lock(&self.0).push_back(slot);
    }

    /// What was made for a block that has ended takes no room: it has no connection any more.
    fn forget(live: &mut VecDeque<Slot>) {
        let is_gone = |open: &Option<Open>| open.as_ref().is_some_and(Open::is_gone);
        // Whoever has its lock uses it.
        live.retain(|slot| !slot.state.try_lock().is_ok_and(|state| is_gone(&state.open)));
    }

    /// Makes room for one more.
    pub(super) fn make_room(&self) {
        let mut live = lock(&self.0);
        Self::forget(&mut live);
        allow(live.len() as u64 + 1);
        let (mut many, mut left) = (live.len().saturating_sub(MOST_OPEN - 1), Vec::new());
        live.retain(|slot| {
            // Whoever has its lock uses it.
            let state = if many > 0 { slot.state.try_lock().ok() } else { None };
            let Some(mut state) =
                state.filter(|state| state.open.as_ref().is_none_or(Open::is_idle))
            else {
                return true;
            };
            if let Some(open) = state.open.take() {
                // What it has left running on purpose is not what a lost one has left.
                state.was_open = matches!(&open.session, Kept::Held(session) if session.is_lost());
                left.push(open);
            }
            many -= 1;
            false
        });
        drop(live);
        // They say good-bye, and nobody waits for the lock meanwhile.
        drop(left);
    }
}

impl Open {
    /// Whether it was made for one block, which has let go of it.
    fn is_gone(&self) -> bool {
        match &self.session {
            Kept::Held(_) => false,
            Kept::Acting(session) => session.strong_count() == 0,
            Kept::Reading(session) => session.strong_count() == 0,
        }
    }

    /// Whether nobody uses it: no step, no probe, and no target inside it.
    fn is_idle(&self) -> bool {
        match &self.session {
            Kept::Held(Opened::Acting(session)) => {
                Arc::strong_count(session) == 1 && !session.looking().is_shared()
            }
            Kept::Held(Opened::Reading(session)) => {
                Arc::strong_count(session) == 1 && !session.looking().is_shared()
            }
            // It has no connection of its own.
            Kept::Held(Opened::Plain(_)) => false,
            // What was made for one block ends with it, and is not made again.
            Kept::Acting(_) | Kept::Reading(_) => false,
        }
    }
}

/// Lets this process have descriptors for so many connections, as far as the system permits it. Programs that
/// it starts from now on may have as many.
fn allow(connections: u64) {
    let needed = OTHERS + EACH * connections;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Without a limit there is none.
    let Some(current) = current.filter(|current| *current < needed) else { return };
    let wanted = needed.saturating_mul(2).max(PLENTY).min(maximum.unwrap_or(u64::MAX));
    if wanted > current {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::super::State;
    use super::*;

    #[test]
    fn what_was_made_for_a_block_takes_no_room_after_it() {
        let live = Live::default();
        for number in 0..2 * MOST_OPEN {
            let session = Kept::Reading(Weak::new());
            let open = Some(Open { settings: Arc::default(), session });
            let state = Arc::new(Mutex::new(State { open, was_open: true }));
            live.add(Slot { number, state });
        }
        live.make_room();
        assert!(lock(&live.0).is_empty());
    }
}
