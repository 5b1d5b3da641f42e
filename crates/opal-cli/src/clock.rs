//! The time of day.

use std::time::SystemTime;

pub(crate) use opal_session::clock::now;

/// Milliseconds since this machine was started, also those in which it slept: whoever else is on it sees the same.
pub(crate) fn uptime() -> u64 {
    opal_session::clock::uptime()
}

/// In Unix seconds.
pub(crate) fn unix_time() -> i64 {
    let since = now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
