//! The process of a helper: how it starts and how it ends, with everything that it started.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::process::Ended;

/// How long a helper has to end by itself after it closed its end, or was asked to.
const PARTING: Duration = Duration::from_millis(500);

/// A process with a group of its own.
#[derive(Debug)]
pub(super) struct Helper {
    child: Child,
    group: Option<Pid>,
    guard: Option<Child>,
}

impl Helper {
    /// Starts a helper with nothing but one end of a socket. It gets nothing of the environment. A group of its
    /// own, because Ctrl+C reaches the whole group of opal, and what cleans up afterwards still needs the
    /// helper.
    pub(super) fn start(
        program: &Path,
        args: &[&str],
        socket: UnixStream,
    ) -> std::io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the helper ends with the socket to it")]
        let child = Command::new(program)
            .args(args)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(socket)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self { child, group, guard: None })
    }

    /// Starts what ends the whole group should opal be killed: the helper ends with the thread that started it,
    /// and what it started does not.
    pub(super) fn guard(&mut self, program: &Path) -> std::io::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "it is waited for where the helper is")]
        let guard = Command::new(program)
            .args(["guard", &self.child.id().to_string()])
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.guard = Some(guard);
        Ok(())
    }

    /// The group is ended, and its number still its own.
    fn dismiss(&mut self) {
        let Some(mut guard) = self.guard.take() else { return };
        if let Some(mut input) = guard.stdin.take() {
            let _ = input.write_all(b".");
        }
        let _ = guard.wait();
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, or ends it. It is not waited for here, so its group is still its own.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Waits for a helper that has closed its end; one that stays is ended, and so is all that it started.
    pub(super) fn wait(&mut self) -> Ended {
        let until = Instant::now() + PARTING;
        let has_ended = |pid| {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            matches!(waitid(WaitId::Pid(pid), options), Ok(Some(_)) | Err(_))
        };
        while self.group.is_some_and(|pid| !has_ended(pid)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.signal(Signal::KILL);
        self.dismiss();
        let status = self.child.wait();
        self.group = None;
        match status {
            Ok(status) => match status.signal() {
                Some(signal) => Ended::Signal(signal),
                None => Ended::Code(status.code().unwrap_or_default()),
            },
            Err(error) => Ended::NotStarted(error.kind()),
        }
    }
}
