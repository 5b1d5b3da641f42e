//! Sessions on targets, as whoever runs or verifies steps asks for them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use opal_core::crossing::Crossing;
use opal_core::resolver::{Probe, Trouble};

use crate::Session;
use crate::stop::Stop;

/// Opens sessions on targets.
pub trait Reach: Send + Sync + fmt::Debug {
    /// The session at the end of a way, one crossing after the other. The same way gives the same
    /// session as long as its connection holds.
    fn reach(&self, way: &[Crossing], access: Access, stop: &Stop) -> Result<Reached, Trouble>;

    /// The machine at the end of a way, to be read while planning.
    fn look(&self, way: &[Crossing]) -> Result<Box<dyn Probe>, Trouble>;
}

/// What a session is for. One that only reads cannot express an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    ReadOnly,
    Acting,
}

/// A target with a session on it.
#[derive(Clone, Debug)]
pub struct Reached {
    pub session: Arc<dyn Session + Send>,
    /// Where steps start there: absolute.
    pub start: PathBuf,
}
