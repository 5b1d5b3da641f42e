//! Starting programs, and knowing when they end.
//!
//! Which of them may be started at the same time: [`opal_core::starting`].

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};

use opal_core::starting;
use rustix::io::FdFlags;
use rustix::process::Pid;

/// Where descriptors for one child begin: far above those that scripts use.
const FIRST_DESCRIPTOR: RawFd = 200;

/// The children that someone here waits for.
static AWAITED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// A child that is waited for by its number alone, so that nobody else takes its end away.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    end: OwnedFd,
    status: Option<ExitStatus>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that makes commands of sessions; each is started by `start` below"
)]
pub(crate) fn command(path: &Path) -> Command {
    Command::new(path)
}

pub(crate) fn start(mut command: Command) -> io::Result<Running> {
    starting::shared(|| Running::register(command.spawn()?))
}

/// Starts what also gets the descriptor `given`, under the number that `command` is given.
pub(super) fn start_with(
    given: BorrowedFd<'_>,
    command: impl FnOnce(RawFd) -> Command,
) -> io::Result<Running> {
    start_alone(|| {
        let open = rustix::io::fcntl_dupfd_cloexec(given, FIRST_DESCRIPTOR)?;
        rustix::io::fcntl_setfd(&open, FdFlags::empty())?;
        command(open.as_raw_fd()).spawn()
    })
}

/// Starts something while nothing else is started.
pub(super) fn start_alone(start: impl FnOnce() -> io::Result<Child>) -> io::Result<Running> {
    starting::alone(|| Running::register(start()?))
}

/// Does something while no child is started, and with those that are waited for.
pub(super) fn while_none_starts<T>(work: impl FnOnce(&BTreeSet<i32>) -> T) -> T {
    starting::alone(|| work(&AWAITED.lock().unwrap_or_else(PoisonError::into_inner)))
}

impl Running {
    fn register(child: Child) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        AWAITED.lock().unwrap_or_else(PoisonError::into_inner).insert(pid.as_raw_pid());
        let end = end_of(pid)?;
        Ok(Self { child, end, status: None })
    }

    pub(super) fn pid(&self) -> i32 {
        Pid::from_child(&self.child).as_raw_pid()
    }

    /// Readable once it has ended.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// What it ended with, where it has.
    pub(super) fn ended(&mut self) -> io::Result<Option<i32>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status.map(code))
    }

    pub(super) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
    }

    pub(crate) fn wait(&mut self) -> io::Result<i32> {
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(code(status))
    }
}

/// Nothing that was started here outlives whoever has it.
impl Drop for Running {
    fn drop(&mut self) {
        // Whoever is another user's cannot be killed, and may never end: it becomes an orphan.
        if !matches!(self.ended(), Ok(Some(_))) && self.child.kill().is_ok() {
            let _ = self.child.wait();
        }
        AWAITED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pid());
    }
}

/// A kernel before 5.3 has no such descriptor, and a sandbox may refuse it.
#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> io::Result<OwnedFd> {
    use rustix::io::Errno;
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Err(Errno::NOSYS | Errno::PERM) => looked_for(pid),
        opened => Ok(opened?),
    }
}

#[cfg(not(target_os = "linux"))]
fn end_of(pid: Pid) -> io::Result<OwnedFd> {
    looked_for(pid)
}

/// A thread looks for the end, and leaves it to its owner to take the status.
fn looked_for(pid: Pid) -> io::Result<OwnedFd> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let (read, write) = crate::pipe()?;
    std::thread::Builder::new().spawn(move || {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        drop(write);
    })?;
    Ok(read)
}

pub(super) fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};

    #[test]
    fn the_end_of_a_child_is_known_without_a_descriptor_of_the_process_too() {
        let mut sleeping = command(Path::new("/bin/sh"));
        sleeping.args(["-c", "read line; exit 7"]).stdin(std::process::Stdio::piped());
        let mut running = start(sleeping).unwrap();
        let end = looked_for(Pid::from_child(&running.child)).unwrap();
        let is_readable = |wait: Option<&rustix::event::Timespec>| {
            let mut ends = [PollFd::new(&end, PollFlags::IN)];
            poll(&mut ends, wait).unwrap() == 1
        };
        assert!(!is_readable(Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })));
        drop(running.child.stdin.take());
        assert!(is_readable(None));
        assert_eq!(running.wait().unwrap(), 7, "its status is left to whoever waits for it");
    }
}
