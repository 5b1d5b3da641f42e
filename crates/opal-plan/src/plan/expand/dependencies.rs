//! `@needs`: what runs before the first step of the target, each call once.
//!
//! A dependency is planned where it is met first, but its steps go to the front of the plan, after the
//! dependencies of its own. It starts as a target does: nothing of its caller is seen in it but its
//! arguments, and nothing that it assigns is seen outside.

use std::rc::Rc;

use opal_core::Value;
use opal_core::plan::{Arg, Node, Note, Step};

use super::arguments::Given;
use super::calls::start;
use super::look_ahead::Ahead;
use super::variables::Change;
use crate::plan::demand::Stop;
use crate::plan::graph::Cell;
use crate::plan::place::Place;
use crate::plan::planner::Planner;
use crate::plan::scoped::{Call, Callee, Function, Program};

/// What of a caller a dependency does not see.
struct Caller<'a> {
    globals: Vec<Option<Cell>>,
    frames: Vec<Vec<Option<Cell>>>,
    journal: Vec<Change>,
    copies: u32,
    ahead: Vec<Ahead<'a>>,
    depth: u32,
    functions: usize,
}

impl<'a> Planner<'a> {
    /// Writes the steps of `body` at `path`, with what they need in front of them.
    pub(super) fn with_dependencies(
        &mut self,
        path: &str,
        out: &mut Vec<Step>,
        body: impl FnOnce(&mut Self, &mut Place, &mut Vec<Step>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.dependencies.begin(path);
        let result = body(self, &mut Place::new(path), out);
        if let Some((path, steps)) = self.dependencies.end() {
            let mut needs = self.node(Node::Needs, path, steps[0].span)?;
            needs.block = steps;
            out.insert(0, needs);
        }
        result
    }

    /// Expands a function that is called `name` in what follows.
    pub(super) fn within<T>(&mut self, name: &Rc<str>, body: impl FnOnce(&mut Self) -> T) -> T {
        self.dependencies.functions.push(Rc::clone(name));
        let given = body(self);
        self.dependencies.functions.pop();
        given
    }

    pub(super) fn dependency(&mut self, call: &'a Call) -> Result<(), Stop> {
        let Callee::Function { index, name, args, .. } = &call.callee else { return Ok(()) };
        let program: &'a Program = self.program;
        let Some(function) = program.functions[*index].as_deref() else { return Ok(()) };
        let mut step = Step::new(Node::Dependency, "", call.span);
        let given = self.given(function, args, &mut step)?;
        let caller = self.leave_caller();
        let planned = self.planned((*index, name), function, given, step);
        self.return_to(caller);
        planned
    }

    fn planned(
        &mut self,
        (index, name): (usize, &Rc<str>),
        function: &'a Function,
        given: Vec<Given>,
        mut step: Step,
    ) -> Result<(), Stop> {
        let span = step.span;
        self.enter(function, given, true, span)?;
        let id = (index, self.arguments(function));
        let dependent = self.dependencies.dependent();
        if self.dependencies.knows(&id, &dependent) {
            return Ok(());
        }
        let Some(path) = self.dependencies.next_path(name) else { return Ok(()) };
        let counted = self.node(Node::Dependency, path, span)?;
        step.path = counted.path;
        step.note = self.note(span).map(Note::from);
        let shown = Value::String(name.to_string().into());
        step.args.push(("function".into(), Arg::Const(shown)));
        step.args.extend(start(function.home.as_deref()));
        let mut inner = Place::new(&*step.path);
        self.within(name, |planner| planner.block(&function.body, &mut inner, &mut step.block))?;
        self.dependencies.add(id, step, dependent);
        Ok(())
    }

    /// What the parameters of the function that was just entered are.
    fn arguments(&mut self, function: &Function) -> Vec<u32> {
        let cells: Vec<Option<Cell>> = self.frame()[..function.params.len()].to_vec();
        let identities = &mut self.dependencies.identities;
        cells.iter().flatten().map(|cell| identities.of(cell, &self.graph)).collect()
    }

    fn leave_caller(&mut self) -> Caller<'a> {
        Caller {
            globals: std::mem::replace(&mut self.globals, self.declared.clone()),
            frames: std::mem::take(&mut self.frames),
            journal: std::mem::take(&mut self.journal),
            copies: std::mem::take(&mut self.copies),
            ahead: std::mem::take(&mut self.ahead),
            // Its steps are not inside those of the caller.
            depth: std::mem::take(&mut self.depth),
            functions: self.dependencies.functions.len(),
        }
    }

    fn return_to(&mut self, caller: Caller<'a>) {
        self.globals = caller.globals;
        // What was declared meanwhile is declared for all.
        for (known, declared) in self.globals.iter_mut().zip(&self.declared) {
            if known.is_none() {
                known.clone_from(declared);
            }
        }
        self.frames = caller.frames;
        self.journal = caller.journal;
        self.copies = caller.copies;
        self.ahead = caller.ahead;
        self.depth = caller.depth;
        self.dependencies.functions.truncate(caller.functions);
    }
}
