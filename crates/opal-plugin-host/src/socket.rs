//! The socket to opal, and the descriptors that come with its lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

/// Descriptors that came with lines, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(Arc<Mutex<VecDeque<OwnedFd>>>);

/// Descriptors that wait for their line.
const MAX_WAITING: usize = 16;

impl Files {
    pub(crate) fn take(&self) -> Option<File> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().map(File::from)
    }
}

/// The socket that opal passed as standard input, moved to descriptor 3; nobody else has it.
pub(crate) fn take() -> Option<UnixStream> {
    let socket = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).ok()?;
    let nothing = File::open("/dev/null").ok()?;
    rustix::stdio::dup2_stdin(&nothing).ok()?;
    rustix::net::sockopt::socket_type(&socket).ok()?;
    Some(UnixStream::from(socket))
}

/// Reads bytes, and sets descriptors aside.
#[derive(Debug)]
pub(crate) struct Incoming {
    socket: UnixStream,
    files: Files,
}

impl Incoming {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, files: Files::default() }
    }

    pub(crate) fn files(&self) -> Files {
        self.files.clone()
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(buffer)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = recvmsg(&self.socket, &mut parts, &mut control, flags)?;
        let mut files = self.files.0.lock().unwrap_or_else(PoisonError::into_inner);
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                files.extend(more);
            }
        }
        if files.len() > MAX_WAITING {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(received.bytes)
    }
}
