//! What a verification of a resource has found, as it may be seen.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::hash::Digest;
use opal_core::placeholder::Placeholder;
use opal_core::resource::Status;

use opal_core::resource::details::{Mark, Written};

use crate::{Shown, Vault};

/// The verification of one step of a plan, safe to show.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The step's own `id`, or its path.
    pub id: String,
    /// What it is called for people.
    pub name: Option<Shown<'static>>,
    /// The path of the step.
    pub path: Box<str>,
    /// The target that it is on; none on opal's machine.
    pub target: Option<Arc<str>>,
    /// Which thing it is about: `template:/etc/app.conf`.
    pub key: Shown<'static>,
    pub status: Status,
    pub message: Shown<'static>,
    pub details: Option<ShownDetails>,
    pub blocked: Option<Blocked>,
    /// Why an apply will not correct it.
    pub refusal: Option<Refusal>,
    /// The paths of what it depends on and is missing or blocked.
    pub unmet: Vec<Box<str>>,
    /// Of the details before anything was hidden, under the key of a contract that is made or held.
    pub digest: Option<Placeholder>,
    /// Of the object that was found and of its account, under the same key.
    pub identity: Option<Digest>,
    pub account: Option<Digest>,
    pub took: Duration,
    pub at: SystemTime,
}

/// What is said about a finding in several lines, safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownDetails {
    text: Shown<'static>,
    marks: Vec<Mark>,
    has_diff: bool,
}

impl ShownDetails {
    /// As a whole: what looks like a secret may begin in one line and end in another.
    #[must_use]
    pub fn new(written: &Written, vault: &Vault) -> Self {
        let text = vault.scrub(&written.text);
        let lines = text.text().split_terminator('\n').count();
        // Where a value of several lines was hidden, nobody knows which line is which.
        let is_same = lines == written.marks.len();
        let marks = if is_same { written.marks.clone() } else { vec![Mark::Words; lines] };
        Self { text, marks, has_diff: written.marks.contains(&Mark::Name) }
    }

    /// As a record has them.
    pub(crate) fn recorded(text: &str) -> Self {
        let marks = vec![Mark::Words; text.split_terminator('\n').count()];
        let text = Shown::vouch(text.as_bytes().to_vec());
        Self { text, marks, has_diff: false }
    }

    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.text.text()
    }

    /// What each line is.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Whether something is shown line by line.
    #[must_use]
    pub fn has_diff(&self) -> bool {
        self.has_diff
    }
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
