//! Decorators that run beside a step and are connected to its streams.
//!
//! ```text
//! source ── first bytes ──▶ the step starts ── output ──▶ sink
//!                           the step has ended ─ verdict ─▶ sink: the end, or a failed read
//! ```

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Scope, ScopedJoinHandle};

use opal_core::action::{
    Halt, Incoming, Outgoing, Source, SourceFailure, StepFailed, StreamedSink,
};
use opal_core::resolver::Inputs;
use opal_core::wiped::Wiped;
use opal_session::stop::{Order, Stop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::actor::{Actor, Begun};
use super::context::{Context, In, Out};
use super::halts::{bug, failed, go_on, unable};
use super::pump::{Ended, PAUSE};
use super::run::Walk;
use crate::error::Bug;
use crate::threads::STACK_BYTES;

const CHUNK_BYTES: usize = 64 * 1024;

/// A source that feeds a step.
#[derive(Debug)]
pub(super) struct Feeding<'scope>(ScopedJoinHandle<'scope, Result<(), Halt>>);

/// A sink that runs beside a step.
#[derive(Debug)]
pub(super) struct Draining<'scope> {
    thread: ScopedJoinHandle<'scope, Result<(), Halt>>,
    /// Says that everything was read; closed where the sink ended before.
    drained: Receiver<()>,
    verdict: Arc<OnceLock<bool>>,
    /// Closed when the verdict is there.
    known: Sender<()>,
}

/// What both ends of a connection belong to.
pub(super) struct Beside<'scope, 'env, 'p> {
    pub(super) walk: &'p Walk<'p>,
    pub(super) begun: &'env Begun<'p>,
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) ended: &'env Ended,
}

impl<'scope, 'env, 'p: 'scope> Beside<'scope, 'env, 'p> {
    /// Starts a source, and waits for its first bytes. What it gives is the input of the step.
    pub(super) fn feed(
        &self,
        source: &'static dyn Source,
        inputs: Inputs,
        here: &Context<'p>,
    ) -> Result<(In, Option<Feeding<'scope>>), Halt> {
        let unable = |error: io::Error| unable(self.begun.step, &error);
        let (read, write) = opal_session::pipe().map_err(unable)?;
        let flags = fcntl_getfl(&write).map_err(|errno| unable(errno.into()))?;
        fcntl_setfl(&write, flags | OFlags::NONBLOCK).map_err(|errno| unable(errno.into()))?;
        let (started, waits) = channel();
        let (pipe, stop) = (File::from(write), here.stop.clone());
        let mut to = ToStep { pipe, stop, started: Some(started) };
        let mut own = detached(here);
        let (walk, begun) = (self.walk, self.begun);
        let work = move || {
            let actor = Actor::new(walk, begun, &mut own, &[]);
            let given = source.give(&inputs, &mut to, &*opal_core::action::Stage::probe(&actor));
            match given {
                Ok(()) => Ok(()),
                // The step has what it wanted, as in `yes | head`.
                Err(_) if to.is_closed() => Ok(()),
                Err(SourceFailure { code, trouble }) => Err(failed(begun.step, code, trouble)),
            }
        };
        let thread = self.spawn(work)?;
        if waits.recv().is_ok() {
            return Ok((In::of(read), Some(Feeding(thread))));
        }
        // It has ended without a byte. Where all was stopped, that is why.
        Feeding(thread).close(self.begun).or_else(|halt| go_on(&here.stop).and(Err(halt)))?;
        Ok((In::of(read), None))
    }

    /// Starts a sink, and waits until it reads. What the step writes goes to the pipe.
    pub(super) fn drain(
        &self,
        sink: &'static dyn StreamedSink,
        inputs: Inputs,
        here: &Context<'p>,
    ) -> Result<(Out, Option<Draining<'scope>>), Halt> {
        let (read, write) =
            opal_session::pipe().map_err(|error| unable(self.begun.step, &error))?;
        let (started, waits) = channel();
        let (drained, is_drained) = channel();
        let (known, wait) = channel();
        let verdict = Arc::new(OnceLock::new());
        let mut from = FromStep {
            pipe: File::from(read),
            stop: here.stop.clone(),
            ended: self.ended,
            started: Some(started),
            drained: Some(drained),
            wait,
            verdict: Arc::clone(&verdict),
            is_complete: false,
        };
        let mut own = detached(here);
        let (walk, begun) = (self.walk, self.begun);
        let work = move || {
            let mut actor = Actor::new(walk, begun, &mut own, &[]);
            sink.take(&inputs, &mut from, &mut actor)
        };
        let thread = self.spawn(work)?;
        if waits.recv().is_err() {
            // It has ended before it read anything. Where all was stopped, that is why.
            join(thread, self.begun).or_else(|halt| go_on(&here.stop).and(Err(halt)))?;
            return Ok((Out::to(write), None));
        }
        let draining = Draining { thread, drained: is_drained, verdict, known };
        Ok((Out::to(write), Some(draining)))
    }

    fn spawn(
        &self,
        work: impl FnOnce() -> Result<(), Halt> + Send + 'scope,
    ) -> Result<ScopedJoinHandle<'scope, Result<(), Halt>>, Halt> {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let spawned = thread.spawn_scoped(self.scope, work);
        spawned.map_err(|error| unable(self.begun.step, &error))
    }
}

impl Feeding<'_> {
    /// Waits until the source has ended: the step has closed its input.
    pub(super) fn close(self, begun: &Begun<'_>) -> Result<(), Halt> {
        join(self.0, begun)
    }
}

impl Draining<'_> {
    /// Whether everything that the step wrote was read.
    pub(super) fn is_drained(&self) -> bool {
        self.drained.recv().is_ok()
    }

    /// Tells the sink whether the step has succeeded, and waits for it.
    pub(super) fn close(self, is_fine: bool, begun: &Begun<'_>) -> Result<(), Halt> {
        let _ = self.verdict.set(is_fine);
        drop(self.known);
        join(self.thread, begun)
    }
}

fn join(thread: ScopedJoinHandle<'_, Result<(), Halt>>, begun: &Begun<'_>) -> Result<(), Halt> {
    thread.join().unwrap_or_else(|_| Err(bug(begun.step, Bug::LostOutput)))
}

/// What a decorator beside a step has: no stream of the step, whose other ends would wait for it.
fn detached<'p>(here: &Context<'p>) -> Context<'p> {
    let (stdin, stdout, stderr) = (In::Nothing, Out::Shown, Out::Shown);
    Context { stdin, stdout, stderr, ..here.clone() }
}

/// The input of a step.
struct ToStep {
    pipe: File,
    stop: Stop,
    started: Option<Sender<()>>,
}

impl Outgoing for ToStep {
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if let Some(started) = self.started.take() {
            let _ = started.send(());
        }
        while !bytes.is_empty() {
            match self.pipe.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let seen = self.stop.order();
                    if seen != Order::GoOn {
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                    let _ = self.stop.wait(&[(self.pipe.as_fd(), PollFlags::OUT)], None, seen);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        let mut pipe = [PollFd::new(&self.pipe, PollFlags::OUT)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut pipe, Some(&now)).is_ok() && pipe[0].revents().contains(PollFlags::ERR)
    }
}

/// The output of a step.
struct FromStep<'env> {
    pipe: File,
    stop: Stop,
    ended: &'env Ended,
    started: Option<Sender<()>>,
    drained: Option<Sender<()>>,
    wait: Receiver<()>,
    verdict: Arc<OnceLock<bool>>,
    is_complete: bool,
}

impl FromStep<'_> {
    /// The next bytes; none where there are no more, or where nobody waits for more.
    fn next(&mut self) -> io::Result<Wiped<Vec<u8>>> {
        let mut bytes = Wiped::new(vec![0; CHUNK_BYTES]);
        loop {
            let seen = self.stop.order();
            let pause = (seen != Order::GoOn).then_some(PAUSE);
            let ready = self.stop.wait(&[(self.pipe.as_fd(), PollFlags::IN)], pause, seen);
            if ready.first().is_none_or(|flags| flags.is_empty()) {
                if self.stop.order() != Order::GoOn && self.ended.is_set() {
                    return Ok(Wiped::new(Vec::new()));
                }
                continue;
            }
            let count = self.pipe.read(&mut bytes)?;
            bytes.truncate(count);
            return Ok(bytes);
        }
    }
}

impl Incoming for FromStep<'_> {
    fn read(&mut self) -> Result<Wiped<Vec<u8>>, StepFailed> {
        if let Some(started) = self.started.take() {
            let _ = started.send(());
        }
        if self.drained.is_some() {
            let bytes = self.next().map_err(|_| StepFailed)?;
            if !bytes.is_empty() {
                return Ok(bytes);
            }
        }
        if let Some(drained) = self.drained.take() {
            let _ = drained.send(());
        }
        // It says nothing: it is closed when the verdict is there.
        let _ = self.wait.recv();
        self.is_complete = self.verdict.get() == Some(&true);
        if self.is_complete { Ok(Wiped::new(Vec::new())) } else { Err(StepFailed) }
    }

    fn is_complete(&self) -> bool {
        self.is_complete
    }

    fn is_given_up(&self) -> bool {
        self.verdict.get() == Some(&false)
    }
}
