//! Wakes who waits for a request: a pipe, so that one can wait for it and for an order to stop.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::pipe::{PipeFlags, pipe_with};

#[derive(Debug)]
pub(super) struct Bell {
    read: OwnedFd,
    write: OwnedFd,
}

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self { read, write })
    }

    pub(super) fn ring(&self) {
        // A bell that rings already is full, which is as good.
        let _ = rustix::io::write(&self.write, b"!");
    }

    pub(super) fn silence(&self) {
        let mut bytes = [0; 64];
        while matches!(rustix::io::read(&self.read, &mut bytes), Ok(64)) {}
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}
