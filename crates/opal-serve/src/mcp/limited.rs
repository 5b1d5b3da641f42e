//! How long a message of an agent may be. The SDK would keep a line without an end in memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use crate::notice::say;

/// Bytes of a line, about: arguments have 64 KiB.
const MOST_BYTES: usize = 1 << 20;

/// Lines that are not too long. One that is ends the connection.
#[derive(Debug)]
pub(super) struct Limited<R> {
    from: R,
    /// Bytes of the line that has begun.
    begun: usize,
}

impl<R> Limited<R> {
    pub(super) const fn new(from: R) -> Self {
        Self { from, begun: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Limited<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.from).poll_read(context, into))?;
        let read = &into.filled()[before..];
        self.begun = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self.begun + read.len(),
        };
        if self.begun > MOST_BYTES {
            say("opal mcp: a message has more than 1 MiB; the connection is closed");
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        Poll::Ready(Ok(()))
    }
}
