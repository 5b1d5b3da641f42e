//! `opal-terraform exec PARENT PROGRAM`: becomes the provider, which then ends with its helper.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// The word that asks for it.
pub const WORD: &str = "exec";

/// Returns only if the provider cannot be started.
#[expect(clippy::disallowed_methods, reason = "it replaces this process, and starts none")]
pub fn exec(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let parent = arguments.next().and_then(|it| it.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(parent), Some(program)) = (parent, arguments.next()) else {
        return io::ErrorKind::InvalidInput.into();
    };
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // A helper that ended before this could be said will never send the signal.
    if getppid() != Some(parent) {
        return io::ErrorKind::NotConnected.into();
    }
    Command::new(program).args(arguments).exec()
}
