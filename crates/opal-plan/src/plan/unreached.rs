//! Targets that cannot be reached for a value that the plan needs.
//!
//! One that its fleet tolerates does not stop the plan: it counts as unreachable when the fleet
//! runs, and its resources are blocked when they are verified. The others have their plan as if it
//! were there. A contract has who answers on every target, so there it stays an error.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use opal_core::crossing::TARGETS;
use opal_core::fleet::Tolerance;
use opal_core::plan::{Arg, Node, Step};
use opal_core::resolver::{Inputs, Trouble};
use opal_core::unreached::Unreached;
use opal_core::{Data, Diagnostic, Value};

use super::demand::Stop;
use super::planner::Planner;
use super::request::Purpose;

/// A block on targets.
#[derive(Debug)]
pub(crate) struct Crew {
    path: Box<str>,
    /// How many of them may be missing.
    tolerated: usize,
    members: Vec<Member>,
}

/// A target, and what its steps need.
#[derive(Debug)]
struct Member {
    name: Box<str>,
    /// Of the demands of the plan.
    demands: Range<usize>,
    /// Its block could not be expanded without a value of it.
    stopped: Option<Rc<Diagnostic>>,
}

/// How far planning had come when it took up a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    demands: usize,
    errors: usize,
    ahead: usize,
    depth: u32,
    open: u32,
}

/// What settling leaves out.
#[derive(Debug, Default)]
pub(super) struct Gone {
    pub(super) unreached: Unreached,
    /// The demands of targets that are not there, and whether one of their block is.
    demands: Vec<(Range<usize>, bool)>,
    /// By the paths of their blocks.
    names: BTreeSet<(Box<str>, Box<str>)>,
}

impl Gone {
    /// Whether a demand is one of a target that is not there; with it comes whether another target of the
    /// same block is there.
    pub(super) fn has(&self, demand: usize) -> Option<bool> {
        let is_in = |(demands, _): &&(Range<usize>, bool)| demands.contains(&demand);
        self.demands.iter().find(is_in).map(|(_, has_others)| *has_others)
    }

    /// Whether a plan has no values of a target.
    pub(super) fn is_without(&self, target: &str) -> bool {
        self.names.iter().any(|(_, name)| **name == *target)
    }

    /// Gives targets that are not there the block of the first that is: they will have this one or another
    /// of its variants.
    pub(super) fn join(&self, steps: &mut [Step]) {
        if self.names.is_empty() {
            return;
        }
        for step in steps {
            if step.block.first().is_some_and(|first| first.node == Node::Variant) {
                self.join_variants(step);
            }
            self.join(&mut step.block);
        }
    }

    fn join_variants(&self, step: &mut Step) {
        let is_gone = |variant: &Step| {
            let name = variant.first_target().unwrap_or_default();
            self.names.contains(&(step.path.clone(), name.into()))
        };
        let (gone, mut left): (Vec<Step>, Vec<Step>) =
            std::mem::take(&mut step.block).into_iter().partition(is_gone);
        let Some(first) = left.first_mut() else {
            step.block = gone;
            return;
        };
        let targets = first.args.iter_mut().find(|(name, _)| name == TARGETS);
        if let Some((_, Arg::Const(Value::Array(names)))) = targets {
            let text = |name: &str| Value::String(name.to_owned().into());
            names.extend(gone.iter().flat_map(Step::targets).map(text));
        }
        step.block = left;
    }
}

impl Planner<'_> {
    /// Begins a block on targets, of which there are so many.
    pub(super) fn begin_crew(&mut self, path: &str, fleet: Option<usize>, inputs: &Inputs) {
        let tolerated = match self.request.purpose {
            Purpose::Verify => usize::MAX,
            Purpose::Run => fleet.map_or(0, |total| tolerated(inputs, total)),
            Purpose::Quick | Purpose::Contract | Purpose::OldContract => 0,
        };
        self.crews.push(Crew { path: path.into(), tolerated, members: Vec::new() });
    }

    pub(super) fn mark(&self) -> Mark {
        let (demands, errors, ahead) = (self.demands.len(), self.errors.len(), self.ahead.len());
        Mark { demands, errors, ahead, depth: self.depth, open: self.open }
    }

    /// Notes what came of the block on a target.
    pub(super) fn end_member(
        &mut self,
        (crew, is_fleet): (usize, bool),
        name: &str,
        mark: Mark,
        expanded: Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut stopped = None;
        if expanded.is_err() {
            let [error] = &self.errors[mark.errors..] else { return Err(Stop) };
            if !is_fleet || self.crews[crew].tolerated == 0 || self.graph.why_gone(error).is_none()
            {
                return Err(Stop);
            }
            stopped = self.errors.pop();
            (self.depth, self.open) = (mark.depth, mark.open);
            self.ahead.truncate(mark.ahead);
        }
        let demands = mark.demands..self.demands.len();
        self.crews[crew].members.push(Member { name: name.into(), demands, stopped });
        Ok(())
    }

    /// Which targets the plan does without. Where there are more of them than their fleet tolerates, they
    /// are errors.
    pub(super) fn gone(&mut self) -> Gone {
        let mut gone = Gone::default();
        for crew in std::mem::take(&mut self.crews) {
            // What is around it is gone as a whole.
            let is_known = |member: &Member| gone.has(member.demands.start).is_some();
            if crew.tolerated == 0 || crew.members.first().is_some_and(is_known) {
                continue;
            }
            let why: Vec<Option<Trouble>> =
                crew.members.iter().map(|member| self.why_gone(member)).collect();
            let count = why.iter().flatten().count();
            let has_others = count < crew.members.len();
            let stopped = crew.members.iter().filter_map(|member| member.stopped.clone());
            // Without a value that shapes the block, nobody knows its steps.
            if count > crew.tolerated || (!has_others && stopped.clone().next().is_some()) {
                self.errors.extend(stopped);
                continue;
            }
            for (member, why) in crew.members.into_iter().zip(why) {
                let Some(why) = why else { continue };
                gone.unreached.insert(&crew.path, &member.name, why);
                gone.demands.push((member.demands, has_others));
                gone.names.insert((crew.path.clone(), member.name));
            }
        }
        gone
    }

    /// Why a target could not be reached; none where it gave all that was asked of it.
    fn why_gone(&self, member: &Member) -> Option<Trouble> {
        if let Some(error) = &member.stopped {
            return self.graph.why_gone(error);
        }
        let demands = self.demands[member.demands.clone()].iter();
        let needed = demands.filter(|demand| !demand.perhaps);
        needed
            .filter_map(|demand| self.graph.outcome(&demand.cell).err())
            .find_map(|error| self.graph.why_gone(&error))
    }
}

/// How many of all targets of a fleet may fail. What is wrong with it is said when the fleet begins.
fn tolerated(inputs: &Inputs, total: usize) -> usize {
    let value = match inputs.data("tolerate") {
        Some(Data::Int(count)) => Value::Int(*count),
        Some(Data::Text(share)) => Value::String(share.expose().to_owned().into()),
        _ => return 0,
    };
    Tolerance::read(&value).map_or(0, |tolerance| tolerance.of(total))
}
