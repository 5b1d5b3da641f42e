//! Times that matter when a runner dies. In debug builds a test can make them shorter.

use std::time::Duration;

/// How many milliseconds a second has, in debug builds.
#[cfg(debug_assertions)]
const SECOND: &str = "OPAL_TEST_QUEUE_SECOND";

pub(crate) fn seconds(count: u64) -> Duration {
    Duration::from_millis(count * second())
}

#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "only tests set it, and only in debug builds")]
fn second() -> u64 {
    std::env::var(SECOND).ok().and_then(|it| it.parse().ok()).unwrap_or(1000)
}

#[cfg(not(debug_assertions))]
const fn second() -> u64 {
    1000
}
