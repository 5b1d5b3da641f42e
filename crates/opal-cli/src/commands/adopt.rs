//! `opal adopt`: the objects of a Terraform state file as steps.
//!
//! ```text
//! state ──helper──▶ objects ──providers──▶ arguments, status ──source──▶ text ──check──▶ FILE
//! ```
//!
//! The file is only read. What it says chooses no provider: a type is looked for in those of the project.

mod source;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::ArgMatches;
use opal_core::Registry;
use opal_core::data::Secret;
use opal_core::protocol::call::Found;
use opal_core::resource::Status;
use opal_files::regular;
use opal_plan::check;
use opal_plugins::client::failure::Why;
use opal_plugins::provider::Provider;
use opal_plugins::provider::adopt::{AdoptedStep, StateFile, StateObject, Waiting, instead};
use opal_plugins::provider::bridge::{BRIDGE, Bridge, HELPER};

use super::convert::{may_write, write};
use crate::ambient::variable;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::planning::here;
use crate::signals::Watched;
use crate::view::adopt::{Left, Object, Report, STATE_ONLY, Step};
use crate::{helpers, view};
use source::Names;

/// Objects that are asked about at once.
const AT_ONCE: usize = 10;

/// Where an unnamed result would be: its project counts.
const UNNAMED: &str = "infra.opl";

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let state: &PathBuf = matches.get_one("state").expect("clap demands it");
    let out = matches.get_one::<PathBuf>("out").filter(|path| *path != Path::new("-"));
    let (force, json) = (matches.get_flag("force"), matches.get_flag("json"));
    readable(state)?;
    if let Some(out) = out {
        may_write(state, out, force)?;
    }
    let place = out.map_or_else(|| here().map(|here| here.join(UNNAMED)), |out| Ok(out.clone()))?;
    // As for a source: what is not in the directory that somebody named or went to is found.
    let is_found = !place.with_file_name("opal.mod").exists();
    context.registry.of_source(&place, is_found)?;
    let root = context.root(matches.get_one("root"));
    let providers = context.registry.demand_providers(&place, root.as_ref())?;
    let none = || Failure::new(Exit::Bug, "nothing runs providers here", "report this");
    let bridge = BRIDGE.get().ok_or_else(none)?;
    let watched = Watched::begin()?;
    let is_stopped = || watched.stop().why().is_some();
    let waiting = Waiting(&is_stopped);
    let recipes = providers.first().map(|it| it.project.recipes.document.clone());
    let recipes = recipes.unwrap_or_else(|| Secret::new("{}"));
    let path = std::path::absolute(state).unwrap_or_else(|_| state.clone());
    let read = bridge.read_state(&path, &recipes, waiting);
    let asking = Asking { bridge, registry: &context.registry, providers: &providers, waiting };
    let objects = read.and_then(|read| Ok((asking.all(&read.objects)?, read)));
    if let Some(exit) = watched.exit() {
        return Ok(exit);
    }
    let (objects, file) = objects.map_err(|why| unread(state, why))?;
    let report = report(state, objects, file, &context.registry);
    if json {
        view::adopt::json(&report, out.map(PathBuf::as_path))?;
    }
    match out {
        _ if report.source.is_none() => {}
        Some(out) => drop(write(state, out, report.text(), force)?),
        None if !json => drop(view::print(report.text())?),
        None => {}
    }
    if !json {
        view::adopt::human(&report, context.err());
    }
    Ok(if report.is_whole() { Exit::Done } else { Exit::Differs })
}

/// Whether there is such a file. Its secrets go to the helper alone.
fn readable(state: &Path) -> Result<(), Failure> {
    let help = "name a file: write it with `terraform state pull > pulled.tfstate`";
    if state == Path::new("-") {
        return Err(Failure::usage("a state file cannot come from standard input", help));
    }
    regular::open(state).map(drop).map_err(|error| {
        let failure = Failure::unreadable(state, &error);
        Failure { help: vec![help.to_owned()], ..failure }
    })
}

/// Why the file, or all of its objects, cannot be read.
fn unread(state: &Path, why: Why) -> Failure {
    match why {
        Why::Refused(refusal) => {
            let message = format!("`{}` {}", state.display(), refusal.message.expose());
            let help =
                "name a state file of Terraform or OpenTofu, as `terraform state pull` prints it";
            Failure::new(Exit::Source, message, help)
        }
        Why::Unusable(unusable) => helpers::failure(&unusable),
        _ => {
            let message = format!("the helper `{HELPER}` ended before it answered");
            Failure::new(Exit::Unavailable, message, "run it again; if it ends again, report it")
        }
    }
}

/// Who is asked about objects.
struct Asking<'a> {
    bridge: &'a Bridge,
    registry: &'a Registry,
    providers: &'a [&'static Provider],
    waiting: Waiting<'a>,
}

/// What a provider says about an object, with the path of its decorator.
type Answer = Result<(&'static str, AdoptedStep), Left>;

impl Asking<'_> {
    /// All of them, several at once.
    fn all(&self, objects: &[StateObject]) -> Result<Vec<(StateObject, Answer)>, Why> {
        let types = self.types(objects);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((at, object)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                objects.get(at).map(|object| (at, object))
            } {
                done.push((at, object.clone(), self.one(at, object, &types)?));
            }
            Ok(done)
        };
        let workers = AT_ONCE.min(objects.len());
        let done = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let done = workers.into_iter().map(|worker| match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            done.collect::<Result<Vec<_>, Why>>()
        })?;
        let mut done: Vec<_> = done.into_iter().flatten().collect();
        done.sort_by_key(|(at, ..)| *at);
        Ok(done.into_iter().map(|(_, object, answer)| (object, answer)).collect())
    }

    /// The decorator and the provider of each type; none where the project has none.
    fn types(&self, objects: &[StateObject]) -> Types {
        let mut types = Types::new();
        for object in objects {
            types.entry(object.of.clone()).or_insert_with(|| {
                let found = self.registry.step_type(&object.of)?;
                let plugin = found.plugin?;
                let provider = self.providers.iter().find(|it| it.name() == plugin.name)?;
                Some((found.path, *provider))
            });
        }
        types
    }

    fn one(&self, at: usize, object: &StateObject, types: &Types) -> Result<Answer, Why> {
        if object.is_state_only {
            let why = "exists only in a state file".to_owned();
            return Ok(Err(Left { code: Some(STATE_ONLY), why, help: Some(instead(&object.of)) }));
        }
        let Some(Some((path, provider))) = types.get(&object.of) else {
            let why = format!("no provider of this project has `{}`", object.of);
            let short = object.of.split('_').next().unwrap_or(&object.of);
            let help = format!("add it with `opal plugin add terraform/NAMESPACE/{short}`");
            return Ok(Err(Left { code: None, why, help: Some(help) }));
        };
        let of_environment = |name: &str| Some(Secret::new(variable(name)?.into_string().ok()?));
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        match self.bridge.adopt(provider, number, &of_environment, self.waiting) {
            Ok(step) => Ok(Ok((path, step))),
            Err(Why::Refused(refusal)) => {
                let why = refusal.message.expose().lines().collect::<Vec<_>>().join("; ");
                let help = refusal.help.first().map(|help| help.expose().to_owned());
                Ok(Err(Left { code: None, why, help }))
            }
            Err(why) => Err(why),
        }
    }
}

type Types = BTreeMap<String, Option<(&'static str, &'static Provider)>>;

/// What became of everything, and the source with the steps.
fn report(
    state: &Path,
    answers: Vec<(StateObject, Answer)>,
    file: StateFile,
    registry: &Registry,
) -> Report {
    let (mut names, mut steps) = (Names::default(), Vec::new());
    let mut objects = Vec::new();
    for (StateObject { address, of, is_tainted, .. }, answer) in answers {
        let outcome = answer.and_then(|(path, step)| {
            let written = source::step(path, (&of, &address), &step, &mut names)?;
            let text = source::file(state, &[(address.clone(), written.text.clone())], registry);
            if let Some(found) = check::check(&text, registry).all().iter().find(|it| it.is_error())
            {
                let why = format!("its step has an error: {}", found.message);
                return Err(Left { code: Some(found.code.as_str()), why, help: None });
            }
            steps.push((address.clone(), written.text));
            Ok(Step {
                decorator: path,
                status: status(&step),
                message: step.message.expose().lines().collect::<Vec<_>>().join("; "),
                unread: step.unread,
                secrets: written.secrets,
            })
        });
        objects.push(Object { address, of, is_tainted, outcome });
    }
    let source = (!steps.is_empty()).then(|| source::file(state, &steps, registry));
    let StateFile { outputs, deposed, data, .. } = file;
    Report { state: state.display().to_string(), source, objects, outputs, deposed, data }
}

fn status(step: &AdoptedStep) -> Status {
    match step.status {
        Found::Satisfied => Status::Satisfied,
        Found::Missing => Status::Missing,
        Found::Drifted => Status::Drifted,
        // The helper says so where an object cannot be verified, and why.
        Found::Unknown => Status::Blocked,
    }
}
