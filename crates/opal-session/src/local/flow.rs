//! From the start of a command to its end: what it prints, what it answers, what it is sent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use opal_core::stream::Stream;
use rustix::buffer::spare_capacity;
use rustix::event::PollFlags;

use super::children::Running;
use super::ending::Ending;
use super::lane::{Duct, Group, Lane};
use super::mark::Mark;
use super::processes::{Moment, Scope, still_running};
use super::terminal::Attached;
use super::waiting::Answer;
use crate::Taker;
use crate::stop::{Order, Stop};

/// Read at once.
const CHUNK_BYTES: usize = 128 * 1024;

/// What is taken at the end, at most: something in the background may print for ever.
const MAX_REST_BYTES: usize = 2 * 1024 * 1024;

/// Processes that are reported because they cannot be ended.
const MAX_REPORTED: usize = 5;

/// After so much silence what is held back may be shown.
const IDLE: Duration = Duration::from_millis(50);

/// What a command ends with that the terminal has ended: `INT` and `QUIT`.
const ENDED_BY_KEYS: [i32; 2] = [130, 131];

/// How much later than a command opal may hear of a key that was for both.
const MAX_LAG: Duration = Duration::from_millis(300);

/// How long a mark may take from the shell through a terminal.
const MAX_MARK_TIME: Duration = Duration::from_secs(2);

const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// A command that is running on a lane.
pub(super) struct Flow<'a> {
    pub(super) lane: &'a mut Lane,
    /// What was started without the shell of the lane.
    program: Option<Running>,
    since: Moment,
    taker: &'a mut dyn Taker,
    attached: Option<Attached<'a>>,
    /// Of both streams, where they need one.
    marks: Option<[Mark; 2]>,
    outcome: Outcome,
    /// When the command ended.
    ended: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) code: i32,
    pub(super) directory: Option<PathBuf>,
    pub(super) previous: Option<PathBuf>,
    pub(super) is_reported: bool,
}

/// What there is to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    Read(Stream),
    Keys,
    KeysThrough,
    Resized,
    Answer,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        lane: &'a mut Lane,
        program: Option<Running>,
        since: Moment,
        taker: &'a mut dyn Taker,
        attached: Option<Attached<'a>>,
    ) -> Self {
        let mark = || lane.shell.as_ref().and_then(|shell| shell.mark());
        let marks = mark().zip(mark()).map(<[Mark; 2]>::from);
        let (outcome, ended) = (Outcome::default(), None);
        Self { lane, program, since, taker, attached, marks, outcome, ended }
    }

    pub(super) fn run(mut self, stop: &Stop) -> io::Result<Outcome> {
        let (mut seen, mut ending, mut is_quiet) = (Order::GoOn, None::<Ending>, true);
        loop {
            let order = stop.order();
            if order != seen {
                seen = order;
                ending = Some(Ending::heed(ending, order, self.is_reported(), Instant::now()));
            }
            if let Some(ending) = &mut ending
                && let Some(code) = ending.advance(&mut self, Instant::now())
            {
                self.lost(code);
            }
            if self.is_over() && ending.as_ref().is_none_or(Ending::is_over) {
                break;
            }
            let idle = (!is_quiet).then_some(IDLE);
            let late = self.ended.map(|_| MAX_MARK_TIME);
            let pause = ending.as_ref().map(Ending::pause);
            let away = self.attached.as_ref().and_then(Attached::pause);
            let timeout = [idle, late, pause, away].into_iter().flatten().min();
            let ready = self.wait(stop, timeout, seen);
            let is_heard = self.serve(&ready)?;
            if ready.is_empty() && !is_quiet {
                self.taker.idle();
            }
            is_quiet = !is_heard && (is_quiet || ready.is_empty());
        }
        self.outcome.is_reported = ending.is_some() || self.is_reported_late(stop);
        STREAMS.into_iter().for_each(|stream| self.rest(stream));
        // What is still to come of a mark would be the next command's.
        self.lane.is_reusable &= !self.marks.iter().flatten().any(Mark::is_cut);
        self.attached.iter().for_each(|attached| attached.ended(self.outcome.code));
        Ok(self.outcome)
    }

    /// Whether the terminal has interrupted the command already.
    fn is_reported(&self) -> bool {
        self.lane.group == Group::Shared
            || self.attached.as_ref().is_some_and(|it| it.is_interrupted)
    }

    /// Whether the terminal has ended the command together with opal, which hears of it a moment later.
    fn is_reported_late(&self, stop: &Stop) -> bool {
        if self.lane.group != Group::Shared || !ENDED_BY_KEYS.contains(&self.outcome.code) {
            return false;
        }
        let until = Instant::now() + MAX_LAG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let order = stop.order();
            if order != Order::GoOn || left.is_zero() {
                return order != Order::GoOn;
            }
            let _ = stop.wait(&[], Some(left), Order::GoOn);
        }
    }

    /// Whether it has ended, and everything that it printed has come.
    fn is_over(&self) -> bool {
        let is_marked = self.marks.as_ref().is_none_or(|marks| {
            let pairs = STREAMS.iter().zip(marks);
            pairs.into_iter().all(|(it, mark)| mark.is_found || self.duct(*it).read.is_none())
        });
        // There will be no mark where the shell itself has ended.
        let is_marked = is_marked || self.lane.shell.is_none();
        self.ended.is_some_and(|at| is_marked || at.elapsed() >= MAX_MARK_TIME)
    }

    fn wait(&self, stop: &Stop, timeout: Option<Duration>, seen: Order) -> Vec<Ready> {
        let mut polled: Vec<(BorrowedFd<'_>, PollFlags)> = Vec::with_capacity(8);
        let mut names = Vec::with_capacity(8);
        let mut add = |fd, flags, name| {
            polled.push((fd, flags));
            names.push(name);
        };
        for stream in STREAMS {
            if let Some(read) = &self.duct(stream).read {
                add(read.as_fd(), PollFlags::IN, Ready::Read(stream));
            }
        }
        match (&self.program, &self.lane.shell) {
            _ if self.ended.is_some() => {}
            (Some(program), _) => add(program.end(), PollFlags::IN, Ready::Answer),
            (None, Some(shell)) => {
                shell.polled().into_iter().for_each(|(fd, flags)| add(fd, flags, Ready::Answer));
            }
            (None, None) => {}
        }
        if let (Some(attached), Some(pty)) = (&self.attached, &self.lane.pty) {
            let keys = attached.device().map(|fd| (fd, PollFlags::IN, Ready::Keys));
            let through = attached.waiting(pty).map(|fd| (fd, PollFlags::OUT, Ready::KeysThrough));
            let resized = attached.bell().map(|it| (it.fd(), PollFlags::IN, Ready::Resized));
            let all = keys.into_iter().chain(through).chain(resized);
            all.for_each(|(fd, flags, name)| add(fd, flags, name));
        }
        let ready = stop.wait(&polled, timeout, seen).into_iter().zip(names);
        ready.filter(|(flags, _)| !flags.is_empty()).map(|(_, name)| name).collect()
    }

    /// Does what there is to do; whether something was printed.
    fn serve(&mut self, ready: &[Ready]) -> io::Result<bool> {
        if let (Some(attached), Some(pty)) = (&mut self.attached, &self.lane.pty) {
            attached.come_back(pty);
        }
        let mut is_heard = false;
        for ready in ready {
            match (ready, &mut self.attached, &self.lane.pty) {
                (Ready::Read(stream), _, _) => is_heard |= self.take(*stream) > 0,
                (Ready::Keys, Some(attached), Some(pty)) => {
                    attached.read(pty, self.lane.shell.as_ref().map(|it| it.running.pid()));
                }
                (Ready::KeysThrough, Some(attached), Some(pty)) => attached.write(pty),
                (Ready::Resized, Some(attached), Some(pty)) => attached.resize(pty),
                _ => {}
            }
        }
        if self.ended.is_none() && (ready.contains(&Ready::Answer) || ready.is_empty()) {
            self.advance()?;
        }
        Ok(is_heard)
    }

    /// Takes what the shell or the program says about its end.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(program) = &mut self.program {
            if let Some(code) = program.ended()? {
                self.ended(code);
            }
            return Ok(());
        }
        while let Some(shell) = &mut self.lane.shell {
            match shell.answer()? {
                Some(Answer::Directory(directory)) => self.outcome.directory = Some(directory),
                Some(Answer::Previous(previous)) => self.outcome.previous = Some(previous),
                Some(Answer::Code(code)) => {
                    self.ended(code);
                    break;
                }
                Some(Answer::Lost(code)) => self.lost(code),
                None => break,
            }
        }
        Ok(())
    }

    fn ended(&mut self, code: i32) {
        if self.ended.is_none() {
            self.outcome.code = code;
            self.ended = Some(Instant::now());
        }
    }

    /// The shell itself has ended.
    fn lost(&mut self, code: i32) {
        self.lane.shell = None;
        self.ended(code);
    }

    /// Says which processes are left, on the command's standard error.
    pub(super) fn report(&mut self, left: &[i32]) {
        for pid in left.iter().take(MAX_REPORTED) {
            let line = format!("opal: {}\n", still_running(*pid));
            if self.taker.take(Stream::Stderr, line.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Where to look for what the command has started.
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope {
            shell: self.lane.shell.as_ref().map(|shell| shell.running.pid()),
            is_led: self.lane.shell.as_ref().is_some_and(|shell| shell.is_led),
            program: self.program.as_ref().map(Running::pid),
            marker: &self.lane.marker,
            since: self.since,
            is_alone: super::RUNNING.load(Ordering::SeqCst) == 1,
        }
    }

    fn duct(&self, stream: Stream) -> &Duct {
        match stream {
            Stream::Stdout => &self.lane.stdout,
            Stream::Stderr => &self.lane.stderr,
        }
    }

    /// Reads once; how many bytes there were.
    fn take(&mut self, stream: Stream) -> usize {
        let mut buffer = std::mem::take(&mut self.lane.buffer);
        buffer.clear();
        buffer.reserve(CHUNK_BYTES);
        // Memory that nothing was read into is never touched, and most commands print little.
        let into = spare_capacity(&mut buffer);
        let read = self.duct(stream).read.as_ref();
        let count = match read.map_or(Ok(0), |read| rustix::io::read(read, into)) {
            Ok(count) => Some(count),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => None,
            Err(_) => Some(0),
        };
        if count.is_some_and(|count| count == 0 || !self.give(stream, &buffer)) {
            // Nobody writes more, or nobody wants more.
            match stream {
                Stream::Stdout => self.lane.stdout.read = None,
                Stream::Stderr => self.lane.stderr.read = None,
            }
            self.lane.is_reusable = false;
        }
        self.lane.buffer = buffer;
        count.unwrap_or(0)
    }

    /// Passes output on; whether more of it is accepted.
    fn give(&mut self, stream: Stream, bytes: &[u8]) -> bool {
        let Some([stdout, stderr]) = &mut self.marks else {
            return self.taker.take(stream, bytes).is_ok();
        };
        let mark = if stream == Stream::Stdout { stdout } else { stderr };
        let bytes = mark.pass(bytes);
        bytes.is_empty() || self.taker.take(stream, &bytes).is_ok()
    }

    /// What was printed before the end, and is still there.
    fn rest(&mut self, stream: Stream) {
        let mut taken = 0;
        while taken < MAX_REST_BYTES && self.duct(stream).read.is_some() {
            match self.take(stream) {
                0 => break,
                count => taken += count,
            }
        }
    }
}
