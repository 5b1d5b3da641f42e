//! Time and randomness, held still for tests of the whole program.
//!
//! Two variables, in debug builds only: a release build does not contain this file. With them the same
//! command gives the same screen, run id and record each time.

use std::time::{Duration, SystemTime};

use crate::ambient;

/// Seconds since 1970 that the clock shows throughout.
const CLOCK: &str = "OPAL_TEST_CLOCK";

/// What all random bytes follow from: keys, the secrets of plans, names of runs.
const SEED: &str = "OPAL_TEST_SEED";

/// Holds still what the variables name.
pub(crate) fn read() {
    if let Some(clock) = ambient::variable(CLOCK) {
        let seconds = clock.to_str().and_then(|text| text.parse().ok());
        let seconds = seconds.unwrap_or_else(|| panic!("{CLOCK} expects seconds, got {clock:?}"));
        opal_session::clock::hold(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    }
    if let Some(seed) = ambient::variable(SEED) {
        opal_trust::keys::hold(&seed.to_string_lossy());
    }
}
