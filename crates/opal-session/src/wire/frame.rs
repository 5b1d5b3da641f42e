//! Frames: what they are, and reading them from a pipe that may fall silent.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use opal_core::message::Reason;
use opal_core::wiped::Wiped;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::codec::Malformed;
use super::{MAX_FRAME, MAX_MESSAGE, MAX_REQUESTS};
use crate::stop::{Order, Stop};

/// Length, kind and stream.
pub const HEADER_BYTES: usize = 9;

/// Set in the kind of a frame whose message goes on in the next frame of its stream.
pub const MORE: u8 = 0x80;

/// Read at once.
const CHUNK_BYTES: usize = 128 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Hello = 1,
    Begin = 2,
    /// A request that only reads.
    Look = 3,
    /// A request that changes something.
    Effect = 4,
    Reply = 5,
    Data = 6,
    /// The stream has ended: how many bytes there were.
    End = 7,
    /// The stream has ended before its end: why.
    Fail = 8,
    /// So much more may be sent.
    Window = 9,
    /// Nobody wants more of the stream.
    Close = 10,
    /// A request shall end.
    Stop = 11,
    Ping = 12,
    /// The run is over, and all is well.
    Bye = 13,
    /// A key of the terminal of a command means a signal to opal.
    Signal = 14,
}

impl Kind {
    const ALL: [Self; 14] = [
        Self::Hello,
        Self::Begin,
        Self::Look,
        Self::Effect,
        Self::Reply,
        Self::Data,
        Self::End,
        Self::Fail,
        Self::Window,
        Self::Close,
        Self::Stop,
        Self::Ping,
        Self::Bye,
        Self::Signal,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Whether it is a message, which may need several frames.
    fn is_message(self) -> bool {
        matches!(self, Self::Look | Self::Effect | Self::Reply | Self::Begin | Self::Hello)
    }
}

/// The number of a request and one of its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId {
    pub request: u32,
    pub channel: Channel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Channel {
    /// The request and its reply.
    Talk,
    /// Standard output, or the content of a file.
    Output,
    /// Standard error.
    Error,
    /// Standard input, or what is to be written to a file.
    Input,
}

/// Requests have 30 bits; 0 is the connection itself.
pub const MAX_REQUEST: u32 = u32::MAX >> 2;

impl StreamId {
    /// The connection itself.
    pub const LINK: Self = Self { request: 0, channel: Channel::Talk };

    #[must_use]
    pub fn new(request: u32, channel: Channel) -> Self {
        Self { request, channel }
    }

    #[must_use]
    pub fn number(self) -> u32 {
        self.request << 2 | self.channel as u32
    }

    fn of(number: u32) -> Self {
        let channel = match number & 3 {
            0 => Channel::Talk,
            1 => Channel::Output,
            2 => Channel::Error,
            _ => Channel::Input,
        };
        Self { request: number >> 2, channel }
    }
}

/// A whole message, or a piece of a stream.
#[derive(Debug)]
pub struct Frame {
    pub kind: Kind,
    pub stream: StreamId,
    pub payload: Wiped<Vec<u8>>,
}

/// Why there is nothing more to hear from the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The pipe has ended.
    Ended,
    Silent(Duration),
    /// It does not follow an order.
    Unanswered,
    /// It has not said who it is.
    Speechless,
    System(ErrorKind),
    /// It said something that cannot be.
    Malformed(Malformed),
}

impl From<Malformed> for Loss {
    fn from(why: Malformed) -> Self {
        Self::Malformed(why)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the connection was closed"),
            Self::Silent(time) => write!(f, "nothing was heard for {time:?}"),
            Self::Unanswered => f.write_str("it did not stop in time"),
            Self::Speechless => f.write_str("it did not say hello in time"),
            Self::System(why) => write!(f, "{}", Reason(*why)),
            Self::Malformed(Malformed(why)) => write!(f, "invalid data: {why}"),
        }
    }
}

/// The header of a frame.
#[must_use]
pub fn header(kind: Kind, more: bool, stream: StreamId, length: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4] = kind as u8 | if more { MORE } else { 0 };
    header[5..].copy_from_slice(&stream.number().to_le_bytes());
    header
}

/// Makes frames of bytes as they come, and messages of frames.
#[derive(Debug, Default)]
pub struct Assembly {
    bytes: Wiped<Vec<u8>>,
    /// What was read of `bytes`.
    at: usize,
    /// Messages of which more is to come.
    begun: BTreeMap<(StreamId, Kind), Wiped<Vec<u8>>>,
    begun_bytes: usize,
}

impl Assembly {
    pub fn add(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).extend_from_slice(bytes);
    }

    /// Where so many bytes can be added. What was read before is out of the way.
    fn room(&mut self, more: usize) -> &mut Vec<u8> {
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
        } else if self.bytes.capacity() - self.bytes.len() < more {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        opal_core::wiped::reserve(&mut self.bytes, more);
        &mut self.bytes
    }

    /// The next frame that is whole; none where more bytes are needed.
    pub fn frame(&mut self) -> Result<Option<Frame>, Malformed> {
        loop {
            let Some((kind, more, stream, length)) = self.peek()? else { return Ok(None) };
            let start = self.at + HEADER_BYTES;
            let Some(payload) = self.bytes.get(start..start + length) else { return Ok(None) };
            let payload = Wiped::new(payload.to_vec());
            self.at = start + length;
            if let Some(payload) = self.joined(kind, more, stream, payload)? {
                return Ok(Some(Frame { kind, stream, payload }));
            }
        }
    }

    fn peek(&self) -> Result<Option<(Kind, bool, StreamId, usize)>, Malformed> {
        let Some(header) = self.bytes.get(self.at..self.at + HEADER_BYTES) else { return Ok(None) };
        let number = |at: usize| header.get(at..at + 4).and_then(|it| it.try_into().ok());
        let number = |at| number(at).map_or(0, u32::from_le_bytes);
        let length = number(0) as usize;
        if length > MAX_FRAME {
            return Err(Malformed("a frame is longer than 1 MiB"));
        }
        let more = header[4] & MORE != 0;
        let kind = Kind::of(header[4] & !MORE).ok_or(Malformed("unknown kind of frame"))?;
        if more && !kind.is_message() {
            return Err(Malformed("a frame goes on that cannot"));
        }
        Ok(Some((kind, more, StreamId::of(number(5)), length)))
    }

    fn joined(
        &mut self,
        kind: Kind,
        more: bool,
        stream: StreamId,
        payload: Wiped<Vec<u8>>,
    ) -> Result<Option<Wiped<Vec<u8>>>, Malformed> {
        let key = (stream, kind);
        if !more && !self.begun.contains_key(&key) {
            return Ok(Some(payload));
        }
        // Whoever sends nothing, or ever new messages without their ends, would fill the memory with keys.
        if more && payload.is_empty() {
            return Err(Malformed("a frame that goes on is empty"));
        }
        if !self.begun.contains_key(&key) && self.begun.len() >= MAX_REQUESTS {
            return Err(Malformed("more than 256 messages have begun"));
        }
        self.begun_bytes += payload.len();
        if self.begun_bytes > MAX_MESSAGE {
            return Err(Malformed("a message is longer than 64 MiB"));
        }
        let whole = self.begun.entry(key).or_default();
        opal_core::wiped::reserve(whole, payload.len());
        whole.extend_from_slice(&payload);
        if more {
            return Ok(None);
        }
        let whole = self.begun.remove(&key).unwrap_or_default();
        self.begun_bytes -= whole.len();
        Ok(Some(whole))
    }
}

/// Reads frames from a pipe.
#[derive(Debug)]
pub struct Receiver {
    fd: OwnedFd,
    lost: Duration,
    heard: Instant,
    assembly: Assembly,
}

impl Receiver {
    /// `lost` is how long there may be silence.
    #[must_use]
    pub fn new(fd: OwnedFd, lost: Duration) -> Self {
        Self { fd, lost, heard: Instant::now(), assembly: Assembly::default() }
    }

    /// What was read of the pipe before there were frames.
    pub fn begin_with(&mut self, bytes: &[u8]) {
        self.assembly.add(bytes);
    }

    /// Waits for the next frame. A ping is one.
    pub fn frame(&mut self) -> Result<Frame, Loss> {
        loop {
            if let Some(frame) = self.assembly.frame()? {
                return Ok(frame);
            }
            self.read()?;
        }
    }

    /// More bytes, straight to where frames are made of them.
    fn read(&mut self) -> Result<(), Loss> {
        loop {
            let left = self.lost.saturating_sub(self.heard.elapsed());
            let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
            let ready = poll(&mut fds, Timespec::try_from(left).ok().as_ref());
            match ready {
                Ok(0) if self.heard.elapsed() >= self.lost => return Err(Loss::Silent(self.lost)),
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(Loss::System(io::Error::from(error).kind())),
            }
            if self.fill()? {
                return Ok(());
            }
        }
    }

    /// The next frame, where one comes before `end` and nobody stops the wait: for who says that it is there
    /// and nothing else.
    pub fn frame_before(&mut self, end: Instant, stop: &Stop) -> Result<Frame, Loss> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if stop.order() != Order::GoOn || left.is_zero() {
                let is_silent = self.heard.elapsed() >= self.lost;
                return Err(if is_silent { Loss::Silent(self.lost) } else { Loss::Speechless });
            }
            if let Some(frame) = self.assembly.frame()? {
                return Ok(frame);
            }
            let fds = [(self.fd.as_fd(), PollFlags::IN)];
            let ready = stop.wait(&fds, Some(left), Order::GoOn);
            if ready.iter().any(|it| !it.is_empty()) {
                self.fill()?;
            }
        }
    }

    /// Reads once what is there: whether anything was.
    fn fill(&mut self) -> Result<bool, Loss> {
        let room = self.assembly.room(CHUNK_BYTES);
        match rustix::io::read(&self.fd, spare_capacity(room)) {
            Ok(0) => Err(Loss::Ended),
            Ok(_) => {
                self.heard = Instant::now();
                Ok(true)
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(false),
            Err(error) => Err(Loss::System(io::Error::from(error).kind())),
        }
    }
}
