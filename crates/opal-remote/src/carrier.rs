//! What carries the pipes of a connection.

use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use opal_core::resolver::Trouble;
use opal_session::stop::Stop;
use opal_session::{Ended, Transport};

/// What carries the two pipes to the target.
#[derive(Debug)]
pub(crate) enum Carrier {
    /// A program on this machine.
    Process(Transport),
    /// A request of another connection.
    Request(Relay),
}

/// The request that carries the pipes.
#[derive(Debug)]
pub(crate) struct Relay {
    stop: Stop,
    over: Mutex<Receiver<Result<Ended, Trouble>>>,
}

impl Carrier {
    /// How it ended, after its pipes have: a code, or the trouble of the target that it starts from.
    pub(crate) fn ended(&mut self, patience: Duration) -> Result<Option<i32>, Trouble> {
        match self {
            Self::Process(transport) => Ok(transport.wait(patience)),
            Self::Request(relay) => {
                relay.wait(patience).transpose().map(|ended| ended.map(|ended| ended.code))
            }
        }
    }

    /// Waits for its end, and ends it where that takes longer.
    pub(crate) fn finish(self, patience: Duration) {
        match self {
            Self::Process(transport) => drop(transport.finish(patience)),
            Self::Request(relay) => relay.finish(patience),
        }
    }
}

impl Relay {
    /// `over` gets how it ended.
    pub(crate) fn new(stop: Stop, over: Receiver<Result<Ended, Trouble>>) -> Self {
        Self { stop, over: Mutex::new(over) }
    }

    /// Waits for the end of what was started; trouble is what the outer target says about it.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Result<Ended, Trouble>> {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        over.recv_timeout(patience).ok()
    }

    /// The same, and ends it where that takes longer.
    pub(crate) fn finish(self, patience: Duration) {
        if self.wait(patience).is_none() {
            self.stop.kill();
        }
    }
}
