//! What can be done with a module.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    Apply,
    /// An apply with everything that belongs before it.
    Deploy,
    Plan,
    Validate,
    Verify,
    Destroy,
}

impl Command {
    pub const ALL: [Self; 6] =
        [Self::Apply, Self::Deploy, Self::Plan, Self::Validate, Self::Verify, Self::Destroy];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Deploy => "deploy",
            Self::Plan => "plan",
            Self::Validate => "validate",
            Self::Verify => "verify",
            Self::Destroy => "destroy",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }

    /// What the tools are asked to do.
    #[must_use]
    pub(crate) const fn of_tools(self) -> Self {
        match self {
            Self::Deploy => Self::Apply,
            other => other,
        }
    }

    /// Whether the world, and with it the state of the module, may be another afterwards.
    #[must_use]
    pub const fn changes(self) -> bool {
        matches!(self, Self::Apply | Self::Deploy | Self::Destroy)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
