//! What a transport complains about while its helper is to say hello.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

/// So much is kept; the rest is read, so that nobody waits for it to be.
const KEPT_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug, Default)]
pub(super) struct Complaints(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl Complaints {
    /// Reads it to its end, in a thread.
    pub(super) fn take(from: OwnedFd) -> io::Result<Self> {
        let complaints = Self::default();
        let inner = Arc::clone(&complaints.0);
        let read = move || {
            let mut bytes = [0; 4096];
            loop {
                match rustix::io::read(&from, &mut bytes) {
                    Ok(0) => break,
                    Ok(count) => {
                        let mut state = inner.lock();
                        let room = KEPT_BYTES.saturating_sub(state.bytes.len());
                        state.bytes.extend_from_slice(&bytes[..count.min(room)]);
                    }
                    Err(Errno::INTR) => {}
                    Err(_) => break,
                }
            }
            inner.lock().has_ended = true;
            inner.ended.notify_all();
        };
        thread::Builder::new().name("drain".to_owned()).stack_size(64 * 1024).spawn(read)?;
        Ok(complaints)
    }

    /// All of it, or what has come within a time.
    pub(super) fn all(&self, within: Duration) -> Vec<u8> {
        let waited = self.0.ended.wait_timeout_while(self.0.lock(), within, |it| !it.has_ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.bytes.clone()
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
