//! Decorators with a block: what opens before it and closes after it, and what judges its runs.

use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::action::{Conditions, Halt, Pause, Stage};
use opal_core::data::{Data, Secret};
use opal_core::protocol::call::{
    Event, Found, Function, Invocation, Judged, Opened, Outcome, Verdict,
};
use opal_core::protocol::{Kind, Refusal};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

use super::ending::Owed;
use super::{Adapter, Nothing};
use crate::client::failure::Why;
use crate::client::handles::Handles;
use crate::client::serving::{Keep, Reading};

/// What `end` has, whatever happened before.
const CLOSING: Duration = Duration::from_secs(60);

impl Adapter {
    pub(super) fn around(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        if stage.is_pretended() {
            return self.inside(inputs, BTreeMap::new(), stage).map(|()| Data::Null);
        }
        match self.attempts {
            Some(attempts) => self.judged(inputs, stage, attempts).map(|()| Data::Null),
            None => self.wrapped(inputs, stage).map(|()| Data::Null),
        }
    }

    /// Runs the block, here or where the plugin says.
    fn inside(
        &self,
        inputs: &Inputs,
        environment: BTreeMap<String, Secret>,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        match self.has_targets {
            true => self.on_targets(inputs, environment, stage),
            false => stage.block(&Conditions { environment, ..Conditions::default() }),
        }
    }

    fn wrapped(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<(), Halt> {
        let invocation = self.invocation(inputs);
        // What was announced may exist, also where the call that announced it failed afterwards.
        let mut owed: Option<Owed> = None;
        let result = match self.create(inputs, &invocation, &mut owed, stage) {
            Err(halt) => Err(halt),
            Ok(_) if !self.opens => self.inside(inputs, BTreeMap::new(), stage),
            Ok(is_adopted) => {
                let opened = self.open(&invocation, is_adopted, &mut owed, stage);
                opened.and_then(|environment| self.inside(inputs, environment, stage))
            }
        };
        let Some(Owed { id, token }) = owed else { return result };
        let (invocation, handles) = &invocation;
        let closed = self.close(invocation, handles, &token, outcome(&result), stage);
        let closed = closed.and_then(|()| self.settle(&id, stage));
        match (result, closed) {
            (Err(Halt::Failed(mut first)), Err(Halt::Failed(second))) => {
                first.join(*second);
                Err(Halt::Failed(first))
            }
            (Err(first), _) => Err(first),
            (Ok(()), closed) => closed,
        }
    }

    /// Calls `begin`; the variables of the block.
    fn open(
        &self,
        (invocation, handles): &(Invocation, Handles),
        is_adopted: bool,
        owed: &mut Option<Owed>,
        stage: &mut dyn Stage,
    ) -> Result<BTreeMap<String, Secret>, Halt> {
        let (begun, halt) = {
            let mut keep = |stage: &mut dyn Stage, token: &Secret| {
                self.owe((invocation, handles), token, owed, stage)
            };
            let mut acting = self.acting(stage, handles.clone())?;
            // What somebody else made is never closed, so nothing is kept for that.
            acting.keep = if is_adopted { None } else { Some(&mut keep) };
            let begun = self.call::<Opened>(Function::Begin, invocation, &mut acting);
            (begun, acting.halt.take())
        };
        let (opened, log) = match (begun, halt) {
            (Err(failure), None) => return Err(Self::halt(stage, &failure)),
            (Err(_), Some(halt)) => return Err(halt),
            (Ok((opened, log)), halt) => {
                let noted = match is_adopted {
                    true => Ok(()),
                    false => self.owe((invocation, handles), &opened.token, owed, stage),
                };
                halt.map_or(noted, Err)?;
                (opened, log)
            }
        };
        Self::printed(stage, log)?;
        self.environment(&opened, stage)
    }

    /// Sees to it that what the block needs is there. Whether somebody else had made it: then it stays.
    fn create(
        &self,
        inputs: &Inputs,
        (invocation, handles): &(Invocation, Handles),
        owed: &mut Option<Owed>,
        stage: &mut dyn Stage,
    ) -> Result<bool, Halt> {
        if !self.is_resource {
            return Ok(false);
        }
        let found = {
            let probe = stage.probe();
            self.finding(inputs, &*probe)
        };
        let found = found.map_err(|failure| Self::halt(stage, &failure))?;
        if found.status == Found::Satisfied {
            self.note(stage, found.identity.as_ref(), true)?;
            return Ok(true);
        }
        let is_adopted = {
            let mut keep = |stage: &mut dyn Stage, token: &Secret| {
                self.owe((invocation, handles), token, owed, stage)
            };
            // Only `end` closes what is kept.
            let keep: Option<&mut Keep<'_>> = if self.opens { Some(&mut keep) } else { None };
            self.apply(inputs, stage, keep)?.adopted
        };
        if let Some(owed) = owed.take_if(|_| is_adopted) {
            self.settle(&owed.id, stage)?;
        }
        Ok(is_adopted)
    }

    /// The variables of the block: each must be granted.
    fn environment(
        &self,
        opened: &Opened,
        stage: &dyn Stage,
    ) -> Result<BTreeMap<String, Secret>, Halt> {
        let powers = self.powers().map_err(|failure| Self::halt(stage, &failure))?;
        for (name, _) in &opened.env {
            powers.grants.set(name).map_err(|refusal| {
                let what = format!("it sets `{name}`: {}", refusal.message.expose());
                Self::halt(stage, &self.failure(Why::Strange(what)))
            })?;
        }
        Ok(opened.env.iter().cloned().collect())
    }

    pub(super) fn close(
        &self,
        invocation: &Invocation,
        handles: &Handles,
        token: &Secret,
        outcome: Outcome,
        stage: &mut dyn Stage,
    ) -> Result<(), Halt> {
        let mut invocation = invocation.clone();
        invocation.token = Some(token.clone());
        invocation.outcome = Some(outcome);
        stage.cleaning(CLOSING, &mut |stage| {
            let mut acting = self.acting(stage, handles.clone())?;
            let ended = self.call::<Nothing>(Function::End, &invocation, &mut acting);
            if let Some(halt) = acting.halt.take() {
                return Err(halt);
            }
            match ended {
                Ok((Nothing, log)) => Self::printed(stage, log),
                Err(failure) => Err(stage.fail(failure.code(), failure.trouble())),
            }
        })
    }

    fn judged(&self, inputs: &Inputs, stage: &mut dyn Stage, attempts: u32) -> Result<(), Halt> {
        let mut attempt = 1;
        loop {
            match self.judge(inputs, stage, attempt, None)? {
                Verdict::Proceed => {}
                Verdict::Stop(reason) => return Err(self.stopped(stage, &reason)),
                Verdict::Retry(_) => {
                    let what = "it answers `retry` before the block has run".to_owned();
                    return Err(Self::halt(stage, &self.failure(Why::Strange(what))));
                }
            }
            let under = Conditions { attempt: Some((attempt, attempts)), ..Conditions::default() };
            let result = stage.block(&under);
            if matches!(result, Err(Halt::Stopped(_) | Halt::Unrecorded)) {
                return result;
            }
            match self.judge(inputs, stage, attempt, Some(outcome(&result)))? {
                Verdict::Retry(pause) if attempt < attempts => {
                    let code = match &result {
                        Err(Halt::Failed(failure)) => failure.code,
                        _ => 0,
                    };
                    let duration = opal_core::Duration::from_millis(i64::from(pause));
                    stage.pause(&Pause { duration, attempt, of: attempts, code })?;
                    attempt += 1;
                }
                Verdict::Stop(reason) => {
                    let stopped = self.stopped(stage, &reason);
                    return Err(match (result, stopped) {
                        // A block that failed has failed, whatever is said about it.
                        (Err(Halt::Failed(mut first)), Halt::Failed(stopped)) => {
                            first.join(*stopped);
                            Halt::Failed(first)
                        }
                        (_, stopped) => stopped,
                    });
                }
                Verdict::Proceed | Verdict::Retry(_) => return result,
            }
        }
    }

    fn judge(
        &self,
        inputs: &Inputs,
        stage: &mut dyn Stage,
        attempt: u32,
        outcome: Option<Outcome>,
    ) -> Result<Verdict, Halt> {
        let (mut invocation, handles) = self.invocation(inputs);
        let target = inputs.member.as_deref().map(str::to_owned);
        invocation.event = Some(Event { target, attempt, outcome });
        let judged = {
            let probe = stage.probe();
            self.powers().and_then(|powers| {
                let mut reading = Reading { probe: &*probe, powers, handles };
                self.call::<Judged>(Function::Judge, &invocation, &mut reading)
            })
        };
        let (judged, log) = judged.map_err(|failure| Self::halt(stage, &failure))?;
        Self::printed(stage, log)?;
        Ok(judged.verdict)
    }

    /// The plugin does not want the block to go on.
    fn stopped(&self, stage: &dyn Stage, reason: &Secret) -> Halt {
        let refusal = Refusal::new(Kind::Failed, reason.expose());
        let said = self.failure(Why::Refused(refusal)).trouble();
        stage.fail(1, Trouble { kind: TroubleKind::Failed, ..said })
    }
}

fn outcome(result: &Result<(), Halt>) -> Outcome {
    match result {
        Ok(()) => Outcome::Done,
        Err(Halt::Failed(failure)) => Outcome::Failed(failure.code),
        Err(Halt::Stopped(_) | Halt::Unrecorded) => Outcome::Stopped,
    }
}
