//! One session of a run at a time: who comes back after a loss waits for the helper that it has lost.
//!
//! The lock is the name of a socket that nobody listens on. The system takes it away with the process
//! that holds it, whatever ends that, and nothing is left on a disk.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use opal_core::resolver::{Trouble, TroubleKind};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use crate::stop::{Order, Stop};

/// How often who waits tries again.
const PAUSE: Duration = Duration::from_millis(50);

/// The lock of a session, where it has one.
#[derive(Debug)]
pub(super) struct Claim {
    marker: String,
    lock: Mutex<Option<Lock>>,
}

impl Claim {
    /// Taken where nobody has it. Who only reads, and who has no marker, needs none.
    pub(super) fn new(marker: &str, has_effects: bool) -> Self {
        let lock = (has_effects && !marker.is_empty()).then(|| Lock::take(marker).ok()).flatten();
        Self { marker: marker.to_owned(), lock: Mutex::new(lock) }
    }

    /// Waits until it is this session's.
    pub(super) fn wait(&self, patience: Duration, stop: &Stop) -> Result<(), Trouble> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_none() {
            *lock = Some(Lock::wait(&self.marker, patience, stop)?);
        }
        Ok(())
    }
}

/// As long as it is there.
#[derive(Debug)]
struct Lock(#[expect(dead_code, reason = "it is held by being open")] OwnedFd);

impl Lock {
    /// Of the session with this marker, of this user. None of the programs that it starts inherit it.
    fn take(marker: &str) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
        let user = rustix::process::geteuid().as_raw();
        bind(&socket, &name(&format!("opal-session-{user}-{marker}"))?)?;
        Ok(Self(socket))
    }

    /// The same, as soon as nobody else has it.
    fn wait(marker: &str, patience: Duration, stop: &Stop) -> Result<Self, Trouble> {
        let deadline = Instant::now() + patience;
        loop {
            match Self::take(marker) {
                Ok(lock) => return Ok(lock),
                Err(error) if error.kind() != io::ErrorKind::AddrInUse => return Err(no_place()),
                Err(_) if Instant::now() >= deadline => return Err(held()),
                Err(_) => {}
            }
            let _ = stop.wait(&[], Some(PAUSE), Order::GoOn);
            if stop.order() != Order::GoOn {
                return Err(held());
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn name(text: &str) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new_abstract_name(text.as_bytes())?)
}

/// Names that are not files are Linux's.
#[cfg(not(target_os = "linux"))]
fn name(_: &str) -> io::Result<SocketAddrUnix> {
    Err(io::ErrorKind::Unsupported.into())
}

fn held() -> Trouble {
    Trouble::new(
        TroubleKind::Lost,
        "the lost session of this run is still active on the target",
        "check the target before you run again: what the step has done is not known",
    )
}

fn no_place() -> Trouble {
    Trouble::new(
        TroubleKind::Lost,
        "the target has no place for a lock, so the lost session may still be active",
        "check the target before you run again: what the step has done is not known",
    )
}
