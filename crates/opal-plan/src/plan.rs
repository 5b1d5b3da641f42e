//! From a unit to a plan, stage by stage.
//!
//! ```text
//! unit ──scope──▶ scoped form ──expand──▶ steps with open ends ──settle──▶ Plan + secrets
//!                                  │  ▲                            │
//!                                  ▼  │ decisions                  ▼
//!                               graph of values ──waves──▶ known values
//! ```
//!
//! | stage | what it does | where |
//! |---|---|---|
//! | scope | names to slots, paths to descriptors, arguments to parameters | `scope`, form in `scoped` |
//! | graph | expressions to nodes; constants are computed at once | `eval`, `graph`, `operate`, `call` |
//! | waves | asks decorators, the expensive ones side by side | `waves` |
//! | expand | control flow to steps; values are asked for where they decide | `expand` |
//! | settle | open ends to constants, keys and placeholders | `settle` |
//! | showing | who may see which value, and what replaces a secret | `showing` |
//! | draw | random values, once the structure is known | `draw` |
//! | resources | ids, dependencies, one description for each thing | `resources` |
//!
//! Deliberately not here: execution, files of contracts, and any effect. The world is seen through
//! a [`Probe`].

mod call;
mod datum;
mod draw;
mod eval;
mod expand;
mod graph;
mod operate;
mod parameters;
mod resources;
mod scope;
mod scoped;
mod settle;
mod showing;
mod text;
mod warn;
mod waves;

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::hash::{Algorithm, Digest};
use opal_core::keys::{KeyError, Keys};
use opal_core::plan::{Key, Plan};
use opal_core::resolver::Probe;
use opal_core::selection::Selection;
use opal_core::{Data, Diagnostic, Registry, Showing, Span, Value};
use opal_syntax::Parse;

use crate::unit::{Block, Unit};
use datum::Datum;
use graph::{Cell, Graph};
use scope::{Entry, Source};
use scoped::Program;

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
    fn is_partial(&self) -> bool {
        self.purpose == Purpose::Verify || !self.selection.is_all()
    }
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be looked at: expensive values are left open.
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
    fn is_contract(self) -> bool {
        matches!(self, Self::Contract | Self::OldContract)
    }

    /// Whether steps have arguments that say the default.
    fn has_defaults(self) -> bool {
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
    /// What is probably not meant, in the order of the places.
    pub warnings: Vec<Diagnostic>,
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

/// Makes a plan. What is wrong with it is reported all at once, as far as it can be seen.
pub fn plan(
    request: &Request<'_>,
    probe: &dyn Probe,
    keys: &mut dyn Keys,
) -> Result<Resolved, Unplanned> {
    let source = Source { unit: request.unit, registry: request.registry, text: request.text };
    let entry = match request.function {
        None => Entry::Script,
        Some(name) => {
            let functions = &request.unit.functions;
            let found = functions.iter().position(|function| function.name.text == name);
            Entry::Function(found.ok_or_else(|| vec![expand::no_function(name)])?)
        }
    };
    let program = scope::scope(source, entry)?;
    let mut planner = Planner::new(&program, request, probe);
    let steps = match planner.expand(entry) {
        Ok(steps) => steps,
        Err(expand::Stop) => return Err(planner.into_errors().into()),
    };
    let resolved = settle::settle(planner, steps, keys)?;
    let scoped = program.functions.iter().zip(&request.unit.functions);
    let reached = scoped.filter_map(|(scoped, function)| scoped.as_ref().map(|_| &function.body));
    let blocks: Vec<&Block> = std::iter::once(&request.unit.script).chain(reached).collect();
    let errors = resources::check(&resolved, &blocks, request.registry, probe);
    if errors.is_empty() { Ok(resolved) } else { Err(errors.into()) }
}

/// The digest of the source files, as plans and contracts record it.
#[must_use]
pub fn source_hash(algorithm: Algorithm, text: &str) -> Digest {
    algorithm.digest(&[text.as_bytes()])
}

pub(crate) struct Planner<'a> {
    program: &'a Program,
    request: &'a Request<'a>,
    probe: &'a dyn Probe,
    graph: Graph,
    /// `@args`.
    args: Datum,
    globals: Vec<Option<Cell>>,
    frames: Vec<Vec<Option<Cell>>>,
    /// Old values of variables that were set where assignments stay inside.
    journal: Vec<expand::Change>,
    /// Open blocks whose assignments stay inside.
    copies: u32,
    /// Open branches that a quick plan could not decide.
    perhaps: u32,
    /// The open blocks, and how far they have come.
    ahead: Vec<expand::Ahead<'a>>,
    /// What a quick plan could not decide by.
    undecided: Vec<Rc<datum::Taint>>,
    /// Every `when` that plans nothing.
    unmatched: Vec<warn::Unmatched>,
    /// What steps need, in their order.
    demands: Vec<expand::Demand>,
    /// So many of them have been asked for.
    asked: usize,
    steps: usize,
    nodes: usize,
    /// Of the texts and values in the steps.
    held: usize,
    depth: u32,
    errors: Vec<Rc<Diagnostic>>,
}

impl<'a> Planner<'a> {
    fn new(program: &'a Program, request: &'a Request<'a>, probe: &'a dyn Probe) -> Self {
        let args = request
            .arguments
            .get("args")
            .map_or_else(|| Datum::from(&Value::Array(Vec::new())), Datum::from);
        Self {
            program,
            request,
            probe,
            graph: Graph::new(request.purpose == Purpose::Quick),
            args,
            globals: vec![None; program.globals.len()],
            frames: Vec::new(),
            journal: Vec::new(),
            copies: 0,
            perhaps: 0,
            ahead: Vec::new(),
            undecided: Vec::new(),
            unmatched: Vec::new(),
            demands: Vec::new(),
            asked: 0,
            steps: 0,
            nodes: 0,
            held: 0,
            depth: 0,
            errors: Vec::new(),
        }
    }

    fn frame(&self) -> &[Option<Cell>] {
        self.frames.last().map_or(&[], Vec::as_slice)
    }

    /// The source between two places, for notes.
    fn slice(&self, span: Span) -> Option<&'a str> {
        self.request.text.and_then(|(_, text)| text.get(span.range()))
    }

    /// The head of a construct or a call as it was written, for people: never all of a long one.
    fn note(&self, span: Span) -> Option<Box<str>> {
        const MOST_BYTES: usize = 1_000;
        let text = self.slice(span)?;
        Some(text[..text.floor_char_boundary(MOST_BYTES)].into())
    }

    fn into_errors(self) -> Vec<Diagnostic> {
        let mut errors: Vec<Diagnostic> =
            self.errors.into_iter().map(|error| (*error).clone()).collect();
        opal_core::diagnostic::sort(&mut errors);
        errors.dedup();
        errors
    }
}
