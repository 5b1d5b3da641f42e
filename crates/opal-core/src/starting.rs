//! The lock that all starts of programs share.
//!
//! `posix_spawn` gives a child every descriptor that is not marked to be closed. A descriptor that
//! is meant for one child is unmarked only while nothing else is started: such a start has the lock
//! for itself, all others share it. It is here because sessions, resolvers and keys all start
//! programs, in parallel, and nothing else of ours is known to all of them.

use std::sync::{PoisonError, RwLock};

static STARTING: RwLock<()> = RwLock::new(());

/// Starts a program that gets nothing but its standard descriptors.
pub fn shared<T>(start: impl FnOnce() -> T) -> T {
    let _shared = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    start()
}

/// Does something while no program is started.
pub fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _alone = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    work()
}
