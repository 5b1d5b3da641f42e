//! The first process of a terminal's session, which does nothing but be that.
//!
//! When the leader of a session ends, the system hangs up on the group in the foreground: on a
//! server, too, that a step has left running there. So the shell is not the leader itself. Its
//! leader outlives it, and puts another group into the foreground before it ends.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Pid, ioctl_tiocsctty, setsid};
use rustix::stdio::stdin;
use rustix::termios::tcsetpgrp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::children;
use super::processes::ignored;

/// The word with which a target helper is started that leads a session.
pub(crate) const WORD: &str = "--lead";

/// What comes to everybody in the foreground.
const SHARED: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Starts the shell named by the arguments in a session of its own, with the standard input as its
/// terminal, and waits for its end: its exit code.
pub fn lead(mut arguments: impl Iterator<Item = OsString>) -> io::Result<u8> {
    let program = arguments
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "missing program"))?;
    setsid()?;
    ioctl_tiocsctty(stdin())?;
    // What this process was started to ignore, and the shell with it.
    let ignored = ignored("self");
    for signal in SHARED.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
        // Heard and not heeded. To ignore it would be inherited; this is not.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    let mut shell = children::command(Path::new(&program)).args(arguments).spawn()?;
    let status = shell.wait()?;
    // Without it some servers are lost with the terminal, which may be gone already.
    let _ = leave(&program);
    Ok(u8::try_from(children::code(status)).unwrap_or(1))
}

/// Takes everything that is left out of the foreground.
fn leave(program: &OsStr) -> io::Result<()> {
    let mut other = children::command(Path::new(program))
        .args(["-c", ":"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    // Its group is there until it has been waited for, and whoever is hung up on afterwards is gone.
    let moved = tcsetpgrp(stdin(), Pid::from_child(&other));
    other.wait()?;
    Ok(moved?)
}
