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
