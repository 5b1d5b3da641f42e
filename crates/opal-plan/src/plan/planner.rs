//! What the stages of one planning share.

use std::rc::Rc;

use opal_core::resolver::Probe;
use opal_core::{Diagnostic, Span, Value};

use super::around::Around;
use super::datum::{Datum, Taint};
use super::demand::Demand;
use super::dependencies::Dependencies;
use super::expand::{Ahead, Change};
use super::graph::{Cell, Graph};
use super::request::{Limited, Purpose, Request};
use super::scoped::Program;
use super::targeted::Targeted;
use super::unreached::Crew;
use super::warn::Unmatched;

pub(crate) struct Planner<'a> {
    pub(super) program: &'a Program,
    pub(super) request: &'a Request<'a>,
    pub(super) probe: &'a dyn Probe,
    pub(super) graph: Graph,
    /// The target of the block that is being expanded; none on opal's machine.
    pub(super) target: Option<Rc<Targeted>>,
    /// The blocks around, whose arguments hold for what is inside them.
    pub(super) around: Option<Rc<Around>>,
    /// How often something was read that depends on the target.
    pub(super) target_reads: usize,
    /// The blocks on targets, in the order in which they were begun.
    pub(super) crews: Vec<Crew>,
    /// What `--limit` has left of fleets.
    pub(super) limited: Limited,
    /// `@args`.
    pub(super) args: Datum,
    pub(super) globals: Vec<Option<Cell>>,
    /// What they are declared as, whatever has been assigned since.
    pub(super) declared: Vec<Option<Cell>>,
    pub(super) dependencies: Dependencies,
    pub(super) frames: Vec<Vec<Option<Cell>>>,
    /// Old values of variables that were set where assignments stay inside.
    pub(super) journal: Vec<Change>,
    /// Open blocks whose assignments stay inside.
    pub(super) copies: u32,
    /// Open branches that a quick plan could not decide.
    pub(super) perhaps: u32,
    /// The open blocks, and how far they have come.
    pub(super) ahead: Vec<Ahead<'a>>,
    /// What a quick plan could not decide by.
    pub(super) undecided: Vec<Rc<Taint>>,
    /// Every `when` that plans nothing.
    pub(super) unmatched: Vec<Unmatched>,
    /// Passwords that several targets get, and how many.
    pub(super) shared_passwords: Vec<(Span, usize)>,
    /// What steps need, in their order.
    pub(super) demands: Vec<Demand>,
    /// So many of them have been asked for.
    pub(super) asked: usize,
    pub(super) steps: usize,
    pub(super) nodes: usize,
    /// Of the texts and values in the steps.
    pub(super) held: usize,
    pub(super) depth: u32,
    /// The same over a chain of dependencies, each of which starts as a target does.
    pub(super) open: u32,
    pub(super) errors: Vec<Rc<Diagnostic>>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        program: &'a Program,
        request: &'a Request<'a>,
        probe: &'a dyn Probe,
    ) -> Self {
        let args = request
            .arguments
            .get("args")
            .map_or_else(|| Datum::from(&Value::Array(Vec::new())), Datum::given);
        let mut graph = Graph::new(request.purpose == Purpose::Quick);
        graph.only_reads = request.purpose == Purpose::Verify;
        Self {
            program,
            request,
            probe,
            graph,
            target: None,
            around: None,
            target_reads: 0,
            crews: Vec::new(),
            limited: Limited::default(),
            args,
            globals: vec![None; program.globals.len()],
            declared: vec![None; program.globals.len()],
            dependencies: Dependencies::default(),
            frames: Vec::new(),
            journal: Vec::new(),
            copies: 0,
            perhaps: 0,
            ahead: Vec::new(),
            undecided: Vec::new(),
            unmatched: Vec::new(),
            shared_passwords: Vec::new(),
            demands: Vec::new(),
            asked: 0,
            steps: 0,
            nodes: 0,
            held: 0,
            depth: 0,
            open: 0,
            errors: Vec::new(),
        }
    }

    pub(super) fn frame(&self) -> &[Option<Cell>] {
        self.frames.last().map_or(&[], Vec::as_slice)
    }

    /// The source between two places, for notes.
    pub(super) fn slice(&self, span: Span) -> Option<&'a str> {
        self.request.text.and_then(|(_, text)| text.get(span.range()))
    }

    /// The head of a construct or a call as it was written, for people: never all of a long one.
    pub(super) fn note(&self, span: Span) -> Option<Box<str>> {
        const MOST_BYTES: usize = 1_000;
        let text = self.slice(span)?;
        Some(text[..text.floor_char_boundary(MOST_BYTES)].into())
    }

    pub(super) fn into_errors(self) -> Vec<Diagnostic> {
        let mut errors: Vec<Diagnostic> =
            self.errors.into_iter().map(|error| (*error).clone()).collect();
        opal_core::diagnostic::sort(&mut errors);
        errors.dedup();
        errors
    }
}
