//! Resolution in waves: everything that can be asked at the same time is.
//!
//! One wave walks what is needed down to the decorators whose arguments are known, asks all the
//! expensive ones and those of packages in parallel, and goes on with their answers. Other cheap ones are asked on
//! the way.

mod asking;

use std::rc::Rc;

use opal_core::decorator::Site;
use opal_core::plan::{Key, Read};
use opal_core::resolver::{Inputs, Probe, Resolver};
use opal_core::target::INSIDE_A_TARGET;
use opal_core::{Code, Data, Diagnostic, Span};

use asking::{Answer, From, Question, Unanswered, ask, resolve};

use super::call::{CallShape, trouble};
use super::datum::{Datum, Open, Plain, Taint};
use super::graph::{Cell, Graph, Op, State, diagnostic, measured};
use super::operate::refuse_handles;
use crate::unit::BinaryOp;
use opal_core::class::resolved;

/// A decorator to ask, and where the answer goes.
struct Job {
    node: u32,
    resolver: &'static dyn Resolver,
    inputs: Inputs,
    taint: Rc<Taint>,
    question: Key,
    shape: Rc<CallShape>,
}

impl Job {
    fn asked(&self) -> Question<'_> {
        let from = match (self.shape.way(), &self.shape.call.directory) {
            (Some(way), _) => From::Target(way),
            (None, Some(directory)) => From::Directory(directory),
            (None, None) => From::Source,
        };
        (self.resolver, &self.inputs, from)
    }
}

impl Graph {
    /// Brings all `roots` to a value or a failure.
    pub(crate) fn force(&mut self, roots: &[u32], probe: &dyn Probe) {
        loop {
            let jobs = self.advance(roots, probe);
            if jobs.is_empty() {
                return;
            }
            let questions: Vec<Question> = jobs.iter().map(Job::asked).collect();
            let answers = ask(&questions, probe);
            for (job, answer) in jobs.iter().zip(answers) {
                self.answer(job, answer);
            }
        }
    }

    /// Goes as far as possible without a question to wait for; those that are ready come back.
    fn advance(&mut self, roots: &[u32], probe: &dyn Probe) -> Vec<Job> {
        self.round += 1;
        let mut jobs = Vec::new();
        let mut stack: Vec<(u32, usize)> = roots.iter().rev().map(|root| (*root, 0)).collect();
        while let Some((id, next)) = stack.last_mut() {
            let node = &self.nodes[*id as usize];
            let settled = !matches!(node.state, State::Waiting) || node.round == self.round;
            if settled {
                stack.pop();
                continue;
            }
            // The right side of `&&` and `||` is needed only where the left does not decide.
            let needed = self.needed(*id);
            match node.operands[..needed].iter().skip(*next).position(|cell| self.waits(cell)) {
                Some(ahead) => {
                    *next += ahead + 1;
                    let Cell::Node(operand) = node.operands[*next - 1] else { continue };
                    stack.push((operand, 0));
                }
                None => {
                    let id = *id;
                    stack.pop();
                    jobs.extend(self.step(id, probe));
                }
            }
        }
        jobs
    }

    fn waits(&self, cell: &Cell) -> bool {
        match cell {
            Cell::Known(_) => false,
            Cell::Node(id) => matches!(self.nodes[*id as usize].state, State::Waiting),
        }
    }

    fn needed(&self, id: u32) -> usize {
        let node = &self.nodes[id as usize];
        let Op::Binary(op @ (BinaryOp::And | BinaryOp::Or)) = node.op else {
            return node.operands.len();
        };
        match self.known(&node.operands[0]).map(|left| &left.plain) {
            Some(Plain::Bool(left)) if *left == (op == BinaryOp::Or) => 1,
            // Whether the right side is needed is as open as the left.
            Some(Plain::Open(Open::Deferred)) => 1,
            Some(_) => 2,
            None => 1,
        }
    }

    /// Computes a node whose operands have been evaluated; a question where one must be asked.
    fn step(&mut self, id: u32, probe: &dyn Probe) -> Option<Job> {
        let needed = self.needed(id);
        let node = &self.nodes[id as usize];
        let mut values: Vec<&Datum> = Vec::with_capacity(needed);
        for cell in &node.operands[..needed] {
            match cell {
                Cell::Known(datum) => values.push(datum),
                Cell::Node(operand) => match &self.nodes[*operand as usize].state {
                    State::Done(datum) => values.push(datum),
                    State::Failed(error) => {
                        let error = Rc::clone(error);
                        self.nodes[id as usize].state = State::Failed(error);
                        return None;
                    }
                    State::Waiting | State::Queued => {
                        self.nodes[id as usize].round = self.round;
                        return None;
                    }
                },
            }
        }
        let span = node.span;
        let outcome = match &node.op {
            Op::Binary(BinaryOp::And | BinaryOp::Or) if needed == 1 => Ok(values[0].clone()),
            Op::Call(shape) => {
                let shape = Rc::clone(shape);
                let values: Vec<Datum> = values.into_iter().cloned().collect();
                return self.call(id, &shape, &values, probe);
            }
            op => {
                let (outcome, work) = measured(op, &values);
                let outcome = self.spend(work).and(outcome);
                outcome.map_err(|error| Rc::new(diagnostic(error, span)))
            }
        };
        self.nodes[id as usize].state = match outcome {
            Ok(datum) => State::Done(datum),
            Err(error) => State::Failed(error),
        };
        None
    }

    fn call(
        &mut self,
        id: u32,
        shape: &Rc<CallShape>,
        values: &[Datum],
        probe: &dyn Probe,
    ) -> Option<Job> {
        let values: Vec<&Datum> = values.iter().collect();
        match self.prepare(id, shape, &values) {
            Ok(Prepared::Known(state)) => self.nodes[id as usize].state = state,
            Ok(Prepared::Ask(job)) => {
                // The code of packages runs in another process, which answers several calls at a time.
                if shape.is_expensive() || shape.descriptor().plugin.is_some() {
                    self.nodes[id as usize].state = State::Queued;
                    self.answers.insert(job.question.clone(), State::Queued);
                    return Some(*job);
                }
                let answer = resolve(job.asked(), probe);
                self.answer(&job, answer);
            }
            Err(error) => self.nodes[id as usize].state = State::Failed(Rc::new(error)),
        }
        None
    }

    /// What a call comes to without asking, or the question.
    fn prepare(
        &mut self,
        id: u32,
        shape: &Rc<CallShape>,
        values: &[&Datum],
    ) -> Result<Prepared, Diagnostic> {
        let descriptor = shape.descriptor();
        let span = shape.call.span;
        if descriptor.site == Site::Facts && shape.target.is_none() {
            let message = format!("`@{}` outside a block that runs on a target", descriptor.path);
            return Err(Diagnostic::new(Code::NoTarget, span, message).help(INSIDE_A_TARGET));
        }
        refuse_handles(values).map_err(|error| diagnostic(error, span))?;
        let open = values.iter().filter_map(|value| value.open()).max();
        if open == Some(Open::Late) {
            let message = format!("`@{}` is read before random values exist", descriptor.path);
            return Err(Diagnostic::new(Code::RandomSteers, span, message)
                .help("use the random value in a step"));
        }
        let mut symbol = shape.symbol(values);
        if open.is_some() {
            let taint = shape.taint(symbol, values, None, None);
            return Ok(Prepared::open(Open::Deferred, taint));
        }
        let inputs = shape.inputs(values)?;
        resolved::agrees(descriptor, &inputs).map_err(|found| trouble(found, span))?;
        if let Some(generator) = descriptor.generator {
            generator.check(&inputs).map_err(|found| trouble(found, span))?;
            if let Some(datum) = self.generated.get(&id) {
                return Ok(Prepared::Known(State::Done(datum.clone())));
            }
            symbol = format!("{symbol}#{}", self.randoms);
            self.randoms += 1;
            let open = if self.quick { Open::Deferred } else { Open::Late };
            return Ok(Prepared::open(open, shape.taint(symbol, values, Some(&inputs), Some(id))));
        }
        let taint = shape.taint(symbol, values, Some(&inputs), None);
        let question = shape.question(values);
        match self.answers.get(&question) {
            Some(State::Done(datum)) => {
                let data = datum.to_data().unwrap_or(Data::Null);
                if let Some(refused) = shape.refuse(&inputs, &data) {
                    return Err(refused);
                }
                let taint = shape.answered(&taint, &inputs, &data);
                let datum = Datum::new(datum.plain.clone(), Some(taint));
                return Ok(Prepared::Known(State::Done(datum)));
            }
            // Asked in this very wave: look again in the next.
            Some(State::Queued) => {
                self.nodes[id as usize].round = self.round;
                return Ok(Prepared::Known(State::Waiting));
            }
            Some(state) => return Ok(Prepared::Known(state.clone())),
            None => {}
        }
        if self.quick && shape.is_expensive() {
            return Ok(Prepared::open(Open::Deferred, taint));
        }
        if self.only_reads && descriptor.acts_when_read {
            return Err(refuse_acting(descriptor.path, span));
        }
        let Some(resolver) = descriptor.resolver else {
            let message = format!("`@{}` has no value at plan time", descriptor.path);
            return Err(Diagnostic::new(Code::NotAValue, span, message)
                .help("it is documented, but this version does not implement it"));
        };
        let shape = Rc::clone(shape);
        let job = Job { node: id, resolver, inputs, taint, question, shape };
        Ok(Prepared::Ask(Box::new(job)))
    }

    /// Texts from the world that a decorator was given: it may name them, and people may not see.
    fn hidden<'g>(&'g self, operands: &'g [Cell]) -> Vec<&'g str> {
        let mut open: Vec<(&Datum, bool)> =
            operands.iter().filter_map(|cell| Some((self.known(cell)?, false))).collect();
        let mut hidden = Vec::new();
        while let Some((datum, inside)) = open.pop() {
            let secret =
                inside || datum.taint.as_ref().is_some_and(|taint| !taint.class.is_public());
            match &datum.plain {
                Plain::Text(text) if secret => hidden.push(text.expose()),
                Plain::Array(list) => open.extend(list.items.iter().map(|item| (item, secret))),
                Plain::Map(fields) => {
                    open.extend(fields.items.values().map(|item| (item, secret)));
                }
                _ => {}
            }
        }
        hidden
    }

    fn answer(&mut self, job: &Job, answer: Answer) {
        let node = &self.nodes[job.node as usize];
        let Op::Call(shape) = &node.op else { return };
        let shape = Rc::clone(shape);
        let key = job.question.clone();
        let refused = answer.as_ref().ok().and_then(|data| shape.refuse(&job.inputs, data));
        let state = match (refused, answer) {
            (Some(refused), _) => State::Failed(Rc::new(refused)),
            (None, Err(Unanswered { why, is_gone })) => {
                let why = why.without(&self.hidden(&node.operands));
                let unread = Some(shape.descriptor().path);
                let error = Rc::new(Diagnostic { unread, ..trouble(why.clone(), node.span) });
                if is_gone {
                    self.gone.push((Rc::clone(&error), why));
                }
                State::Failed(error)
            }
            (None, Ok(data)) => {
                let taint = shape.answered(&job.taint, &job.inputs, &data);
                match Plain::try_from(data) {
                    Ok(plain) => State::Done(Datum::new(plain, Some(taint))),
                    Err(large) => State::Failed(Rc::new(diagnostic(large.into(), node.span))),
                }
            }
        };
        if let State::Done(datum) = &state {
            let decorator = shape.descriptor().path.into();
            let read = Read { key: key.clone(), decorator, placeholder: None, public: None };
            self.reads.insert(key.clone(), (read, datum.clone()));
        }
        self.answers.insert(key, state.clone());
        self.nodes[job.node as usize].state = state;
    }
}

enum Prepared {
    Known(State),
    Ask(Box<Job>),
}

impl Prepared {
    fn open(open: Open, taint: Rc<Taint>) -> Self {
        Self::Known(State::Done(Datum::new(Plain::Open(open), Some(taint))))
    }
}

/// What only verifies must not change anything.
fn refuse_acting(path: &str, span: Span) -> Diagnostic {
    let message = format!("`@{path}` may change something, so it is not read to verify");
    Diagnostic::new(Code::ValueFailed, span, message)
        .help("use a value that only reads, or run the task: a run reads it")
}
