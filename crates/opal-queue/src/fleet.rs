//! The one fleet of a contract: its targets as shares, and how many may fail.

use std::fmt;

use opal_core::Value;
use opal_core::contract::Contract;
use opal_core::fleet::{Batches, Tolerance};
use opal_core::plan::{Arg, Node, Plan, Step};
use opal_trust::order::{MAX_SHARE, MAX_TARGETS, Share};

/// What runners need to know of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fleet {
    /// The path of the block.
    pub(crate) path: String,
    /// All targets, in the order of the plan.
    pub(crate) shares: Vec<Share>,
    /// How many of them may fail.
    pub(crate) tolerate: usize,
}

/// Why a contract cannot be divided among runners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FleetError {
    /// No block on targets at all.
    NoFleet,
    /// A step that is not in the block: its path.
    Outside(String),
    /// `helper="none"`.
    NoHelper,
    /// `batch` or `tolerate` came from the world.
    Open(&'static str),
    /// More targets than an order can have.
    TooMany(usize),
}

impl Fleet {
    pub(crate) fn of(contract: &Contract) -> Result<Self, FleetError> {
        let plan = contract.plan();
        if !plan.all_steps().any(|step| step.targets().next().is_some()) {
            return Err(FleetError::NoFleet);
        }
        let block = block(&plan.steps)?;
        let without =
            matches!(block.arg("helper"), Some(Arg::Const(Value::String(it))) if &**it == "none");
        if without {
            return Err(FleetError::NoHelper);
        }
        let names: Vec<&str> = block.targets().collect();
        within_limit(names.len())?;
        let batches = constant(block, "batch")?.map(Batches::read).transpose();
        let batches =
            batches.map_err(|_| FleetError::Open("batch"))?.unwrap_or_else(Batches::whole);
        let tolerance = constant(block, "tolerate")?.map(Tolerance::read).transpose();
        let tolerance = tolerance.map_err(|_| FleetError::Open("tolerate"))?.unwrap_or_default();
        let mut shares = Vec::new();
        for (number, batch) in (1..).zip(batches.of(names.len())) {
            for targets in names[batch].chunks(MAX_SHARE) {
                let targets = targets.iter().map(|it| (*it).to_owned()).collect();
                shares.push(Share { batch: number, targets });
            }
        }
        let tolerate = tolerance.of(names.len());
        Ok(Self { path: block.path.to_string(), shares, tolerate })
    }
}

/// An order has at most so many targets.
fn within_limit(targets: usize) -> Result<(), FleetError> {
    match targets <= MAX_TARGETS {
        true => Ok(()),
        false => Err(FleetError::TooMany(targets)),
    }
}

/// Whether a plan asks a person while it runs.
pub(crate) fn asks(plan: &Plan) -> bool {
    plan.all_steps().any(|step| step.node.path() == Some("confirm"))
}

/// The only block on targets. Around it there may be functions, blocks and questions, but no other step.
fn block(steps: &[Step]) -> Result<&Step, FleetError> {
    let mut found = None;
    for step in steps {
        let is_empty = step.block.is_empty();
        let inside = match &step.node {
            _ if step.targets().next().is_some() => Ok(step),
            node if node.path() == Some("confirm") => continue,
            Node::Call | Node::Block | Node::If | Node::When | Node::Needs if is_empty => continue,
            Node::Call | Node::Block | Node::If | Node::When => block(&step.block),
            _ => Err(FleetError::Outside(step.path.to_string())),
        };
        match inside {
            Err(FleetError::NoFleet) => {}
            Ok(_) if found.is_some() => return Err(FleetError::Outside(step.path.to_string())),
            Ok(inside) => found = Some(inside),
            Err(error) => return Err(error),
        }
    }
    found.ok_or(FleetError::NoFleet)
}

fn constant<'s>(step: &'s Step, name: &'static str) -> Result<Option<&'s Value>, FleetError> {
    match step.arg(name) {
        None | Some(Arg::Const(Value::Null)) => Ok(None),
        Some(Arg::Const(value)) => Ok(Some(value)),
        Some(_) => Err(FleetError::Open(name)),
    }
}

impl FleetError {
    pub(crate) fn help(&self) -> String {
        match self {
            Self::NoFleet => "use `opal run --plan FILE`".to_owned(),
            Self::Outside(_) => {
                "make a contract for each: one of the steps before, one of the fleet, one of those after".to_owned()
            }
            Self::NoHelper => "remove `helper=\"none\"` and make a new contract".to_owned(),
            Self::Open(name) => format!("write `{name}` as a constant and make a new contract"),
            Self::TooMany(_) => "make several contracts, each with `--limit`".to_owned(),
        }
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFleet => f.write_str("the contract has no block on targets that runners could share"),
            Self::Outside(path) => write!(
                f,
                "the step `{path}` is not in the one block on targets: it would run once for each share"
            ),
            Self::NoHelper => f.write_str(
                "the targets have no helper (`helper=\"none\"`), so they cannot refuse a second runner",
            ),
            Self::Open(name) => write!(f, "`{name}` of the block is not a constant"),
            Self::TooMany(count) => {
                write!(f, "the block has {count} targets, and an order has at most {MAX_TARGETS}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trouble::Trouble;

    #[test]
    fn an_order_has_at_most_10_000_targets() {
        assert_eq!(within_limit(10_000), Ok(()));
        let error = within_limit(10_001).unwrap_err();
        let said = "the block has 10001 targets, and an order has at most 10000";
        assert_eq!(error.to_string(), said);
        assert_eq!(Trouble::from(error).code(), 65);
    }
}
