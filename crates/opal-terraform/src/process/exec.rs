//! `opal-terraform exec PARENT held|named COUNT COVERED… PROGRAM`: becomes the provider, which then ends with its helper.
//!
//! `held`: standard input is the file of the program, which was checked; the path is only its name.

use std::ffi::OsString;
use std::io;
use std::os::fd::IntoRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use super::cover;

/// The word that asks for it.
pub const WORD: &str = "exec";

/// Where the program is: a descriptor, or a path.
pub const HELD: &str = "held";
pub const NAMED: &str = "named";

/// Returns only if the provider cannot be started.
#[expect(clippy::disallowed_methods, reason = "it replaces this process, and starts none")]
pub fn exec(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let parent = arguments.next().and_then(|it| it.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let how = arguments.next();
    let count = arguments.next().and_then(|it| it.to_str()?.parse::<usize>().ok());
    let covered: Vec<PathBuf> =
        arguments.by_ref().take(count.unwrap_or(0)).map(PathBuf::from).collect();
    let (Some(parent), Some(how), Some(_), Some(program)) = (parent, how, count, arguments.next())
    else {
        return io::ErrorKind::InvalidInput.into();
    };
    let file = match held(how.to_str()) {
        Ok(file) => file,
        Err(error) => return error,
    };
    // Before the signal, which another user loses. Where it is not possible, `add` has said so.
    let _ = cover::cover(&covered);
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // A helper that ended before this could be said will never send the signal.
    if getppid() != Some(parent) {
        return io::ErrorKind::NotConnected.into();
    }
    let from = file.unwrap_or_else(|| program.clone());
    Command::new(from).arg0(program).args(arguments).exec()
}

/// The program that standard input is, as a path. It stays open: a script is read from it.
fn held(how: Option<&str>) -> io::Result<Option<OsString>> {
    if how != Some(HELD) {
        return Ok(None);
    }
    let file = rustix::io::dup(rustix::stdio::stdin())?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    // This process becomes the provider, which inherits the descriptor.
    Ok(Some(format!("/proc/self/fd/{}", file.into_raw_fd()).into()))
}
