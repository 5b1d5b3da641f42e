//! Waiting for what becomes of a request, and passing on the order to stop.

use std::time::{Duration, Instant};

use opal_core::resolver::Trouble;
use opal_session::stop::{Order, Stop};
use opal_session::wire::codec::Malformed;
use opal_session::wire::frame::{Channel, Kind, Loss, StreamId};
use opal_session::wire::reply::{Halting, Reply};
use rustix::event::PollFlags;

use crate::link::{Event, Sent};

/// How long a target may take to say that something has ended, besides the time that it has for it.
const LATEST: Duration = Duration::from_secs(5);

/// How long who waits for a reply does not ask whether to stop.
const MOMENT: Duration = Duration::from_millis(20);

/// What was passed on of the orders to stop.
#[derive(Debug)]
pub(crate) struct Heeding {
    seen: Order,
    deadline: Option<Instant>,
}

impl Default for Heeding {
    fn default() -> Self {
        Self { seen: Order::GoOn, deadline: None }
    }
}

impl Heeding {
    /// Notes what holds now: whether it is new.
    fn note(&mut self, order: Order) -> bool {
        if order == self.seen {
            return false;
        }
        self.seen = order;
        let grace = match order {
            Order::End { grace, .. } => grace,
            Order::GoOn | Order::Kill => Duration::ZERO,
        };
        self.deadline = Instant::now().checked_add(grace.saturating_add(LATEST));
        true
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether what is to stop still has time for it.
    pub(crate) fn is_in_time(&mut self, stop: &Stop) -> bool {
        self.note(stop.order());
        !self.is_late()
    }
}

impl Sent {
    /// The next event; none where the time has passed, or there may be something else to do.
    pub(crate) fn next(
        &self,
        stop: &Stop,
        heeding: &mut Heeding,
        timeout: Option<Duration>,
    ) -> Result<Option<Event>, Trouble> {
        self.heed(stop, heeding)?;
        if let Some(event) = self.mailbox.take() {
            return Ok(Some(event));
        }
        if self.mailbox.is_lost() {
            return Err(self.link.inner.trouble());
        }
        if !self.mailbox.listen() {
            return Ok(self.mailbox.take());
        }
        let latest = heeding.deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let timeout = [latest, timeout].into_iter().flatten().min();
        let bell = [(self.mailbox.fd(), PollFlags::IN)];
        let _ = stop.wait(&bell, timeout, heeding.seen);
        Ok(self.mailbox.take())
    }

    /// Passes on what the work has to do now. A target that does not do it in time is lost.
    pub(crate) fn heed(&self, stop: &Stop, heeding: &mut Heeding) -> Result<(), Trouble> {
        let inner = &self.link.inner;
        let order = stop.order();
        if heeding.note(order) {
            let halting = match order {
                Order::End { why, grace } => Halting::End { why, grace },
                Order::GoOn | Order::Kill => Halting::Kill,
            };
            let stream = StreamId::new(self.number, Channel::Talk);
            // Where nobody hears it, the thread that reads finds out.
            let mut goes_on = || !heeding.is_late();
            let _ = inner.sender.message_while(Kind::Stop, stream, &halting, &mut goes_on);
        }
        if heeding.is_late() {
            inner.lose(Loss::Unanswered);
            return Err(inner.trouble());
        }
        Ok(())
    }

    /// Waits for the reply. What is trouble there is trouble here.
    pub(crate) fn reply(&mut self, stop: &Stop) -> Result<Reply, Trouble> {
        let mut heeding = Heeding::default();
        // Most come at once.
        let mut event = self.mailbox.wait(MOMENT);
        loop {
            let next = match event.take() {
                None => self.next(stop, &mut heeding, None)?,
                event => event,
            };
            match next {
                Some(Event::Reply(Reply::Trouble { trouble })) => return Err(trouble),
                Some(Event::Reply(reply)) => {
                    self.look = None;
                    return Ok(reply);
                }
                Some(_) => return Err(self.nonsense()),
                None => {}
            }
        }
    }

    /// Says more of the stream than that there was something.
    pub(crate) fn taken(&self, channel: Channel, bytes: usize) {
        if let Some(window) = self.mailbox.taken(channel, bytes) {
            let stream = StreamId::new(self.number, channel);
            let _ = self.link.inner.sender.window(stream, window);
        }
    }

    /// Nobody wants more of a stream.
    pub(crate) fn close(&self, channel: Channel) {
        if self.mailbox.is_open(channel) {
            let stream = StreamId::new(self.number, channel);
            let _ = self.link.inner.sender.word(Kind::Close, stream);
        }
    }

    /// The target has answered something else than it was asked.
    pub(crate) fn nonsense(&self) -> Trouble {
        let inner = &self.link.inner;
        inner.lose(Loss::Malformed(Malformed("an answer of another kind than the request")));
        inner.trouble()
    }
}
