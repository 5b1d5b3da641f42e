//! The descriptors that commands run on, one after the other.
//!
//! A lane keeps its pipes and its shell from command to command: nothing has to be made again, and
//! what a command leaves in the background can go on printing. Commands in parallel have a lane
//! each. A lane whose descriptors were given to it serves one command.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use super::terminal::{Pty, Terminal};
use super::waiting::Waiting;
use crate::{Input, Output, pipe};

/// A large pipe lets a command go on while what it has printed is dealt with.
const PIPE_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) marker: OsString,
    pub(super) stdin: Source,
    pub(super) stdout: Duct,
    pub(super) stderr: Duct,
    pub(super) shell: Option<Waiting>,
    /// What is read is put here; kept, since it is large.
    pub(super) buffer: Vec<u8>,
    /// Whether another command may run here.
    pub(super) is_reusable: bool,
    pub(super) group: Group,
    /// Where it is a terminal.
    pub(super) pty: Option<Pty>,
}

/// Which signals of a terminal reach the processes of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// None: they are by themselves.
    Own,
    /// Those for opal: they are in its group, since only that one may read from its terminal.
    Shared,
    /// Those of the terminal of the lane.
    Session,
}

#[derive(Debug)]
pub(super) enum Source {
    Own,
    Nothing,
    Given(OwnedFd),
}

/// Where output goes: what is written, and where we read it, if we do.
#[derive(Debug)]
pub(super) struct Duct {
    pub(super) read: Option<OwnedFd>,
    pub(super) write: OwnedFd,
}

impl Lane {
    pub(super) fn new(
        marker: OsString,
        stdin: Input,
        stdout: Output,
        stderr: Output,
        group: Group,
    ) -> io::Result<Self> {
        let is_reusable = !matches!(stdin, Input::From(_))
            && matches!((&stdout, &stderr), (Output::Taken, Output::Taken));
        let stdin = match stdin {
            Input::Own | Input::Terminal(_) => Source::Own,
            Input::Nothing => Source::Nothing,
            Input::From(fd) => Source::Given(fd),
        };
        let (stdout, stderr) = (Duct::new(stdout)?, Duct::new(stderr)?);
        Ok(Self {
            marker,
            stdin,
            stdout,
            stderr,
            shell: None,
            buffer: Vec::new(),
            is_reusable,
            group,
            pty: None,
        })
    }

    /// One on a terminal of its own.
    pub(super) fn on_terminal(marker: OsString, terminal: &Terminal) -> io::Result<Self> {
        let (pty, stdout, stderr) = Pty::open(terminal)?;
        let stdin = Source::Given(pty.inner().try_clone_to_owned()?);
        let (group, pty) = (Group::Session, Some(pty));
        Ok(Self {
            marker,
            stdin,
            stdout,
            stderr,
            shell: None,
            buffer: Vec::new(),
            is_reusable: true,
            group,
            pty,
        })
    }

    /// Gives a command the descriptors of the lane.
    pub(super) fn connect(&self, command: &mut Command) -> io::Result<()> {
        command.stdin(match &self.stdin {
            Source::Own => Stdio::inherit(),
            Source::Nothing => Stdio::null(),
            Source::Given(fd) => Stdio::from(fd.try_clone()?),
        });
        command.stdout(Stdio::from(self.stdout.write.try_clone()?));
        command.stderr(Stdio::from(self.stderr.write.try_clone()?));
        Ok(())
    }
}

impl Duct {
    fn new(output: Output) -> io::Result<Self> {
        match output {
            Output::To(write) => Ok(Self { read: None, write }),
            Output::Taken => {
                let (read, write) = pipe()?;
                rustix::io::ioctl_fionbio(&read, true)?;
                #[cfg(target_os = "linux")]
                // A user may have only so much of this.
                let _ = rustix::pipe::fcntl_setpipe_size(&read, PIPE_BYTES);
                Ok(Self { read: Some(read), write })
            }
        }
    }
}
