//! The content of a file there, as it is read.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::fd::OwnedFd;
use std::thread;

use opal_core::resolver::Trouble;
use opal_core::wiped::Wiped;
use opal_session::stop::{Order, Stop};
use opal_session::wire::frame::Channel;
use opal_session::wire::reply::Reply;

use crate::link::{Event, Sent};
use crate::request::Heeding;

/// A file of a target. It is read no further than needed, and one window ahead.
pub(crate) struct Content {
    sent: Sent,
    window: u32,
    stop: Stop,
    heeding: Heeding,
    chunk: Wiped<Vec<u8>>,
    at: usize,
    has_ended: bool,
}

impl Content {
    /// Waits until it is known whether there is such a file. `window` was taken from the budget.
    pub(crate) fn new(sent: Sent, window: u32, stop: &Stop) -> Result<Self, Trouble> {
        let mut content = Self {
            sent,
            window,
            stop: stop.clone(),
            heeding: Heeding::default(),
            chunk: Wiped::default(),
            at: 0,
            has_ended: false,
        };
        match content.sent.reply(stop)? {
            Reply::Done => Ok(content),
            _ => Err(content.sent.nonsense()),
        }
    }

    /// A pipe that gets all of it, for a command that reads a descriptor.
    pub(crate) fn into_pipe(mut self) -> io::Result<OwnedFd> {
        let (read, write) = opal_session::pipe()?;
        let copy = move || {
            let mut write = File::from(write);
            while let Ok(()) = self.fill() {
                let chunk = &self.chunk[self.at..];
                if chunk.is_empty() || write.write_all(chunk).is_err() {
                    return;
                }
                self.at = self.chunk.len();
            }
        };
        thread::Builder::new().name("content".to_owned()).spawn(copy)?;
        Ok(read)
    }

    /// Waits for more, unless there is some or it has ended.
    fn fill(&mut self) -> io::Result<()> {
        while self.at == self.chunk.len() && !self.has_ended {
            let (length, stop) = (self.chunk.len(), self.stop.clone());
            if length > 0 {
                self.sent.taken(Channel::Output, length);
                (self.chunk, self.at) = (Wiped::default(), 0);
            }
            let next = self.sent.next(&stop, &mut self.heeding, None);
            match next.map_err(|_| io::ErrorKind::ConnectionReset)? {
                Some(Event::Data(_, bytes)) => (self.chunk, self.at) = (bytes, 0),
                Some(Event::End) => self.has_ended = true,
                Some(Event::Fail(why)) => return Err(why.into()),
                Some(Event::Reply(_) | Event::Signal(_)) | None => {}
            }
            if self.chunk.is_empty() && !self.has_ended && stop.order() != Order::GoOn {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fill()?;
        let count = (&self.chunk[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        self.sent.close(Channel::Output);
        self.sent.link.inner.budget.give_back(self.window);
    }
}
