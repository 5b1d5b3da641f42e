//! What becomes of a step under an order: it runs, or what an earlier runner has noted counts.
//!
//! | the journal says | the step |
//! |---|---|
//! | nothing | runs |
//! | it ended with 0 | is skipped |
//! | it ended with another code | is skipped, and has failed with that code |
//! | it began: a resource, or a command with `check` | is verified, and runs where needed |
//! | it began, in `@retry(lost="retry")` | was lost: the block is tried again |
//! | it began, anything else | may have run: the target is lost |
//!
//! A block of steps has no entry of its own, unless it leads to another user or container, is redirected, or
//! comes from a package. A pipe is one step. A step that runs and needs what a skipped one has bound, or the
//! directory that it may have gone to, leaves the target lost; so does one of a `try` that was cleaned up.

use std::sync::Arc;

use opal_core::action::{Halt, Why};
use opal_core::decorator::Descriptor;
use opal_core::plan::{Step, all};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::shell::Movement;
use opal_vault::event::{End, Kind};

use super::super::call::stopped_code;
use super::super::context::Context;
use super::super::crossing::code as code_of;
use super::super::fates::Fate;
use super::super::halts::{UNAVAILABLE, failed, go_on};
use super::super::handles::handles;
use super::super::job::FailedStep;
use super::super::run::Walk;
use super::super::steps::moves;
use super::super::values::{Values, is_open};
use super::Fence;
use crate::error::FenceError;
use crate::threads::lock;

/// The decorator whose block has another target each time.
const NEW_CONTAINER: &str = "container.run";

/// What a step does.
pub(in super::super) enum Pass {
    /// It runs; and whether that is noted before and after it.
    Runs { begins: bool, ends: bool },
    /// It has its result without running.
    Over(Result<(), Halt>),
}

impl Pass {
    const UNNOTED: Self = Self::Runs { begins: false, ends: false };
    const NOTED: Self = Self::Runs { begins: true, ends: true };
}

/// How a step is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// Not at all: the steps in it are.
    Inside,
    /// Nothing in it is continued.
    AsOne,
    /// What is in it is continued, unless it has ended well.
    AsWay,
    /// The same, as long as nothing in it has begun: it is another one each time.
    AsNew,
}

fn noted(step: &Step, descriptor: &Descriptor) -> Noted {
    let is_of_package = descriptor.plugin.is_some() && !step.is_expansion();
    if step.block.is_empty() && !step.node.is_function() || is_of_package {
        return Noted::AsOne;
    }
    let is_made = descriptor.path == NEW_CONTAINER;
    match descriptor.boundary {
        _ if is_made || !step.redirects.is_empty() => Noted::AsNew,
        Some(_) => Noted::AsWay,
        None => Noted::Inside,
    }
}

impl<'p> Walk<'p> {
    /// What a step does that the run has come to.
    pub(in super::super) fn pass(
        &'p self,
        step: &'p Step,
        descriptor: &Descriptor,
        here: &mut Context<'p>,
    ) -> Pass {
        let Some(fence) = here.fence.clone() else { return Pass::UNNOTED };
        if let Some((_, trouble)) = fence.lost() {
            return Pass::Over(Err(failed(step, UNAVAILABLE, trouble.clone())));
        }
        let noted = noted(step, descriptor);
        if noted == Noted::Inside {
            return self.unless_needed(&fence, step, here, false, Pass::UNNOTED);
        }
        let is_leaf = noted == Noted::AsOne;
        let name = here.attempts.name(&step.path);
        match fence.come_to(&name) {
            None => self.unless_needed(&fence, step, here, is_leaf, Pass::NOTED),
            Some(Some(ended)) if ended.1 == 0 || noted != Noted::AsWay => {
                Pass::Over(self.skip_ended(&fence, step, here, ended))
            }
            Some(Some(_)) => Pass::UNNOTED,
            Some(None) => {
                let has_inside = || lock(&fence.past).has_inside(&name);
                match noted {
                    Noted::AsOne if self.described(step).is_some() => {
                        self.unless_needed(&fence, step, here, true, Pass::NOTED)
                    }
                    Noted::AsWay => Pass::Runs { begins: false, ends: true },
                    Noted::AsNew if !has_inside() => Pass::Runs { begins: false, ends: true },
                    _ => Pass::Over(Err(self.unfinished(&fence, step, here))),
                }
            }
        }
    }

    /// The operands of a pipe, which run at once or not at all.
    pub(in super::super) fn fenced_pipe(
        &'p self,
        operands: &'p [Step],
        here: &Context<'p>,
    ) -> Result<(), Halt> {
        let (Some(fence), [first, .., last]) = (here.fence.clone(), operands) else {
            return self.pipe(operands, here);
        };
        if let Some((_, trouble)) = fence.lost() {
            return Err(failed(last, UNAVAILABLE, trouble.clone()));
        }
        let name = |operand: &'p Step| here.attempts.name(&operand.path);
        let pipe = format!("{}|", name(first));
        let has_begun = operands.iter().any(|operand| lock(&fence.past).has(&name(operand)));
        match fence.come_to(&pipe) {
            Some(Some((number, code))) => {
                let skip = |operand| {
                    let mut inner = here.clone();
                    self.skip_ended(&fence, operand, &mut inner, (number, 0))
                };
                operands.iter().try_for_each(skip)?;
                if code == 0 { Ok(()) } else { Err(self.failed_before(last, here, code)) }
            }
            Some(None) if has_begun => {
                operands.iter().for_each(|it| lock(&fence.past).forget(&name(it)));
                Err(self.unfinished(&fence, last, here))
            }
            begun => {
                if begun.is_none() {
                    self.write_begun(last, &pipe, here)?;
                }
                let result = self.pipe(operands, here);
                self.write_ended(last, &pipe, here, result)
            }
        }
    }

    /// It may run, where nothing is missing that skipped steps would have left.
    fn unless_needed(
        &self,
        fence: &Fence,
        step: &'p Step,
        here: &Context<'p>,
        is_leaf: bool,
        pass: Pass,
    ) -> Pass {
        let mut missing = None;
        {
            let unbound = lock(&fence.unbound);
            handles(step, &mut |handle| {
                if let Some(by) = unbound.get(&handle.id) {
                    missing = missing.take().or(Some((handle.name.to_string(), by.to_string())));
                }
            });
        }
        let path = &*step.path;
        let error = match (&missing, &here.moved_by) {
            (Some((name, by)), _) => FenceError::LetOfEnded { path, name, by },
            (None, Some(by)) if is_leaf => FenceError::DirectoryOfEnded { path, by },
            _ => match &here.cleaned_by {
                Some(by) if is_leaf => FenceError::AfterCleanup { path, by },
                _ => return pass,
            },
        };
        Pass::Over(Err(self.lose(fence, step, here, error.into())))
    }

    /// A `finally` that another runner has come to: it was stopped in the middle of the `try`, or at its end.
    pub(in super::super) fn has_cleaned(
        &self,
        finally: &Step,
        here: &Context<'p>,
    ) -> Option<Arc<str>> {
        let fence = here.fence.as_ref()?;
        let name = here.attempts.name(&finally.path);
        lock(&fence.past).has_inside(&name).then(|| (*finally.path).into())
    }

    /// A step that has begun, and of which nobody knows whether it has ended.
    fn unfinished(&self, fence: &Fence, step: &'p Step, here: &Context<'p>) -> Halt {
        let trouble = Trouble::from(FenceError::Unfinished { path: &step.path });
        lock(&fence.past).forget(&here.attempts.name(&step.path));
        match here.repeats_lost {
            true => failed(step, UNAVAILABLE, trouble),
            false => self.lose(fence, step, here, trouble),
        }
    }

    /// Nothing more runs on the target, because of a step that does not begin.
    fn lose(&self, fence: &Fence, step: &'p Step, here: &Context<'p>, trouble: Trouble) -> Halt {
        let halt = give_up(fence, step, trouble);
        self.note_failed(step, here, &halt);
        lock(&here.ledger.tally).ended(&step.path, End::Failed);
        halt
    }

    /// The line of a step that has failed without running, for the table of targets.
    fn note_failed(&self, step: &Step, here: &Context<'p>, halt: &Halt) {
        let Halt::Failed(failure) = halt else { return };
        let text = self.text(step, &here.lets, here.member(), &here.vault(self.job));
        let failed = FailedStep {
            path: step.path.to_string(),
            number: None,
            attempt: here.attempt,
            code: failure.code,
            text,
            trouble: failure.trouble.clone(),
        };
        lock(&here.ledger.tally).failed.insert(step.path.clone(), failed);
    }

    /// Skips a step that has ended before, with all that is in it.
    fn skip_ended(
        &'p self,
        fence: &Fence,
        step: &'p Step,
        here: &mut Context<'p>,
        (number, code): (u64, i32),
    ) -> Result<(), Halt> {
        lock(&fence.past).forget(&here.attempts.name(&step.path));
        let fate = if code == 0 { Fate::Met } else { Fate::Failed };
        let ended = match code {
            0 => format!("ended before: journal entry {number}"),
            code => format!("failed before with {code}: journal entry {number}"),
        };
        for inner in all(std::slice::from_ref(step)) {
            self.note(inner, fate, here);
            if inner.is_leaf() {
                lock(&here.ledger.tally).skipped();
                let (path, decorator) = (&*inner.path, inner.node.name());
                let why = Some(self.job.vault.scrub(&ended).into_owned());
                self.tell(Kind::Skipped { path, decorator, why }, here)?;
            }
        }
        here.entering = None;
        if let Some(binding) = &step.binding {
            lock(&fence.unbound).insert(binding.id.clone(), step.path.clone());
        }
        if step.is_leaf() {
            self.follow(step, here, code)?;
        }
        if code == 0 { Ok(()) } else { Err(self.failed_before(step, here, code)) }
    }

    fn failed_before(&self, step: &'p Step, here: &Context<'p>, code: i32) -> Halt {
        let halt = failed(step, code, FenceError::FailedBefore { code });
        self.note_failed(step, here, &halt);
        halt
    }

    /// Goes where a skipped step has gone.
    fn follow(&'p self, step: &'p Step, here: &mut Context<'p>, code: i32) -> Result<(), Halt> {
        let values = Values::before(self.job.values).of(here.member());
        let is_open = step.args.iter().any(|(_, arg)| is_open(arg));
        match moves(step, values) {
            Ok(Movement::Stays) => {}
            Ok(Movement::Only(_)) if code != 0 => {}
            Ok(Movement::Only(directory)) if !is_open && here.moved_by.is_none() => {
                let session = here.session(self.job);
                let found =
                    session.directory(&here.directory, directory.expose(), false, &here.stop);
                let found = found.map_err(|it| self.hidden(step, here, failed(step, 1, it)))?;
                here.previous = Some(std::mem::replace(&mut here.directory, found.into()));
            }
            Ok(Movement::Only(_) | Movement::May) | Err(_) => {
                here.moved_by = Some(step.path.as_ref().into());
            }
        }
        Ok(())
    }

    /// Notes that a step is about to begin. Where it cannot be noted, nothing more runs on the target.
    pub(in super::super) fn write_begun(
        &self,
        step: &Step,
        name: &str,
        here: &Context<'p>,
    ) -> Result<(), Halt> {
        let Some(fence) = &here.fence else { return Ok(()) };
        fence.connect(self.job, &here.stop).map_err(|trouble| match go_on(&here.stop) {
            Ok(()) => failed(step, code_of(&trouble), trouble),
            Err(halt) => halt,
        })?;
        go_on(&here.stop)?;
        // Nobody would know whether an entry has arrived that somebody has stopped waiting for.
        let written = fence.write(self.job, name, None, &here.stop.deaf());
        written.map_err(|trouble| give_up(fence, step, trouble))
    }

    /// Before a step that has no entry: the target must still be that of this run.
    pub(in super::super) fn hold(&self, step: &Step, here: &Context<'p>) -> Result<(), Halt> {
        let Some(fence) = &here.fence else { return Ok(()) };
        fence.hold(self.job, &here.stop).map_err(|trouble| match go_on(&here.stop) {
            Ok(()) => give_up(fence, step, trouble),
            Err(halt) => halt,
        })
    }

    /// Notes how a step ended, where that is known: not where its connection was lost, nor where all was
    /// stopped in the middle of it.
    pub(in super::super) fn write_ended(
        &self,
        step: &Step,
        name: &str,
        here: &Context<'p>,
        result: Result<(), Halt>,
    ) -> Result<(), Halt> {
        let Some(fence) = &here.fence else { return result };
        let code = match &result {
            Ok(()) => 0,
            Err(Halt::Failed(failure)) if failure.has_lost => return result,
            Err(Halt::Failed(failure)) => failure.code.max(1),
            Err(Halt::Stopped(why)) => {
                let is_all = *why != Why::TimedOut && go_on(&fence.stop).is_err();
                if is_all || go_on(self.job.stop).is_err() {
                    return result;
                }
                stopped_code(*why)
            }
            Err(Halt::Unrecorded) => return result,
        };
        match fence.write(self.job, name, Some(code), &here.stop.deaf()) {
            Ok(()) => result,
            // Whoever comes next does not know that it has ended.
            Err(trouble) => {
                let halt = give_up(fence, step, trouble);
                result.and(Err(halt))
            }
        }
    }
}

/// Nothing more runs on the target, and nothing that the source says about failures changes that.
fn give_up(fence: &Fence, step: &Step, trouble: Trouble) -> Halt {
    let trouble = Trouble { kind: TroubleKind::Lost, ..trouble };
    let _ = fence.lost.set((step.path.clone(), trouble.clone()));
    failed(step, UNAVAILABLE, trouble)
}
