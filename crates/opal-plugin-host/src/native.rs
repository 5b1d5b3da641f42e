//! `opal-plugin-host native`: gives up everything that a native program was not granted, then becomes it.
//!
//! ```text
//! opal ── hello ──▶ this helper    ◀── its build
//! opal ── native, with the program ──▶ confine, ◀── done, exec
//! opal ── hello ──▶ the program    ◀── what it exports
//! ```
//!
//! The program has descriptor 3, the socket, and no other. It has no variables and no arguments.

use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;

use opal_core::protocol::call::Native;
use opal_core::protocol::{Body, Ending, Malformed, Message, Refusal, Reply, line};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::confine::native::{Launch, confine};
use crate::socket::Incoming;

const SOCKET: RawFd = 3;

/// Returns only where there is no program to become.
pub(crate) fn serve(socket: UnixStream) -> Result<(), Malformed> {
    let io = |error: std::io::Error| Malformed::Io(error.kind());
    let mut outgoing = socket.try_clone().map_err(io)?;
    // The program has it too; everything else is closed there.
    fcntl_setfd(&socket, FdFlags::empty()).map_err(|errno| io(errno.into()))?;
    let is_three = socket.as_raw_fd() == SOCKET;
    let incoming = Incoming::new(socket);
    let files = incoming.files();
    let mut incoming = BufReader::new(incoming);
    let mut answer = |id, result| {
        let reply = Message::Reply(Reply { id, result, log: None });
        outgoing.write_all(&line::bytes(&reply)?).map_err(io)
    };
    while let Some(message) = line::read(&mut incoming)? {
        let Message::Call(call) = message else {
            return Err(Malformed::NotMessage("not a call"));
        };
        match call.call.as_str() {
            "hello" => {
                let build = opal_helper::BUILD.to_owned();
                answer(call.id, Ok(Body::default().with("build", &build)))?;
            }
            "native" => {
                let native: Option<Native> = call.params.read();
                let (Some(native), Some(program)) = (native, files.take().filter(|_| is_three))
                else {
                    return Err(Malformed::NotMessage("no program"));
                };
                let launch = match prepare(&native, program) {
                    Ok(launch) => launch,
                    Err(refusal) => return answer(call.id, Err(refusal)),
                };
                answer(call.id, Ok(Body::default()))?;
                launch.exec();
                return Err(Malformed::NotMessage("the program cannot be executed"));
            }
            _ => return Err(Malformed::NotMessage("an unknown call")),
        }
    }
    Ok(())
}

/// Confines this process for a program.
fn prepare(native: &Native, mut program: File) -> Result<Launch, Refusal> {
    let refused = |what: &str| Refusal::engine(Ending::Load, what);
    let mut start = [0; 2];
    let read = program.read(&mut start).and_then(|_| program.rewind());
    read.map_err(|_| refused("the program cannot be read"))?;
    // An interpreter opens the script by its descriptor.
    let flags = if &start == b"#!" { FdFlags::empty() } else { FdFlags::CLOEXEC };
    close_others().ok_or_else(|| refused("its descriptors cannot be closed"))?;
    let set = fcntl_setfd(&program, flags);
    set.map_err(|_| refused("the program cannot be passed on"))?;
    confine(native, program)
}

/// Whatever opal was started with is not for the program: everything after the socket is closed there.
#[expect(unsafe_code, reason = "one system call, which changes flags of descriptors")]
fn close_others() -> Option<()> {
    // SAFETY: nothing is closed here, only marked.
    let marked = unsafe {
        libc::syscall(libc::SYS_close_range, SOCKET + 1, u32::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    (marked == 0).then_some(())
}

/// The name of the program, for lists of processes.
pub(crate) const NAME: &CStr = c"opal-plugin";

/// The one argument: its name.
pub(crate) fn arguments() -> [*const c_char; 2] {
    [NAME.as_ptr(), std::ptr::null()]
}
