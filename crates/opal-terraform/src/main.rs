//! The helper `opal-terraform`: drives the providers of Terraform and OpenTofu for opal.
//!
//! opal passes a socket as standard input and speaks the plugin protocol on it. `exec` and `cover` are for
//! itself.

use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use opal_terraform::process::{base, cover, exec};
use opal_terraform::serve::serve;
use rustix::io::fcntl_dupfd_cloexec;

/// A provider cannot be started.
const NOT_STARTED: u8 = 126;

/// The other side does not keep to the protocol.
const PROTOCOL: u8 = 76;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let word = arguments.next();
    if word.as_ref().is_some_and(|word| word == exec::WORD) {
        let _ = exec::exec(arguments);
        return ExitCode::from(NOT_STARTED);
    }
    if word.is_some_and(|word| word == cover::WORD) {
        return if cover::try_it().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    opal_files::memory::keep_private();
    let (Some(socket), Ok(launcher)) = (socket(), std::env::current_exe()) else {
        return ExitCode::from(PROTOCOL);
    };
    match serve(socket, launcher, base(std::env::temp_dir())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(PROTOCOL),
    }
}

/// The socket that opal passed as standard input. No provider gets it.
fn socket() -> Option<UnixStream> {
    let socket = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok()?;
    let nothing = std::fs::File::open("/dev/null").ok()?;
    rustix::stdio::dup2_stdin(&nothing).ok()?;
    rustix::net::sockopt::socket_type(&socket).ok()?;
    Some(UnixStream::from(socket))
}
