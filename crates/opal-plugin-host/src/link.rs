//! Lines to opal, and waiting for its answers.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Call, Kind, Malformed, Message, Refusal, Reply, line};

use crate::workers::Workers;

/// The connection to opal, as seen by the threads that answer its calls.
#[derive(Debug)]
pub(crate) struct Link {
    socket: Mutex<UnixStream>,
    next: AtomicU64,
    open: Mutex<Open>,
    workers: Workers,
}

#[derive(Debug, Default)]
struct Open {
    /// What opal was asked, by number: the call it was for, and who waits.
    asked: BTreeMap<u64, (u64, Sender<Answer>)>,
    /// The calls that are being answered, and whether they are still wanted.
    calls: BTreeMap<u64, std::sync::Arc<AtomicBool>>,
}

type Answer = Option<Result<Body, Refusal>>;

/// opal no longer wants the answer.
#[derive(Debug)]
pub(crate) struct Cancelled;

impl Link {
    pub(crate) fn new(socket: UnixStream) -> Self {
        let (next, open, workers) = (AtomicU64::new(1), Mutex::default(), Workers::default());
        Self { socket: Mutex::new(socket), next, open, workers }
    }

    /// The threads that answer.
    pub(crate) const fn workers(&self) -> &Workers {
        &self.workers
    }

    fn open(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is to be answered. None where there is one of this number.
    pub(crate) fn begin(&self, call: u64) -> Option<std::sync::Arc<AtomicBool>> {
        let flag = std::sync::Arc::new(AtomicBool::new(false));
        let before = self.open().calls.insert(call, flag.clone());
        before.is_none().then_some(flag)
    }

    /// A call is no longer wanted, or has been answered already.
    pub(crate) fn cancel(&self, call: u64) {
        let mut open = self.open();
        if let Some(flag) = open.calls.get(&call) {
            flag.store(true, Ordering::Release);
        }
        open.asked.retain(|_, (of, waiting)| {
            let is_kept = *of != call;
            if !is_kept {
                let _ = waiting.send(None);
            }
            is_kept
        });
    }

    /// Passes an answer of opal on. Whether anybody asked for it; an answer to a call that was
    /// cancelled meanwhile is fine.
    pub(crate) fn answer(&self, reply: Reply) -> bool {
        let waiting = self.open().asked.remove(&reply.id);
        if let Some((_, waiting)) = waiting {
            let _ = waiting.send(Some(reply.result));
            return true;
        }
        reply.id < self.next.load(Ordering::Relaxed)
    }

    /// Asks opal for something, and waits.
    pub(crate) fn ask(
        &self,
        call: u64,
        service: Service,
        params: Body,
    ) -> Result<Result<Body, Refusal>, Cancelled> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (send, wait): (Sender<Answer>, Receiver<Answer>) = channel();
        {
            let mut open = self.open();
            let is_cancelled = open.calls.get(&call).is_none_or(|it| it.load(Ordering::Acquire));
            if is_cancelled {
                return Err(Cancelled);
            }
            open.asked.insert(id, (call, send));
        }
        let service = service.word().to_owned();
        let message =
            Message::Call(Call { id, parent: Some(call), plugin: None, call: service, params });
        match self.send(&message) {
            Ok(()) => {}
            Err(Malformed::LongLine | Malformed::LongFrames) => {
                self.open().asked.remove(&id);
                return Ok(Err(Refusal::new(
                    Kind::TooLarge,
                    "what it passes to opal is too large",
                )));
            }
            Err(_) => return Err(Cancelled),
        }
        self.workers.aside(|| wait.recv()).ok().flatten().ok_or(Cancelled)
    }

    /// Answers a call.
    pub(crate) fn reply(&self, reply: Reply) {
        let id = reply.id;
        self.open().calls.remove(&id);
        let message = Message::Reply(reply);
        if matches!(self.send(&message), Err(Malformed::LongLine | Malformed::LongFrames)) {
            let ending = opal_core::protocol::Ending::Volume;
            let refusal = Refusal::engine(ending, "its answer is too large");
            let _ = self.send(&Message::Reply(Reply { id, result: Err(refusal), log: None }));
        }
    }

    fn send(&self, message: &Message) -> Result<(), Malformed> {
        let bytes = line::bytes(message)?;
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        std::io::Write::write_all(&mut *socket, &bytes).map_err(|error| Malformed::Io(error.kind()))
    }
}
