//! Variables that were read as secrets on opal's machine. The programs that lead to targets do not get
//! them: some of these programs outlive the run, and some pass their environment on.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// From now on the variable is not passed on.
pub fn withhold(name: &str) {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
}

/// The names of all of them.
#[must_use]
pub fn names() -> BTreeSet<String> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
