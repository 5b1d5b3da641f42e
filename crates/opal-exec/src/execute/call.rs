//! A step of a decorator, from its start to its end.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;

use opal_core::Data;
use opal_core::action::{Failure, Halt, Limits, Why};
use opal_core::decorator::{Block, Descriptor};
use opal_core::plan::Step;
use opal_core::resource;
use opal_core::stream::Stream;
use opal_vault::event::{End, Finished, Kind, Started};

use super::actor::{Actor, Begun};
use super::context::{Context, Out};
use super::fates::fate;
use super::fence::Pass;
use super::halts::{TIMED_OUT, bug, failed, go_on};
use super::inputs::inputs;
use super::lets::{Bound, label_of};
use super::run::Walk;
use super::show::Show;
use super::tally::Late;
use crate::error::{Bug, StepError};
use crate::threads::lock;
use opal_session::Taker;

/// What a step came to that did not fail.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    /// Of its last command.
    code: i32,
    is_satisfied: bool,
}

impl<'p> Walk<'p> {
    pub(super) fn call(&'p self, step: &'p Step, here: &mut Context<'p>) -> Result<(), Halt> {
        go_on(&here.stop)?;
        self.check_record(here)?;
        let path = step.node.path().unwrap_or_default();
        let descriptor = self.job.registry.get(path);
        let descriptor = descriptor.ok_or_else(|| bug(step, Bug::UnknownDecorator(path)))?;
        let (begins, ends) = match self.pass(step, descriptor, here) {
            Pass::Runs { begins, ends } => (begins, ends),
            Pass::Over(result) => return result,
        };
        let begun = self.begin(step, descriptor, here)?;
        let mut came = Came::default();
        let limits = here.limits;
        let result = self.fenced(&begun, here, &mut came, (begins, ends));
        let result = result.map_err(|it| self.hidden(step, here, limited(it, step, limits)));
        if let Some(fate) = fate(&result) {
            self.note(step, fate, here);
        }
        self.end(&begun, &result, came, here)?;
        result
    }

    /// Performs a step on a connection that is there, with its entries in the journal around it. It runs over
    /// the connection that holds the journal, or over one that is lost by then: never over one that another
    /// runner may have come before.
    fn fenced(
        &'p self,
        begun: &Begun<'p>,
        here: &mut Context<'p>,
        came: &mut Came,
        (begins, ends): (bool, bool),
    ) -> Result<(), Halt> {
        let step = begun.step;
        Actor::new(self, begun, here, &[]).reconnect()?;
        if here.fence.is_none() {
            return self.perform(begun, here, came);
        }
        let name = here.attempts.name(&step.path).into_owned();
        if begins {
            self.write_begun(step, &name, here)?;
            Actor::new(self, begun, here, &[]).reconnect()?;
        }
        self.hold(step, here)?;
        let result = self.perform(begun, here, came);
        if ends { self.write_ended(step, &name, here, result) } else { result }
    }

    fn begin(
        &'p self,
        step: &'p Step,
        descriptor: &'static Descriptor,
        here: &mut Context<'p>,
    ) -> Result<Begun<'p>, Halt> {
        let is_block = !step.block.is_empty()
            || descriptor.block == Block::Required
            || step.node.is_function();
        let begun = Begun {
            step,
            descriptor,
            number: self.number.fetch_add(1, Ordering::SeqCst) + 1,
            attempt: here.attempt,
            text: self.text(step, &here.lets, here.member(), &here.vault(self.job)),
            is_block,
            since: Instant::now(),
        };
        let started = Started {
            number: begun.number,
            path: &step.path,
            decorator: step.node.name(),
            attempt: begun.attempt,
            text: begun.text.clone(),
            is_block,
            speaks: descriptor.speaks,
            branch: here.screen.label(),
        };
        self.tell(Kind::Started(started), here)?;
        here.entering = None;
        if !is_block {
            here.screen.at(&begun.text);
        }
        Ok(begun)
    }

    /// Lets the decorator act, with its redirections around it, and binds what it gives.
    fn perform(
        &'p self,
        begun: &Begun<'p>,
        here: &mut Context<'p>,
        came: &mut Came,
    ) -> Result<(), Halt> {
        let step = begun.step;
        self.redirected(begun, here, |inner, appended| {
            let mut actor = Actor::new(self, begun, inner, appended);
            let result = self.act(begun, &mut actor);
            let code = actor.code.unwrap_or_default();
            *came = Came { code, is_satisfied: actor.is_satisfied };
            let (moved, waiting) = (actor.moved.take(), std::mem::take(&mut actor.waiting));
            let result = result.and_then(|bound| {
                let (Some(binding), Some(mut bound)) = (step.binding.as_ref(), bound) else {
                    return Ok(None);
                };
                let class = bound.class(begun.descriptor, step);
                bound.is_shown = !class.is_secret() && bound.secrets.is_empty();
                if !class.is_secret() && !bound.secrets.is_empty() {
                    // Of an object with some secrets, only these are hidden.
                    let secrets = Data::Array(std::mem::take(&mut bound.secrets));
                    let hidden = inner.hide(self.job, true, &secrets, &label_of(&binding.id));
                    hidden.map_err(|_| failed(step, 1, StepError::TooManyTargetValues))?;
                    return Ok(Some((&binding.id, bound)));
                }
                if !bound.is_shown {
                    let (hidden, label) =
                        (bound.hidden(self.reads.parts(&binding.id)), label_of(&binding.id));
                    let taken = inner.hide(self.job, class.is_declared(), &hidden, &label);
                    taken.map_err(|_| failed(step, 1, StepError::TooManyTargetValues))?;
                }
                Ok(Some((&binding.id, bound)))
            });
            self.say(begun, &waiting, inner);
            let bound = result?;
            if let Some((directory, previous)) = moved {
                inner.directory = directory.into();
                inner.previous = previous.map(Into::into);
            }
            if let Some((id, bound)) = bound {
                inner.lets.bind(id, bound);
                inner.fence.iter().for_each(|fence| fence.bound(step));
            }
            self.check_record(inner)
        })
    }

    /// Lets what a captured command said go where it would have gone at once.
    fn say(&'p self, begun: &Begun<'p>, waiting: &[u8], here: &Context<'p>) {
        if let Out::To(fd) = &here.stderr {
            // Who does not read it does not want it.
            let _ = fd.try_clone().and_then(|fd| File::from(fd).write_all(waiting));
        } else if !waiting.is_empty() {
            let mut show = Show::new(self, here, begun.number);
            let _ = show.take(Stream::Stderr, waiting);
            let _ = show.finish();
        }
    }

    fn act(&'p self, begun: &Begun<'p>, actor: &mut Actor<'_, 'p>) -> Result<Option<Bound>, Halt> {
        let (step, descriptor) = (begun.step, begun.descriptor);
        let action = descriptor.action.ok_or_else(|| bug(step, Bug::NoAction(descriptor.path)))?;
        let values = actor.here.values(self.job);
        let mut inputs = inputs(step, descriptor, values).map_err(|it| failed(step, 1, it))?;
        let described = self.described(step).filter(|it| !it.resource.verify.is_by_action());
        let result = match described {
            Some(described) => {
                inputs.block = self.block_of(step, actor).map_err(|it| failed(step, 1, it))?;
                self.reach(described, action, &inputs, actor)?
            }
            None => {
                if !begun.is_block {
                    self.has_acted.store(true, Ordering::SeqCst);
                }
                action.act(&inputs, actor)?
            }
        };
        let Some(binding) = &step.binding else { return Ok(None) };
        let is_any = descriptor.any_with.is_some_and(|option| inputs.is_true(option));
        let is_public = inputs.is_true("public");
        let bound = Bound::new(descriptor, result, binding, is_any, is_public);
        bound.map(Some).map_err(|trouble| failed(step, 1, trouble))
    }

    fn end(
        &self,
        begun: &Begun<'p>,
        result: &Result<(), Halt>,
        Came { code, is_satisfied }: Came,
        here: &Context<'p>,
    ) -> Result<(), Halt> {
        let own = match result {
            Err(Halt::Failed(failure)) => Some(&**failure),
            _ => None,
        };
        let own = own.filter(|failure| failure.path == begun.step.path);
        let (end, code, trouble) = match result {
            Ok(()) => (if is_satisfied { End::Satisfied } else { End::Done }, code, None),
            Err(Halt::Failed(failure)) => {
                let timed_out = own.is_some() && failure.code == TIMED_OUT && begun.is_block;
                let end = if timed_out { End::TimedOut } else { End::Failed };
                (end, failure.code, own.and_then(|failure| failure.trouble.as_ref()))
            }
            Err(Halt::Stopped(why)) => {
                let end = if *why == Why::TimedOut { End::TimedOut } else { End::Stopped };
                (end, if code == 0 { stopped_code(*why) } else { code }, None)
            }
            Err(Halt::Unrecorded) => (End::Stopped, code, None),
        };
        self.count(begun, end, result, here);
        let finished = Finished {
            number: begun.number,
            path: &begun.step.path,
            decorator: begun.step.node.name(),
            attempt: begun.attempt,
            took: begun.since.elapsed(),
            code,
            end,
            is_block: begun.is_block,
            passes_on: begun.passes_on(result),
            is_own_limit: end == End::TimedOut && matches!(result, Err(Halt::Failed(_))),
            late: own.and_then(|failure| here.ledger.late_in(failure)),
            message: trouble.map(|trouble| here.vault(self.job).scrub(&trouble.message)),
        };
        self.tell(Kind::Finished(finished), here)
    }

    fn count(&self, begun: &Begun<'p>, end: End, result: &Result<(), Halt>, here: &Context<'p>) {
        let mut tally = lock(&here.ledger.tally);
        // A step that only passes on the failure of another does not count besides it.
        let is_own = !begun.passes_on(result);
        match (begun.is_block, result) {
            (false, _) if is_own => tally.ended(&begun.step.path, end),
            (true, Err(Halt::Failed(_))) if is_own => tally.block_failed(&begun.step.path, end),
            _ => {}
        }
        if end == End::TimedOut && !begun.is_block {
            let name = resource::name(self.job.plan, begun.step).into();
            let step = begun.failure(&Failure::new(begun.step.path.clone(), TIMED_OUT, None));
            tally.late.insert(begun.step.path.clone(), Late { name, step });
        }
        if let Err(Halt::Failed(failure)) = result
            && failure.path == begun.step.path
        {
            tally.failed.insert(failure.path.clone(), begun.failure(failure));
        }
    }
}

/// What a process ends with that has used up its CPU time: 128 and the number of `XCPU`.
const OUT_OF_CPU: i32 = 152;

/// Names the limits that a step ran under where it failed, and which of them it was where that is
/// known.
fn limited(halt: Halt, step: &Step, limits: Limits) -> Halt {
    let Halt::Failed(mut failure) = halt else { return halt };
    if failure.path == step.path && failure.trouble.is_none() && !limits.is_empty() {
        let error = match failure.code {
            OUT_OF_CPU if limits.cpu.is_some() => {
                StepError::CpuTime(Limits { cpu: limits.cpu, ..Limits::default() })
            }
            code => StepError::UnderLimits { code, limits },
        };
        failure.trouble = Some(error.into());
    }
    Halt::Failed(failure)
}

pub(super) fn stopped_code(why: Why) -> i32 {
    match why {
        Why::Signal(number) => 128 + number,
        Why::TimedOut => TIMED_OUT,
        // As what was asked to end by `TERM`.
        Why::Cancelled => 143,
    }
}
