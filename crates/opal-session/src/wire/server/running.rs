//! Commands of steps: their output is sent as it comes, their input is taken as it comes.

use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::stream::{Closed, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::inlet::Piece;
use super::requests::{Helper, Open};
use crate::local::leader;
use crate::stop::Order;
use crate::wire::WINDOW;
use crate::wire::effect::Running;
use crate::wire::frame::{Channel, Kind, StreamId};
use crate::wire::reply::Reply;
use crate::{Face, Input, Output, Session, Taker, Terminal, Work, pipe};

/// How often it is asked whether a command still wants its input.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(super) fn run(helper: &Arc<Helper>, number: u32, open: &Arc<Open>, work: &Running) -> Reply {
    let windows = [(Channel::Output, work.windows.output), (Channel::Error, work.windows.error)];
    for (channel, window) in windows {
        // A window that is too large is the client's mistake: it gets the largest one.
        let _ = open.outlet(channel).grant(window.min(WINDOW));
    }
    let input = work.has_input.then(|| feed(helper, number, open)).transpose();
    let stdin = match (input, &work.terminal) {
        (Ok(Some(keys)), Some(face)) => {
            Input::Terminal(on_terminal(helper, number, open, keys, face))
        }
        (Ok(stdin), _) => stdin.map_or(Input::Own, Input::From),
        (Err(_), _) => Input::Nothing,
    };
    let mut taker = Sending::new(helper, number, open);
    let ended = helper.session.run(
        Work {
            script: &work.script,
            interpreter: work.interpreter.as_deref(),
            arguments: &work.arguments,
            directory: &work.directory,
            previous: work.previous.as_deref(),
            environment: &work.environment,
            limits: work.limits,
            stdin,
            stdout: Output::Taken,
            stderr: Output::Taken,
        },
        &open.stop,
        &mut taker,
    );
    open.inlet.give_up();
    for (channel, count) in [Channel::Output, Channel::Error].into_iter().zip(taker.sent) {
        let _ = helper.sender.end(StreamId::new(number, channel), count);
    }
    match ended {
        Ok(ended) => Reply::Ended { ended },
        Err(trouble) => Reply::Trouble { trouble },
    }
}

/// The terminal of opal, for one command.
fn on_terminal(
    helper: &Arc<Helper>,
    number: u32,
    open: &Arc<Open>,
    keys: OwnedFd,
    face: &Face,
) -> Arc<Terminal> {
    let leader = helper.own.iter().cloned().chain([leader::WORD.into()]).collect();
    let sender = Arc::clone(&helper.sender);
    let on_signal = Box::new(move |signal: i32| {
        // Where nobody hears it, the first thread finds out.
        let _ = sender.message(Kind::Signal, StreamId::new(number, Channel::Talk), &signal);
    });
    let terminal = Arc::new(Terminal::relayed(keys, face.clone(), leader, on_signal));
    let _ = open.terminal.set(Arc::clone(&terminal));
    terminal
}

/// Sends what a command prints. It waits while opal does not want more.
pub(super) struct Sending<'a> {
    helper: &'a Helper,
    number: u32,
    open: &'a Open,
    sent: [u64; 2],
    /// Since when it has been asked to end.
    since: Option<Instant>,
}

impl<'a> Sending<'a> {
    pub(super) fn new(helper: &'a Helper, number: u32, open: &'a Open) -> Self {
        Self { helper, number, open, sent: [0; 2], since: None }
    }

    /// How much was sent of standard output and standard error.
    pub(super) fn sent(&self) -> [u64; 2] {
        self.sent
    }
}

impl Taker for Sending<'_> {
    fn take(&mut self, stream: Stream, mut bytes: &[u8]) -> Result<(), Closed> {
        let (channel, index) = match stream {
            Stream::Stdout => (Channel::Output, 0),
            Stream::Stderr => (Channel::Error, 1),
        };
        while !bytes.is_empty() {
            let (open, since) = (self.open, &mut self.since);
            let goes_on = || waits(open.stop.order(), since);
            let most = bytes.len().min(crate::wire::MAX_FRAME);
            let most = open.outlet(channel).wait(most, goes_on).map_err(|_| Closed)?;
            let (now, later) = bytes.split_at(most);
            let to = StreamId::new(self.number, channel);
            self.helper.sender.data(to, now).map_err(|_| Closed)?;
            self.sent[index] += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }
}

/// Whether what a command prints may wait: not longer than it has to end.
fn waits(order: Order, since: &mut Option<Instant>) -> bool {
    match order {
        Order::GoOn => true,
        Order::End { grace, .. } => {
            since.get_or_insert_with(Instant::now).elapsed() < grace.min(Duration::from_secs(60))
        }
        Order::Kill => false,
    }
}

/// A pipe that gets what opal sends.
pub(super) fn feed(
    helper: &Arc<Helper>,
    number: u32,
    open: &Arc<Open>,
) -> std::io::Result<OwnedFd> {
    let (read, write) = pipe()?;
    rustix::io::ioctl_fionbio(&write, true)?;
    open.inlet.open(WINDOW);
    let stream = StreamId::new(number, Channel::Input);
    let _ = helper.sender.window(stream, WINDOW);
    let (helper, open) = (Arc::clone(helper), Arc::clone(open));
    let sender = Arc::clone(&helper.sender);
    helper.pool.run(move || {
        while let Some(Piece::Bytes(bytes)) = open.inlet.next() {
            match write_all(&open, &write, &bytes) {
                Ok(()) => {}
                Err(ErrorKind::Interrupted) => return,
                Err(_) => {
                    // The command reads no more.
                    open.inlet.give_up();
                    let _ = sender.word(Kind::Close, stream);
                    return;
                }
            }
            if let Some(window) = open.inlet.taken(bytes.len()) {
                let _ = sender.window(stream, window);
            }
        }
    });
    Ok(read)
}

fn write_all(open: &Open, to: &OwnedFd, mut bytes: &[u8]) -> Result<(), ErrorKind> {
    while !bytes.is_empty() {
        let mut fds = [PollFd::new(to, PollFlags::OUT)];
        match poll(&mut fds, Some(&TICK)) {
            Ok(0) | Err(Errno::INTR) if open.inlet.is_over() => return Err(ErrorKind::Interrupted),
            Ok(0) | Err(Errno::INTR) => continue,
            _ => {}
        }
        match rustix::io::write(to, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error).kind()),
        }
    }
    Ok(())
}
