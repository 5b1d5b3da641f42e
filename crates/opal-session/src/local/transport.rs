//! Programs whose standard input and output lead to another session: `ssh`, or a helper itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::children::{self, Running};

/// What is started, and in which surroundings.
pub struct Starting<'a> {
    pub program: &'a Path,
    pub arguments: &'a [OsString],
    pub environment: &'a BTreeMap<OsString, OsString>,
    pub directory: &'a Path,
    /// Where it complains.
    pub stderr: Stdio,
}

/// A program that runs, in a process group of its own: an interrupt of the terminal is for opal, which
/// passes it on.
#[derive(Debug)]
pub struct Transport(Running);

/// Its ends of the pipes are closed here, so that their end is heard.
#[derive(Debug)]
pub struct Ends {
    /// What it prints.
    pub output: OwnedFd,
    /// What it reads.
    pub input: OwnedFd,
}

impl Transport {
    pub fn start(starting: Starting<'_>) -> io::Result<(Self, Ends)> {
        let (inner_input, input) = crate::pipe()?;
        let (output, inner_output) = crate::pipe()?;
        let mut command = children::command(starting.program);
        command
            .args(starting.arguments)
            .env_clear()
            .envs(starting.environment)
            .current_dir(starting.directory)
            .stdin(Stdio::from(inner_input))
            .stdout(Stdio::from(inner_output))
            .stderr(starting.stderr)
            .process_group(0);
        let running = children::start(command)?;
        Ok((Self(running), Ends { output, input }))
    }

    #[must_use]
    pub fn pid(&self) -> i32 {
        self.0.pid()
    }

    /// Waits for its end, and ends it where that takes longer.
    pub fn finish(mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while !matches!(self.0.ended(), Ok(Some(_))) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.0.kill();
                return;
            }
            let end = self.0.end();
            let mut fds = [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)];
            let _ = poll(&mut fds, Timespec::try_from(left).ok().as_ref());
        }
    }
}

impl fmt::Debug for Starting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starting").field("program", &self.program).finish_non_exhaustive()
    }
}
