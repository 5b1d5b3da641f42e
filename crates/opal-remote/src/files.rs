//! Files of a target, to change.

use std::io::{self, Write};
use std::path::Path;

use opal_core::action::{Pending, TextFile};
use opal_core::files::{Attributes, Existing, Files};
use opal_core::resolver::Trouble;
use opal_session::stop::{Order, Stop};
use opal_session::wire::effect::{Effect, Handle};
use opal_session::wire::frame::{Channel, StreamId};
use opal_session::wire::reply::Reply;

use crate::connection::Acting;
use crate::error::RemoteError;
use crate::link::{Sent, Shape};
use crate::request::Heeding;

/// Sent at once.
const CHUNK_BYTES: usize = 512 * 1024;

/// From here on a file is a large one, for which a larger pipe is worth it.
const LARGE_BYTES: u64 = 1024 * 1024;

/// All files of a target, or those in a directory that is held.
#[derive(Debug)]
pub(crate) struct RemoteFiles {
    acting: Acting,
    within: Handle,
    /// Of the step that changes them.
    stop: Stop,
}

impl RemoteFiles {
    pub(crate) fn root(acting: Acting, stop: Stop) -> Self {
        Self { acting, within: 0, stop }
    }
}

impl Files for RemoteFiles {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        let (within, path, attributes) = (self.within, path.to_owned(), *attributes);
        pending(&self.acting, &Effect::Write { within, path, attributes, existing }, &self.stop)
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        let (within, path, attributes) = (self.within, path.to_owned(), *attributes);
        self.acting.have(&Effect::MakeDirectory { within, path, attributes }, &self.stop)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        let (within, path, to) = (self.within, path.to_owned(), to.to_owned());
        self.acting.have(&Effect::MakeLink { within, path, to, replace }, &self.stop)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        let (within, path, attributes) = (self.within, path.to_owned(), *attributes);
        self.acting.have(&Effect::Set { within, path, attributes }, &self.stop)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        let (within, path) = (self.within, path.to_owned());
        self.acting.have(&Effect::Remove { within, path, recursive }, &self.stop)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        let (within, path, stop) = (self.within, directory.to_owned(), &self.stop);
        let effect = Effect::Within { within, path };
        let mut sent = self.acting.begin(&effect, Shape::default(), stop)?;
        match sent.reply(stop)? {
            Reply::Done => {
                let (acting, stop) = (self.acting.clone(), stop.clone());
                Ok(Box::new(Self { acting, within: sent.number, stop }))
            }
            _ => Err(sent.nonsense()),
        }
    }
}

/// A directory that was held is let go of.
impl Drop for RemoteFiles {
    fn drop(&mut self) {
        if self.within != 0 {
            let _ = self.acting.have(&Effect::Release { handle: self.within }, &self.stop);
        }
    }
}

/// A text in a file of the target.
pub(crate) struct HeldText {
    acting: Acting,
    handle: Handle,
    path: String,
    stop: Stop,
}

impl HeldText {
    pub(crate) fn make(
        acting: &Acting,
        effect: &Effect,
        stop: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble> {
        let mut sent = acting.begin(effect, Shape::default(), stop)?;
        let path = match sent.reply(stop)? {
            Reply::Path { path } => path.into_os_string().into_string().ok(),
            _ => None,
        };
        let path = path.ok_or_else(|| sent.nonsense())?;
        let (acting, stop) = (acting.clone(), stop.clone());
        Ok(Box::new(Self { acting, handle: sent.number, path, stop }))
    }
}

impl TextFile for HeldText {
    fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for HeldText {
    fn drop(&mut self) {
        let _ = self.acting.have(&Effect::Release { handle: self.handle }, &self.stop);
    }
}

/// A file that is being written on the target. Once it is to stop nothing more is sent, and what was
/// is removed there.
struct Upload {
    acting: Acting,
    sent: Sent,
    stop: Stop,
    heeding: Heeding,
    count: u64,
    is_settled: bool,
}

/// Begins to write a file.
pub(crate) fn pending(
    acting: &Acting,
    effect: &Effect,
    stop: &Stop,
) -> Result<Box<dyn Pending>, Trouble> {
    let shape = Shape { has_input: true, is_held: true, ..Shape::default() };
    let mut sent = acting.begin(effect, shape, stop)?;
    match sent.reply(stop)? {
        Reply::Done => {}
        _ => return Err(sent.nonsense()),
    }
    let (acting, stop, heeding) = (acting.clone(), stop.clone(), Heeding::default());
    Ok(Box::new(Upload { acting, sent, stop, heeding, count: 0, is_settled: false }))
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let Self { sent, stop, heeding, .. } = self;
        let goes_on = || stop.order() == Order::GoOn;
        if !goes_on() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // When the connection is lost, nobody waits any more.
        let most = sent.mailbox.outlet.wait(bytes.len().min(CHUNK_BYTES), goes_on);
        let most = most.map_err(|why| match why {
            // What writes all of it would try again.
            io::ErrorKind::Interrupted => io::ErrorKind::TimedOut,
            why => why,
        })?;
        let stream = StreamId::new(sent.number, Channel::Input);
        let inner = &sent.link.inner;
        let mut goes_on = || heeding.is_in_time(stop);
        let is_sent = inner.sender.data_while(stream, &bytes[..most], &mut goes_on);
        is_sent.inspect_err(|error| drop(inner.unsent(error)))?;
        let before = self.count;
        self.count += most as u64;
        if before < LARGE_BYTES && self.count >= LARGE_BYTES {
            self.sent.link.inner.sender.widen();
        }
        Ok(most)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Upload {
    fn settle(&mut self, effect: &Effect) -> Result<(), Trouble> {
        self.is_settled = true;
        let settled = self.acting.have(effect, &self.stop);
        self.sent.mailbox.let_go();
        settled
    }
}

impl Pending for Upload {
    fn resemble(&mut self, path: &Path) -> Result<(), Trouble> {
        let effect = Effect::Resemble { file: self.sent.number, path: path.to_owned() };
        self.acting.have(&effect, &self.stop)
    }

    fn keep(mut self: Box<Self>) -> Result<(), Trouble> {
        let stream = StreamId::new(self.sent.number, Channel::Input);
        let Self { sent, stop, heeding, count, .. } = &mut *self;
        let (inner, file) = (&sent.link.inner, sent.number);
        let mut goes_on = || heeding.is_in_time(stop);
        let ended = inner.sender.end_while(stream, *count, &mut goes_on);
        ended.map_err(|error| inner.unsent(&error))?;
        self.settle(&Effect::Keep { file })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.is_settled {
            let handle = self.sent.number;
            let _ = self.settle(&Effect::Release { handle });
        }
    }
}

/// The files of a target in a session that only reads: none can be changed.
#[derive(Debug)]
pub(crate) struct NoFiles(pub(crate) String);

impl NoFiles {
    fn refused<T>(&self) -> Result<T, Trouble> {
        Err(RemoteError::OnlyReads { target: &self.0 }.into())
    }
}

impl Files for NoFiles {
    fn write(&self, _: &Path, _: &Attributes, _: Existing) -> Result<Box<dyn Pending>, Trouble> {
        self.refused()
    }

    fn make_directory(&self, _: &Path, _: &Attributes) -> Result<(), Trouble> {
        self.refused()
    }

    fn make_link(&self, _: &Path, _: &Path, _: bool) -> Result<(), Trouble> {
        self.refused()
    }

    fn set(&self, _: &Path, _: &Attributes) -> Result<(), Trouble> {
        self.refused()
    }

    fn remove(&self, _: &Path, _: bool) -> Result<(), Trouble> {
        self.refused()
    }

    fn within<'f>(&'f self, _: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        self.refused()
    }
}
