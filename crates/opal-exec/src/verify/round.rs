//! One round through the resources of a plan: what is verified next, and what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

use opal_core::Secret;
use opal_core::action::Why;
use opal_core::message::Message;
use opal_core::plan::Plan;
use opal_core::resolver::{Inputs, Trouble};
use opal_core::resource::{self, Finding, Status};
use opal_vault::verification::{Blocked, Refusal, Verification};

use super::crew::{Crew, Task};
use super::details::{self, ShownFinding};
use super::digests::Digests;
use super::machines::Machines;
use super::rehearse::Found;
use super::resource::{Limit, ResourceFinding, limit, out_of_time};
use super::survey::{MAX_JOBS, Progress, Survey};
use crate::error::StepError;
use crate::execute::{Unready, Values, identity, inputs, is_open};
use crate::spot::Spot;
use opal_core::gather::Gather as _;
use opal_session::stop::{Order, Stop};

/// How long a verification that was asked to end may take for that: it may have to end what it
/// started.
const GRACE: Duration = Duration::from_secs(2);

/// How often it is asked whether all of it is to stop.
const TICK: Duration = Duration::from_millis(20);

pub(super) struct Round<'r, 'p> {
    survey: &'r Survey<'p>,
    nodes: Vec<Node<'r, 'p>>,
    /// Those whose prerequisites are known.
    machines: Machines<'r>,
    running: BTreeMap<usize, Running>,
    crew: Crew,
    tell: &'r (dyn Fn(Progress<'_>) + Sync),
}

struct Node<'r, 'p> {
    found: &'r Found<'p>,
    /// What it depends on, and who depends on it.
    after: Vec<usize>,
    before: Vec<usize>,
    /// How many of those before it are not known yet.
    waits: usize,
    /// Whether it is selected: then it is reported.
    is_asked: bool,
    /// Whether it is verified: also for those that depend on it.
    is_needed: bool,
    verification: Option<Verification>,
}

struct Running {
    at: SystemTime,
    since: Instant,
    limit: Limit,
}

/// What has come of one step.
struct Seen {
    found: Result<Finding, Trouble>,
    at: SystemTime,
    took: Duration,
}

impl<'r, 'p> Round<'r, 'p> {
    pub(super) fn new(
        survey: &'r Survey<'p>,
        found: &'r [Found<'p>],
        tell: &'r (dyn Fn(Progress<'_>) + Sync),
    ) -> Result<Self, Unready> {
        let nodes = found.iter().map(|found| Node {
            found,
            after: Vec::new(),
            before: Vec::new(),
            waits: 0,
            is_asked: false,
            is_needed: false,
            verification: None,
        });
        let machines = Machines::new(survey.jobs.clamp(1, MAX_JOBS));
        let (nodes, running) = (nodes.collect(), BTreeMap::new());
        let mut round = Self { survey, nodes, machines, running, crew: Crew::new(), tell };
        round.connect();
        round.choose()?;
        Ok(round)
    }

    fn connect(&mut self) {
        let values = self.survey.values;
        // Steps of a fleet are there once for each target.
        let ids: BTreeMap<(Option<&str>, &str), usize> = (self.nodes.iter().enumerate())
            .filter_map(|(index, node)| {
                let id = resource::id(node.found.step, values)?;
                Some(((node.found.target.as_deref(), id), index))
            })
            .gathered();
        for index in 0..self.nodes.len() {
            let wanted = resource::depends_on(self.nodes[index].found.step, values);
            let target = self.nodes[index].found.target.as_deref();
            let found =
                |id: &&str| ids.get(&(target, *id)).or_else(|| ids.get(&(None, *id))).copied();
            let after: BTreeSet<usize> = wanted.iter().filter_map(found).collect();
            for &other in &after {
                self.nodes[other].before.push(index);
            }
            self.nodes[index].waits = after.len();
            self.nodes[index].after = after.into_iter().collect();
        }
    }

    /// Finds those that are asked for, and what these depend on.
    fn choose(&mut self) -> Result<(), Unready> {
        let Survey { plan, values, registry, selection, .. } = self.survey;
        let chosen = selection.paths(plan, values, registry)?;
        let mut wanted = Vec::new();
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.is_asked = chosen.contains(&node.found.step.path);
            wanted.extend(node.is_asked.then_some(index));
        }
        while let Some(index) = wanted.pop() {
            if !std::mem::replace(&mut self.nodes[index].is_needed, true) {
                wanted.extend(&self.nodes[index].after);
            }
        }
        for (index, node) in self.nodes.iter().enumerate() {
            if node.is_needed && node.waits == 0 {
                self.machines.add(node.found.target.as_deref(), index);
            }
        }
        Ok(())
    }

    pub(super) fn run(mut self) -> (Vec<Verification>, Option<Why>) {
        let mut is_new = true;
        loop {
            if self.survey.stop.order() != Order::GoOn {
                self.give_up();
                break;
            }
            while let Some(index) = self.machines.next() {
                self.begin(index);
                if !self.running.contains_key(&index) {
                    self.machines.ended(self.nodes[index].found.target.as_deref());
                }
            }
            if self.running.is_empty() {
                break;
            }
            match self.crew.next(self.patience()) {
                Some(taken) => {
                    // What has come at the same time makes room at the same time: those who ask a
                    // target next ask it together.
                    let others = std::iter::from_fn(|| self.crew.next(Duration::ZERO));
                    for taken in std::iter::once(taken).chain(others.collect::<Vec<_>>()) {
                        self.answered(taken.index, taken.looked, taken.took);
                    }
                }
                // Who waits for longer than a moment can be interrupted.
                None if std::mem::take(&mut is_new) => self.survey.stop.attend(),
                None => {}
            }
            self.abandon();
        }
        let stopped = self.survey.stop.why();
        if stopped.is_none() {
            self.untangle();
        }
        let reported = self.nodes.into_iter().filter(|node| node.is_asked);
        (reported.filter_map(|node| node.verification).collect(), stopped)
    }

    /// Until a thread must be abandoned, or it is time to ask whether to go on.
    fn patience(&self) -> Duration {
        let now = Instant::now();
        let left = |it: &Running| (it.limit.time + GRACE).saturating_sub(now - it.since);
        let left = self.running.values().map(left);
        left.min().unwrap_or(TICK).min(TICK)
    }

    fn begin(&mut self, index: usize) {
        let at = (self.survey.clock)();
        let known = |found| Seen { found, at, took: Duration::ZERO };
        let found = self.nodes[index].found;
        if let Some(trouble) = &found.blocked {
            return self.settle(index, known(Err(Trouble::clone(trouble))));
        }
        let is_open = found.step.args.iter().any(|(_, arg)| is_open(arg));
        let spot = match &found.spot {
            Ok(spot) if !is_open => spot.clone(),
            Ok(_) => {
                let why = "it uses a run-time value";
                return self.settle(index, known(Ok(Finding::unknown(why))));
            }
            Err(why) => {
                return self.settle(index, known(Ok(Finding::unknown(&**why))));
            }
        };
        let values = Values::before(self.survey.values).of(spot.member());
        let step = found.step;
        let block = (!step.block.is_empty())
            .then(|| identity(self.survey.plan, step, values, &spot.directory));
        let inputs = inputs(step, found.described.descriptor, values)
            .and_then(|inputs| Ok(Inputs { block: block.transpose()?, ..inputs }));
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(trouble) => return self.settle(index, known(Err(trouble))),
        };
        let limit = limit(&inputs, self.survey.timeout);
        let stop = self.survey.stop.limited(limit.time, GRACE);
        (self.tell)(Progress::Began(resource::name(self.survey.plan, found.step)));
        self.running.insert(index, Running { at, since: Instant::now(), limit });
        self.crew.give(self.task(index, inputs, spot, stop, limit));
    }

    fn task(&self, index: usize, inputs: Inputs, spot: Spot, stop: Stop, limit: Limit) -> Task {
        let verify = self.nodes[index].found.described.resource.verify;
        let session = spot.shared(self.survey.session);
        let is_for_contract = self.survey.key.is_some();
        Task { index, verify, inputs, session, spot, stop, is_for_contract, limit }
    }

    /// What it depends on and is missing or blocked.
    fn unmet(&self, index: usize) -> Vec<&Verification> {
        let before = self.nodes[index].after.iter();
        let before = before.filter_map(|&other| self.nodes[other].verification.as_ref());
        before.filter(|it| matches!(it.status, Status::Missing | Status::Blocked)).collect()
    }

    fn answered(&mut self, index: usize, looked: ResourceFinding, took: Duration) {
        let ResourceFinding { found, read } = looked;
        let target = self.nodes[index].found.target.as_deref();
        read.into_iter().for_each(|variable| variable.hide(self.survey.vault, target));
        // Answers of abandoned threads are ignored.
        let Some(Running { at, .. }) = self.running.remove(&index) else { return };
        self.machines.ended(self.nodes[index].found.target.as_deref());
        // What it says may be about having been stopped.
        if found.is_ok() || self.survey.stop.order() == Order::GoOn {
            self.settle(index, Seen { found, at, took });
        }
    }

    fn abandon(&mut self) {
        let now = Instant::now();
        let is_late = |it: &Running| now - it.since >= it.limit.time + GRACE;
        let late = self.running.iter().filter(|(_, it)| is_late(it));
        let late: Vec<(usize, Limit)> = late.map(|(index, it)| (*index, it.limit)).collect();
        for (index, limit) in late {
            let looked = ResourceFinding { found: Err(out_of_time(limit)), read: Vec::new() };
            self.answered(index, looked, limit.time);
        }
    }

    /// Everything is to stop: what is under way has been asked to, and has a moment to end.
    fn give_up(&mut self) {
        let since = Instant::now();
        while !self.running.is_empty()
            && since.elapsed() < GRACE
            && self.survey.stop.order() != Order::Kill
        {
            if let Some(taken) = self.crew.next(TICK) {
                self.answered(taken.index, taken.looked, taken.took);
            }
        }
    }

    /// A plan that was checked has no cycle.
    fn untangle(&mut self) {
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            if node.is_asked && node.verification.is_none() {
                let name = resource::name(self.survey.plan, node.found.step);
                let found = Err(StepError::DependsOnItself(name).into());
                let at = (self.survey.clock)();
                self.settle(index, Seen { found, at, took: Duration::ZERO });
            }
        }
    }

    fn settle(&mut self, index: usize, seen: Seen) {
        let verification = self.verification(index, seen);
        (self.tell)(Progress::Ended(&verification));
        self.nodes[index].verification = Some(verification);
        for other in std::mem::take(&mut self.nodes[index].before) {
            let node = &mut self.nodes[other];
            node.waits -= 1;
            if node.waits == 0 && node.is_needed {
                self.machines.add(node.found.target.as_deref(), other);
            }
        }
    }

    /// The one place where what was found becomes something that may be seen.
    fn verification(&self, index: usize, Seen { found: result, at, took }: Seen) -> Verification {
        let Survey { plan, direction, .. } = self.survey;
        let (found, waits_for) = (self.nodes[index].found, self.unmet(index));
        let vault = &self.survey.vault.on(found.target.as_deref());
        let named = waits_for.iter().map(|it| format!("{} ({})", it.id, it.status.name()));
        let unmet = named.collect::<Vec<_>>().join(", ");
        let by_prerequisite = !unmet.is_empty();
        let (mut digests, mut refusal) = (Digests::default(), None);
        let scrub_all = |lines: &[Message]| lines.iter().map(|line| vault.scrub(line)).collect();
        let (status, message, details, blocked) = match answer(result, &unmet) {
            Ok(finding) if finding.status == Status::Blocked => {
                let ShownFinding { message, details } = details::shown(&finding, vault, *direction);
                let help = finding.refusal.map_or_else(Vec::new, |why| scrub_all(&why.help));
                let error = message.clone();
                let blocked = Blocked { error, help, by_prerequisite: false };
                (Status::Blocked, message, details, Some(blocked))
            }
            Ok(finding) => {
                digests = Digests::of(&finding, self.survey);
                refusal = finding.refusal.as_ref().map(|trouble| Refusal {
                    error: vault.scrub(&trouble.message),
                    help: scrub_all(&trouble.help),
                });
                let ShownFinding { message, details } = details::shown(&finding, vault, *direction);
                (finding.status, message, details, None)
            }
            Err(Trouble { message, help, .. }) => {
                let error = vault.scrub(&message);
                let help = scrub_all(&help);
                let blocked = Blocked { error: error.clone(), help, by_prerequisite };
                (Status::Blocked, error, None, Some(blocked))
            }
        };
        let key = vault.scrub(&resource::key(plan, found.step, found.described));
        let is_object = resource::is_object(found.described.descriptor);
        let title = resource::title(plan, found.step).filter(|_| !is_object);
        Verification {
            id: called(plan, found, &key.text()),
            name: title.map(|title| vault.scrub(title)),
            path: found.step.path.clone(),
            target: found.target.clone(),
            key,
            status,
            message,
            details,
            blocked,
            refusal,
            unmet: waits_for.iter().map(|it| it.path.clone()).collect(),
            digest: digests.details,
            identity: digests.identity,
            account: digests.account,
            took,
            at,
        }
    }
}

/// What verifying a step says where `unmet` names prerequisites that are missing or blocked: its own
/// answer with a note, or, where there is none, that it is blocked by them.
fn answer(found: Result<Finding, Trouble>, unmet: &str) -> Result<Finding, Trouble> {
    let own = match found {
        found if unmet.is_empty() => return found,
        Ok(Finding { status: Status::Blocked, refusal, .. }) => refusal.map(|why| why.message),
        Ok(finding) if finding.status != Status::Unknown => {
            let message = format!("{}; depends on {unmet}", finding.message.expose());
            return Ok(Finding { message: Secret::new(message), ..finding });
        }
        Ok(_) => None,
        Err(trouble) => Some(trouble.message),
    };
    Err(StepError::DependencyMissing { unmet, own }.into())
}

/// The `id` of a step, or its path. An object of the world is called by its type and name.
fn called(plan: &Plan, found: &Found<'_>, key: &str) -> String {
    let name = resource::name(plan, found.step);
    match resource::is_object(found.described.descriptor) && *name == *found.step.path {
        true => key.to_owned(),
        false => name.to_owned(),
    }
}
