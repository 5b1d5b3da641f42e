//! From the start of a command to its end: what it prints, what it answers, what it is told.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use opal_core::record::Stream;
use rustix::event::PollFlags;

use super::children::Running;
use super::ending::Ending;
use super::lane::{Duct, Lane};
use super::processes::{Moment, Scope};
use super::waiting::Answer;
use crate::session::Taker;
use crate::stop::{Order, Stop};

/// Read at once.
const CHUNK_BYTES: usize = 128 * 1024;

/// What is taken at the end, at most: something in the background may print for ever.
const MAX_REST_BYTES: usize = 2 * 1024 * 1024;

/// After so much silence what is held back may be shown.
const IDLE: Duration = Duration::from_millis(50);

/// A command that is running on a lane.
pub(super) struct Flow<'a> {
    pub(super) lane: &'a mut Lane,
    /// What was started without the shell of the lane.
    pub(super) program: Option<Running>,
    pub(super) since: Moment,
    pub(super) taker: &'a mut dyn Taker,
}

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) code: i32,
    pub(super) directory: Option<PathBuf>,
}

impl Flow<'_> {
    pub(super) fn run(mut self, stop: &Stop) -> io::Result<Outcome> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut outcome = Outcome::default();
        let (mut seen, mut ending, mut is_over) = (Order::GoOn, None::<Ending>, false);
        let mut is_quiet = true;
        loop {
            let order = stop.order();
            if order != seen {
                seen = order;
                ending = Some(Ending::heed(ending, order, !self.lane.is_grouped, Instant::now()));
            }
            if let Some(ending) = &mut ending {
                let left = ending.advance(&mut self, Instant::now());
                is_over = is_over || left.is_some_and(|code| self.lost(&mut outcome, code));
            }
            if is_over && ending.as_ref().is_none_or(Ending::is_over) {
                break;
            }
            let timeout = ending.as_ref().map(Ending::pause).or((!is_quiet).then_some(IDLE));
            let ready = self.wait(stop, timeout, seen, is_over);
            let mut is_heard = false;
            for stream in [Stream::Stdout, Stream::Stderr] {
                if ready.contains(&Some(stream)) {
                    is_heard |= self.take(stream, &mut buffer) > 0;
                }
            }
            if !is_over {
                is_over = self.advance(&mut outcome)?;
            }
            if !is_heard && !is_quiet && ready.is_empty() {
                self.taker.idle();
            }
            is_quiet = !is_heard && (is_quiet || ready.is_empty());
        }
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.rest(stream, &mut buffer);
        }
        Ok(outcome)
    }

    /// Waits for something to do; the streams that have something to read.
    fn wait(
        &self,
        stop: &Stop,
        timeout: Option<Duration>,
        seen: Order,
        is_over: bool,
    ) -> Vec<Option<Stream>> {
        let mut polled: Vec<(BorrowedFd<'_>, PollFlags)> = Vec::with_capacity(8);
        let mut names = Vec::with_capacity(8);
        for stream in [Stream::Stdout, Stream::Stderr] {
            if let Some(read) = &self.duct(stream).read {
                polled.push((read.as_fd(), PollFlags::IN));
                names.push(Some(stream));
            }
        }
        if let (Some(program), false) = (&self.program, is_over) {
            polled.push((program.end(), PollFlags::IN));
        } else if let (Some(shell), false) = (&self.lane.shell, is_over) {
            polled.extend(shell.polled());
        }
        names.resize(polled.len(), None);
        let ready = stop.wait(&polled, timeout, seen);
        let ready = ready.into_iter().zip(names).filter(|(flags, _)| !flags.is_empty());
        ready.map(|(_, name)| name).collect()
    }

    /// Whether the command has ended.
    fn advance(&mut self, outcome: &mut Outcome) -> io::Result<bool> {
        if let Some(program) = &mut self.program {
            let code = program.ended()?;
            outcome.code = code.unwrap_or(0);
            return Ok(code.is_some());
        }
        let Some(shell) = &mut self.lane.shell else { return Ok(true) };
        while let Some(answer) = shell.answer()? {
            match answer {
                Answer::Directory(directory) => outcome.directory = Some(directory),
                Answer::Code(code) => {
                    outcome.code = code;
                    return Ok(true);
                }
                Answer::Lost(code) => return Ok(self.lost(outcome, code)),
            }
        }
        Ok(false)
    }

    /// The shell itself has ended.
    fn lost(&mut self, outcome: &mut Outcome, code: i32) -> bool {
        self.lane.shell = None;
        outcome.code = code;
        true
    }

    /// Where to look for what the command has started.
    pub(super) fn scope(&self) -> Scope<'_> {
        Scope {
            shell: self.lane.shell.as_ref().map(|shell| shell.running.pid()),
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
    fn take(&mut self, stream: Stream, buffer: &mut [u8]) -> usize {
        let Some(read) = &self.duct(stream).read else { return 0 };
        let count = match rustix::io::read(read, &mut *buffer) {
            Ok(count) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return 0,
            Err(_) => 0,
        };
        if count > 0 && self.taker.take(stream, &buffer[..count]).is_ok() {
            return count;
        }
        // Nobody wants more, or nobody writes more.
        match stream {
            Stream::Stdout => self.lane.stdout.read = None,
            Stream::Stderr => self.lane.stderr.read = None,
        }
        self.lane.is_reusable = false;
        0
    }

    /// What was printed before the end, and is still there.
    fn rest(&mut self, stream: Stream, buffer: &mut [u8]) {
        let mut taken = 0;
        while taken < MAX_REST_BYTES {
            match self.take(stream, buffer) {
                0 => return,
                count => taken += count,
            }
        }
    }
}
