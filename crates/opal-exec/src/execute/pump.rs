//! Bytes out of pipes while a step runs: into memory, or into what takes a redirected stream.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use rustix::event::PollFlags;

use opal_session::stop::{Order, Stop};

const CHUNK_BYTES: usize = 64 * 1024;

/// Stack of a thread that only copies.
const STACK_BYTES: usize = 1024 * 1024;

/// How long there must be nothing to read, once all is asked to stop.
pub(super) const PAUSE: Duration = Duration::from_millis(50);

/// Whether the step has ended, so that nothing waits for what it left once it is asked to stop.
#[derive(Debug, Default)]
pub(super) struct Ended(AtomicBool);

impl Ended {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What took the bytes, and whether it took all of them.
#[derive(Debug)]
pub(super) struct Pumped<W> {
    pub(super) to: W,
    pub(super) copied: io::Result<()>,
}

/// Copies a pipe to its end. The writing itself may fail: the step's writers then get to know.
///
/// A process that the step left may keep the pipe open: it is waited for, as a shell does for `$( …
/// )`, until the block is asked to stop.
pub(super) fn pump<'scope, 'env: 'scope, W: Write + Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    from: OwnedFd,
    mut to: W,
    stop: Stop,
    ended: &'env Ended,
) -> io::Result<ScopedJoinHandle<'scope, Pumped<W>>> {
    let work = move || {
        let copied = copy(from, &mut to, &stop, ended);
        Pumped { to, copied }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)
}

fn copy(from: OwnedFd, to: &mut dyn Write, stop: &Stop, ended: &Ended) -> io::Result<()> {
    let mut file = File::from(from);
    let mut bytes = vec![0; CHUNK_BYTES];
    loop {
        let seen = stop.order();
        let pause = (seen != Order::GoOn).then_some(PAUSE);
        let ready = stop.wait(&[(file.as_fd(), PollFlags::IN)], pause, seen);
        if ready.first().is_none_or(|flags| flags.is_empty()) {
            if stop.order() != Order::GoOn && ended.is_set() {
                return Ok(());
            }
            continue;
        }
        match file.read(&mut bytes)? {
            0 => return Ok(()),
            count => to.write_all(&bytes[..count])?,
        }
    }
}

/// Memory with a limit: what does not fit is an error.
#[derive(Debug)]
pub(super) struct Bounded {
    pub(super) bytes: opal_core::wiped::Wiped<Vec<u8>>,
    pub(super) most: usize,
}

impl Bounded {
    pub(super) fn new(most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { bytes: opal_core::wiped::Wiped::new(Vec::new()), most }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
