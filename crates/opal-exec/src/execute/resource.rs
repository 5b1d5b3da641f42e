//! Steps that describe a state: verified, applied where needed, and verified again.
//!
//! A verification here is cut off at the next question to the machine once it has timed out. A
//! system call that never returns holds the step up, as it would hold up the action after it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Returns};
use opal_core::plan::{Step, all};
use opal_core::resolver::{Identity, Inputs, Trouble, TroubleKind};
use opal_core::resource::{self, Described, Direction, Finding, Status};
use opal_core::{Data, Type};
use opal_vault::event::{Kind, UNCHANGED};

use super::actor::{Actor, Begun};
use super::context::Context;
use super::fates::Fate;
use super::halts::{TIMED_OUT, UNAVAILABLE, failed, go_on};
use super::identity::identity;
use super::run::Walk;
use crate::error::StepError;
use crate::spot::Spot;
use crate::threads::lock;
use crate::verify::details::{self, ShownFinding};
use crate::verify::resource::{VerifyTask, limit, verify_resource};
use opal_core::gather::Gather as _;
use opal_session::stop::Stop;

/// How long a verification that timed out has to end what it started.
const GRACE: Duration = Duration::from_secs(1);

/// What a machine has one of, and lets one change at a time.
const SHARED: [Capability; 2] = [Capability::Packages, Capability::Users];

/// What a step ends with whose resource cannot be verified: the code of a package that the engine has ended is that
/// of its other calls.
fn code(descriptor: &Descriptor, trouble: &Trouble) -> i32 {
    match trouble.kind {
        TroubleKind::TimedOut if descriptor.plugin.is_some() => TIMED_OUT,
        TroubleKind::Unreachable if descriptor.plugin.is_some() => UNAVAILABLE,
        _ => 1,
    }
}

impl<'p> Walk<'p> {
    /// Verifies what a step describes, and acts where it is not in that state.
    pub(super) fn reach(
        &'p self,
        described: Described,
        action: &dyn Action,
        inputs: &Inputs,
        actor: &mut Actor<'_, 'p>,
    ) -> Result<Data, Halt> {
        let step = actor.begun.step;
        // An action that only reads and writes files waits for nothing, and must still be
        // interruptible.
        actor.here.stop.attend();
        if let Some(trouble) = self.unmet(&[step], actor.here) {
            return Err(actor.fail(1, trouble));
        }
        // What was verified before the run is known by the path of its step alone.
        let known = self.satisfied.get(&*step.path).filter(|_| actor.here.site.is_none());
        // What it gives is what is there now.
        let known = known.filter(|_| step.binding.is_none());
        let seen = self.changed();
        let mut object = None;
        let before = match known.filter(|_| !self.has_acted.load(Ordering::SeqCst)) {
            Some(known) => {
                let (path, message) = (&*step.path, known.message.clone());
                let status = Status::Satisfied;
                self.tell(Kind::Verified { path, status, message, details: None }, actor.here)?;
                status
            }
            None => {
                let found = self.verified(described, inputs, actor.begun, actor.here)?;
                self.tell_found(step, &found, actor.here)?;
                if let (Some((name, entry)), Some(entries)) = (found.renewed, actor.entries()) {
                    // Only the next verification would be quicker.
                    let _ = entries.store(&name, &entry);
                }
                object = found.object.and_then(|object| object.data);
                found.status
            }
        };
        if before == Status::Satisfied {
            self.keep(step, described, actor.here, seen, false);
            actor.is_satisfied = true;
            self.skip_block(&step.block, actor.here)?;
            return Ok(object.unwrap_or_else(|| nothing(described.descriptor)));
        }
        let result = self.act_on(described, action, inputs, actor)?;
        if described.resource.verify.is_verified_after() {
            self.look_back(described, inputs, actor, before)?;
        }
        Ok(result)
    }

    /// What the block of a resource does; none where it has none. A run that begins in the middle of a
    /// block says nothing about the whole of it.
    pub(super) fn block_of(
        &self,
        step: &Step,
        actor: &Actor<'_, 'p>,
    ) -> Result<Option<Identity>, Trouble> {
        if step.block.is_empty() || actor.here.from.begins_in(step) {
            return Ok(None);
        }
        let values = actor.here.values(self.job);
        identity(self.job.plan, step, values, &actor.here.directory).map(Some)
    }

    /// Whether the action reached the desired state.
    fn look_back(
        &'p self,
        described: Described,
        inputs: &Inputs,
        actor: &Actor<'_, 'p>,
        before: Status,
    ) -> Result<(), Halt> {
        let (step, here, seen) = (actor.begun.step, &*actor.here, self.changed());
        let found = match self.verified(described, inputs, actor.begun, here) {
            // What is done stays done, and a verification that was cut off says nothing about it.
            Err(Halt::Stopped(_)) => return Ok(()),
            Ok(found) if found.status != Status::Satisfied && go_on(&here.stop).is_err() => {
                return Ok(());
            }
            found => found?,
        };
        if (before, found.status) == (Status::Unknown, Status::Unknown) {
            return Ok(());
        }
        self.tell_found(step, &found, here)?;
        match found.status {
            Status::Satisfied => {
                self.keep(step, described, here, seen, true);
                Ok(())
            }
            status => {
                let vault = here.vault(self.job);
                let found = details::shown(&found, &vault, Direction::Change).message;
                Err(actor.fail(1, StepError::NotReached { status, found: &found.text() }.into()))
            }
        }
    }

    fn act_on(
        &'p self,
        described: Described,
        action: &dyn Action,
        inputs: &Inputs,
        actor: &mut Actor<'_, 'p>,
    ) -> Result<Data, Halt> {
        let stop = actor.here.stop.clone();
        go_on(&stop)?;
        let shared = described.descriptor.capabilities.iter().any(|it| SHARED.contains(it));
        self.has_acted.store(true, Ordering::SeqCst);
        let _changing = self.changing();
        let ledger = Arc::clone(&actor.here.ledger);
        let _alone = if shared { Some(ledger.alone.take(&stop)?) } else { None };
        action.act(inputs, actor).map_err(|halt| match halt {
            // What it says may be about having been stopped.
            Halt::Failed(_) => go_on(&stop).err().unwrap_or(halt),
            halt => halt,
        })
    }

    fn verified(
        &'p self,
        described: Described,
        inputs: &Inputs,
        begun: &Begun<'p>,
        here: &Context<'p>,
    ) -> Result<Finding, Halt> {
        let seen = self.see(described, inputs, &here.spot(), &here.stop);
        seen.or_else(|trouble| {
            // What it says may be about having been stopped.
            go_on(&here.stop)?;
            let message = here.vault(self.job).scrub(&trouble.message);
            let (path, status) = (&*begun.step.path, Status::Blocked);
            self.tell(Kind::Verified { path, status, message, details: None }, here)?;
            Err(failed(begun.step, code(described.descriptor, &trouble), trouble))
        })
    }

    /// One verification, cut off in time.
    pub(super) fn see(
        &self,
        described: Described,
        inputs: &Inputs,
        spot: &Spot,
        stop: &Stop,
    ) -> Result<Finding, Trouble> {
        let limit = limit(inputs, None);
        let stop = stop.limited(limit.time, GRACE);
        let place = spot.place(&stop);
        let verify = described.resource.verify;
        let verified = verify_resource(
            spot.session(self.job.session),
            &VerifyTask { verify, inputs, place, is_for_contract: false, limit },
        );
        verified.read.into_iter().for_each(|variable| variable.hide(self.job.vault, spot.target()));
        verified.found.and_then(Finding::decided)
    }

    fn tell_found(&self, step: &'p Step, found: &Finding, here: &Context<'p>) -> Result<(), Halt> {
        let ShownFinding { message, details } =
            details::shown(found, &here.vault(self.job), Direction::Change);
        let (path, status) = (&*step.path, found.status);
        self.tell(Kind::Verified { path, status, message, details }, here)
    }

    /// What steps depend on and is not met.
    fn unmet(&self, steps: &[&Step], here: &Context<'p>) -> Option<Trouble> {
        let wanted = steps.iter().flat_map(|step| resource::depends_on(step, self.job.values));
        let mut seen = BTreeSet::new();
        let wanted: Vec<&str> = wanted.filter(|id| seen.insert(*id)).collect();
        if wanted.is_empty() {
            return None;
        }
        let fates = lock(&here.ledger.fates);
        let mut unmet = Vec::new();
        for id in wanted.into_iter().filter(|id| self.has_step(id)) {
            if let Some(words) = Fate::words(fates.get(id).copied()) {
                unmet.push(format!("{} ({words})", self.named(id)));
            }
        }
        (!unmet.is_empty()).then(|| StepError::DependencyFailed(&unmet.join(", ")).into())
    }

    /// Whether the plan has a step with this id: a condition may have left it out.
    fn has_step(&self, id: &str) -> bool {
        let ids = self.ids.get_or_init(|| {
            let mut ids = BTreeSet::new();
            for step in self.job.plan.all_steps() {
                ids.extend(resource::id(step, self.job.values));
            }
            ids
        });
        ids.contains(id)
    }

    /// The name of the step with this id that all may see.
    fn named(&self, id: &str) -> &'p str {
        let mut found = None;
        for step in self.job.plan.all_steps() {
            if found.is_none() && resource::id(step, self.job.values) == Some(id) {
                found = Some(resource::name(self.job.plan, step));
            }
        }
        found.unwrap_or("what it names")
    }

    /// Passes over branches that depend on one that has failed, and says why of each step.
    pub(super) fn leave_out(&'p self, branch: &'p [Step], here: &Context<'p>) -> Result<(), Halt> {
        let mut steps = Vec::new();
        for step in all(branch) {
            steps.push(step);
        }
        let described = steps.iter().copied().filter(|step| self.described(step).is_some());
        // What is in the branch itself has been left out with it.
        let own: BTreeSet<&str> =
            steps.iter().filter_map(|step| resource::id(step, self.job.values)).collect();
        let waiting: Vec<&Step> = described
            .filter(|step| {
                let wanted = resource::depends_on(step, self.job.values);
                wanted.iter().any(|id| !own.contains(id))
            })
            .collect();
        let why = self.unmet(&waiting, here);
        let why = why.map_or_else(
            || "dependencies not satisfied: the branch of one has failed".into(),
            |trouble| trouble.message,
        );
        let why = here.vault(self.job).scrub(&why);
        for step in steps.into_iter().filter(|step| step.is_leaf()) {
            lock(&here.ledger.tally).skipped();
            let (path, decorator) = (&*step.path, step.node.name());
            self.tell(Kind::Skipped { path, decorator, why: Some(why.clone()) }, here)?;
        }
        Ok(())
    }

    /// The steps of a block that need not run: what others depend on is as it should be.
    fn skip_block(&'p self, block: &'p [Step], here: &Context<'p>) -> Result<(), Halt> {
        for step in all(block) {
            self.note(step, Fate::Met, here);
            if step.is_leaf() {
                lock(&here.ledger.tally).skipped();
                let (path, decorator) = (&*step.path, step.node.name());
                let why = Some(self.job.vault.scrub(UNCHANGED));
                self.tell(Kind::Skipped { path, decorator, why }, here)?;
            }
        }
        Ok(())
    }

    /// Those that are left out, before anybody asks why.
    pub(super) fn note_left_out(&self, branch: &'p [Step], here: &Context<'p>) {
        for step in all(branch) {
            self.note(step, Fate::LeftOut, here);
        }
    }
}

/// What a step gives that had nothing to do.
fn nothing(descriptor: &Descriptor) -> Data {
    fn empty(ty: &Type) -> Data {
        match ty {
            Type::String => Data::text(""),
            Type::Int => Data::Int(0),
            Type::Bool => Data::Bool(false),
            Type::Object(fields) => {
                let fields = fields.iter().map(|it| (it.name.to_owned(), empty(&it.ty)));
                Data::Map(fields.gathered())
            }
            _ => Data::Null,
        }
    }
    match &descriptor.returns {
        Some(Returns { ty, .. }) => empty(ty),
        None => Data::Null,
    }
}
