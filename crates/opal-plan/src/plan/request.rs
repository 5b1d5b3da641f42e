//! What is planned, and what comes of it.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::hash::{Algorithm, Digest};
use opal_core::keys::KeyError;
use opal_core::plan::{Key, Plan};
use opal_core::selection::Selection;
use opal_core::unreached::Unreached;
use opal_core::{Data, Diagnostic, Registry, Showing, Value};
use opal_syntax::Parse;

use crate::unit::Unit;

/// What is planned.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    pub unit: &'r Unit,
    pub registry: &'r Registry,
    /// The text that the unit was lowered from, if it was.
    pub text: Option<(&'r Parse, &'r str)>,
    /// A function of the unit; none for its script.
    pub function: Option<&'r str>,
    /// Constants for the function's parameters by name; `args` for a script.
    pub arguments: &'r BTreeMap<String, Value>,
    pub algorithm: Algorithm,
    pub purpose: Purpose,
    /// The resources that are verified or applied. Values that only the others need are left open.
    pub selection: Selection<'r>,
}

impl Request<'_> {
    /// Whether some steps may do without their values.
    pub(super) fn is_partial(&self) -> bool {
        self.purpose == Purpose::Verify || !self.selection.is_all()
    }
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For a quick view: expensive values are left open.
    Quick,
    /// To be run at once.
    Run,
    /// To verify its resources: what only other steps need is left open.
    Verify,
    /// To be kept, so that another run can be compared with it.
    Contract,
    /// To be compared with a contract of format 1.0, which leaves out arguments that have their
    /// default.
    OldContract,
}

impl Purpose {
    /// Whether a later run has to find the same again.
    pub(super) fn is_contract(self) -> bool {
        matches!(self, Self::Contract | Self::OldContract)
    }

    /// Whether steps have arguments that say the default.
    pub(super) fn has_defaults(self) -> bool {
        self != Self::OldContract
    }
}

/// A plan and the values that it only names.
#[derive(Debug)]
pub struct Resolved {
    pub plan: Plan,
    /// By the keys of [`Plan::values`], and of [`Plan::reads`] that are not public.
    pub secrets: BTreeMap<Key, Data>,
    /// Who may see which of them.
    pub showing: Showing,
    /// What `--limit` has left of its fleets.
    pub limited: Limited,
    /// The targets that it has no values of.
    pub unreached: Unreached,
    /// What is probably not meant, in the order of the places.
    pub warnings: Vec<Diagnostic>,
}

/// What `--limit` has left.
#[derive(Clone, Debug, Default)]
pub struct Limited {
    /// The names of all targets of all fleets.
    pub all: BTreeSet<String>,
    /// Those that are left.
    pub left: BTreeSet<String>,
}

/// Why there is no plan.
#[derive(Debug)]
pub enum Unplanned {
    /// What is wrong with the program or with what it reads, in the order of the places.
    Errors(Vec<Diagnostic>),
    /// Placeholders or random values could not be made.
    Key(KeyError),
}

impl From<Vec<Diagnostic>> for Unplanned {
    fn from(errors: Vec<Diagnostic>) -> Self {
        Self::Errors(errors)
    }
}

/// The digest of the source files, as plans and contracts record it.
#[must_use]
pub fn source_hash(algorithm: Algorithm, text: &str) -> Digest {
    algorithm.digest(&[text.as_bytes()])
}
