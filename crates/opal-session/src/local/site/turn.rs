//! Steps that write the same file do so one after the other.
//!
//! Deliberately not here: other programs. What they do meanwhile is noticed when the file is kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use super::way::Way;

/// A name in a directory, whatever path has led there.
type Spot = (u64, u64, OsString);

static TAKEN: Mutex<BTreeSet<Spot>> = Mutex::new(BTreeSet::new());
static FREED: Condvar = Condvar::new();

/// The right to write at a spot, until it is dropped.
///
/// Who has one may only wait for one of a longer name: a file for its backup.
pub(super) struct Turn(Spot);

impl Turn {
    pub(super) fn wait(way: &Way) -> Result<Self, Errno> {
        let parent = rustix::fs::fstat(&way.parent)?;
        #[allow(clippy::useless_conversion, reason = "the width differs between systems")]
        let spot = (u64::from(parent.st_dev), u64::from(parent.st_ino), way.name.clone());
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = FREED
            .wait_while(taken, |taken| taken.contains(&spot))
            .unwrap_or_else(PoisonError::into_inner);
        taken.insert(spot.clone());
        Ok(Self(spot))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        FREED.notify_all();
    }
}
