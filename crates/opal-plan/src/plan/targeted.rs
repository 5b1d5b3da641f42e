//! Where the block that is being expanded runs.

use std::rc::Rc;
use std::sync::Arc;

use opal_core::crossing::{Crossing, Facts};

/// The target of the block that is being expanded.
#[derive(Debug)]
pub(crate) struct Targeted {
    /// The names of the targets on the way to it, each followed by `/`: what keys of its values begin
    /// with.
    pub(crate) names: String,
    pub(crate) facts: Arc<Facts>,
    /// None where a quick plan does not know it.
    pub(crate) way: Option<Vec<Crossing>>,
    /// The name of the member, where the block is that of a fleet. Plans have such a block once, so
    /// keys of values in it begin with `*/`, whichever member it is.
    pub(crate) member: Option<Rc<str>>,
    /// How many members the fleet around it has; one without a fleet.
    pub(crate) count: usize,
}

impl Targeted {
    /// What keys in the plan begin with.
    pub(crate) fn shown_names(&self) -> String {
        match &self.member {
            Some(member) => format!("*{}", &self.names[member.len()..]),
            None => self.names.clone(),
        }
    }

    /// Levels, counting from opal's machine.
    pub(crate) fn levels(&self) -> usize {
        let hops = self.way.iter().flatten().map(|crossing| crossing.hops().count());
        hops.sum::<usize>().max(1)
    }
}
