//! What a verification of a resource has found, as it may be seen.

use std::time::{Duration, SystemTime};

use opal_core::placeholder::Placeholder;
use opal_core::resource::Status;

use crate::Shown;

/// The verification of one step of a plan, safe to show.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The step's own `id`, or its path.
    pub id: String,
    /// What it is called for people.
    pub name: Option<Shown<'static>>,
    /// The path of the step.
    pub path: Box<str>,
    /// Which thing it is about: `template:/etc/app.conf`.
    pub key: Shown<'static>,
    pub status: Status,
    pub message: Shown<'static>,
    pub details: Option<Shown<'static>>,
    pub blocked: Option<Blocked>,
    /// Why an apply will not correct it.
    pub refusal: Option<Refusal>,
    /// The paths of what it depends on and is missing or blocked.
    pub unmet: Vec<Box<str>>,
    /// Of the details before anything was hidden, under the key of a contract that is made or held.
    pub digest: Option<Placeholder>,
    pub took: Duration,
    pub at: SystemTime,
}

/// Why an apply will fail, though it can be seen what differs.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub error: Shown<'static>,
    pub help: Vec<Shown<'static>>,
}

/// Why something is blocked.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub error: Shown<'static>,
    pub help: Vec<Shown<'static>>,
    /// Whether it is only because of what it depends on.
    pub by_prerequisite: bool,
}
