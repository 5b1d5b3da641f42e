//! Operators between operands, as a shell runs them.
//!
//! `|` binds closest; `&&` and `||` have equal precedence and run from left to right; `;` comes
//! last. After a `;` it does not matter how the operand before it ended. A pipe runs all its
//! operands at once and fails with the last of them that does.

use std::sync::mpsc::channel;

use opal_core::action::Halt;
use opal_core::plan::{ChainOperator, Step};

use super::context::{Context, In, Out};
use super::halts::{bug, unable};
use super::run::Walk;
use crate::error::Bug;
use crate::threads::{STACK_BYTES, lock};

impl<'p> Walk<'p> {
    pub(super) fn chain(&'p self, step: &'p Step, here: &mut Context<'p>) -> Result<(), Halt> {
        let mut result = Ok(());
        // Whether the operand before counts: not where it was skipped.
        let mut counts = true;
        for (operator, operands) in pipelines(step) {
            let runs = match operator {
                _ if !counts => true,
                ChainOperator::And => result.is_ok(),
                ChainOperator::Or => result.is_err(),
                ChainOperator::Pipe | ChainOperator::Then => true,
            };
            if !runs {
                continue;
            }
            if let Err(Halt::Failed(failure)) = &result {
                self.tell(self.caught(failure, here), here)?;
                lock(&here.ledger.tally).caught(&step.path);
            }
            counts = !operands.iter().all(|operand| here.from.skips(operand));
            result = match operands {
                [operand] => self.step(operand, here),
                operands if counts => self.fenced_pipe(operands, here),
                operands => operands.iter().try_for_each(|it| self.skip(it, &mut here.clone())),
            };
            if matches!(result, Err(Halt::Stopped(_) | Halt::Unrecorded)) {
                return result;
            }
        }
        if result.is_ok() {
            lock(&here.ledger.tally).caught(&step.path);
        }
        result
    }

    pub(super) fn pipe(&'p self, operands: &'p [Step], here: &Context<'p>) -> Result<(), Halt> {
        std::thread::scope(|scope| {
            let mut stdin = here.stdin.clone();
            let mut threads = Vec::new();
            for (index, operand) in operands.iter().enumerate() {
                let unable = |error: std::io::Error| unable(operand, &error);
                let mut inner = Context { stdin, ..here.clone() };
                stdin = In::Nothing;
                if index + 1 < operands.len() {
                    let (read, write) = opal_session::pipe().map_err(unable)?;
                    inner.stdout = Out::to(write);
                    stdin = In::of(read);
                }
                // They start in order, so that two runs tell the same.
                let (entering, entered) = channel();
                inner.entering = Some(entering);
                let thread = std::thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, move || self.step(operand, &mut inner))
                    .map_err(unable)?;
                let _ = entered.recv();
                threads.push((operand, thread));
            }
            let results = threads.into_iter().map(|(operand, thread)| {
                thread.join().unwrap_or_else(|_| Err(bug(operand, Bug::StepPanicked)))
            });
            results.fold(Ok(()), worse)
        })
    }
}

/// What holds after an operand, or after a pipe: where it succeeded, and where it failed.
#[derive(Debug)]
pub(crate) struct Ends<T> {
    pub(crate) ok: T,
    pub(crate) failed: T,
}

/// Follows a chain through everything that it may do: any operand may fail, and decides with that which
/// ones run after it. `run` is asked about each operand, or all operands of a pipe, in what holds
/// before it; `either` says what holds where it is one of two. What holds where the chain succeeds.
pub(crate) fn follow<'s, T: Clone>(
    chain: &'s Step,
    start: T,
    run: &mut dyn FnMut(&'s [Step], T) -> Ends<T>,
    either: &dyn Fn(T, T) -> T,
) -> T {
    let or = |one: Option<T>, other: T| match one {
        Some(one) => either(one, other),
        None => other,
    };
    let (mut ok, mut failed) = (start, None);
    for (operator, operands) in pipelines(chain) {
        match (operator, failed.take()) {
            (ChainOperator::And, before) => {
                let ends = run(operands, ok);
                (ok, failed) = (ends.ok, Some(or(before, ends.failed)));
            }
            (ChainOperator::Or, Some(before)) => {
                let ends = run(operands, before);
                (ok, failed) = (either(ok, ends.ok), Some(ends.failed));
            }
            (_, before) => {
                let ends = run(operands, or(before, ok));
                (ok, failed) = (ends.ok, Some(ends.failed));
            }
        }
    }
    ok
}

/// What two operands of a pipe come to: what stops everything, or the later failure.
fn worse(before: Result<(), Halt>, after: Result<(), Halt>) -> Result<(), Halt> {
    let weight = |result: &Result<(), Halt>| match result {
        Ok(()) => 0,
        Err(Halt::Failed(_)) => 1,
        Err(Halt::Stopped(_)) => 2,
        Err(Halt::Unrecorded) => 3,
    };
    if weight(&after) >= weight(&before) { after } else { before }
}

/// The operands between operators other than `|`, each with the operator before it.
pub(super) fn pipelines(step: &Step) -> impl Iterator<Item = (ChainOperator, &[Step])> {
    let operators = step.operators();
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= step.block.len() {
            return None;
        }
        let start = at;
        let before = start.checked_sub(1).and_then(|index| operators.get(index));
        at += 1;
        while at < step.block.len() && operators.get(at - 1) == Some(&ChainOperator::Pipe) {
            at += 1;
        }
        Some((before.copied().unwrap_or(ChainOperator::Then), &step.block[start..at]))
    })
}
