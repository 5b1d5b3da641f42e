//! What a program prints to.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    /// The stream of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [Self::Stdout, Self::Stderr].into_iter().find(|stream| stream.name() == name)
    }
}

/// Nobody reads this stream any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;
