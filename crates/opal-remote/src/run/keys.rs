//! Opal's terminal while a command on a target has it: keys and sizes go there.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opal_session::stop::Stop;
use opal_session::wire::effect::Effect;
use opal_session::wire::frame::{Channel, StreamId};
use opal_session::{Face, Hold, Resized};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::connection::Acting;
use crate::link::Sent;

/// How often it is asked whether the command has ended.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// After so much silence nobody may be there to hear the key that interrupts. A target says something
/// every 5 s.
const STALLED: Duration = Duration::from_secs(11);

/// The terminal, for one command.
pub(super) struct Keys<'a> {
    pub(super) hold: Hold<'a>,
    pub(super) face: Face,
}

impl<'a> Keys<'a> {
    pub(super) fn new(hold: Hold<'a>) -> Option<Self> {
        let face = hold.face()?;
        Some(Self { hold, face })
    }

    /// A key means a signal to opal, too: the target says so.
    pub(super) fn signal(&self, number: i32) {
        self.hold.terminal().signal(number);
    }

    /// Sends what is typed, until the command has ended.
    pub(super) fn send(&self, acting: &Acting, sent: &Sent, is_over: &AtomicBool) {
        let terminal = self.hold.terminal();
        let outlet = &sent.mailbox.outlet;
        let goes_on = || !is_over.load(Ordering::SeqCst);
        let (mut chunk, mut count, mut size) = ([0; 1024], 0, self.face.size);
        while goes_on() && outlet.closed().is_none() {
            let bell = terminal.bell();
            let [keys, resized] = ready(self.hold.keys(), bell.map(Resized::fd));
            if resized {
                bell.into_iter().for_each(Resized::heard);
                let now = terminal.size().unwrap_or(size);
                if std::mem::replace(&mut size, now) != now {
                    // A target that does not answer is lost, which the command says.
                    let resize = Effect::Resize { command: sent.number, size: now };
                    let _ = acting.have(&resize, &Stop::new());
                }
            }
            if !keys {
                continue;
            }
            let Ok(most) = outlet.wait(chunk.len(), goes_on) else { return };
            let read = match rustix::io::read(self.hold.keys(), &mut chunk[..most]) {
                Ok(read @ 1..) => read,
                Err(Errno::INTR | Errno::AGAIN) => {
                    outlet.refund(most);
                    continue;
                }
                Ok(0) | Err(_) => {
                    terminal.signal(1);
                    let stream = StreamId::new(sent.number, Channel::Input);
                    let _ = sent.link.inner.sender.end(stream, count);
                    return;
                }
            };
            outlet.refund(most - read);
            count += read as u64;
            let stream = StreamId::new(sent.number, Channel::Input);
            if sent.link.inner.sender.data(stream, &chunk[..read]).is_err() {
                return;
            }
            let interrupts = self.face.interrupt() != 0;
            if interrupts
                && chunk[..read].contains(&self.face.interrupt())
                && sent.link.inner.silence() >= STALLED
            {
                terminal.signal(2);
            }
        }
    }
}

/// Which of them have something to read.
fn ready(keys: BorrowedFd<'_>, bell: Option<BorrowedFd<'_>>) -> [bool; 2] {
    let polled = [keys].into_iter().chain(bell);
    let mut polled: Vec<_> = polled.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    if !matches!(poll(&mut polled, Some(&TICK)), Ok(1..)) {
        return [false; 2];
    }
    [0, 1].map(|at| polled.get(at).is_some_and(|it| !it.revents().is_empty()))
}
