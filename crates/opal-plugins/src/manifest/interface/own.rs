//! What opal adds to the parameters of a manifest.

use opal_core::decorator::{Capability, Param, Presence};
use opal_core::{Type, Value};

/// With it a step lets its secrets go to programs of a target.
pub(crate) const TO_TARGET: &str = "to_target";

/// Whether a manifest may call a parameter so.
pub(super) fn is_param_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name != TO_TARGET
}

/// The parameter `to_target` of a decorator that has secrets and starts programs.
pub(super) fn to_target(params: &[Param], powers: &[Capability]) -> Option<Param> {
    let has_secret = params.iter().any(|param| param.shape.is_some_and(|shape| shape.secret));
    let starts_programs = powers.contains(&Capability::Processes);
    (has_secret && starts_programs).then_some(Param {
        name: TO_TARGET,
        ty: Type::Bool,
        presence: Presence::Default(Value::Bool(false)),
        docs: "whether its secrets may go to programs of the target that the step runs on",
        ..Param::BASE
    })
}
