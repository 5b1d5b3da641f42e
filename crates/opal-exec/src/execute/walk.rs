//! Blocks and constructs, in the order of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use opal_core::action::{Halt, Limits, Why};
use opal_core::plan::{Node, Step};
use opal_vault::event::Kind;

use super::context::{Context, In, Out};
use super::fence::Attempts;
use super::halts::{bug, go_on};
use super::lets::Lets;
use super::resume::From;
use super::run::Walk;
use super::screen::Screen;
use crate::error::Bug;
use crate::threads::lock;
use opal_session::stop::Order;

impl<'p> Walk<'p> {
    pub(super) fn run(&'p self) -> Result<(), Halt> {
        let job = self.job;
        let here = Context {
            ledger: Arc::clone(&self.ledger),
            from: Arc::new(From::new(job.plan, job.from)),
            site: None,
            fence: None,
            moved_by: None,
            cleaned_by: None,
            repeats_lost: false,
            directory: job.start.into(),
            base: job.base.into(),
            sources: job.base.into(),
            previous: None,
            environment: Arc::new(BTreeMap::new()),
            lets: Lets::default(),
            attempt: 1,
            attempts: Attempts::default(),
            stop: job.stop.clone(),
            stdin: if job.stdin { In::Own } else { In::Nothing },
            stdout: Out::Shown,
            stderr: Out::Shown,
            screen: Screen::new(job.audience),
            has_place: false,
            limits: Limits::default(),
            is_cleaning: false,
            caught: None,
            entering: None,
        };
        self.block(&job.plan.steps, here)
    }

    /// The steps of a block, one after the other, up to the first that fails.
    pub(super) fn block(&'p self, steps: &'p [Step], mut here: Context<'p>) -> Result<(), Halt> {
        steps.iter().try_for_each(|step| self.step(step, &mut here))
    }

    pub(super) fn step(&'p self, step: &'p Step, here: &mut Context<'p>) -> Result<(), Halt> {
        if here.from.skips(step) {
            return self.skip(step, here);
        }
        here.from.reach(step);
        if self.is_unselected(step) {
            return self.pass_over(step, here);
        }
        match &step.node {
            Node::If
            | Node::When
            | Node::For
            | Node::While
            | Node::Iteration
            | Node::Block
            | Node::Needs
            | Node::Variant => self.block(&step.block, here.clone()),
            Node::Try => self.try_(step, here),
            Node::Chain => self.chain(step, here),
            // Checked while planning.
            Node::Require => Ok(()),
            Node::Shell | Node::Call | Node::Dependency | Node::Decorator(_) => {
                self.call(step, here)
            }
            node @ (Node::Catch | Node::Finally | Node::Branch) => {
                Err(bug(step, Bug::NotRunnable(node.name())))
            }
        }
    }

    fn try_(&'p self, step: &'p Step, here: &Context<'p>) -> Result<(), Halt> {
        go_on(&here.stop)?;
        self.check_record(here)?;
        let clause = |node| step.block.iter().find(|inner| inner.node == node);
        let cleaned = clause(Node::Finally).and_then(|finally| self.has_cleaned(finally, here));
        let here = &match cleaned {
            Some(by) => Context { cleaned_by: Some(by), ..here.clone() },
            None => here.clone(),
        };
        let is_body = |inner: &&Step| !matches!(inner.node, Node::Catch | Node::Finally);
        let body = &step.block[..step.block.iter().take_while(is_body).count()];
        let mut result = match clause(Node::Catch) {
            Some(catch) if here.from.begins_in(catch) => {
                body.iter().try_for_each(|step| self.skip(step, &mut here.clone()))?;
                here.from.reach(catch);
                self.block(&catch.block, here.clone())
            }
            catch => match (self.block(body, here.clone()), catch) {
                (Err(Halt::Failed(failure)), Some(catch)) => {
                    self.tell(self.caught(&failure, here), here)?;
                    lock(&here.ledger.tally).caught(&step.path);
                    let caught = Some(Arc::from(failure));
                    let dealt = self.block(&catch.block, Context { caught, ..here.clone() });
                    if let Err(Halt::Failed(failure)) = &dealt {
                        lock(&here.ledger.tally).rethrown(failure);
                    }
                    dealt
                }
                (result, _) => result,
            },
        };
        if let Some(finally) = clause(Node::Finally) {
            result = self.finally(finally, here, result);
        }
        result
    }

    /// Cleans up whatever happened, unless nothing may start any more.
    fn finally(
        &'p self,
        finally: &'p Step,
        here: &Context<'p>,
        result: Result<(), Halt>,
    ) -> Result<(), Halt> {
        if here.stop.order() == Order::Kill {
            return result;
        }
        if let Some(why) = self.job.stop.why()
            && result.is_err()
        {
            self.say_cleaning_up(why, here);
        }
        here.from.reach(finally);
        let (stop, cleaned_by) = (here.stop.deaf(), None);
        let cleaning = Context { stop, is_cleaning: true, cleaned_by, ..here.clone() };
        match (result, self.block(&finally.block, cleaning)) {
            // The first failure is what the step failed with, and decides the exit code.
            (Err(Halt::Failed(mut first)), Err(Halt::Failed(second))) => {
                first.join(*second);
                Err(Halt::Failed(first))
            }
            (Err(first), Ok(()) | Err(Halt::Failed(_))) => Err(first),
            (_, cleaned) => cleaned,
        }
    }

    fn say_cleaning_up(&self, why: Why, here: &Context<'p>) {
        if self.is_cleaning.swap(true, Ordering::SeqCst) {
            return;
        }
        let why = match why {
            Why::Signal(2) => "interrupted",
            Why::Signal(_) => "asked to stop",
            Why::TimedOut => "timed out",
            Why::Cancelled => "cancelled",
        };
        // About the run as a whole, so it waits for no branch.
        here.screen.announce(&self.record(Kind::CleaningUp { why }, None).0);
    }
}
