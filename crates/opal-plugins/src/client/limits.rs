//! The limits of a call of a native program. Those of WASM are counted by the engine.

use std::time::{Duration, Instant};

use opal_core::data::Secret;
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, CALL_SECS, Call, Ending, Kind, MAX_HOST_CALLS, MAX_LOG, Refusal};
use opal_core::resolver::MAX_VALUE_BYTES;

use super::Serve;
use super::process::Given;

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

/// What a native program gave, within the limits of a value and of what is printed.
pub(super) fn within((result, log): Given) -> Given {
    let result = result.and_then(|body| match body.frames.len() as u64 > MAX_VALUE_BYTES {
        true => Err(Refusal::engine(Ending::Volume, "its answer is larger than 8 MiB")),
        false => Ok(body),
    });
    let log = log.map(|log| {
        let text = log.expose();
        Secret::new(&text[..text.floor_char_boundary(MAX_LOG)])
    });
    (result, log)
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

#[cfg(test)]
mod tests {
    use opal_core::protocol::call::Resolved;

    use super::*;

    #[test]
    fn a_native_program_gives_no_more_than_a_component_may() {
        let of = |bytes: usize| {
            let (value, secrets) = (Secret::new("x".repeat(bytes)), None);
            within((
                Ok(Body::of(&Resolved { value, secrets })),
                Some(Secret::new("é".repeat(bytes))),
            ))
        };
        let (result, log) = of(1 << 10);
        assert!(result.is_ok() && log.unwrap().expose().len() == 2 << 10);
        let (result, log) = of(9 << 20);
        assert_eq!(result.unwrap_err().engine, Some(Ending::Volume));
        assert_eq!(log.unwrap().expose().len(), MAX_LOG);
    }
}
