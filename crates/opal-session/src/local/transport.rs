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
use super::processes;
use super::seat::{self, Seat};

/// What is started, and in which surroundings.
pub struct Starting<'a> {
    pub program: &'a Path,
    pub arguments: &'a [OsString],
    pub environment: &'a BTreeMap<OsString, OsString>,
    pub directory: &'a Path,
    /// Where it complains.
    pub stderr: Stdio,
    /// For a program that wants a controlling terminal: what takes one and becomes the program, and the
    /// arguments before `--seat`.
    pub seated_by: Option<(&'a Path, &'a [OsString])>,
}

/// A program that runs, in a process group of its own: an interrupt of the terminal is for opal, which
/// passes it on.
#[derive(Debug)]
pub struct Transport {
    running: Running,
    seat: Option<Seat>,
}

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
        let (transport, output) = Self::start_with(starting, Stdio::from(inner_input))?;
        Ok((transport, Ends { output, input }))
    }

    /// The same with a standard input that is there already: what it prints.
    pub fn start_with(starting: Starting<'_>, stdin: Stdio) -> io::Result<(Self, OwnedFd)> {
        let (output, inner_output) = crate::pipe()?;
        // Where there is none to be had, most programs do without.
        let seat = starting.seated_by.and_then(|by| Some((Seat::new().ok()?, by)));
        let mut command = match &seat {
            Some((seat, (program, before))) => {
                let mut command = children::command(program);
                command.args(*before).arg(seat::WORD).arg(&seat.name).arg(starting.program);
                command
            }
            None => {
                let mut command = children::command(starting.program);
                command.process_group(0);
                command
            }
        };
        command
            .args(starting.arguments)
            .env_clear()
            .envs(starting.environment)
            .current_dir(starting.directory)
            .stdin(stdin)
            .stdout(Stdio::from(inner_output))
            .stderr(starting.stderr);
        let running = children::start(command)?;
        Ok((Self { running, seat: seat.map(|(seat, _)| seat) }, output))
    }

    /// A variable for a program that stays when the run has ended: nobody takes it for something that a
    /// command has left running.
    #[must_use]
    pub fn stays() -> (OsString, OsString) {
        (processes::MARKER.into(), "stays".into())
    }

    /// The other side of its controlling terminal, where it has one: what it writes there comes out here.
    pub fn terminal(&self) -> io::Result<OwnedFd> {
        let seat = self.seat.as_ref().ok_or(io::ErrorKind::NotFound)?;
        seat.outer.try_clone()
    }

    #[must_use]
    pub fn pid(&self) -> i32 {
        self.running.pid()
    }

    /// Waits for its end, and ends it where that takes longer: what it ended with, where it did so by
    /// itself.
    pub fn finish(mut self, patience: Duration) -> Option<i32> {
        let code = self.wait(patience);
        if code.is_none() {
            self.running.kill();
        }
        code
    }

    /// Waits for its end: what it ended with, where it has.
    pub fn wait(&mut self, patience: Duration) -> Option<i32> {
        let deadline = Instant::now() + patience;
        loop {
            if let Ok(Some(code)) = self.running.ended() {
                return Some(code);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let end = self.running.end();
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
