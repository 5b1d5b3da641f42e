//! The limits of a call of a native program. Those of WASM are counted by the engine.

use std::time::{Duration, Instant};

use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, CALL_SECS, Call, Ending, Kind, MAX_HOST_CALLS, Refusal};

use super::Serve;

/// What a native program has used of its limits in a call.
#[derive(Debug, Default)]
pub(super) struct OwnTime {
    used: Duration,
    calls: u32,
}

impl OwnTime {
    pub(super) fn asked(&mut self, call: &Call, since: Instant) {
        self.used += since.elapsed();
        if !Service::named(&call.call).is_some_and(Service::streams) {
            self.calls += 1;
        }
    }

    pub(super) fn exceeded(&self, since: Instant) -> Option<Refusal> {
        if self.calls > MAX_HOST_CALLS {
            let message = format!("it asked opal more than {MAX_HOST_CALLS} times");
            return Some(Refusal::engine(Ending::HostCalls, message));
        }
        let is_late = self.used + since.elapsed() > Duration::from_secs(CALL_SECS);
        is_late.then(|| Refusal::engine(Ending::Time, format!("it ran longer than {CALL_SECS} s")))
    }
}

/// For calls that ask for nothing.
pub(super) struct Nothing;

impl Serve for Nothing {
    fn serve(&mut self, _: Service, _: &Body) -> Result<Body, Refusal> {
        Err(Refusal::new(Kind::Denied, "nothing may be asked here"))
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
