//! The graph of values: what is computed from what, and what is known so far.
//!
//! A node is made when an expression is met, and evaluated only when something needs its value, so
//! what nothing uses is never resolved. Nodes refer to older nodes only: there are no cycles.

use std::collections::BTreeMap;
use std::rc::Rc;

use opal_core::plan::{Key, Read};
use opal_core::resolver::Trouble;
use opal_core::{Diagnostic, Span, Type};

use super::call::CallShape;
use super::datum::Datum;
use super::operate::{self, OpError};
use super::parameters;
use super::scoped::FieldName;
use crate::unit::Builtin;
use crate::unit::{BinaryOp, UnaryOp};

/// A value, or the node that will have it.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Known(Datum),
    Node(u32),
}

impl Cell {
    pub(crate) fn node(&self) -> Option<u32> {
        match self {
            Self::Node(id) => Some(*id),
            Self::Known(_) => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) operands: Vec<Cell>,
    pub(crate) state: State,
    pub(crate) span: Span,
    /// The last round in which it was found waiting for another.
    pub(crate) round: u32,
}

#[derive(Debug)]
pub(crate) enum Op {
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// The parts of a string.
    Join,
    Array,
    Map(Rc<[Rc<str>]>),
    Function(Builtin),
    Field(FieldName),
    Index,
    All,
    Call(Rc<CallShape>),
    /// The operand, if it is of this type: a parameter's name and type.
    Typed(Rc<(Rc<str>, Type)>),
}

#[derive(Clone, Debug)]
pub(crate) enum State {
    Waiting,
    /// A decorator is being asked.
    Queued,
    Done(Datum),
    Failed(Rc<Diagnostic>),
}

#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Expensive values are left open.
    pub(crate) quick: bool,
    /// Nothing may be changed by reading a value.
    pub(crate) only_reads: bool,
    /// Every decorator's answer, by its key: nothing is asked twice.
    pub(crate) answers: BTreeMap<Key, State>,
    pub(crate) reads: BTreeMap<Key, (Read, Datum)>,
    /// What random nodes have, once there is a seed.
    pub(crate) generated: BTreeMap<u32, Datum>,
    pub(crate) randoms: u32,
    pub(crate) round: u32,
    /// Targets that could not be reached for a value: what was said, and why.
    pub(crate) gone: Vec<(Rc<Diagnostic>, Trouble)>,
    /// What computing has taken so far.
    work: usize,
}

/// What computing may take: statements, operations, and the size of what they read and give.
const MAX_WORK: usize = 20_000_000;

/// What one key that a value depends on counts.
const ROOT_WORK: usize = 8;

impl Graph {
    pub(crate) fn new(quick: bool) -> Self {
        Self {
            nodes: Vec::new(),
            quick,
            only_reads: false,
            answers: BTreeMap::new(),
            reads: BTreeMap::new(),
            generated: BTreeMap::new(),
            randoms: 0,
            round: 0,
            gone: Vec::new(),
            work: 0,
        }
    }

    pub(crate) fn add(&mut self, op: Op, operands: Vec<Cell>, span: Span) -> Cell {
        let all_known = operands.iter().all(|operand| matches!(operand, Cell::Known(_)));
        let mut state = State::Waiting;
        if all_known && !matches!(op, Op::Call(_)) {
            let values: Vec<&Datum> = operands.iter().filter_map(|cell| self.known(cell)).collect();
            let (outcome, work) = measured(&op, &values);
            match self.spend(work).and(outcome) {
                Ok(datum) if datum.open().is_none() => return Cell::Known(datum),
                Ok(datum) => state = State::Done(datum),
                // Said when something needs it.
                Err(error) => state = State::Failed(Rc::new(diagnostic(error, span))),
            }
        }
        self.nodes.push(Node { op, operands, state, span, round: 0 });
        Cell::Node(self.nodes.len() as u32 - 1)
    }

    /// Counts work; an error where it has become too much.
    pub(crate) fn spend(&mut self, work: usize) -> Result<(), OpError> {
        self.work = self.work.saturating_add(work);
        if self.work <= MAX_WORK {
            return Ok(());
        }
        let message = "planning would take too long: too much is computed";
        let help = "loop over fewer items, or let a step do the work at run time";
        Err(OpError::new(opal_core::Code::TooManySteps, message, help))
    }

    /// The value of a cell, if it is known.
    pub(crate) fn known<'c>(&'c self, cell: &'c Cell) -> Option<&'c Datum> {
        match cell {
            Cell::Known(datum) => Some(datum),
            Cell::Node(id) => match &self.nodes[*id as usize].state {
                State::Done(datum) => Some(datum),
                _ => None,
            },
        }
    }

    /// Whether a node has still to be evaluated.
    pub(crate) fn is_open(&self, id: u32) -> bool {
        matches!(self.nodes[id as usize].state, State::Waiting)
    }

    /// Why the target could not be reached that a value is missing of; none for other errors.
    pub(crate) fn why_gone(&self, error: &Rc<Diagnostic>) -> Option<Trouble> {
        let gone = self.gone.iter().find(|(said, _)| Rc::ptr_eq(said, error));
        gone.map(|(_, why)| why.clone())
    }

    /// The value of a cell that has been asked for, or why there is none.
    pub(crate) fn outcome(&self, cell: &Cell) -> Result<Datum, Rc<Diagnostic>> {
        match cell {
            Cell::Known(datum) => Ok(datum.clone()),
            Cell::Node(id) => match &self.nodes[*id as usize].state {
                State::Done(datum) => Ok(datum.clone()),
                State::Failed(error) => Err(Rc::clone(error)),
                State::Waiting | State::Queued => unreachable!("it was asked for"),
            },
        }
    }
}

/// The value of a node from the values of its operands, and what it took.
pub(crate) fn measured(op: &Op, values: &[&Datum]) -> (Result<Datum, OpError>, usize) {
    let outcome = apply(op, values);
    let copies = match op {
        Op::Unary(_) | Op::Binary(_) | Op::Join | Op::Function(_) => true,
        // What came from the world is named after all of them.
        Op::Index => values.iter().any(|value| value.is_tainted()),
        _ => false,
    };
    let sizes =
        values.iter().copied().chain(&outcome).map(|value| if copies { value.size() } else { 1 });
    // Each computed value has the keys of everything it depends on.
    let roots = outcome.as_ref().ok().and_then(|value| value.taint.as_ref());
    let work = sizes.sum::<usize>() + roots.map_or(0, |taint| ROOT_WORK * taint.roots.len());
    (outcome, work)
}

/// The value of a node from the values of its operands.
fn apply(op: &Op, values: &[&Datum]) -> Result<Datum, OpError> {
    match (op, values) {
        (Op::Unary(op), [value]) => operate::unary(*op, value),
        (Op::Binary(op), [left, right]) => operate::binary(*op, left, right),
        (Op::Join, parts) => operate::joined(parts),
        (Op::Array, items) => {
            let items = items.iter().copied().cloned().collect();
            Ok(Datum::constant(Datum::array(items)?))
        }
        (Op::Map(keys), items) => {
            let items = keys.iter().cloned().zip(items.iter().copied().cloned());
            Ok(Datum::constant(Datum::map(items.collect())?))
        }
        (Op::Function(function), args) => operate::builtin(*function, args),
        (Op::Field(name), [base]) => operate::field(base, name),
        (Op::Index, [base, at]) => operate::index(base, at),
        (Op::All, [base]) => operate::all(base),
        (Op::Typed(wanted), [value]) => {
            let (name, ty) = &**wanted;
            match parameters::accepts(name, ty, value, Span::at(0)) {
                Ok(()) => Ok((*value).clone()),
                Err(error) => Err(OpError::from(error)),
            }
        }
        _ => unreachable!("every operation is made with its operands"),
    }
}

pub(crate) fn diagnostic(error: OpError, span: Span) -> Diagnostic {
    Diagnostic::new(error.code, span, error.message).help(error.help)
}
