//! Who receives the events of a run: the record, and the people who watch.
//!
//! Both get nothing but what has been through the scrubber. The record gets events at once,
//! whatever runs in parallel; the audience gets them in the order of the plan.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use crate::Shown;
use crate::event::Event;
use opal_core::stream::{Closed, Stream};

/// Keeps what happens. Called from several threads.
pub trait Recorder: Sync {
    /// A [`crate::event::Kind::Started`] must be kept before this returns.
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded>;

    /// What the step with this number printed.
    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded>;

    /// That step prints nothing for a while: what was put off should be kept now.
    fn idle(&self, _number: u64) -> Result<(), Unrecorded> {
        Ok(())
    }
}

/// The record cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecorded;

/// Watches. Called from one thread at a time.
pub trait Audience: Sync {
    fn event(&self, event: &Event<'_>);

    /// An error says that nobody reads this stream any more.
    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Closed>;

    /// The step with this number runs on a target, and has opal's terminal: what it may draw there has been
    /// decided already.
    fn has_terminal(&self, number: u64);

    /// A step sends files to a target: so many bytes so far, which goes on by itself until the step ends.
    fn sends(&self, path: &str, sent: &Arc<AtomicU64>) {
        let _ = (path, sent);
    }

    /// How far branches that run in parallel have come: reported at once, between the rest.
    fn progress(&self, progress: &Progress<'_>);
}

/// The state of the branches of one `@parallel`.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// The path of its step.
    pub path: &'a str,
    pub total: usize,
    pub done: usize,
    pub failed: usize,
    /// Whether the branches are targets.
    pub is_fleet: bool,
    pub running: &'a [Running<'a>],
}

#[derive(Clone, Debug)]
pub struct Running<'a> {
    /// The step that the branch is at.
    pub text: Shown<'a>,
    pub since: Instant,
}
