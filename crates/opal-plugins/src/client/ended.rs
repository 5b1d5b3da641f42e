//! How a process of the helper ends.

use opal_core::protocol::Malformed;

/// How a helper ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Signal(i32),
    Code(i32),
    /// opal ended it: it did not keep to the protocol.
    Malformed(Malformed),
    /// opal ended it: it gave no sign of life.
    Silent,
    /// It never started.
    NotStarted(std::io::ErrorKind),
    /// It is of another build.
    OtherBuild(String),
}
