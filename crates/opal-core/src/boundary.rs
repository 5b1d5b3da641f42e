//! Decorators whose blocks run elsewhere.

use std::fmt;

use crate::crossing::{Crossing, Facts, Settings, TARGETS, Target};
use crate::data::Data;
use crate::resolver::{Inputs, Probe, Trouble, TroubleKind};

/// Runs a block elsewhere.
pub trait Boundary: Sync + fmt::Debug {
    /// The targets of a block with these arguments, in order. Nothing is changed.
    fn targets(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Vec<Member>, Trouble>;

    /// The parameters that say which targets those are: a plan must know them.
    fn steering(&self) -> &'static [&'static str];

    /// Whether finding them takes time: then a quick plan does without.
    fn is_expensive(&self, inputs: &Inputs) -> bool {
        let _ = inputs;
        false
    }

    /// Whether it may have more targets than one: then values of a target have a key for each.
    fn is_fleet(&self, inputs: &Inputs) -> bool {
        let _ = inputs;
        false
    }
}

/// A target and what is known about it.
#[derive(Clone, Debug)]
pub struct Member {
    pub target: Target,
    pub facts: Facts,
}

/// What is needed to get to a target of a block with these arguments. All boundaries have the same
/// parameters for it.
#[must_use]
pub fn crossing(inputs: &Inputs, target: Target) -> Crossing {
    Crossing { target, settings: Settings::of(inputs).into() }
}

/// The targets that a step was planned with.
pub fn planned(inputs: &Inputs) -> Result<Vec<Target>, Trouble> {
    let targets = match inputs.open.get(TARGETS) {
        Some(Data::Array(targets)) => targets.iter().map(Target::from_data).collect(),
        _ => None,
    };
    targets.ok_or_else(|| {
        let message = "the plan does not say where the block runs";
        Trouble::new(TroubleKind::Invalid, message, "plan again with `--resolve`")
    })
}
