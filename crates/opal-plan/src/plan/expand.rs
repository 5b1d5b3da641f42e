//! Control flow to steps.
//!
//! Statements are walked in the order in which they would run. Where a value decides the way, it
//! is asked for, together with everything that the steps so far need; otherwise values stay open
//! ends, which `settle` ties up.

mod arguments;
mod calls;
mod control;
mod dependencies;
mod look_ahead;
mod loops;
mod on;
mod steps;
mod targets;
mod variables;

pub(super) use look_ahead::Ahead;
pub(super) use variables::Change;

use std::rc::Rc;

use opal_core::plan::{Arg, MAX_STEPS, Node, Step};
use opal_core::{Code, Diagnostic, Span, Value};

use self::arguments::Given;
use super::datum::{Datum, Open, Plain, Taint};
use super::demand::{Purpose, Stop};
use super::graph::{Cell, diagnostic};
use super::place::Place;
use super::planner::Planner;
use super::scope::Entry;
use super::scoped::{Block, Function, Program, Slot, Statement, StatementKind};

/// Nodes of a plan: steps, and what is around them.
const MAX_NODES: usize = 4 * MAX_STEPS;
/// What steps hold in clear, in 16 bytes.
const MAX_HELD: usize = 64 * 1024 * 1024 / 16;
/// Levels of steps, calls and iterations included.
const MAX_LEVELS: u32 = 64;

/// Blocks that are expanded inside one another, over dependencies of dependencies: their steps are not
/// nested, but this is.
const MAX_OPEN: u32 = 500;

impl<'a> Planner<'a> {
    pub(super) fn expand(&mut self, entry: Entry) -> Result<Vec<Step>, Stop> {
        let program: &'a Program = self.program;
        let function = match entry {
            Entry::Script => program.script.as_deref(),
            Entry::Function(index) => program.functions[index].as_deref(),
        };
        let Some(function) = function else { return Ok(Vec::new()) };
        let target = self.request.function.unwrap_or(&function.name);
        if entry != Entry::Script {
            // Declared before any function changes one of them.
            let all: Vec<u32> = (0..self.program.globals.len() as u32).collect();
            self.declare_globals(&all);
        }
        self.enter_target(function)?;
        let name: Rc<str> = target.into();
        let mut out = Vec::new();
        self.with_dependencies(target, &mut out, |planner, place, out| {
            planner.within(&name, |planner| match function.directory {
                Some(_) => planner.called(target, function, out),
                None => planner.body(&function.body, place, out),
            })
        })?;
        Ok(out)
    }

    fn block(
        &mut self,
        block: &'a Block,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        self.depth += 1;
        self.open += 1;
        if self.depth > MAX_LEVELS || self.open > MAX_OPEN {
            let span = block.statements.first().map_or(Span::at(0), |first| first.span);
            return Err(self.too_deep(span));
        }
        let ahead = Ahead::new(block, self);
        self.ahead.push(ahead);
        for statement in &block.statements {
            self.statement(statement, place, out)?;
            if let Some(ahead) = self.ahead.last_mut() {
                ahead.done += 1;
            }
        }
        self.ahead.pop();
        self.depth -= 1;
        self.open -= 1;
        Ok(())
    }

    fn too_deep(&mut self, span: Span) -> Stop {
        let (message, help) = match self.depth > MAX_LEVELS {
            true => (
                format!("the plan is nested deeper than {MAX_LEVELS} levels"),
                "each call counts as a level: reduce the depth of calls",
            ),
            false => (
                format!("the chain of dependencies is longer than {MAX_OPEN} levels"),
                "let a function need several others, which do not need one another",
            ),
        };
        self.stop(Diagnostic::new(Code::TooDeep, span, message).help(help))
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        place: &mut Place,
        out: &mut Vec<Step>,
    ) -> Result<(), Stop> {
        let span = statement.span;
        self.graph.spend(1).map_err(|error| self.stop(diagnostic(error, span)))?;
        match &statement.kind {
            StatementKind::Var { slot, value } => {
                // A function that was called above may have needed it already.
                let known = match slot {
                    Slot::Global(index) => self.globals[*index as usize].is_some(),
                    Slot::Local(_) => false,
                };
                if !known {
                    let value = self.eval(value);
                    self.declare(*slot, value);
                }
            }
            StatementKind::Assign { slot, op, value } => {
                let mut given = self.eval(value);
                if let Some(op) = op {
                    let old = self.read(*slot);
                    given = self.graph.add(super::graph::Op::Binary(*op), vec![old, given], span);
                }
                self.set(*slot, given);
            }
            StatementKind::If(branches) => self.r#if(branches, span, place, out)?,
            StatementKind::When { subject, arms } => self.when(subject, arms, span, place, out)?,
            StatementKind::For { slots, name, over, body } => {
                self.r#for(slots, name, over, body, span, place, out)?;
            }
            StatementKind::While { condition, body } => {
                self.r#while(condition, body, span, place, out)?;
            }
            StatementKind::Try { body, catch, finally } => {
                self.r#try(body, catch.as_ref(), finally.as_ref(), span, place, out)?;
            }
            StatementKind::Block(block) => {
                let mut step = self.node(Node::Block, place.next("block"), span)?;
                let mut inner = Place::new(&*step.path);
                self.block(block, &mut inner, &mut step.block)?;
                out.push(step);
            }
            StatementKind::Let { slot, name, source, access } => {
                self.r#let(*slot, name, source, access, place, out)?;
            }
            StatementKind::Require(expr) => {
                let mut step = self.node(Node::Require, place.next("require"), span)?;
                let arg = self.argument(expr, Purpose::Require)?;
                step.args.push(("value".into(), arg));
                out.push(step);
            }
            StatementKind::Needs(call) => self.dependency(call)?,
            StatementKind::Step(step) => self.step(step, span, place, out)?,
        }
        Ok(())
    }

    /// A node of the plan, within the limits.
    pub(super) fn node(&mut self, node: Node, path: Box<str>, span: Span) -> Result<Step, Stop> {
        self.nodes += 1;
        self.steps += usize::from(!node.is_construct());
        if self.steps > MAX_STEPS || self.nodes > MAX_NODES {
            let message = if self.steps > MAX_STEPS {
                "the plan would have more than 100,000 steps"
            } else {
                "the plan would have more than 400,000 rounds, branches and steps"
            };
            return Err(self.stop(
                Diagnostic::new(Code::TooManySteps, span, message)
                    .help("loop over fewer items, or let one step do many of them (`xargs`)"),
            ));
        }
        Ok(Step::new(node, path, span))
    }

    /// Counts what a step holds in clear, in 16 bytes.
    pub(in crate::plan) fn hold(&mut self, size: usize, span: Span) -> Result<(), Stop> {
        self.held += size;
        if self.held <= MAX_HELD {
            return Ok(());
        }
        let message = "the plan would be larger than 64 MiB";
        Err(self.stop(
            Diagnostic::new(Code::TooManySteps, span, message)
                .help("keep large data in files, and let the steps read them"),
        ))
    }

    pub(super) fn stop(&mut self, diagnostic: Diagnostic) -> Stop {
        self.errors.push(Rc::new(diagnostic));
        Stop
    }

    /// The value that decides something; what the steps so far need is asked for at the same time.
    pub(super) fn decide(&mut self, cell: &Cell, span: Span) -> Result<Datum, Stop> {
        let mut roots: Vec<u32> = Vec::new();
        if let Cell::Node(id) = cell {
            roots.push(*id);
            // A quick plan asks nothing that takes time, so there is nothing to gain. Of a plan for
            // verifying, or for some of its steps, it is not known yet what is needed.
            if !self.graph.quick && !self.request.is_partial() {
                let waiting = self.demands[self.asked..].iter();
                roots.extend(waiting.filter_map(|demand| demand.cell.node()));
                self.asked = self.demands.len();
                if self.graph.is_open(*id) {
                    roots.extend(self.look_ahead());
                }
            }
            self.graph.force(&roots, self.probe);
        }
        let datum = self.graph.outcome(cell).map_err(|error| {
            self.errors.push(error);
            Stop
        })?;
        let random = datum.taint.as_ref().is_some_and(|taint| !taint.randoms.is_empty());
        if random || datum.open() == Some(Open::Late) && matches!(datum.plain, Plain::Open(_)) {
            let message = format!("`{}` is random, so it cannot shape the plan", datum.symbol());
            return Err(self.stop(
                Diagnostic::new(Code::RandomSteers, span, message)
                    .help("use it in a step; decide by a value that is not random"),
            ));
        }
        Ok(datum)
    }

    /// Gives the target its arguments.
    fn enter_target(&mut self, function: &Function) -> Result<(), Stop> {
        let given: Vec<Given> = function
            .params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| {
                let value = self.request.arguments.get(&*param.name)?;
                let cell = Cell::Known(Datum::given(value));
                Some(Given { at: index, cell, span: Span::at(0) })
            })
            .collect();
        self.enter(function, given, false, Span::at(0))
    }
}

/// Where the world steered a construct: what by, as arguments of the construct.
pub(super) fn steered(name: &'static str, by: &[Datum], step: &mut Step) {
    let mut taints = Vec::new();
    by.iter().for_each(|datum| super::datum::collect(datum, &mut taints));
    if taints.is_empty() {
        return;
    }
    let text = |text: &str| Value::String(text.to_owned().into());
    let tainted = by.iter().filter(|datum| datum.is_tainted());
    let symbols: Vec<String> = tainted.map(Datum::symbol).collect();
    let mut roots: Vec<String> = taints.iter().flat_map(|taint| shown_roots(taint)).collect();
    roots.sort();
    roots.dedup();
    let key = super::datum::key(symbols.join(", "));
    step.args.push((name.into(), Arg::Const(text(&key))));
    let roots = roots.iter().map(|root| text(root)).collect();
    step.args.push(("roots".into(), Arg::Const(Value::Array(roots))));
    step.sort_args();
}

/// What a value came from. Of a member of a fleet the same for all members, as its key is.
fn shown_roots(taint: &Taint) -> Vec<String> {
    let member = taint.member.as_ref().map(|member| format!("{member}/"));
    let shown = |root: &str| match member.as_ref().and_then(|member| root.strip_prefix(&**member)) {
        Some(rest) => format!("*/{rest}"),
        None => root.to_owned(),
    };
    taint.roots.iter().map(|root| shown(root)).collect()
}

pub(super) fn no_function(name: &str) -> Diagnostic {
    Diagnostic::new(Code::UnknownFunction, Span::at(0), format!("unknown function `{name}`"))
        .help("`opal` alone lists the tasks")
}
