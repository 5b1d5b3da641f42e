//! Sending frames: from many threads, each frame whole.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::codec::{Wire, encoded};
use super::frame::{HEADER_BYTES, Kind, StreamId, header};
use super::{MAX_FRAME, MAX_MESSAGE};

/// Frames up to here are written with their header at once.
const SMALL: usize = 16 * 1024;

/// How often who cannot write asks whether anybody still reads.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The end of a pipe that frames are written to. Once it is closed nothing more is sent.
#[derive(Debug)]
pub struct Sender {
    pipe: Mutex<Option<OwnedFd>>,
    /// Set when nobody pings any more.
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Sender {
    #[must_use]
    pub fn new(fd: OwnedFd) -> Self {
        Self { pipe: Mutex::new(Some(fd)), is_over: Mutex::new(false), over: Condvar::new() }
    }

    /// A message of any length that is allowed.
    pub fn message(&self, kind: Kind, stream: StreamId, it: &impl Wire) -> io::Result<()> {
        let bytes = encoded(it);
        if bytes.len() > MAX_MESSAGE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut rest = &**bytes;
        loop {
            let (now, later) = rest.split_at(rest.len().min(MAX_FRAME));
            self.frame(kind, !later.is_empty(), stream, now)?;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
        }
    }

    /// A piece of a stream, of at most [`MAX_FRAME`].
    pub fn data(&self, stream: StreamId, bytes: &[u8]) -> io::Result<()> {
        self.frame(Kind::Data, false, stream, bytes)
    }

    /// The end of a stream of so many bytes.
    pub fn end(&self, stream: StreamId, count: u64) -> io::Result<()> {
        self.frame(Kind::End, false, stream, &count.to_le_bytes())
    }

    pub fn window(&self, stream: StreamId, bytes: u32) -> io::Result<()> {
        self.frame(Kind::Window, false, stream, &bytes.to_le_bytes())
    }

    /// A frame that says everything by its kind.
    pub fn word(&self, kind: Kind, stream: StreamId) -> io::Result<()> {
        self.frame(kind, false, stream, &[])
    }

    fn frame(&self, kind: Kind, more: bool, stream: StreamId, bytes: &[u8]) -> io::Result<()> {
        let head = header(kind, more, stream, bytes.len());
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = pipe.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        if bytes.len() > SMALL {
            self.write(pipe, &head)?;
            return self.write(pipe, bytes);
        }
        let mut whole = zeroize::Zeroizing::new(Vec::with_capacity(HEADER_BYTES + bytes.len()));
        whole.extend_from_slice(&head);
        whole.extend_from_slice(bytes);
        self.write(pipe, &whole)
    }

    /// Where the pipe does not have one wait, this waits, as long as someone may still read.
    fn write(&self, pipe: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(pipe, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                    let _ = poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&TICK));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Says now and then that this side is there, until the sender is closed or the pipe is.
    pub fn keep_pinging(self: &Arc<Self>, every: Duration) -> io::Result<()> {
        let sender = Arc::clone(self);
        let ping = move || {
            let mut over = sender.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            while !*over {
                let waited = sender.over.wait_timeout(over, every);
                over = waited.unwrap_or_else(PoisonError::into_inner).0;
                if *over {
                    return;
                }
                drop(over);
                if sender.word(Kind::Ping, StreamId::LINK).is_err() {
                    return;
                }
                over = sender.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            }
        };
        thread::Builder::new().name("ping".to_owned()).stack_size(64 * 1024).spawn(ping).map(drop)
    }

    /// Ends the pinging, and the waiting of who writes to a pipe that is full.
    pub fn stop_pinging(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.notify_all();
    }

    /// Closes the pipe, so that the other side gets to know.
    pub fn close(&self) {
        self.stop_pinging();
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
