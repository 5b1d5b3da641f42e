//! The time of this machine. It is read here and nowhere else, so that a test can hold it still.

use std::time::SystemTime;

/// The time now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now() -> SystemTime {
    #[cfg(debug_assertions)]
    if let Some(held) = held::TIME.get() {
        return *held;
    }
    SystemTime::now()
}

/// Milliseconds since this machine was started, also those in which it slept.
#[must_use]
pub fn uptime() -> u64 {
    let now = rustix::time::clock_gettime(UPTIME);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    seconds * 1000 + u64::try_from(now.tv_nsec).unwrap_or_default() / 1_000_000
}

#[cfg(target_os = "linux")]
const UPTIME: rustix::time::ClockId = rustix::time::ClockId::Boottime;

/// On macOS this clock goes on while the machine sleeps.
#[cfg(not(target_os = "linux"))]
const UPTIME: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

#[cfg(debug_assertions)]
pub use held::hold;

/// For tests of the whole program; a release build does not contain it.
#[cfg(debug_assertions)]
mod held {
    use std::sync::OnceLock;
    use std::time::SystemTime;

    pub(super) static TIME: OnceLock<SystemTime> = OnceLock::new();

    /// It is this time from now on; the first call counts.
    pub fn hold(time: SystemTime) {
        let _ = TIME.set(time);
    }
}
