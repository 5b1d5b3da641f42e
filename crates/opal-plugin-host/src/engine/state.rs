//! What one call has: its limits, its time, its random numbers, what it printed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use opal_core::data::Secret;
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, CALL_SECS, Ending, MAX_HOST_CALLS, MAX_LOG, Refusal};
use opal_core::wiped::Wiped;
use wasmtime::{ResourceLimiter, UpdateDeadline, format_err};

use crate::link::Link;

pub(crate) struct State {
    link: Arc<Link>,
    call: u64,
    cancelled: Arc<AtomicBool>,
    pub(super) limits: Limits,
    /// Time that its own code took, up to `since`.
    used: Duration,
    since: Instant,
    host_calls: u32,
    log: Wiped<Vec<u8>>,
    random: ChaCha20,
    /// Why the engine ended it.
    ended: Option<Ending>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("call", &self.call).finish_non_exhaustive()
    }
}

/// 64 hexadecimal digits.
pub(super) fn seed(text: &str) -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(seed)
}

impl State {
    pub(super) fn new(
        link: Arc<Link>,
        call: u64,
        cancelled: Arc<AtomicBool>,
        seed: [u8; 32],
        memory_bytes: usize,
    ) -> Self {
        Self {
            link,
            call,
            cancelled,
            limits: Limits { left: memory_bytes, is_exceeded: false },
            used: Duration::ZERO,
            since: Instant::now(),
            host_calls: 0,
            log: Wiped::new(Vec::new()),
            random: ChaCha20::new(&seed.into(), &[0; 12].into()),
            ended: None,
        }
    }

    /// Whether it may go on.
    pub(super) fn tick(&mut self) -> wasmtime::Result<UpdateDeadline> {
        if self.cancelled.load(Ordering::Acquire) {
            return self.end(Ending::Cancelled, "cancelled");
        }
        if self.used + self.since.elapsed() > Duration::from_secs(CALL_SECS) {
            return self.end(Ending::Time, "time limit");
        }
        Ok(UpdateDeadline::Continue(1))
    }

    fn end<T>(&mut self, ending: Ending, words: &'static str) -> wasmtime::Result<T> {
        self.ended = Some(ending);
        Err(format_err!("{words}"))
    }

    /// Asks opal for something. Its own time does not pass meanwhile.
    pub(crate) fn ask(
        &mut self,
        service: Service,
        params: Body,
    ) -> wasmtime::Result<Result<Body, Refusal>> {
        // A stream is as long as the step makes it, and waits for the step.
        if !service.streams() {
            self.host_calls += 1;
        }
        if self.host_calls > MAX_HOST_CALLS {
            return self.end(Ending::HostCalls, "too many calls of the host");
        }
        self.used += self.since.elapsed();
        let answer = self.link.ask(self.call, service, params);
        self.since = Instant::now();
        match answer {
            Ok(answer) => Ok(answer),
            Err(_) => self.end(Ending::Cancelled, "cancelled"),
        }
    }

    /// What opal answered does not have the form that the protocol says.
    pub(crate) fn garbled<T>(&mut self) -> wasmtime::Result<T> {
        self.end(Ending::Trap, "the answer of opal has another form")
    }

    /// Keeps what the plugin prints, up to the limit.
    pub(crate) fn print(&mut self, byte: u8) {
        if self.log.len() < MAX_LOG {
            opal_core::wiped::reserve(&mut self.log, 1);
            self.log.push(byte);
        }
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
        self.random.apply_keystream(bytes);
    }

    /// Why a call ended without an answer.
    pub(super) fn ending(&self, error: &wasmtime::Error) -> Refusal {
        let ending = match self.ended {
            Some(ending) => ending,
            None if self.limits.is_exceeded => Ending::Memory,
            None => Ending::Trap,
        };
        let message = match ending {
            Ending::Time => format!("it ran longer than {CALL_SECS} s"),
            Ending::Memory => "it needs more memory than it may have".to_owned(),
            Ending::HostCalls => format!("it asked opal more than {MAX_HOST_CALLS} times"),
            Ending::Cancelled => "it was cancelled".to_owned(),
            Ending::Trap | Ending::Volume | Ending::Load => {
                error.root_cause().to_string().chars().take(200).collect()
            }
        };
        Refusal::engine(ending, message)
    }

    pub(super) fn log(self) -> Option<Secret> {
        (!self.log.is_empty()).then(|| Secret::new(String::from_utf8_lossy(&self.log)))
    }
}

/// Memory and tables of all instances of a call together.
#[derive(Debug)]
pub(super) struct Limits {
    left: usize,
    is_exceeded: bool,
}

/// What an element of a table takes.
const ELEMENT_BYTES: usize = 16;

impl Limits {
    fn take(&mut self, bytes: usize) -> wasmtime::Result<bool> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(true)
            }
            None => {
                self.is_exceeded = true;
                Ok(false)
            }
        }
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.take(desired.saturating_sub(current))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.take(desired.saturating_sub(current).saturating_mul(ELEMENT_BYTES))
    }
}
