//! The profile of a driver: policy, and no intent.
//!
//! What a driver reads for itself (its tools and their arguments) stays open here; what all drivers
//! share is checked (`read`). A key that nothing reads is reported, unless the driver is one that
//! opal does not have.

mod hooks;
mod pattern;
mod policy;
mod read;
mod workspace;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::reference::Name;

pub use hooks::ProfileHook;
pub(super) use hooks::{Piece, pieces, placeholders};
pub use pattern::Pattern;
pub use policy::{BackendMode, Policy, ToolVersion, Workspace};

/// A profile without faults.
#[derive(Clone, Debug)]
pub struct Profile {
    pub profile_ref: Name,
    pub driver: Name,
    pub description: Option<String>,
    pub policy: Policy,
    pub templates: Vec<Template>,
    /// Variables for the tools.
    pub env: Map<String, Value>,
    /// The hooks it owns, by their names.
    pub hooks: BTreeMap<String, ProfileHook>,
    /// Everything else, for the driver to read: `terragrunt`, `ansible`, `workspace_policy`.
    pub settings: Map<String, Value>,
}

/// A file that the driver writes beside the stack: both paths are relative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub src: String,
    pub dst: String,
}
