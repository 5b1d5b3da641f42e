//! Where the resources of a plan are: their directories and environments, as far as they are known
//! without running anything.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::action::Fleet;
use opal_core::crossing::Crossing;
use opal_core::decorator::Descriptor;
use opal_core::plan::{Mode, Node, Step};
use opal_core::resolver::{Inputs, Trouble};
use opal_core::resource::{Described, described, is_object, runs_command};

use super::pretend::Pretend;
use super::resource::{limit, out_of_time};
use super::survey::{Sighting, Survey};
use crate::error::{Bug, StepError};
use crate::execute::{Ends, Values, follow, inputs, is_open, moves, unknown_values};
use crate::spot::{Site, Spot, member_block};
use crate::threads::STACK_BYTES;
use opal_core::shell::Movement;
use opal_session::stop::Order;
use opal_session::targets::Access;

/// A resource of the plan.
#[derive(Debug)]
pub(super) struct Found<'p> {
    pub(super) step: &'p Step,
    pub(super) described: Described,
    /// Where it is verified from, or why that is unknown.
    pub(super) spot: Result<Spot, Arc<str>>,
    /// Why the machine cannot be reached.
    pub(super) blocked: Option<Arc<Trouble>>,
    /// The target that it is on.
    pub(super) target: Option<Arc<str>>,
}

/// What holds where a step is.
#[derive(Clone, Debug)]
pub(super) struct Here {
    pub(super) spot: Spot,
    /// Why the directory is not known.
    pub(super) adrift: Option<Arc<str>>,
    /// Why nothing is known.
    pub(super) lost: Option<Arc<str>>,
    /// Why the machine cannot be reached.
    pub(super) blocked: Option<Arc<Trouble>>,
    /// The names of the targets on the way to it, with `/` between them.
    pub(super) target: Option<Arc<str>>,
}

const ONLY_THEN: &str = "verified only when the run reaches it";
const LEFT_OPEN: &str = "it uses a value that a quick plan does not resolve";
const COMMAND: &str = "its `check` is a command, and a quick plan runs none";
const PROVIDER: &str = "a quick plan starts no provider; see it with `--resolve`";
const NOT_COMPARED: &str = "a contract does not compare it";
const UNDECIDED: &str = "whether it runs depends on a value that a quick plan does not resolve";

/// How often it is asked whether all of it is to stop.
const TICK: Duration = Duration::from_millis(20);

/// Every resource and every target, in the order of the plan.
pub(super) fn rehearse<'p>(survey: &Survey<'p>) -> (Vec<Found<'p>>, Vec<Sighting>) {
    let mut rehearsal = Rehearsal::new(*survey);
    let (base, directory): (Arc<Path>, _) = (survey.base.into(), survey.start.into());
    let sources = Arc::clone(&base);
    let spot = Spot { site: None, base, sources, directory, environment: Arc::default() };
    rehearsal.block(
        &survey.plan.steps,
        Here { spot, adrift: None, lost: None, blocked: None, target: None },
    );
    (rehearsal.found, rehearsal.targets)
}

#[derive(Debug)]
pub(super) struct Rehearsal<'p> {
    pub(super) survey: Survey<'p>,
    found: Vec<Found<'p>>,
    targets: Vec<Sighting>,
    /// A directory has not answered in time: no other one is waited for.
    silent: Option<Trouble>,
}

impl<'p> Rehearsal<'p> {
    fn new(survey: Survey<'p>) -> Self {
        Self { survey, found: Vec::new(), targets: Vec::new(), silent: None }
    }

    pub(super) fn block(&mut self, steps: &'p [Step], mut here: Here) {
        steps.iter().for_each(|step| self.step(step, &mut here));
    }

    fn step(&mut self, step: &'p Step, here: &mut Here) {
        match step.node {
            Node::Chain => self.chain(step, here),
            Node::Try => self.r#try(step, here),
            Node::Shell | Node::Call | Node::Dependency | Node::Decorator(_) => {
                self.call(step, here);
            }
            _ if step.is_left_open() => self.lost(&step.block, here, UNDECIDED.into()),
            _ => self.block(&step.block, here.clone()),
        }
    }

    /// Which operands run depends on how others end. Where that decides the directory, it is unknown.
    fn chain(&mut self, step: &'p Step, here: &mut Here) {
        let mut run = |operands: &'p [Step], entered: Here| {
            if let [operand] = operands {
                let mut after = entered.clone();
                self.step(operand, &mut after);
                let failed = match operand.node {
                    Node::Chain => after.or(entered, operand),
                    // A `cd` that fails goes nowhere.
                    _ if after.adrift.is_none() => entered,
                    _ => after.clone(),
                };
                return Ends { ok: after, failed };
            }
            // Each operand of a pipe has a directory of its own.
            operands.iter().for_each(|it| self.step(it, &mut entered.clone()));
            Ends { ok: entered.clone(), failed: entered }
        };
        *here = follow(step, here.clone(), &mut run, &|one, other| one.or(other, step));
    }

    fn r#try(&mut self, step: &'p Step, here: &Here) {
        let mut inner = here.clone();
        for step in &step.block {
            match step.node {
                Node::Catch | Node::Finally => self.lost(&step.block, here, ONLY_THEN.into()),
                _ => self.step(step, &mut inner),
            }
        }
    }

    pub(super) fn lost(&mut self, steps: &'p [Step], here: &Here, why: Arc<str>) {
        let lost = here.lost.clone().or(Some(why));
        self.block(steps, Here { lost, ..here.clone() });
    }

    fn call(&mut self, step: &'p Step, here: &mut Here) {
        let registry = self.survey.registry;
        let is_quick = self.survey.plan.mode == Mode::Quick;
        if let Some(described) = described(step, registry) {
            let spot = match here.seen_by(described.descriptor) {
                Ok(_) if step.is_left_open() => Err(LEFT_OPEN.into()),
                Ok(_) if is_quick && runs_command(step) => Err(COMMAND.into()),
                Ok(_) if is_quick && is_object(described.descriptor) => Err(PROVIDER.into()),
                Ok(_) if !self.is_compared(described) => Err(NOT_COMPARED.into()),
                Ok(spot) => unknown_values(step).map_or(Ok(spot), |why| Err(why.into())),
                spot => spot,
            };
            let blocked = here.blocked.clone();
            let target = here.target.clone();
            self.found.push(Found { step, described, spot, blocked, target });
        }
        let descriptor = step.node.path().and_then(|path| registry.get(path));
        match descriptor {
            // The block of a resource runs where the resource is.
            Some(descriptor) if !step.block.is_empty() && descriptor.resource.is_some() => {
                self.block(&step.block, here.clone());
            }
            Some(descriptor) if !step.block.is_empty() => self.wrapper(step, descriptor, here),
            _ => self.follow(step, here),
        }
    }

    fn is_compared(&self, described: Described) -> bool {
        self.survey.key.is_none() || described.resource.verify.is_compared()
    }

    /// Lets the wrappers of a block act, on a stage on which nothing happens.
    fn wrapper(&mut self, step: &'p Step, descriptor: &'static Descriptor, here: &Here) {
        let open = match step.args.iter().any(|(_, arg)| is_open(arg)) {
            true => Some("a run-time value"),
            false => step.is_left_open().then_some("a value that a quick plan does not resolve"),
        };
        if let Some(open) = open {
            let why = format!("`{}` around it uses {open}", step.node);
            return self.lost(&step.block, here, why.into());
        }
        let inputs =
            inputs(step, descriptor, Values::before(self.survey.values).of(here.spot.member()));
        let is_walked = match (inputs, descriptor.action) {
            (Ok(inputs), Some(action)) => {
                let mut stage = Pretend { rehearsal: self, step, here, is_walked: false };
                // How it ends says nothing: what happens in its block is not tried.
                let _ = action.act(&inputs, &mut stage);
                stage.is_walked
            }
            _ => false,
        };
        if !is_walked {
            self.lost(&step.block, here, ONLY_THEN.into());
        }
    }

    /// Goes where a command would go.
    fn follow(&mut self, step: &Step, here: &mut Here) {
        let values = Values::before(self.survey.values).of(here.spot.member());
        let is_certain = described(step, self.survey.registry).is_none()
            && !step.is_left_open()
            && !step.args.iter().any(|(_, arg)| is_open(arg));
        match moves(step, values) {
            Ok(Movement::Stays) => {}
            Ok(Movement::Only(to)) if is_certain => self.go(here, to.expose()),
            _ => here.adrift = Some(may_change(step)),
        }
    }

    /// A target, seen from where a step is.
    pub(super) fn cross(
        &self,
        (step, here): (&Step, &Here),
        crossing: &Crossing,
        is_member: bool,
    ) -> Crossed {
        if let Some(trouble) = &here.blocked {
            return Err(Trouble::clone(trouble));
        }
        let Survey { reach, stop, unreached, .. } = self.survey;
        if let Some(trouble) = unreached.get(&step.path, crossing.target.name.as_str()) {
            return Err(trouble.clone());
        }
        let site = here.spot.site.as_deref();
        Site::cross(reach, site, crossing, is_member, Access::ReadOnly, stop)
    }

    /// The block of a fleet on all of its targets, several at a time: one that does not answer holds up no
    /// other one, and neither does a user or a container on it.
    pub(super) fn fleet(&mut self, step: &'p Step, here: &Here, fleet: &Fleet) {
        let (survey, all) = (self.survey, &fleet.crossings);
        let members: Vec<OnceLock<Self>> = all.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(index) = Some(next.fetch_add(1, Ordering::SeqCst))
                && let (Some(crossing), Some(place)) = (all.get(index), members.get(index))
            {
                let mut own = Self::new(survey);
                own.member(step, here.clone(), crossing);
                let _ = place.set(own);
            }
        };
        thread::scope(|scope| {
            for _ in 1..fleet.most.min(all.len()) {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                // With fewer threads it takes longer, and that is all.
                if thread.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        for own in members.into_iter().filter_map(OnceLock::into_inner) {
            self.found.extend(own.found);
            self.targets.extend(own.targets);
            self.silent = self.silent.take().or(own.silent);
        }
    }

    fn member(&mut self, step: &'p Step, mut here: Here, crossing: &Crossing) {
        let crossed = self.cross((step, &here), crossing, true);
        let name = crossing.target.name.as_str();
        self.sight(&here, crossing, crossed.as_ref().err());
        here.go_to(name, crossed);
        self.block(member_block(step, name), here);
    }

    /// Notes whether a target was reached; what is inside of one that was not is not known.
    pub(super) fn sight(&mut self, here: &Here, crossing: &Crossing, trouble: Option<&Trouble>) {
        if here.blocked.is_some() {
            return;
        }
        let mut way = here.spot.site.as_ref().map(|site| site.way.clone()).unwrap_or_default();
        way.push(crossing.clone());
        self.targets.push(Sighting { way, trouble: trouble.cloned() });
    }

    /// Goes to the directory of an imported project, wherever the step is.
    pub(super) fn enter(&mut self, here: &mut Here, project: &str) {
        here.spot.directory = self.survey.base.into();
        here.adrift = None;
        self.go(here, project);
        here.spot.base = Arc::clone(&here.spot.directory);
    }

    /// Goes to a directory as steps name it.
    pub(super) fn go(&mut self, here: &mut Here, to: &str) {
        if here.adrift.is_some() && !to.starts_with(['/', '~']) {
            return;
        }
        match self.directory(&here.spot, to) {
            Ok(directory) => {
                here.spot.directory = directory.into();
                here.adrift = None;
            }
            Err(trouble) => here.adrift = Some(String::from(trouble.message).into()),
        }
    }

    /// A directory as a thread of its own finds it: it may be on a server that is gone, and is then
    /// abandoned as a verification is.
    fn directory(&mut self, spot: &Spot, to: &str) -> Result<PathBuf, Trouble> {
        if let Some(trouble) = &self.silent {
            return Err(trouble.clone());
        }
        let Survey { stop, timeout, .. } = self.survey;
        let (session, from) = (spot.shared(self.survey.session), &spot.directory);
        let limit = limit(&Inputs::default(), timeout);
        let (tell, reported) = channel();
        let asked = (Arc::clone(&session), Arc::clone(from), to.to_owned(), stop.clone());
        let thread = thread::Builder::new().spawn(move || {
            let (session, from, to, stop) = asked;
            tell.send(session.directory(&from, &to, false, &stop))
        });
        if thread.is_err() {
            // The system has no thread to spare: then it is done here.
            return session.directory(from, to, false, stop);
        }
        let since = Instant::now();
        while since.elapsed() < limit.time {
            if stop.order() != Order::GoOn {
                return Err(StepError::VerificationStopped.into());
            }
            match reported.recv_timeout(TICK) {
                Ok(found) => return found,
                Err(RecvTimeoutError::Timeout) => stop.attend(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(StepError::Bug(Bug::DirectoryPanicked).into());
                }
            }
        }
        Err(self.silent.insert(out_of_time(limit)).clone())
    }
}

fn may_change(step: &Step) -> Arc<str> {
    format!("`{}` may change the directory", step.path).into()
}

/// A target and where steps start there, or why it cannot be reached.
pub(super) type Crossed = Result<(Arc<Site>, Arc<Path>), Trouble>;

impl Here {
    /// Goes to a target. Where it was not reached, its resources are blocked.
    pub(super) fn go_to(&mut self, name: &str, crossed: Crossed) {
        self.target = Some(match &self.target {
            Some(around) => format!("{around}/{name}").into(),
            None => name.into(),
        });
        match crossed {
            Ok((site, start)) => {
                let (base, directory) = (Arc::clone(&start), start);
                let environment = Arc::default();
                let sources = Arc::clone(&self.spot.sources);
                self.spot = Spot { site: Some(site), base, sources, directory, environment };
                self.adrift = None;
            }
            Err(trouble) => self.blocked = Some(Arc::new(trouble)),
        }
    }

    /// What is known where it is one of two.
    fn or(&self, other: Self, chain: &Step) -> Self {
        let is_same = self.spot.directory == other.spot.directory;
        let unknown = || (!is_same).then(|| may_change(chain));
        let adrift = self.adrift.clone().or(other.adrift.clone()).or_else(unknown);
        Self { adrift, ..other }
    }

    /// Where a resource is verified from. Text of the shell means something only in its directory;
    /// all others name their things whole, or from beside the source.
    fn seen_by(&self, descriptor: &Descriptor) -> Result<Spot, Arc<str>> {
        let runs_text = descriptor.params.iter().any(|param| param.shell);
        match (&self.lost, &self.adrift) {
            (Some(why), _) => Err(Arc::clone(why)),
            (None, Some(why)) if runs_text => {
                Err(format!("its directory is unknown: {why}").into())
            }
            _ => Ok(self.spot.clone()),
        }
    }
}
