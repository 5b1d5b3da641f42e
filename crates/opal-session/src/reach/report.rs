//! The program that `ssh` asks for known hosts (`KnownHostsCommand`). It knows none: it reports the key
//! that a host has presented, and becomes the command that the user has for that, if there is one.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::local::seat;

/// The word with which a helper is started to do this.
pub const WORD: &str = "--hostkey";

/// What `ssh` replaces: why it asks, the host, and the type, the fingerprint and the key it presents.
pub const TOKENS: [&str; 5] = ["%I", "%H", "%t", "%f", "%K"];

/// Arguments: a socket, what the tokens have become, and a command with its arguments, if there is one.
pub fn report(mut arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let socket = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
    let said: Vec<OsString> = arguments.by_ref().take(TOKENS.len()).collect();
    let mut line = Vec::new();
    for word in &said {
        line.extend_from_slice(word.as_bytes());
        line.push(b'\n');
    }
    UnixStream::connect(socket)?.write_all(&line)?;
    match arguments.next() {
        Some(program) => Err(seat::become_program(Path::new(&program), arguments)),
        None => Ok(()),
    }
}
