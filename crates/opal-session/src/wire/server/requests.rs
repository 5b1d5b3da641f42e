//! Requests that run, and what is held for later ones.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use opal_core::action::TextFile;
use opal_core::resolver::{Trouble, TroubleKind};

use super::guard::Guard;
use super::inlet::Inlet;
use super::journal::Desk;
use super::lock::Claim;
use super::pool::Pool;
use crate::LocalSession;
use crate::local::{LocalFiles, Terminal};
use crate::stop::Stop;
use crate::wire::MAX_REQUESTS;
use crate::wire::codec::Malformed;
use crate::wire::credit::Outlet;
use crate::wire::effect::Handle;
use crate::wire::frame::{Channel, Kind, StreamId};
use crate::wire::link::Sender;
use crate::wire::reply::Reply;

/// All that a request can use.
pub(super) struct Helper {
    pub(super) sender: Arc<Sender>,
    pub(super) session: LocalSession,
    /// Of all requests.
    pub(super) stop: Stop,
    pub(super) pool: Pool,
    /// None where nothing can be changed.
    pub(super) held: Option<Held>,
    pub(super) claim: Claim,
    /// None where nothing can be changed.
    pub(super) guard: Option<Guard>,
    /// What starts this program once more.
    pub(super) own: Vec<OsString>,
    /// Of the user, whatever a block says about it.
    pub(super) home: Option<PathBuf>,
    /// Of the processes of this session.
    pub(super) marker: String,
    open: Mutex<BTreeMap<u32, Arc<Open>>>,
    left: Condvar,
    highest: AtomicU32,
}

/// A request that runs.
pub(super) struct Open {
    pub(super) stop: Stop,
    outlets: [Outlet; 2],
    pub(super) inlet: Inlet,
    /// Of a command that has one.
    pub(super) terminal: OnceLock<Arc<Terminal>>,
}

impl Open {
    /// Of standard output, or of standard error.
    pub(super) fn outlet(&self, channel: Channel) -> &Outlet {
        &self.outlets[usize::from(channel == Channel::Error)]
    }

    fn close(&self) {
        self.outlets.iter().for_each(|outlet| outlet.close(ErrorKind::BrokenPipe));
        self.inlet.give_up();
    }
}

/// What requests hold until another one lets go of it.
#[derive(Default)]
pub(super) struct Held {
    things: Mutex<BTreeMap<Handle, Thing>>,
    /// It is held to the end of the process: what a step has started has ended by then.
    pub(super) desk: Desk,
}

pub(super) enum Thing {
    /// A file that is being written, by the request of this number.
    File(Arc<Open>),
    Text(#[expect(dead_code, reason = "it is there as long as it is held")] Box<dyn TextFile>),
    Directory(Arc<LocalFiles>),
}

impl Held {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<Handle, Thing>> {
        self.things.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Helper {
    pub(super) fn new(
        sender: Arc<Sender>,
        (session, has_effects): (LocalSession, bool),
        marker: &str,
        own: Vec<OsString>,
        home: Option<PathBuf>,
    ) -> Self {
        Self {
            claim: Claim::new(marker, has_effects),
            guard: (has_effects && !marker.is_empty()).then(|| Guard::start(&own, marker)),
            own,
            home,
            marker: marker.to_owned(),
            sender,
            session,
            stop: Stop::new(),
            pool: Pool::default(),
            held: has_effects.then(Held::default),
            open: Mutex::default(),
            left: Condvar::new(),
            highest: AtomicU32::new(0),
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has come.
    pub(super) fn enter(&self, number: u32) -> Result<Arc<Open>, Malformed> {
        let mut open = self.open();
        if open.len() == MAX_REQUESTS {
            return Err(Malformed("more than 256 requests at a time"));
        }
        let outlets = [Outlet::default(), Outlet::default()];
        let (stop, inlet, terminal) = (self.stop.below(), Inlet::default(), OnceLock::new());
        let new = Arc::new(Open { stop, outlets, inlet, terminal });
        if open.insert(number, Arc::clone(&new)).is_some() {
            return Err(Malformed("two requests with the same number"));
        }
        self.highest.fetch_max(number, Ordering::Relaxed);
        Ok(new)
    }

    /// The request of this number; none where it has ended.
    pub(super) fn find(&self, number: u32) -> Result<Option<Arc<Open>>, Malformed> {
        if number == 0 || number > self.highest.load(Ordering::Relaxed) {
            return Err(Malformed("a stream that no request has opened"));
        }
        Ok(self.open().get(&number).cloned())
    }

    /// Replies to a request that goes on.
    pub(super) fn say(&self, number: u32, reply: &Reply) {
        let stream = StreamId::new(number, Channel::Talk);
        // Where nobody hears it, the first thread finds out.
        let _ = self.sender.message(Kind::Reply, stream, reply);
    }

    /// Replies to a request that ends with it.
    pub(super) fn reply(&self, number: u32, reply: &Reply) {
        self.say(number, reply);
        self.leave(number);
    }

    /// Does what a request asks for, and replies; none is said where that was done before. A bug is an
    /// answer too: whoever waits for one would wait for ever.
    pub(super) fn answer(
        &self,
        number: u32,
        work: impl FnOnce() -> Result<Option<Reply>, Trouble>,
    ) {
        match unless_bug(work) {
            Ok(Some(reply)) => self.reply(number, &reply),
            Ok(None) => self.leave(number),
            Err(trouble) => self.reply(number, &Reply::Trouble { trouble }),
        }
    }

    pub(super) fn leave(&self, number: u32) {
        self.open().remove(&number);
        self.left.notify_all();
    }

    /// Lets go of everything, and waits until no request runs any more.
    pub(super) fn end(&self, most: Duration) {
        let deadline = Instant::now() + most;
        let mut open = self.open();
        open.values().for_each(|request| request.close());
        while !open.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.left.wait_timeout(open, left);
            open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(open);
        if let Some(held) = &self.held {
            held.lock().clear();
        }
    }
}

fn unless_bug<T>(work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    // What it was about to change is its own: nobody else uses it afterwards.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Trouble::new(
            TroubleKind::Failed,
            "the target helper has failed: this is a bug in opal",
            "report it, with the step that was running",
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_is_an_answer() {
        let work = || -> Result<(), Trouble> { panic!("a bug") };
        let trouble = unless_bug(work).unwrap_err();
        assert!(trouble.message.contains("a bug in opal"), "{trouble:?}");
        assert_eq!(unless_bug(|| Ok(3)), Ok(3));
    }
}
