//! What has come for one request, and whether it may.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opal_core::wiped::{Wiped, reserve};
use opal_session::wire::codec::{Malformed, decoded};
use opal_session::wire::credit::{Account, Outlet};
use opal_session::wire::frame::{Channel, Frame, Kind};
use opal_session::wire::reply::Reply;

use super::bell::Bell;

/// What a request expects besides its reply.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// The windows of what comes on the two channels for output.
    pub(crate) output: Option<u32>,
    pub(crate) error: Option<u32>,
    /// Whether something is sent.
    pub(crate) has_input: bool,
    /// Whether it goes on after its reply, until it is let go of.
    pub(crate) is_held: bool,
    /// Whether keys may mean a signal.
    pub(crate) is_on_terminal: bool,
}

#[derive(Debug)]
pub(crate) enum Event {
    Reply(Reply),
    Data(Channel, Wiped<Vec<u8>>),
    End,
    Fail(ErrorKind),
    /// A key means this to opal.
    Signal(i32),
}

pub(crate) struct Mailbox {
    state: Mutex<State>,
    /// For who waits for nothing else.
    come: Condvar,
    /// For who waits for something else too.
    pub(super) bell: Arc<Bell>,
    /// Of what is sent.
    pub(crate) outlet: Outlet,
    has_input: bool,
    is_on_terminal: bool,
}

struct State {
    events: VecDeque<Event>,
    /// Of standard output and standard error; none where nothing may come.
    accounts: [Option<Account>; 2],
    has_reply: bool,
    is_held: bool,
    /// Nobody wants what comes.
    is_discarded: bool,
    is_lost: bool,
    ringing: Ringing,
}

/// A bell that nobody listens to costs a system call all the same.
#[derive(PartialEq, Eq)]
enum Ringing {
    Off,
    /// Somebody listens.
    On,
    Rung,
}

impl State {
    fn is_quiet(&self) -> bool {
        self.events.is_empty() && !self.is_lost
    }

    /// Whether nothing may come any more.
    fn is_done(&self) -> bool {
        self.is_lost || self.has_reply && !self.is_held && self.accounts.iter().all(Option::is_none)
    }

    fn add(&mut self, event: Event) {
        if !self.is_discarded {
            self.events.push_back(event);
        }
    }

    /// Adds a piece of a stream to the last one, if both are small: each costs more than its bytes. What
    /// has come on the other channel since then stays in between, unless far too much is waiting.
    fn add_data(&mut self, channel: Channel, bytes: Wiped<Vec<u8>>) {
        let most = if self.events.len() < MAX_EVENTS { 1 } else { 2 };
        for event in self.events.iter_mut().rev().take(most) {
            let Event::Data(of, last) = event else { break };
            if *of == channel && last.len() + bytes.len() <= JOINED_BYTES {
                reserve(last, bytes.len());
                last.extend_from_slice(&bytes);
                return;
            }
        }
        self.add(Event::Data(channel, bytes));
    }
}

impl Mailbox {
    pub(super) fn new(shape: Shape, bell: Arc<Bell>) -> Self {
        let accounts = [shape.output, shape.error].map(|window| window.map(Account::new));
        let state = State {
            events: VecDeque::new(),
            accounts,
            has_reply: false,
            is_held: shape.is_held,
            is_discarded: false,
            is_lost: false,
            ringing: Ringing::Off,
        };
        let Shape { has_input, is_on_terminal, .. } = shape;
        let (state, outlet) = (Mutex::new(state), Outlet::default());
        let come = Condvar::new();
        Self { state, come, bell, outlet, has_input, is_on_terminal }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Readable once something has come, for who listens.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.bell.fd()
    }

    /// The next thing that has come; none where nothing has.
    pub(crate) fn take(&self) -> Option<Event> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.ringing, Ringing::Off) == Ringing::Rung {
            self.bell.silence();
        }
        state.events.pop_front()
    }

    /// From now on the bell rings, until something is taken: whether there is nothing to take yet.
    pub(crate) fn listen(&self) -> bool {
        let mut state = self.lock();
        let is_quiet = state.is_quiet();
        if is_quiet && state.ringing == Ringing::Off {
            state.ringing = Ringing::On;
        }
        is_quiet
    }

    /// The next thing, or none where nothing comes for so long.
    pub(crate) fn wait(&self, most: Duration) -> Option<Event> {
        let waited = self.come.wait_timeout_while(self.lock(), most, |state| state.is_quiet());
        waited.unwrap_or_else(PoisonError::into_inner).0.events.pop_front()
    }

    /// Something has come, or nothing will any more.
    fn announce(&self, mut state: MutexGuard<'_, State>) {
        if state.ringing == Ringing::On {
            state.ringing = Ringing::Rung;
            self.bell.ring();
        }
        drop(state);
        self.come.notify_one();
    }

    /// So many bytes are out of the way: what to grant.
    pub(crate) fn taken(&self, channel: Channel, bytes: usize) -> Option<u32> {
        self.lock().accounts[index(channel)].as_mut()?.take(bytes)
    }

    /// Whether something may still come on a channel.
    pub(crate) fn is_open(&self, channel: Channel) -> bool {
        self.lock().accounts[index(channel)].is_some()
    }

    pub(super) fn lose(&self) {
        let mut state = self.lock();
        state.is_lost = true;
        self.outlet.close(ErrorKind::ConnectionReset);
        self.announce(state);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lock().is_lost
    }

    pub(super) fn is_done(&self) -> bool {
        self.lock().is_done()
    }

    /// Nobody wants what still comes. It comes all the same, and is checked.
    pub(super) fn discard(&self) {
        let mut state = self.lock();
        state.is_discarded = true;
        state.events.clear();
        if std::mem::replace(&mut state.ringing, Ringing::Off) == Ringing::Rung {
            self.bell.silence();
        }
    }

    /// What was held has been let go of.
    pub(crate) fn let_go(&self) {
        self.lock().is_held = false;
    }

    /// Something has come: whether it was the last thing.
    pub(super) fn deliver(&self, frame: Frame) -> Result<bool, Malformed> {
        let mut state = self.lock();
        match (frame.kind, frame.stream.channel) {
            (Kind::Reply, Channel::Talk) => self.reply(&mut state, decoded(&frame.payload)?)?,
            (Kind::Data, channel @ (Channel::Output | Channel::Error)) => {
                let account = state.accounts[index(channel)].as_mut();
                account.ok_or(NOT_OPEN)?.receive(frame.payload.len())?;
                state.add_data(channel, frame.payload);
            }
            (Kind::End, channel @ (Channel::Output | Channel::Error)) => {
                let account = state.accounts[index(channel)].take();
                account.ok_or(NOT_OPEN)?.end(decoded(&frame.payload)?)?;
                state.add(Event::End);
            }
            (Kind::Fail, Channel::Output) => {
                let why = decoded(&frame.payload)?;
                state.accounts[0].take().ok_or(NOT_OPEN)?;
                state.add(Event::Fail(why));
            }
            (Kind::Signal, Channel::Talk) if self.is_on_terminal && !state.has_reply => {
                let signal = decoded(&frame.payload)?;
                if !SIGNALS.contains(&signal) || state.events.len() > MAX_SIGNALS {
                    return Err(Malformed("a signal that no key means"));
                }
                state.add(Event::Signal(signal));
            }
            (Kind::Fail, Channel::Input) if self.has_input => {
                self.outlet.close(decoded(&frame.payload)?);
            }
            (Kind::Close, Channel::Input) if self.has_input => {
                self.outlet.close(ErrorKind::BrokenPipe);
            }
            (Kind::Window, Channel::Input) if self.has_input => {
                self.outlet.grant(decoded(&frame.payload)?)?;
            }
            _ => return Err(Malformed("a frame on a stream where it has no meaning")),
        }
        let is_done = state.is_done();
        self.announce(state);
        Ok(is_done)
    }

    fn reply(&self, state: &mut State, reply: Reply) -> Result<(), Malformed> {
        if std::mem::replace(&mut state.has_reply, true) {
            return Err(Malformed("a second answer to a request"));
        }
        match reply {
            Reply::Trouble { .. } => {
                state.accounts = [None, None];
                state.is_held = false;
                self.outlet.close(ErrorKind::BrokenPipe);
            }
            Reply::Ended { .. } if state.accounts.iter().any(Option::is_some) => {
                return Err(Malformed("the output of a command has no end"));
            }
            _ => {}
        }
        state.add(Event::Reply(reply));
        Ok(())
    }
}

/// A piece of a stream that others are added to, at most.
const JOINED_BYTES: usize = 16 * 1024;

/// Events that wait, before pieces of a stream may get before those of the other channel.
const MAX_EVENTS: usize = 4096;

/// What a key can mean to opal: an interrupt.
const SIGNALS: [i32; 1] = [2];

/// Events that wait when a signal comes, at most.
const MAX_SIGNALS: usize = 4096;

const NOT_OPEN: Malformed = Malformed("data for a stream that is not open");

fn index(channel: Channel) -> usize {
    usize::from(channel == Channel::Error)
}

#[cfg(test)]
mod tests {
    use opal_session::wire::WINDOW;
    use opal_session::wire::frame::StreamId;

    use super::*;

    #[test]
    fn what_comes_byte_by_byte_takes_no_more_than_its_window() {
        let shape = Shape { output: Some(WINDOW), error: Some(WINDOW), ..Shape::default() };
        let mailbox = Mailbox::new(shape, Arc::new(Bell::new().unwrap()));
        let mut sent = [Vec::new(), Vec::new()];
        for at in 0..WINDOW / 4 {
            for (index, channel) in [Channel::Output, Channel::Error].into_iter().enumerate() {
                let (stream, byte) = (StreamId::new(1, channel), (at % 251) as u8);
                let payload = Wiped::new(vec![byte]);
                mailbox.deliver(Frame { kind: Kind::Data, stream, payload }).unwrap();
                sent[index].push(byte);
            }
        }
        let pieces = mailbox.lock().events.len();
        assert!(pieces <= MAX_EVENTS + 2 * WINDOW as usize / JOINED_BYTES + 2, "{pieces}");
        let mut come = [Vec::new(), Vec::new()];
        while let Some(Event::Data(channel, bytes)) = mailbox.take() {
            come[index(channel)].extend_from_slice(&bytes);
        }
        assert!(come == sent);
    }
}
