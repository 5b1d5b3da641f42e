//! Commands on a target: their output is taken as it comes, their input is sent as it comes.

mod keys;
mod screen;

use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use opal_core::resolver::Trouble;
use opal_core::stream::Stream;
use opal_session::stop::{Order, Stop};
use opal_session::wire::effect::{Effect, Running, Windows};
use opal_session::wire::frame::{Channel, StreamId};
use opal_session::wire::reply::Reply;
use opal_session::{Ended, Input, Output, Taker, Terminal, Work};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::connection::Acting;
use crate::link::{Event, Sent, Shape};
use crate::request::Heeding;
use keys::Keys;
use screen::Screen;

/// After so much silence what is held back may be shown.
const IDLE: Duration = Duration::from_millis(50);

/// Read at once of what a command gets.
const CHUNK_BYTES: usize = 64 * 1024;

/// So much a pipe takes at once that is ready.
const PIPE_BYTES: usize = 4096;

/// How often it is asked whether a command still wants its input.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

pub(crate) fn run(
    acting: &Acting,
    terminal: Option<&Terminal>,
    work: Work<'_>,
    stop: &Stop,
    taker: &mut dyn Taker,
) -> Result<Ended, Trouble> {
    let budget = &acting.looking().inner().budget;
    let windows = Windows { output: budget.take(), error: budget.take() };
    let is_whole = matches!((&work.stdout, &work.stderr), (Output::Taken, Output::Taken));
    let source = match work.stdin {
        // Nobody would make another program the leader of a terminal.
        Input::Own if is_whole && work.interpreter.is_none() => {
            let keys = terminal.and_then(|terminal| Keys::new(terminal.hold()?));
            keys.map_or(Source::Nothing, Source::Keys)
        }
        Input::Own | Input::Nothing | Input::Terminal(_) => Source::Nothing,
        Input::From(fd) => Source::Pipe(fd),
    };
    let running = Running {
        script: work.script.to_vec(),
        interpreter: work.interpreter.map(str::to_owned),
        arguments: work.arguments.to_vec(),
        directory: work.directory.to_owned(),
        previous: work.previous.map(ToOwned::to_owned),
        environment: work.environment.clone(),
        limits: work.limits,
        has_input: source.is_there(),
        terminal: source.keys().map(|keys| keys.face.clone()),
        windows,
    };
    let shape = Shape {
        output: Some(windows.output),
        error: Some(windows.error),
        has_input: source.is_there(),
        is_held: false,
        is_on_terminal: source.keys().is_some(),
    };
    let outputs = [work.stdout, work.stderr];
    let ended = match acting.begin(&Effect::Run { work: running }, shape, stop) {
        Ok(sent) => match source {
            Source::Keys(keys) => on_terminal(acting, &sent, &keys, outputs, stop, taker),
            Source::Pipe(fd) => command(&sent, Some(fd), outputs, stop, taker),
            Source::Nothing => command(&sent, None, outputs, stop, taker),
        },
        Err(trouble) => Err(trouble),
    };
    budget.give_back(windows.output);
    budget.give_back(windows.error);
    ended
}

/// What a command reads.
enum Source<'a> {
    Nothing,
    Pipe(OwnedFd),
    /// What is typed on opal's terminal.
    Keys(Keys<'a>),
}

impl<'a> Source<'a> {
    fn is_there(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    fn keys(&self) -> Option<&Keys<'a>> {
        match self {
            Self::Keys(keys) => Some(keys),
            Self::Nothing | Self::Pipe(_) => None,
        }
    }
}

/// A command that has the terminal of opal.
fn on_terminal(
    acting: &Acting,
    sent: &Sent,
    keys: &Keys<'_>,
    outputs: [Output; 2],
    stop: &Stop,
    taker: &mut dyn Taker,
) -> Result<Ended, Trouble> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| keys.send(acting, sent, &is_over));
        taker.has_terminal();
        let ended = follow(sent, &outputs, Some(keys), stop, &mut Screen::new(taker));
        is_over.store(true, Ordering::SeqCst);
        ended
    })
}

pub(crate) fn command(
    sent: &Sent,
    input: Option<OwnedFd>,
    outputs: [Output; 2],
    stop: &Stop,
    taker: &mut dyn Taker,
) -> Result<Ended, Trouble> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        if let Some(input) = input {
            let is_over = &is_over;
            scope.spawn(move || feed(sent, &input, is_over));
        }
        let ended = follow(sent, &outputs, None, stop, taker);
        is_over.store(true, Ordering::SeqCst);
        ended
    })
}

fn follow(
    sent: &Sent,
    outputs: &[Output; 2],
    keys: Option<&Keys<'_>>,
    stop: &Stop,
    taker: &mut dyn Taker,
) -> Result<Ended, Trouble> {
    let (mut heeding, mut is_quiet) = (Heeding::default(), true);
    loop {
        let timeout = (!is_quiet).then_some(IDLE);
        match sent.next(stop, &mut heeding, timeout)? {
            Some(Event::Data(channel, bytes)) => {
                let (stream, output) = match channel {
                    Channel::Error => (Stream::Stderr, &outputs[1]),
                    _ => (Stream::Stdout, &outputs[0]),
                };
                let is_taken = match output {
                    Output::Taken => taker.take(stream, &bytes).is_ok(),
                    Output::To(fd) => pass_on(sent, fd, &bytes, stop, &mut heeding)?,
                };
                match is_taken {
                    true => sent.taken(channel, bytes.len()),
                    false => sent.close(channel),
                }
                is_quiet = false;
            }
            Some(Event::End) => {}
            Some(Event::Signal(number)) => keys.iter().for_each(|keys| keys.signal(number)),
            Some(Event::Reply(Reply::Ended { ended })) => return Ok(ended),
            Some(Event::Reply(Reply::Trouble { trouble })) => return Err(trouble),
            Some(_) => return Err(sent.nonsense()),
            None if !is_quiet => {
                taker.idle();
                is_quiet = true;
            }
            None => {}
        }
    }
}

/// Writes what a command has printed to where it goes: whether anybody reads it.
fn pass_on(
    sent: &Sent,
    to: &OwnedFd,
    mut bytes: &[u8],
    stop: &Stop,
    heeding: &mut Heeding,
) -> Result<bool, Trouble> {
    while !bytes.is_empty() {
        sent.heed(stop, heeding)?;
        if stop.order() == Order::Kill {
            return Ok(false);
        }
        let mut fds = [PollFd::new(to, PollFlags::OUT)];
        match poll(&mut fds, Some(&TICK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            _ => {}
        }
        // A pipe that is ready takes so much without having one wait.
        match rustix::io::write(to, &bytes[..bytes.len().min(PIPE_BYTES)]) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// Sends what a command reads, until it reads no more or has ended.
fn feed(sent: &Sent, from: &OwnedFd, is_over: &AtomicBool) {
    let (sender, outlet) = (&sent.link.inner.sender, &sent.mailbox.outlet);
    let stream = StreamId::new(sent.number, Channel::Input);
    let goes_on = || !is_over.load(Ordering::SeqCst);
    let (mut chunk, mut count) = (vec![0; CHUNK_BYTES], 0);
    loop {
        let Ok(most) = outlet.wait(chunk.len(), goes_on) else { return };
        match read(from, &mut chunk[..most], outlet, goes_on) {
            Ok(0) => {
                let _ = sender.end(stream, count);
                return;
            }
            Ok(read) => {
                outlet.refund(most - read);
                if sender.data(stream, &chunk[..read]).is_err() {
                    return;
                }
                count += read as u64;
            }
            Err(ErrorKind::Interrupted) => return,
            // What cannot be read has ended.
            Err(_) => {
                let _ = sender.end(stream, count);
                return;
            }
        }
    }
}

/// Waits for something to read, as long as anybody wants it.
fn read(
    from: &OwnedFd,
    chunk: &mut [u8],
    outlet: &opal_session::wire::credit::Outlet,
    goes_on: impl Fn() -> bool,
) -> Result<usize, ErrorKind> {
    loop {
        if !goes_on() || outlet.closed().is_some() {
            return Err(ErrorKind::Interrupted);
        }
        let mut fds = [PollFd::from_borrowed_fd(from.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&TICK)) {
            Ok(0) | Err(Errno::INTR) => continue,
            _ => {}
        }
        match rustix::io::read(from, &mut *chunk) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            read => return read.map_err(|error| std::io::Error::from(error).kind()),
        }
    }
}
