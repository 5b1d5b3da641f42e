//! One connection: numbered requests go out from any thread, one thread reads what comes back.

mod bell;
mod gate;
mod mailbox;
mod reading;

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::resolver::Trouble;
use opal_session::stop::Stop;
use opal_session::wire::codec::Wire;
use opal_session::wire::credit::Budget;
use opal_session::wire::frame::{Channel, Kind, Loss, MAX_REQUEST, Receiver, StreamId};
use opal_session::wire::hello::Hello;
use opal_session::wire::link::Sender;
use opal_session::wire::{MAX_LOOKS, MAX_REQUESTS, Timing};

use crate::carrier::Carrier;
use crate::error::RemoteError;
use crate::request::Heeding;

use bell::Bell;
use gate::{Gate, Passed};

pub(crate) use mailbox::{Event, Mailbox, Shape};

/// How long a transport may take to end after a good-bye, and after a loss.
const PATIENCE: Duration = Duration::from_secs(5);

/// The same where nobody answers: it does not end by itself.
const BRIEFLY: Duration = Duration::from_millis(200);

/// So long after the last thing that was heard nobody is taken to answer: pings come every 5 s.
const SILENT: Duration = Duration::from_secs(11);

/// The connection. It says good-bye when its last owner lets go of it.
pub(crate) struct Link {
    pub(crate) inner: Arc<Inner>,
    carrier: Option<Carrier>,
}

/// What the thread that reads has of it.
pub(crate) struct Inner {
    pub(crate) target: String,
    pub(crate) hello: Hello,
    pub(crate) sender: Arc<Sender>,
    pub(crate) budget: Budget,
    table: Mutex<BTreeMap<u32, Arc<Mailbox>>>,
    last: AtomicU32,
    lost: OnceLock<Loss>,
    looks: Gate,
    requests: Gate,
    bells: Mutex<Vec<Arc<Bell>>>,
    /// When something was heard last.
    heard: Mutex<Instant>,
}

/// A request that has been sent.
pub(crate) struct Sent {
    pub(crate) link: Arc<Link>,
    pub(crate) number: u32,
    pub(crate) mailbox: Arc<Mailbox>,
    /// Until there is a reply, where it only reads.
    pub(crate) look: Option<Passed>,
    _request: Passed,
}

impl Link {
    pub(crate) fn new(
        target: String,
        hello: Hello,
        sender: Sender,
        receiver: Receiver,
        timing: Timing,
        carrier: Option<Carrier>,
    ) -> std::io::Result<Arc<Self>> {
        let sender = Arc::new(sender);
        sender.keep_pinging(timing.ping)?;
        let inner = Arc::new(Inner {
            target,
            hello,
            sender,
            budget: Budget::default(),
            table: Mutex::default(),
            last: AtomicU32::new(0),
            lost: OnceLock::new(),
            looks: Gate::new(MAX_LOOKS),
            // The helper frees a number a moment after its reply: a few are left for that.
            requests: Gate::new(MAX_REQUESTS - MAX_LOOKS),
            bells: Mutex::default(),
            heard: Mutex::new(Instant::now()),
        });
        let reader = Arc::clone(&inner);
        thread::Builder::new()
            .name("target".to_owned())
            .spawn(move || reading::read(receiver, &reader))?;
        Ok(Arc::new(Self { inner, carrier }))
    }

    /// Sends a request.
    pub(crate) fn send(
        self: &Arc<Self>,
        kind: Kind,
        body: &impl Wire,
        shape: Shape,
        stop: &Stop,
    ) -> Result<Sent, Trouble> {
        let inner = &self.inner;
        let goes_on = || inner.lost.get().is_none();
        let look = match kind {
            Kind::Look => inner.looks.pass(stop, goes_on),
            _ => None,
        };
        let request = inner.requests.pass(stop, goes_on).ok_or_else(|| inner.trouble())?;
        let bell = inner.bell()?;
        let number = inner.number();
        let mailbox = Arc::new(Mailbox::new(shape, bell));
        inner.table().insert(number, Arc::clone(&mailbox));
        // Whoever was lost in between is rung for: the table is looked through after that is noted.
        if inner.lost.get().is_some() {
            return Err(inner.trouble());
        }
        let stream = StreamId::new(number, Channel::Talk);
        let mut heeding = Heeding::default();
        match inner.sender.message_while(kind, stream, body, &mut || heeding.is_in_time(stop)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                inner.table().remove(&number);
                return Err(RemoteError::TooLarge.into());
            }
            Err(error) => return Err(inner.unsent(&error)),
        }
        Ok(Sent { link: Arc::clone(self), number, mailbox, look, _request: request })
    }
}

impl Inner {
    pub(crate) fn table(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Mailbox>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self) -> u32 {
        // Thirty bits, of which 0 is the connection itself.
        self.last.fetch_add(1, Ordering::Relaxed) % MAX_REQUEST + 1
    }

    fn bell(&self) -> Result<Arc<Bell>, Trouble> {
        let kept = self.bells.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bell = kept.map_or_else(|| Bell::new().map(Arc::new), Ok);
        bell.map_err(|error| {
            let (target, loss) = (&*self.target, Loss::System(error.kind()));
            RemoteError::Lost { target, loss }.into()
        })
    }

    /// The first reason counts. Everybody who waits gets to know.
    pub(crate) fn lose(&self, loss: Loss) {
        let _ = self.lost.set(loss);
        self.sender.close();
        for mailbox in self.table().values() {
            mailbox.lose();
        }
    }

    /// Nothing more can be sent.
    pub(crate) fn unsent(&self, error: &std::io::Error) -> Trouble {
        self.lose(match error.kind() {
            ErrorKind::TimedOut => Loss::Unanswered,
            why => Loss::System(why),
        });
        self.trouble()
    }

    pub(crate) fn lost(&self) -> Option<Loss> {
        self.lost.get().copied()
    }

    fn hear(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// For how long nothing was heard.
    pub(crate) fn silence(&self) -> Duration {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// What there is to say about a connection that is gone.
    pub(crate) fn trouble(&self) -> Trouble {
        let loss = self.lost.get().copied().unwrap_or(Loss::Ended);
        RemoteError::Lost { target: &self.target, loss }.into()
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.mailbox.discard();
        if self.mailbox.is_done() {
            let inner = &self.link.inner;
            inner.table().remove(&self.number);
            let mut bells = inner.bells.lock().unwrap_or_else(PoisonError::into_inner);
            bells.push(Arc::clone(&self.mailbox.bell));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.inner.sender.word(Kind::Bye, StreamId::LINK);
        self.inner.sender.close();
        if let Some(carrier) = self.carrier.take() {
            let is_silent = self.inner.silence() >= SILENT;
            let is_gone = self.inner.lost().is_some_and(|loss| loss != Loss::Ended);
            carrier.finish(if is_silent || is_gone { BRIEFLY } else { PATIENCE });
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("target", &self.inner.target).finish_non_exhaustive()
    }
}
