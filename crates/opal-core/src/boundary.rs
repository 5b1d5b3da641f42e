//! Decorators whose blocks run elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use crate::crossing::{Crossing, Facts, HelperUse, Settings, TARGETS, Target};
use crate::data::{Data, Secret};
use crate::gather::Gather as _;
use crate::resolver::{Inputs, Probe, Trouble, TroubleKind};
use crate::target::Name;

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

    /// What is needed to get to one of them.
    fn crossing(&self, inputs: &Inputs, target: Target) -> Crossing {
        crossing(inputs, target)
    }

    /// Whether arguments that every boundary of opal knows are in order.
    fn check(&self, inputs: &Inputs) -> Result<(), Trouble> {
        check_files(inputs)
    }

    /// Whether it needs every argument, also those that are not in the plan for all to see.
    fn needs_all(&self) -> bool {
        false
    }

    /// Whether they are found from the machine that the block is on, and not from opal's.
    fn asks_there(&self) -> bool {
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

/// What is needed to get to a target of a block with these arguments. All boundaries of opal have the same
/// parameters for it.
#[must_use]
pub fn crossing(inputs: &Inputs, target: Target) -> Crossing {
    Crossing { target, settings: settings(inputs).into(), visit: 0 }
}

/// Whether a block with these arguments wants a helper on its targets.
#[must_use]
pub fn helper(inputs: &Inputs) -> HelperUse {
    if inputs.text("helper") == Some("none") { HelperUse::None } else { HelperUse::Auto }
}

/// What a block with these arguments says about its crossings.
fn settings(inputs: &Inputs) -> Settings {
    let secret = |data: &Data| match data {
        Data::Text(text) => Some(Secret::clone(text)),
        _ => None,
    };
    let duration = |name| match inputs.data(name) {
        Some(Data::Duration(duration)) => Some(*duration),
        _ => None,
    };
    let environment = match inputs.data("env") {
        Some(Data::Map(variables)) => {
            let all = variables.iter();
            all.filter_map(|(name, value)| Some((name.clone(), secret(value)?))).gathered()
        }
        _ => BTreeMap::new(),
    };
    let files = match inputs.data("files") {
        Some(Data::Map(files)) => {
            let path = |path: &Data| path.as_text().map(str::to_owned);
            files.iter().filter_map(|(name, it)| Some((name.clone(), path(it)?))).gathered()
        }
        _ => BTreeMap::new(),
    };
    Settings {
        files,
        password: inputs.data("password").and_then(secret),
        environment,
        is_login: inputs.is_true("login"),
        forwards_agent: inputs.is_true("forward_agent"),
        lost: duration("lost"),
        connect: duration("connect_timeout"),
        helper: helper(inputs),
        // Only a block on one host names it so.
        asks: inputs.text("host").is_some(),
    }
}

/// Whether the names of the files that are sent are names: one part of a path each.
fn check_files(inputs: &Inputs) -> Result<(), Trouble> {
    let Some(Data::Map(files)) = inputs.data("files") else { return Ok(()) };
    for name in files.keys() {
        name.parse::<Name>().map_err(|error| {
            let help = "`files` has names of files, without a directory, and the paths to send";
            Trouble::new(TroubleKind::Invalid, error.to_string(), help)
        })?;
    }
    Ok(())
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
