//! Time for the calls that run: at every tick each checks whether it may go on.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

const TICK: Duration = Duration::from_millis(10);

/// Ticks while something runs.
pub(super) struct Ticker(Arc<(Mutex<usize>, Condvar)>);

impl Ticker {
    pub(super) fn new(engine: Engine) -> Self {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            let (running, wake) = &*own;
            loop {
                let idle = running.lock().unwrap_or_else(PoisonError::into_inner);
                drop(wake.wait_while(idle, |running| *running == 0));
                thread::sleep(TICK);
                engine.increment_epoch();
            }
        });
        Self(shared)
    }

    /// Something runs until this is dropped.
    pub(super) fn start(&self) -> Ticking<'_> {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.1.notify_one();
        Ticking(self)
    }
}

pub(super) struct Ticking<'a>(&'a Ticker);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        *self.0.0.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
