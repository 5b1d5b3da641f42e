//! The pseudo-terminals of a lane: two, so that standard output and standard error stay apart.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::Terminal;
use crate::local::lane::Duct;

/// The pseudo-terminals of a lane.
#[derive(Debug)]
pub(in crate::local) struct Pty {
    /// Where keys go.
    keys: OwnedFd,
    errors: OwnedFd,
    /// The side of the commands, and how they find it.
    inner: OwnedFd,
    pub(super) usual: Termios,
    /// See [`Terminal`].
    pub(in crate::local) leader: Vec<OsString>,
    pub(in crate::local) kind: Option<String>,
}

impl Pty {
    /// Like the terminal itself, for standard input and output, and for standard error.
    pub(in crate::local) fn open(terminal: &Terminal) -> io::Result<(Self, Duct, Duct)> {
        let ((keys, stdout), (errors, stderr)) = (pair()?, pair()?);
        let usual = terminal.usual(tcgetattr(&stdout.write)?)?;
        for inner in [&stdout.write, &stderr.write] {
            tcsetattr(inner, OptionalActions::Now, &usual)?;
        }
        let inner = stdout.write.try_clone()?;
        let (leader, kind) = (terminal.leader.clone(), terminal.kind.clone());
        Ok((Self { keys, errors, inner, usual, leader, kind }, stdout, stderr))
    }

    pub(in crate::local) fn inner(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }

    /// Of standard input and output, and of standard error.
    pub(super) fn sides(&self) -> [&OwnedFd; 2] {
        [&self.keys, &self.errors]
    }

    pub(super) fn resize(&self, terminal: &Terminal) {
        if let Some(size) = terminal.size() {
            let size = Winsize {
                ws_row: size.rows,
                ws_col: size.columns,
                ws_xpixel: size.width,
                ws_ypixel: size.height,
            };
            for side in self.sides() {
                let _ = tcsetwinsize(side, size);
            }
        }
    }
}

fn pair() -> io::Result<(OwnedFd, Duct)> {
    let outer = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&outer)?;
    unlockpt(&outer)?;
    let name = ptsname(&outer, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let inner = rustix::fs::open(name, flags, Mode::empty())?;
    rustix::io::ioctl_fionbio(&outer, true)?;
    Ok((outer.try_clone()?, Duct { read: Some(outer), write: inner }))
}
