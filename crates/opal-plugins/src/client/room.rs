//! What may be in flight for a plugin: a number of calls, and their bytes.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

use opal_core::protocol::{MAX_IN_FLIGHT, MAX_OPEN};

#[derive(Debug, Default)]
pub(super) struct Room {
    taken: Mutex<BTreeMap<String, (usize, usize)>>,
    freed: Condvar,
}

/// Room that a call has until this is dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    room: &'a Room,
    plugin: String,
    bytes: usize,
}

impl Room {
    /// Waits until there is room. A call that is alone always has it.
    pub(super) fn take(&self, plugin: &str, bytes: usize) -> Taken<'_> {
        let mut all = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (calls, used) = all.entry(plugin.to_owned()).or_default();
            if *calls == 0 || (*calls < MAX_OPEN && *used + bytes <= MAX_IN_FLIGHT) {
                (*calls, *used) = (*calls + 1, *used + bytes);
                return Taken { room: self, plugin: plugin.to_owned(), bytes };
            }
            all = self.freed.wait(all).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut all = self.room.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((calls, used)) = all.get_mut(&self.plugin) {
            (*calls, *used) = (*calls - 1, *used - self.bytes);
        }
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn calls_beyond_the_limit_wait_and_other_plugins_do_not() {
        let room = Room::default();
        let mut taken: Vec<Taken<'_>> = (0..MAX_OPEN).map(|_| room.take("a/b", 1)).collect();
        drop(room.take("c/d", MAX_IN_FLIGHT + 1));
        let through = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _taken = room.take("a/b", 1);
                through.fetch_add(1, Ordering::SeqCst);
            });
            assert_eq!(through.load(Ordering::SeqCst), 0);
            taken.pop();
        });
        assert_eq!(through.load(Ordering::SeqCst), 1);
    }
}
