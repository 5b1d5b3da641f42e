//! `opal blueprint`: modules in order, each a run of its own.
//!
//! A step is prepared when its turn comes: what it imports is known only then.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_modules::inputs::Given;
use opal_modules::keep::{Instance, State, Status};
use opal_modules::load;
use opal_modules::run::Command;
use opal_modules::run::{Prepared, Unprepared, Wanted, prepare};
use opal_modules::{Blueprint, Name, Step};
use serde_json::{Value, json};

use super::module::around::{self, Around};
use super::module::run::{self, Job};
use super::module::{basis, complete, given_with, messages, not_found, whole};
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;
use crate::signals::Watched;
use crate::view::blueprint as view;
use crate::view::module::warnings as show;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some((verb, matches)) = matches.subcommand() else {
        let help = "see `opal blueprint --help`";
        return Err(Failure::usage("`opal blueprint` needs a command", help));
    };
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let mut around = Around::read(context, matches)?;
    around.said = given_with(context, (None, &asked.plan.env_files), false)?.unwrap_or_default();
    around::warn(context, &asked.plan.env_files, (&around.places, Some(&around.root)))?;
    let json = context.typed.wants_json();
    let Some((blueprint, warnings)) = read(context, matches, &around, json)? else {
        return Ok(Exit::Source);
    };
    let steps = order(&blueprint.steps);
    match verb {
        "validate" => validate(context, &around, (&blueprint, warnings), json),
        "apply" if !asked.plan.dry_run => {
            around.gathered = json.then(RefCell::default);
            apply(context, &asked, &around, &blueprint, &steps)
        }
        _ => plan((context, &asked), &around, (&blueprint, &steps), json),
    }
}

/// The blueprint that was named, by its file or by its reference, and what is not as it should be in it.
fn read(
    context: &Context<'_>,
    matches: &ArgMatches,
    around: &Around,
    json: bool,
) -> Result<Option<(Blueprint, Vec<String>)>, Failure> {
    let named = matches.get_one::<String>("blueprint").map_or("", String::as_str);
    let path = match Path::new(named) {
        path if path.is_file() => path.to_path_buf(),
        path if path.is_dir() => path.join(FILE),
        _ => {
            let name = Name::parse(named, "blueprint")
                .map_err(|no| Failure::usage(no.message, no.help))?;
            folder(matches, around).join(name.path()).join(FILE)
        }
    };
    let read = load::blueprint(&path).map_err(|missing| {
        not_found(missing, Exit::NoFile)
            .help("name its file, or its reference below `--blueprints-root DIR`")
    })?;
    let warnings = messages(&read.checked.diagnostics);
    Ok(whole(read, context, json)?.map(|blueprint| (blueprint, warnings)))
}

const FILE: &str = "blueprint.yml";

fn folder(matches: &ArgMatches, around: &Around) -> PathBuf {
    let typed = matches.get_one::<PathBuf>("blueprints-root").cloned();
    typed.unwrap_or_else(|| around.places.modules.join("..").join("blueprints"))
}

/// The steps in an order in which each comes behind what it requires; as in the file, where it can be.
fn order(steps: &[Step]) -> Vec<&Step> {
    let mut done: Vec<&Step> = Vec::with_capacity(steps.len());
    while done.len() < steps.len() {
        let is_done = |id: &String| done.iter().any(|step| step.id == *id);
        let next =
            steps.iter().find(|step| !is_done(&step.id) && step.requires.iter().all(is_done));
        // There are no circles in a blueprint that was read.
        let Some(next) = next else { break };
        done.push(next);
    }
    done
}

fn validate(
    context: &Context<'_>,
    around: &Around,
    (blueprint, mut warnings): (&Blueprint, Vec<String>),
    json: bool,
) -> Result<Exit, Failure> {
    for step in &blueprint.steps {
        instance(step)?;
        let found = complete(context, &around.places, &step.module_ref, json);
        let of_step = |failure: Failure| failure.help(format!("the step `{}` names it", step.id));
        let Some(found) = found.map_err(of_step)? else { return Ok(Exit::Source) };
        let slips = view::slips(step, &found.slips(&step.inputs));
        if !json {
            show(&slips);
        }
        let of_module = found.warnings.iter().map(|told| format!("`{}`: {told}", step.module_ref));
        for warning in of_module.chain(slips) {
            // A module may be there in several steps.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    view::valid(blueprint, &warnings, json)
}

/// What would become of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Run {
        tools: Vec<String>,
    },
    /// It has been applied, and that is enough.
    Skip,
    /// It cannot be planned before others have run, or not at all: why.
    Open(String),
}

impl Fate {
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Run { tools } => json!({"action": "run", "tools": tools}),
            Self::Skip => json!({"action": "skip", "reason": "state-ok"}),
            Self::Open(why) => json!({"action": "open", "reason": why}),
        }
    }
}

fn plan(
    asking: (&Context<'_>, &Asked),
    around: &Around,
    (blueprint, steps): (&Blueprint, &[&Step]),
    json: bool,
) -> Result<Exit, Failure> {
    let mut fates = Vec::new();
    for step in steps {
        let fate = match is_done(asking, around, step)? {
            true => Fate::Skip,
            false => fate(around, step)?,
        };
        fates.push((*step, fate));
    }
    view::plan(blueprint, &fates, json)
}

/// A step, as it would run now.
fn prepared(around: &Around, step: &Step) -> Result<Result<Prepared, Unprepared>, Failure> {
    let instance = instance(step)?;
    Ok(prepare(Wanted {
        command: step.action,
        module: &step.module_ref,
        instance: instance.as_ref(),
        places: &around.places,
        root: &around.root,
        given: said(around, step),
        is_named: false,
        programs: &around.programs,
    }))
}

fn fate(around: &Around, step: &Step) -> Result<Fate, Failure> {
    Ok(match prepared(around, step)? {
        Ok(prepared) => {
            let tools = prepared.tools().map(|tool| tool.words.join(" ")).collect();
            Fate::Run { tools }
        }
        Err(Unprepared::Dependency(missing)) => Fate::Open(missing.message),
        Err(Unprepared::Missing(missing)) if !around.is_there(&step.module_ref) => {
            let failure = not_found(missing, Exit::NoFile);
            return Err(failure.help(format!("the step `{}` names it", step.id)));
        }
        Err(Unprepared::Missing(missing)) => Fate::Open(missing.message),
        Err(Unprepared::Inputs(invalid)) => Fate::Open(invalid.to_string()),
        Err(Unprepared::Faults { path, .. }) => {
            Fate::Open(format!("`{}` has faults; see `opal module lint`", path.display()))
        }
    })
}

/// What the step says, and what variables say to every module.
fn said(around: &Around, step: &Step) -> Given {
    Given { file: step.inputs.clone(), ..around.said.clone() }
}

fn instance(step: &Step) -> Result<Option<Instance>, Failure> {
    Ok(step.state_instance.clone())
}

/// Whether a step need not run: it says so itself, its module has been applied, and the same would be
/// done again. Where nobody can tell, it runs, or says why it cannot.
fn is_done(
    (context, asked): (&Context<'_>, &Asked),
    around: &Around,
    step: &Step,
) -> Result<bool, Failure> {
    if !step.skip_if_state_ok || !step.action.changes() {
        return Ok(false);
    }
    let path = around.root.state(&step.module_ref, instance(step)?.as_ref());
    let state = State::seen(&path).map_err(|unkept| run::unwritten(&unkept))?;
    let Some(state) = state.filter(|state| state.status == Status::Ok) else { return Ok(false) };
    let Ok(prepared) = prepared(around, step)? else { return Ok(false) };
    let basis = basis(context, &asked.plan, &prepared)?;
    Ok(basis.is_some() && basis == state.basis_digest)
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Ok,
    Skipped,
    /// It has looked, and something is not as wanted.
    Differs,
    Failed,
    /// Somebody stopped it.
    Cancelled,
    /// Another has failed before it.
    NotRun,
}

impl Done {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Skipped => "skipped reason=state-ok",
            Self::Differs => "drifted",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NotRun => "not run",
        }
    }
}

fn apply(
    context: &Context<'_>,
    asked: &Asked,
    around: &Around,
    blueprint: &Blueprint,
    steps: &[&Step],
) -> Result<Exit, Failure> {
    let watched = run::watched(asked)?;
    let mut way = Way::default();
    for step in steps {
        // A step that took Ctrl+C for its success is still the last.
        way.stopped = way.stopped.or(over(&watched));
        if way.is_barred(step, blueprint.fail_fast) {
            way.ended.push((step, Done::NotRun));
        } else if is_done((context, asked), around, step)? {
            view::step(step, Done::Skipped.name());
            way.ended.push((step, Done::Skipped));
        } else {
            view::step(step, step.action.name());
            let said = said(around, step);
            let job = Job::along(step.module_ref.clone(), step.action, said);
            let job = Job { instance: instance(step)?, ..job };
            let ran = match step.with_deps {
                true => run::with_deps(context, asked, around, job, &watched),
                false => run::one(context, asked, around, job, &watched),
            };
            way.heed(step, ran, watched.exit());
        }
    }
    // A step that may fail may not be cut off.
    if way.ended.last().is_some_and(|(_, it)| matches!(it, Done::Failed | Done::Cancelled)) {
        way.stopped = way.stopped.or(over(&watched));
    }
    let runs = around.gathered.as_ref().map(RefCell::take);
    view::ended(blueprint, &way, runs)?;
    match (way.stopped, way.failure, way.exit) {
        (Some(Stopped { exit, .. }), ..) => Ok(exit),
        (None, Some(failure), _) => Err(failure),
        (None, None, Some((_, exit))) => Ok(exit),
        (None, None, None) if way.differs => Ok(Exit::Differs),
        (None, None, None) => Ok(Exit::Done),
    }
}

/// Why nothing more begins.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    exit: Exit,
    why: &'static str,
    /// By somebody, and not by the end of its time.
    is_cancelled: bool,
}

fn over(watched: &Watched) -> Option<Stopped> {
    match (watched.exit(), watched.stop().why()) {
        (Some(exit), _) => Some(Stopped { exit, why: "somebody stopped it", is_cancelled: true }),
        (None, Some(_)) => {
            let why = "the run timed out";
            Some(Stopped { exit: Exit::Step(124), why, is_cancelled: false })
        }
        (None, None) => None,
    }
}

/// How far a blueprint has come.
#[derive(Debug, Default)]
pub(crate) struct Way<'s> {
    pub(crate) ended: Vec<(&'s Step, Done)>,
    /// A step that counts has found a difference, which is no failure.
    pub(crate) differs: bool,
    /// What the first step that counts has failed with, or why it could not begin.
    exit: Option<(&'s Step, Exit)>,
    failure: Option<Failure>,
    stopped: Option<Stopped>,
}

impl<'s> Way<'s> {
    fn is_ok(&self) -> bool {
        self.exit.is_none() && self.failure.is_none() && self.stopped.is_none() && !self.differs
    }

    /// Whether somebody has stopped it.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.stopped.is_some_and(|stopped| stopped.is_cancelled)
    }

    /// What has failed, and the way forward; none where nothing has.
    pub(crate) fn error(&self) -> Option<(String, Vec<String>)> {
        match (&self.stopped, &self.failure, &self.exit) {
            (Some(Stopped { why, .. }), ..) => {
                let help = "the same again runs what is not done yet, where steps say so";
                Some(((*why).to_owned(), vec![help.to_owned()]))
            }
            (None, Some(failure), _) => Some((failure.message.clone(), failure.help.clone())),
            (None, None, Some((step, exit))) => Some((
                format!("the step `{}` has ended with {}", step.id, exit.code()),
                vec!["its evidence is named among `runs`".to_owned()],
            )),
            (None, None, None) => None,
        }
    }

    /// Whether a step cannot run: what it requires has not, or nothing more is to begin.
    fn is_barred(&self, step: &Step, fail_fast: bool) -> bool {
        let is_missing = |(other, done): &(&Step, Done)| {
            step.requires.contains(&other.id) && !matches!(done, Done::Ok | Done::Skipped)
        };
        self.stopped.is_some() || fail_fast && !self.is_ok() || self.ended.iter().any(is_missing)
    }

    /// Takes in how a step has ended; a run that was stopped ends with the code of the `signal`.
    fn heed(&mut self, step: &'s Step, ran: Result<Exit, Failure>, signal: Option<Exit>) {
        let done = match ran {
            Ok(exit) if exit.code() == 0 => Done::Ok,
            Ok(exit) if signal.is_some_and(|signal| signal.code() == exit.code()) => {
                Done::Cancelled
            }
            Ok(exit) if step.action == Command::Verify && exit.code() == Exit::Differs.code() => {
                Done::Differs
            }
            _ => Done::Failed,
        };
        self.ended.push((step, done));
        match ran {
            _ if done == Done::Ok => {}
            Ok(_) if step.optional => {}
            Err(why) if step.optional => view::step(step, &format!("failed: {}", why.message)),
            Ok(_) if done == Done::Differs => self.differs = true,
            Ok(exit) => drop(self.exit.get_or_insert((step, exit))),
            Err(why) => {
                let why = why.help(format!("it is the step `{}` of the blueprint", step.id));
                self.failure.get_or_insert(why);
            }
        }
    }
}
