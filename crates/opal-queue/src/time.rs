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

/// A moment on a clock that goes on while the machine sleeps and while the process is paused: a lease that is
/// measured with it ends for both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Self {
        let now = rustix::time::clock_gettime(CLOCK);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let nanos = u32::try_from(now.tv_nsec).unwrap_or_default();
        Self(Duration::new(seconds, nanos))
    }

    /// Some time later, in milliseconds of the clock.
    pub(crate) fn after(self, time: Duration) -> u64 {
        u64::try_from(self.0.saturating_add(time).as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn elapsed(self) -> Duration {
        Self::now().0.saturating_sub(self.0)
    }
}

#[cfg(target_os = "linux")]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;

/// On macOS this clock goes on while the machine sleeps.
#[cfg(not(target_os = "linux"))]
const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
