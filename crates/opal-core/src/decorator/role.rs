//! The parts that a decorator plays, which follow from what it can do.

use super::{Block, Descriptor};

/// A part that a decorator can play. One decorator may play several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Gives a value at plan time.
    Value,
    /// Runs a block in its own way.
    Wrapper,
    /// Runs a block somewhere else.
    Boundary,
    /// The target of a redirection.
    Endpoint,
    /// Describes a state of the world, with verify and apply.
    Resource,
}

impl Role {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Wrapper => "wrapper",
            Self::Boundary => "boundary",
            Self::Endpoint => "endpoint",
            Self::Resource => "resource",
        }
    }
}

impl Descriptor {
    /// The parts it plays, in the order of [`Role`].
    #[must_use]
    pub fn roles(&self) -> Vec<Role> {
        let wraps = matches!(self.block, Block::Optional | Block::Required);
        [
            (self.is_value(), Role::Value),
            (wraps, Role::Wrapper),
            (wraps && self.boundary.is_some(), Role::Boundary),
            (self.reads || self.writes, Role::Endpoint),
            (self.resource.is_some(), Role::Resource),
        ]
        .into_iter()
        .filter_map(|(plays, role)| plays.then_some(role))
        .collect()
    }
}
