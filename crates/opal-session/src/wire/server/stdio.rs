//! The standard input and output of a helper, which are the wire.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::stdio;

/// Takes both for the wire, and puts nothing in their place: whatever the helper starts cannot read
/// or write the wire.
pub(super) fn take_standard_pipes() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = rustix::io::fcntl_dupfd_cloexec(stdio::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(stdio::stdout(), 3)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(&nothing)?;
    if rustix::termios::isatty(stdio::stderr()) {
        stdio::dup2_stderr(&nothing)?;
    }
    Ok((input, output))
}
