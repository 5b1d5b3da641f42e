//! A controlling terminal that nobody uses: `sudo` with `requiretty` only wants there to be one.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::children;

/// The word with which a program is started that takes a seat and becomes another one.
pub(crate) const WORD: &str = "--seat";

/// The terminal, as long as it is held.
#[derive(Debug)]
pub(super) struct Seat {
    /// What is written to the terminal comes out here.
    pub(super) outer: OwnedFd,
    /// So that it is never hung up on.
    _inner: OwnedFd,
    pub(super) name: OsString,
}

impl Seat {
    pub(super) fn new() -> io::Result<Self> {
        let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&outer)?;
        unlockpt(&outer)?;
        let name = ptsname(&outer, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inner = rustix::fs::open(&name, flags, Mode::empty())?;
        Ok(Self { outer, _inner: inner, name: OsStr::from_bytes(name.to_bytes()).to_owned() })
    }
}

/// In a session of its own, with the terminal that the first argument names, this process becomes the
/// program that the others name. It returns only if that fails.
pub(crate) fn take(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let (Some(terminal), Some(program)) = (arguments.next(), arguments.next()) else {
        return io::ErrorKind::InvalidInput.into();
    };
    match seated(&terminal) {
        // It is the session's now, and this process has no further use for it.
        Ok(()) => become_program(Path::new(&program), arguments),
        Err(error) => error,
    }
}

/// This process becomes another program. It returns only if that fails.
pub(crate) fn become_program(
    program: &Path,
    arguments: impl Iterator<Item = OsString>,
) -> io::Error {
    children::command(program).args(arguments).exec()
}

fn seated(terminal: &OsStr) -> io::Result<()> {
    setsid()?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let terminal = rustix::fs::open(terminal, flags, Mode::empty())?;
    Ok(ioctl_tiocsctty(&terminal)?)
}
