//! From a plan to an exit code: questions, the session, the record, the run, the last words.

pub(crate) mod again;
mod end;
pub(crate) mod keeper;
pub(crate) mod questions;
pub(crate) mod recording;
mod start;
mod told;
mod unready;

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use opal_core::Code;
use opal_core::action::Halt;
use opal_core::contract::Seen;
use opal_core::hash::Digest;
use opal_core::placeholder::PlaceholderKey;
use opal_core::plan::{Piece, Step};
use opal_core::shell::Shell;
use opal_exec::execute::{self, Job, ShownBranches};
use opal_ops::contract::Refusal;
use opal_ops::planning::Subject;
use opal_ops::resources;
use opal_plan::plan::Resolved;
use opal_session::stop::USUAL_GRACE;
use opal_session::{LocalSession, Setup, Terminal};
use opal_vault::Vault;
use opal_vault::ledger::{ClaimError, Ledger};
use opal_vault::record::{Contract, Drifted, Silent};

use super::apply::first;
use super::plan::trust;
use super::verify;
use crate::dispatch::Context;
use crate::failure::contract::Refused;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::planning;
use crate::signals::Watched;
use crate::view;
use crate::view::run::{Live, Look};
use end::End;
use keeper::{Keeper, Unmoved};
use recording::Recording;
use told::Told;

/// How long the look after a contract's run may take.
const LAST_LOOK: Duration = Duration::from_mins(1);

/// A plan that is to run, and where it comes from.
#[derive(Debug)]
pub(crate) struct Errand<'e> {
    pub(crate) subject: &'e Subject<'e>,
    pub(crate) resolved: &'e Resolved,
    pub(crate) watched: &'e Watched,
    pub(crate) contract: Option<Held>,
    /// Of a contract that may run once.
    pub(crate) claim: Option<Claim>,
    /// The words that take it up again, where that can be.
    pub(crate) again: Option<String>,
    /// Who keeps it besides the record.
    pub(crate) keeper: Option<&'e dyn Keeper>,
}

/// The contract that a plan is run under.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) named: Contract,
    /// In what it is no longer true.
    pub(crate) drift: Vec<Drifted>,
    /// What its placeholders are keyed with.
    pub(crate) key: PlaceholderKey,
}

/// The one run of a single-use contract.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) contract: Digest,
    /// Its file, as it was named.
    pub(crate) file: String,
    /// The command that makes a new one.
    pub(crate) new_contract: String,
}

impl Errand<'_> {
    /// Whether the policy lets it run, where no contract is there to say so.
    fn is_allowed(&self, context: &Context<'_>, asked: &Asked) -> Result<(), Failure> {
        if self.contract.is_some() {
            return Ok(());
        }
        let source = &self.subject.loaded.path;
        let target = recording::target(source, &self.resolved.plan);
        let words = match self.keeper {
            Some(_) => "opal module apply REF --dry-run -o FILE".to_owned(),
            None => format!("opal plan -o FILE {}", verify::target(self.subject)),
        };
        trust::may_run_directly(context, &asked.plan, (source, target), &words)
            .map_err(|failure| self.abandoned(failure))
    }

    /// How the run looks on a terminal.
    fn look(&self, context: &Context<'_>, asked: &Asked) -> Look {
        let counts_branches = !self.subject.loaded.is_config();
        Look { counts_branches, ..Look::of(context, asked) }
    }

    /// The last that may stand in the way.
    fn set_off(&self, context: &Context<'_>, asked: &Asked) -> Result<(), Failure> {
        self.claim.as_ref().map_or(Ok(()), |it| it.make(context, asked))?;
        self.keeper.map_or(Ok(()), Keeper::set_off)
    }

    /// The contract, and in what it is no longer true.
    fn held(&self) -> (Option<Contract>, Vec<Drifted>) {
        let held = self.contract.as_ref();
        let drift = held.map(|held| held.drift.clone()).unwrap_or_default();
        (held.map(|held| held.named.clone()), drift)
    }

    /// Nothing runs, and whoever was told that something would hears why.
    fn abandoned(&self, failure: Failure) -> Failure {
        self.keeper.inspect(|keeper| keeper.abandon(&failure.message));
        failure
    }
}

/// Runs it to its end.
pub(crate) fn execute(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
) -> Result<Exit, Failure> {
    let Resolved { plan, secrets, showing, .. } = errand.resolved;
    errand.is_allowed(context, asked)?;
    let own = Vault::new();
    let vault = errand.keeper.map_or(&own, Keeper::vault);
    execute::register(vault, showing);
    let look = errand.look(context, asked);
    let stop = errand.watched.stop();
    let live = Live::new(look, stop)?.looking_at(verify::described(plan, &context.registry));
    let told = Told::new((&live, vault), context, errand);
    let unmoved = Unmoved(&told);
    let (start, base) = (planning::start(errand.subject)?, planning::base(errand.subject)?);
    let session = session(context, asked, errand, start.clone())?;
    let from = start::from(context, asked, (&errand.subject.loaded.path, &start), plan, vault)?;
    let selected = verify::selected(context, asked, errand.resolved)?;
    let job = Job {
        plan,
        values: secrets,
        showing,
        registry: &context.registry,
        session: &*session,
        start: &start,
        base: &base,
        vault,
        recorder: &Silent,
        audience: if errand.keeper.is_some() { &unmoved } else { &told },
        stop,
        jobs: asked.run.jobs.map(Into::into),
        output: ShownBranches { asked: asked.run.output, usual: look.branch_output() },
        from: from.as_deref(),
        selected: selected.as_ref(),
        known: None,
        is_declared: errand.subject.loaded.is_config(),
        stdin: true,
        clock: SystemTime::now,
    };
    let questions = execute::prepare(&job)
        .and_then(|()| execute::questions(&job).map_err(|unready| vec![unready]));
    let questions = match questions {
        Ok(questions) => questions,
        Err(unready) => return unready::tell(context, asked, errand.subject, unready, vault),
    };
    note(context, errand, &session);
    let what = (errand.subject, errand.resolved);
    let known = match first::look(context, asked, what, vault, errand.watched)? {
        Ok(known) => known,
        Err(exit) => return Ok(exit),
    };
    if let Some(exit) = questions::ask(&questions, vault, asked.run.yes, errand.watched)? {
        return Ok(exit);
    }
    let kept_by = errand.keeper.map(|keeper| keeper.begin(plan)).transpose()?;
    let (contract, drift) = errand.held();
    let source = &errand.subject.loaded.path;
    let header = recording::header(context, (source, &start), plan, contract, drift);
    let recording = Recording::begin(context, asked, header, (source, plan, vault), kept_by)
        .map_err(|failure| errand.abandoned(failure))?;
    context.stages.end("prepare");
    let began = Instant::now();
    if let Err(failure) = errand.set_off(context, asked) {
        recording.refuse(&failure)?;
        return Err(errand.abandoned(failure));
    }
    let outcome = execute::execute(&Job { recorder: &recording, known: known.as_ref(), ..job });
    if matches!(outcome.halt, Some(Halt::Stopped(_))) {
        session.end_all(USUAL_GRACE, stop);
    }
    let resources = left(context, asked, errand);
    let end = End { errand, outcome: &outcome, took: began.elapsed(), resources };
    end.tell(context, asked, &live, recording, vault)
}

/// What a contract's run has left of its resources. A run that was stopped looks all the same, unless
/// it is told once more: what it has done would count as drift otherwise. Nothing where nobody could
/// look.
fn left(context: &Context<'_>, asked: &Asked, errand: &Errand<'_>) -> Vec<Seen> {
    let Some(held) = &errand.contract else { return Vec::new() };
    let Ok(place) = planning::place(errand.subject, context, &asked.plan) else {
        return Vec::new();
    };
    let stop = errand.watched.stop().deaf().limited(LAST_LOOK, USUAL_GRACE);
    let (resolved, registry) = (errand.resolved, &context.registry);
    match resources::of_contract(resolved, registry, &held.key, &place, &stop) {
        Ok(report) if report.stopped.is_none() => resources::seen(&report),
        _ => Vec::new(),
    }
}

fn session(
    context: &Context<'_>,
    asked: &Asked,
    errand: &Errand<'_>,
    start: PathBuf,
) -> Result<Arc<LocalSession>, Failure> {
    let terminal = terminal(context, asked, errand.watched);
    let on_terminal = terminal.is_some();
    let session = Arc::new(LocalSession::new(Setup {
        environment: context.environment(&asked.plan.env_files)?.clone(),
        start,
        home: context.ambient.home.clone(),
        marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
        terminal,
    }));
    if on_terminal {
        // What is on the terminal ends with the session, in good order.
        let resized = Arc::downgrade(&session);
        errand.watched.on_resize(move || resized.upgrade().iter().for_each(|it| it.resized()));
    }
    Ok(session)
}

/// The terminal that steps run on; none where opal itself is not on one from end to end.
fn terminal(context: &Context<'_>, asked: &Asked, watched: &Watched) -> Option<Terminal> {
    let ambient = context.ambient;
    if asked.run.no_pty || asked.stdout_is_json() || !ambient.is_interactive() {
        return None;
    }
    let program = std::env::current_exe().ok()?;
    let interrupts = watched.interrupts().clone();
    Some(Terminal {
        device: std::io::stdin().as_fd().try_clone_to_owned().ok()?,
        leader: vec![program.into_os_string(), crate::LEADER.into()],
        on_signal: Box::new(move |signal| interrupts.heard(signal)),
    })
}

/// What is worth knowing before the first step.
fn note(context: &Context<'_>, errand: &Errand<'_>, session: &LocalSession) {
    let Resolved { plan, warnings, .. } = errand.resolved;
    if session.shell() == Some(Shell::Sh) && has_pipeline(&plan.steps) {
        view::plan::note("there is no bash here: a pipe fails only where its last command does");
    }
    let unmatched = warnings.iter().filter(|warning| warning.code == Code::NoArmMatches);
    view::check::advice(errand.subject.loaded, unmatched.cloned().collect(), context);
}

/// Whether the text of a step may hold a pipe.
fn has_pipeline(steps: &[Step]) -> bool {
    let pipes = |text: &str| text.replace("||", "").contains('|');
    steps.iter().any(|step| {
        let mut pieces = step.command().unwrap_or_default().iter();
        pieces.any(|piece| matches!(piece, Piece::Text(text) if pipes(text)))
            || has_pipeline(&step.block)
    })
}

impl Claim {
    /// Marks the contract as used. Nothing has run yet.
    fn make(&self, context: &Context<'_>, asked: &Asked) -> Result<(), Failure> {
        let root = context.needed_root(asked.plan.root.as_ref())?;
        Ledger::new(&root).claim(&self.contract).map_err(|error| match error {
            ClaimError::AlreadyUsed => {
                let again = || Some(self.new_contract.clone());
                Refused { path: Path::new(&self.file), own: None, again: &again }
                    .failure(&Refusal::Used)
            }
            ClaimError::Root(error) => {
                let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
                Failure::new(exit, error.to_string(), error.help())
                    .help("a single-use contract needs a place that remembers it")
            }
        })
    }
}
