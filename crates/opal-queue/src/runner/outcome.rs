//! What becomes of the message of a share, and of a target.

use std::time::Duration;

/// The exit code of an order that is past its end, as `timeout` has it.
pub(crate) const PAST_END: u8 = 124;

/// What becomes of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The share has ended.
    Done,
    /// Another runner, or this one, tries it again.
    Again(Duration),
    /// Nobody can run it.
    Never,
    /// It is somebody else's now.
    Leave,
}

pub(crate) fn is_failure(status: Option<&str>) -> bool {
    matches!(status, Some("failed" | "unreachable" | "lost"))
}
