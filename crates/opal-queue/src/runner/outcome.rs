//! What becomes of the message of a share, and of a target.

use std::time::Duration;

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
