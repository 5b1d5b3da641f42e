//! Telling work to stop, and hearing of it in time.
//!
//! A [`Stop`] is handed down from the run to its blocks, branches and commands. A block with a
//! time limit, or a branch that others may cancel, makes one of its own below the one it was given;
//! whoever waits, waits on all of them at once, in `poll`. `finally` blocks get one that is deaf to
//! everything but the order to kill.
//!
//! ```text
//! run ── signal ──▶ ask, then kill
//!  └─ @timeout ── deadline ──▶ ask
//!      └─ @parallel branch ── another one failed ──▶ ask
//!          └─ finally: hears of kill alone
//! ```

#[cfg(test)]
mod tests;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use opal_core::action::Why;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long what was asked to end has for it, unless its block says so.
pub const USUAL_GRACE: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub struct Stop(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    above: Option<Stop>,
    /// 0, the number of a signal, or [`CANCELLED`].
    asked: AtomicI32,
    /// 0, or the number of a signal that has come and was not passed on yet.
    noted: OnceLock<Arc<AtomicUsize>>,
    /// How long what was asked to end has for it, where that is not usual.
    patience: OnceLock<Duration>,
    killed: AtomicBool,
    deadline: Option<(Instant, Duration)>,
    /// Hears of nothing from above but the order to kill.
    is_deaf: bool,
    wake: OnceLock<Wake>,
    attendant: OnceLock<Attendant>,
}

/// Who listens for orders from outside, once a run takes longer than a moment: to begin with that
/// takes time itself, and whatever is said before waits to be heard.
struct Attendant {
    since: Instant,
    has_begun: AtomicBool,
    begin: Box<dyn Fn() + Send + Sync>,
}

/// The moment.
const UNATTENDED: Duration = Duration::from_millis(5);

impl std::fmt::Debug for Attendant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendant").field("has_begun", &self.has_begun).finish_non_exhaustive()
    }
}

/// A pipe that becomes readable, and stays so, when there is something to hear.
#[derive(Debug)]
struct Wake {
    read: OwnedFd,
    write: OwnedFd,
}

const CANCELLED: i32 = -1;

/// How often it is looked for what rings no bell: a second signal, and anything where the system has
/// no pipe to spare.
const TICK: Duration = Duration::from_millis(50);

/// What work has to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    GoOn,
    /// End soon: what runs is asked to, and has the grace period for it.
    End {
        why: Why,
        grace: Duration,
    },
    /// End at once, and clean nothing up.
    Kill,
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Of a whole run.
    #[must_use]
    pub fn new() -> Self {
        Self::make(None, None, false)
    }

    /// Of a part that may be stopped by itself.
    #[must_use]
    pub fn below(&self) -> Self {
        Self::make(Some(self.clone()), None, false)
    }

    /// Of a part that has so much time.
    #[must_use]
    pub fn limited(&self, duration: Duration, grace: Duration) -> Self {
        // What never comes in a lifetime needs no deadline.
        let deadline = Instant::now().checked_add(duration).map(|end| (end, grace));
        Self::make(Some(self.clone()), deadline, false)
    }

    /// Of cleaning up.
    #[must_use]
    pub fn deaf(&self) -> Self {
        Self::make(Some(self.clone()), None, true)
    }

    fn make(above: Option<Self>, deadline: Option<(Instant, Duration)>, is_deaf: bool) -> Self {
        Self(Arc::new(Inner {
            above,
            asked: AtomicI32::new(0),
            noted: OnceLock::new(),
            patience: OnceLock::new(),
            killed: AtomicBool::new(false),
            deadline,
            is_deaf,
            wake: OnceLock::new(),
            attendant: OnceLock::new(),
        }))
    }

    /// Calls `begin` once, after a moment of waiting.
    pub fn attended_by(&self, begin: impl Fn() + Send + Sync + 'static) {
        let (since, has_begun) = (Instant::now(), AtomicBool::new(false));
        let _ = self.0.attendant.set(Attendant { since, has_begun, begin: Box::new(begin) });
    }

    /// Counts as asked once `note` holds the number of a signal. The handler of the signal sets it, and
    /// so before anybody can see what the signal has done to others.
    pub fn noted_in(&self, note: Arc<AtomicUsize>) {
        let _ = self.0.noted.set(note);
    }

    /// Gives what is asked to end so long for it. The first to say so counts.
    pub fn be_patient(&self, grace: Duration) {
        let _ = self.0.patience.set(grace);
    }

    /// How long what is asked to end has for it.
    #[must_use]
    pub fn grace(&self) -> Duration {
        self.0.patience.get().copied().unwrap_or(USUAL_GRACE)
    }

    /// For who waits elsewhere than here: listens from now on.
    pub fn attend(&self) {
        if let Some(attendant) = self.attendant()
            && !attendant.has_begun.swap(true, Ordering::SeqCst)
        {
            (attendant.begin)();
        }
    }

    fn attendant(&self) -> Option<&Attendant> {
        let chain = std::iter::successors(Some(self), |stop| stop.0.above.as_ref());
        chain.last().and_then(|run| run.0.attendant.get())
    }

    /// How long nobody need listen yet.
    fn unattended(&self) -> Option<Duration> {
        let attendant = self.attendant().filter(|it| !it.has_begun.load(Ordering::SeqCst))?;
        Some(UNATTENDED.saturating_sub(attendant.since.elapsed()))
    }

    /// Asks the work to end. The first asking counts.
    pub fn ask(&self, why: Why) {
        let number = match why {
            Why::Signal(number) => number,
            Why::TimedOut | Why::Cancelled => CANCELLED,
        };
        let _ = self.0.asked.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
        self.ring();
    }

    pub fn kill(&self) {
        self.0.killed.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn ring(&self) {
        if let Some(wake) = self.0.wake.get() {
            // One byte is enough for ever: nobody takes it out.
            let _ = rustix::io::write(&wake.write, b"!");
        }
    }

    /// What holds now: the strongest of what was said here and above.
    #[must_use]
    pub fn order(&self) -> Order {
        let above = match (&self.0.above, self.0.is_deaf) {
            (Some(above), false) => above.order(),
            (Some(above), true) if above.order() == Order::Kill => Order::Kill,
            _ => Order::GoOn,
        };
        match above {
            Order::GoOn => self.own_order(),
            Order::End { .. } if self.0.killed.load(Ordering::SeqCst) => Order::Kill,
            order => order,
        }
    }

    /// What [`Inner::asked`] says, or else what was noted.
    fn asked(&self) -> i32 {
        match self.0.asked.load(Ordering::SeqCst) {
            0 => {
                let noted = self.0.noted.get().map_or(0, |note| note.load(Ordering::SeqCst));
                i32::try_from(noted).unwrap_or(0)
            }
            asked => asked,
        }
    }

    fn own_order(&self) -> Order {
        if self.0.killed.load(Ordering::SeqCst) {
            return Order::Kill;
        }
        match self.asked() {
            0 => {}
            CANCELLED => return Order::End { why: Why::Cancelled, grace: self.grace() },
            number => return Order::End { why: Why::Signal(number), grace: self.grace() },
        }
        match self.0.deadline {
            Some((end, grace)) if Instant::now() >= end => Order::End { why: Why::TimedOut, grace },
            _ => Order::GoOn,
        }
    }

    /// Why the work is to end, whatever was said after that; none where it goes on.
    #[must_use]
    pub fn why(&self) -> Option<Why> {
        let above = self.0.above.as_ref().filter(|_| !self.0.is_deaf).and_then(Self::why);
        above.or_else(|| match self.asked() {
            0 => match self.own_order() {
                Order::End { why, .. } => Some(why),
                Order::GoOn | Order::Kill => None,
            },
            CANCELLED => Some(Why::Cancelled),
            number => Some(Why::Signal(number)),
        })
    }

    /// Whether it timed out itself, and nothing above stops it anyway.
    #[must_use]
    pub fn is_out_of_time(&self) -> bool {
        matches!(self.order(), Order::End { why: Why::TimedOut, .. })
            && self.0.deadline.is_some_and(|(end, _)| Instant::now() >= end)
            && self.0.above.as_ref().is_none_or(|above| above.order() == Order::GoOn)
    }

    /// The next moment at which the order may change by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.0.deadline.map(|(end, _)| end);
        let above = match (&self.0.above, self.0.is_deaf) {
            (Some(above), false) => above.deadline(),
            _ => None,
        };
        [own, above].into_iter().flatten().min()
    }

    /// Waits until the order is no longer `seen`, one of `fds` is ready, or the timeout has passed;
    /// returns what became of each of `fds`.
    ///
    /// `seen` is what the caller has dealt with: an order that stays must not wake it again.
    #[must_use]
    pub fn wait(
        &self,
        fds: &[(BorrowedFd<'_>, PollFlags)],
        timeout: Option<Duration>,
        seen: Order,
    ) -> Vec<PollFlags> {
        let (wakes, is_complete) = self.wakes();
        if self.order() != seen {
            return vec![PollFlags::empty(); fds.len()];
        }
        let mut all: Vec<PollFd<'_>> =
            fds.iter().map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        if seen == Order::GoOn {
            all.extend(wakes.iter().map(|wake| PollFd::new(&wake.read, PollFlags::IN)));
        }
        let deadline = self.deadline().filter(|_| seen == Order::GoOn);
        let until = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let tick = match seen {
            Order::GoOn => (!is_complete).then_some(TICK),
            Order::End { .. } => Some(TICK),
            Order::Kill => None,
        };
        let mut timeout = [until, tick, timeout].into_iter().flatten().min();
        let unattended = self.unattended();
        if let Some(first) = unattended.filter(|first| timeout.is_none_or(|it| *first < it)) {
            let spec = Timespec::try_from(first).ok();
            if poll(&mut all, spec.as_ref()) != Ok(0) {
                return all.iter().take(fds.len()).map(PollFd::revents).collect();
            }
            self.attend();
            timeout = timeout.map(|it| it - first);
        }
        let spec = timeout.and_then(|it| Timespec::try_from(it).ok());
        // Interrupted by a signal: the caller looks again.
        match poll(&mut all, spec.as_ref()) {
            Ok(_) => all.iter().take(fds.len()).map(PollFd::revents).collect(),
            Err(_) => vec![PollFlags::empty(); fds.len()],
        }
    }

    /// What has not rung yet, here and above, and whether that is all there is to listen to: what
    /// has rung goes on ringing, for those as well who are deaf to it.
    fn wakes(&self) -> (Vec<&Wake>, bool) {
        let chain = std::iter::successors(Some(self), |stop| stop.0.above.as_ref());
        let wakes: Vec<Option<&Wake>> =
            chain.map(|stop| stop.wake().filter(|_| stop.own_order() == Order::GoOn)).collect();
        let is_complete = wakes.iter().all(Option::is_some);
        (wakes.into_iter().flatten().collect(), is_complete)
    }

    fn wake(&self) -> Option<&Wake> {
        if let Some(wake) = self.0.wake.get() {
            return Some(wake);
        }
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (read, write) = rustix::pipe::pipe_with(flags).ok()?;
        let _ = self.0.wake.set(Wake { read, write });
        let wake = self.0.wake.get();
        // Said before there was a pipe.
        if self.own_order() != Order::GoOn {
            self.ring();
        }
        wake
    }
}
