//! What a run under an order asks and tells whoever shares the order out among runners.

use std::fmt;

use opal_core::journal::Opening;
use opal_session::stop::Stop;
use opal_vault::targets::TargetEnd;

/// Keeps the targets of an order from two runners. Called from several threads.
pub trait Fencing: Sync + fmt::Debug {
    /// Before the first step of a target: waits until it may start. Where it may not, why.
    fn start(&self, target: &str, stop: &Stop) -> Result<(), String>;

    /// Whether [`start`](Self::start) alone decides if a target starts after others have failed.
    fn counts_failures(&self) -> bool;

    /// How its journal is opened.
    fn opening(&self, target: &str) -> Opening;

    /// The journal of a target has an entry of this number on its disk.
    fn noted(&self, target: &str, number: u64);

    /// A target has ended, or does not start.
    fn ended(&self, target: &str, end: TargetEnd);
}
