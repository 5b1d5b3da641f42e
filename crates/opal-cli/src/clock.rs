//! The time of day.

use std::time::SystemTime;

pub(crate) use opal_session::clock::now;

/// In Unix seconds.
pub(crate) fn unix_time() -> i64 {
    let since = now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
