//! Whether a call says which object of the world it is about. That is known before anything is read.

use std::fmt;

use crate::code::Code;

/// What a decorator needs to find its object.
pub trait Identified: Sync + fmt::Debug {
    /// What is wrong with a call that gives these arguments.
    fn fault(&self, given: &[&str]) -> Option<IdentityFault>;
}

/// Why an object cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFault {
    pub code: Code,
    pub message: String,
    pub help: Vec<String>,
}
