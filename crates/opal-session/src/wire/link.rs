//! Sending frames: from many threads, each frame whole.
//!
//! Many small frames at the same time are one write: who finds nobody writing writes for all, and what
//! comes meanwhile waits for the next turn. A packet of ssh, with two processes that wake up for it, costs
//! more than most of what is asked.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use opal_core::wiped::Wipe;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::codec::{Wire, encoded};
use super::frame::{Kind, StreamId, header};
use super::{MAX_FRAME, MAX_MESSAGE};

/// What may wait for the next turn. Who has more waits for the turn.
const MOST_WAITING: usize = 64 * 1024;

/// So much is written from where it is, and not copied first.
const LARGE: usize = 16 * 1024;

/// How often who cannot write asks whether anybody still reads.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The same for who waits for a turn.
const TURN: Duration = Duration::from_millis(200);

/// What a pipe holds over which much is sent. A user has 64 MiB for all pipes.
const PIPE_BYTES: usize = 512 * 1024;

/// How long a pipe that is to be closed waits for the last turn.
const LAST_TURN: Duration = Duration::from_secs(1);

/// The end of a pipe that frames are written to. Once it is closed nothing more is sent.
#[derive(Debug)]
pub struct Sender {
    outbox: Mutex<Outbox>,
    /// Rung after each turn.
    turn: Condvar,
    /// Who holds it writes.
    pipe: Mutex<Option<OwnedFd>>,
    /// Set when nobody pings any more.
    is_over: Mutex<bool>,
    over: Condvar,
}

/// Frames for the next turn, in their order. Wiped once they are written.
#[derive(Debug, Default)]
struct Outbox {
    waiting: Vec<u8>,
    /// Kept for its memory: wiped and empty.
    spare: Vec<u8>,
    /// Whether someone writes, and takes what is waiting when he is done.
    is_writing: bool,
    /// Why nothing more can be sent.
    broken: Option<io::ErrorKind>,
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.waiting.wipe();
    }
}

impl Outbox {
    fn add(&mut self, head: &[u8], bytes: &[u8]) {
        opal_core::wiped::reserve(&mut self.waiting, head.len() + bytes.len());
        self.waiting.extend_from_slice(head);
        self.waiting.extend_from_slice(bytes);
    }
}

impl Sender {
    #[must_use]
    pub fn new(fd: OwnedFd) -> Self {
        Self {
            outbox: Mutex::default(),
            turn: Condvar::new(),
            pipe: Mutex::new(Some(fd)),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        }
    }

    /// Makes the pipe larger where the system allows it: whoever sends much is woken less often.
    pub fn widen(&self) {
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = &*pipe
            && rustix::pipe::fcntl_getpipe_size(pipe).is_ok_and(|size| size < PIPE_BYTES)
        {
            let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
        }
    }

    /// A message of any length that is allowed.
    pub fn message(&self, kind: Kind, stream: StreamId, it: &impl Wire) -> io::Result<()> {
        self.message_while(kind, stream, it, &mut || true)
    }

    /// The same, as long as `goes_on` says so. What is half written then is of no use to anybody: who
    /// gets `TimedOut` closes the connection.
    pub fn message_while(
        &self,
        kind: Kind,
        stream: StreamId,
        it: &impl Wire,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let bytes = encoded(it);
        if bytes.len() > MAX_MESSAGE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut rest = &**bytes;
        loop {
            let (now, later) = rest.split_at(rest.len().min(MAX_FRAME));
            self.frame(kind, !later.is_empty(), stream, now, goes_on)?;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
        }
    }

    /// A piece of a stream, of at most [`MAX_FRAME`].
    pub fn data(&self, stream: StreamId, bytes: &[u8]) -> io::Result<()> {
        self.data_while(stream, bytes, &mut || true)
    }

    /// The same, as long as `goes_on` says so, like [`Self::message_while`].
    pub fn data_while(
        &self,
        stream: StreamId,
        bytes: &[u8],
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        self.frame(Kind::Data, false, stream, bytes, goes_on)
    }

    /// The end of a stream of so many bytes.
    pub fn end(&self, stream: StreamId, count: u64) -> io::Result<()> {
        self.end_while(stream, count, &mut || true)
    }

    /// The same, as long as `goes_on` says so, like [`Self::message_while`].
    pub fn end_while(
        &self,
        stream: StreamId,
        count: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        self.frame(Kind::End, false, stream, &count.to_le_bytes(), goes_on)
    }

    pub fn window(&self, stream: StreamId, bytes: u32) -> io::Result<()> {
        self.frame(Kind::Window, false, stream, &bytes.to_le_bytes(), &mut || true)
    }

    /// A frame that says everything by its kind.
    pub fn word(&self, kind: Kind, stream: StreamId) -> io::Result<()> {
        self.frame(kind, false, stream, &[], &mut || true)
    }

    /// The frame is on its way, or is written by who writes now. That a write of someone else fails is
    /// said to the next who sends; who reads the other pipe gets to know at once.
    fn frame(
        &self,
        kind: Kind,
        more: bool,
        stream: StreamId,
        bytes: &[u8],
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let head = header(kind, more, stream, bytes.len());
        let mut outbox = self.outbox();
        while outbox.is_writing && outbox.waiting.len() + bytes.len() > MOST_WAITING {
            if !goes_on() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let waited = self.turn.wait_timeout(outbox, TURN);
            outbox = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(why) = outbox.broken {
            return Err(why.into());
        }
        // Who finds nobody writing finds nothing that waits.
        if bytes.len() >= LARGE && !outbox.is_writing {
            outbox.is_writing = true;
            drop(outbox);
            return self.write_all(Some((&head, bytes)), goes_on);
        }
        outbox.add(&head, bytes);
        if outbox.is_writing {
            return Ok(());
        }
        outbox.is_writing = true;
        drop(outbox);
        // Threads that have a frame too add it now.
        thread::yield_now();
        self.write_all(None, goes_on)
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frame of its own, and then turns, until nothing is waiting.
    fn write_all(
        &self,
        own: Option<(&[u8], &[u8])>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let mut write = |head: &[u8], bytes: &[u8]| match &*pipe {
            Some(pipe) => self.write(pipe, head, bytes, goes_on),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let mut written = own.map_or(Ok(()), |(head, bytes)| write(head, bytes));
        let mut outbox = self.outbox();
        loop {
            if let Err(error) = written {
                outbox.broken = Some(error.kind());
                outbox.is_writing = false;
                outbox.waiting.wipe();
                self.turn.notify_all();
                return Err(error);
            }
            if outbox.waiting.is_empty() {
                outbox.is_writing = false;
                self.turn.notify_all();
                return Ok(());
            }
            let next = std::mem::take(&mut outbox.spare);
            let mut turn = std::mem::replace(&mut outbox.waiting, next);
            self.turn.notify_all();
            drop(outbox);
            written = write(&[], &turn);
            turn.as_mut_slice().wipe();
            turn.clear();
            outbox = self.outbox();
            if turn.capacity() <= 2 * MOST_WAITING {
                outbox.spare = turn;
            }
        }
    }

    /// Where the pipe does not have one wait, this waits, as long as someone may still read.
    fn write(
        &self,
        pipe: &OwnedFd,
        mut head: &[u8],
        mut bytes: &[u8],
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        while !head.is_empty() || !bytes.is_empty() {
            match rustix::io::writev(pipe, &[IoSlice::new(head), IoSlice::new(bytes)]) {
                Ok(count) => {
                    let of_head = count.min(head.len());
                    head = &head[of_head..];
                    bytes = &bytes[count - of_head..];
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                    if !goes_on() {
                        return Err(io::ErrorKind::TimedOut.into());
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

    /// Waits until all that was sent is written, but not longer than that.
    pub fn settle(&self, within: Duration) {
        let is_writing = |it: &mut Outbox| it.is_writing;
        drop(self.turn.wait_timeout_while(self.outbox(), within, is_writing));
    }

    /// Closes the pipe, so that the other side gets to know.
    pub fn close(&self) {
        self.stop_pinging();
        self.settle(LAST_TURN);
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
