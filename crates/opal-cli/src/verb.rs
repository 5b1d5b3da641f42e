//! What is done with a target: a task, a script or a configuration.

use crate::options::Behind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Run,
    Plan,
    Verify,
    /// Runs it again and again.
    Watch,
}

impl Verb {
    /// The options that it takes after the name of a task.
    pub(crate) const fn options(self) -> Behind {
        match self {
            Self::Run | Self::Plan | Self::Watch => Behind::Work,
            Self::Verify => Behind::Verify,
        }
    }

    /// As it is typed.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Plan => "plan",
            Self::Verify => "verify",
            Self::Watch => "watch",
        }
    }
}
