//! What follows `>` and `<`: decorators that take the output of a step, or give it its input.

use std::fmt;
use std::io;

use super::{Halt, Pending, Stage};
use crate::resolver::{Inputs, Probe, Trouble};
use crate::wiped::Wiped;

/// What follows `>` and takes a step's output, raw.
#[derive(Clone, Copy, Debug)]
pub enum Sink {
    /// It is opened before the step starts, and keeps what it got once the step has succeeded.
    Kept(&'static dyn KeptSink),
    /// It runs beside the step, and reads what the step writes.
    Streamed(&'static dyn StreamedSink),
}

pub trait KeptSink: Sync + fmt::Debug {
    fn open(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Box<dyn Pending>, Halt>;
}

pub trait StreamedSink: Sync + fmt::Debug {
    /// The step starts with the first read. Only a step that has succeeded has an end: where the step
    /// fails, the next read fails too, and what was taken so far counts for nothing.
    fn take(
        &self,
        inputs: &Inputs,
        from: &mut dyn Incoming,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt>;
}

/// The output of a step.
pub trait Incoming {
    /// The next bytes; none at the end.
    fn read(&mut self) -> Result<Wiped<Vec<u8>>, StepFailed>;

    /// Whether the end was read.
    fn is_complete(&self) -> bool;

    /// Whether the step has failed, so that nobody wants what becomes of its output.
    fn is_given_up(&self) -> bool;
}

/// The step has failed, or was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepFailed;

/// What follows `<` and gives a step its input. The step starts with the first bytes, so a source that has
/// none to give fails it before it runs.
pub trait Source: Sync + fmt::Debug {
    fn give(
        &self,
        inputs: &Inputs,
        to: &mut dyn Outgoing,
        probe: &dyn Probe,
    ) -> Result<(), SourceFailure>;
}

/// The input of a step.
pub trait Outgoing {
    /// Waits while the step has enough to read.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Whether the step reads no more.
    fn is_closed(&self) -> bool;
}

/// Why a source gave nothing, or not all.
#[derive(Clone, Debug)]
pub struct SourceFailure {
    /// The exit code of the step.
    pub code: i32,
    pub trouble: Trouble,
}
