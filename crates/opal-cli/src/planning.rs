//! From a source to a plan: what every command that plans has in common.

mod project;
mod providers;
pub(crate) mod syntax;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::contract::plan_hash;
use opal_core::inventory::{EntryStore, EntryUse};
use opal_core::keys::Keys;
use opal_core::resolver::Probe;
use opal_core::view::{Facts, PlanView};
use opal_core::{Code, Diagnostic};
use opal_ops::planning::{Aim, Program, Subject};
use opal_ops::resources::Place;
use opal_ops::source::top_around;
use opal_plan::plan::{Purpose, Resolved, Unplanned};
use opal_session::noted::Noted;
use opal_session::targets::Reach;
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{LocalSession, Setup};
use opal_trust::contracts::OwnKeys;
use opal_trust::entries::MachineEntries;
use opal_trust::keys::{IdentitySource, KeyError, Runner};

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::counting::{self, Counting};
use crate::env_file::Environment;
use crate::failure::{Exit, Failure, Stopped};
use crate::options::PlanOptions;
use crate::signals::Watched;
use crate::{helpers, limit, targets, view};

use project::project_name;
pub(crate) use project::{checked_out, commit, is_as_committed, is_modified, project_file};

/// What there is to say where the time of a run ends before its plan is made.
pub(crate) const CUT_OFF: &str = "planning was cut off";

/// Looks for mistakes; those that the target does not reach do not stop it.
pub(crate) fn check(
    subject: &Subject<'_>,
    context: &Context<'_>,
    json: bool,
) -> Result<Program, Stopped> {
    match subject.examine(&context.registry) {
        Ok(examined) => {
            elsewhere(subject, context, examined.elsewhere);
            Ok(examined.program)
        }
        Err(errors) => {
            report(subject, errors, context, json)?;
            Err(Stopped::Ended(Exit::Source))
        }
    }
}

/// Says how many errors are in functions that the target does not reach.
pub(crate) fn elsewhere(subject: &Subject<'_>, context: &Context<'_>, errors: usize) {
    if errors > 0 {
        let check = context.check_command(subject.loaded);
        view::check::elsewhere(errors, subject.target(), &check);
    }
}

/// Says where the target does not do what it looks like.
pub(crate) fn advise(subject: &Subject<'_>, context: &Context<'_>, program: &Program) {
    if let Program::Language(checked) = program {
        let habits = checked.habits(subject.function.as_deref());
        view::check::advice(subject.loaded, habits, context.err());
    }
}

/// The plan, made with `keys`.
pub(crate) fn plan(
    subject: &Subject<'_>,
    context: &Context<'_>,
    program: &Program,
    options: &PlanOptions,
    aim: Aim<'_>,
    keys: &mut dyn Keys,
    watched: &Watched,
) -> Result<Resolved, Stopped> {
    let root = context.root(options.root.as_ref());
    context.registry.demand(subject.loaded, root.as_ref())?;
    let mut world = world(subject, context, options)?.stopped_by(watched.stop());
    let noted = context.typed.round.as_ref().map(|_| Arc::new(Noted::default()));
    if let Some(noted) = &noted {
        world = world.noting(noted);
    }
    context.stages.end("check");
    let planned = subject.resolve(&context.registry, program, aim, &world, keys);
    if let (Some(letter), Some(noted)) = (&context.typed.round, noted) {
        let counting = Counting::of(noted.places(), planned.as_ref().ok(), &base(subject)?);
        counting::say(&counting, letter);
    }
    context.stages.end("plan");
    match planned {
        Ok(resolved) => {
            limit::leaves_some(aim.selection.limit, &resolved.limited)?;
            // A run asks the shell that it starts anyway.
            if aim.purpose != Purpose::Run {
                demand_syntax(subject, context, options, &resolved, &world)?;
            }
            view::trace::source(subject.loaded, options);
            view::trace::plan(&resolved.plan, options);
            Ok(resolved)
        }
        Err(Unplanned::Key(error)) => Err(Failure::key(error).into()),
        Err(Unplanned::Errors(errors)) => match watched.cut_off(CUT_OFF) {
            Some(stopped) => Err(stopped),
            None => {
                let errors = syntax::in_place_of(errors, subject.loaded, &context.registry, &world);
                let exit = unplanned(&errors);
                report(subject, errors, context, options.is_json())?;
                Err(Stopped::Ended(exit))
            }
        },
    }
}

/// Has the shell's parser read the steps of a plan; what it rejects is shown.
pub(crate) fn demand_syntax(
    subject: &Subject<'_>,
    context: &Context<'_>,
    options: &PlanOptions,
    resolved: &Resolved,
    world: &OsWorld,
) -> Result<(), Stopped> {
    let found = syntax::of_plan(&resolved.plan, &subject.loaded.text, world)?;
    if found.is_empty() {
        return Ok(());
    }
    // A step of a configuration is where its entry begins; the file says where its commands are.
    let found = match subject.loaded.config() {
        Some(config) => syntax::of_config(config, &subject.loaded.text, &context.registry, world)?,
        None => found,
    };
    report(subject, found, context, options.is_json())?;
    Err(Stopped::Ended(Exit::Source))
}

pub(crate) fn report(
    subject: &Subject<'_>,
    diagnostics: Vec<Diagnostic>,
    context: &Context<'_>,
    json: bool,
) -> Result<(), Failure> {
    if let Some(first) = diagnostics.iter().find(|it| it.is_error()) {
        context.reported.because(&first.message);
    }
    let files = CheckedFile::of(subject.loaded, diagnostics);
    if json {
        view::check::show(&files, "json", context.inks())?;
    } else {
        view::check::to_stderr(&files, context.err())?;
    }
    Ok(())
}

/// The machine, seen from where the steps start.
pub(crate) fn world(
    subject: &Subject<'_>,
    context: &Context<'_>,
    options: &PlanOptions,
) -> Result<OsWorld, Failure> {
    let start = start(subject)?;
    let reach = Some(reach(subject, context, options)?);
    let surroundings = surroundings(subject, context, options, start)?;
    Ok(OsWorld::new(Surroundings { reach, ..surroundings }))
}

/// Who opens sessions on targets. What is sent there is read beside the source.
pub(crate) fn reach(
    subject: &Subject<'_>,
    context: &Context<'_>,
    options: &PlanOptions,
) -> Result<Arc<dyn Reach>, Failure> {
    let base = base(subject)?;
    if let Some((_, known)) = context.reach.get().filter(|(place, _)| *place == base) {
        return Ok(Arc::clone(known));
    }
    let surroundings = surroundings(subject, context, options, base.clone())?;
    let root = context.root(options.root.as_ref());
    let reach = targets::from(surroundings, context.ambient.is_interactive(), root);
    let _ = context.reach.set((base, Arc::clone(&reach)));
    Ok(reach)
}

fn surroundings(
    subject: &Subject<'_>,
    context: &Context<'_>,
    options: &PlanOptions,
    start: PathBuf,
) -> Result<Surroundings, Failure> {
    let imported = &subject.loaded.imports.program.variables;
    let Environment { all, declared } =
        context.environment_with(imported, &options.env_files)?.clone();
    Ok(Surroundings {
        environment: all,
        start,
        caller: here()?,
        home: context.ambient.home.clone(),
        declared,
        entries: None,
        pages: Some(helpers::pages()),
        reach: None,
    })
}

/// Where the steps of `subject` would run.
pub(crate) fn place<'p>(
    subject: &Subject<'_>,
    context: &'p Context<'_>,
    options: &PlanOptions,
) -> Result<Place<'p>, Failure> {
    let imported = &subject.loaded.imports.program.variables;
    let environment = &context.environment_with(imported, &options.env_files)?.all;
    let here = here()?;
    let start = subject.start_from(&here);
    let (from, base) = (start.clone(), subject.base_from(&here));
    let entries = remembered(context, options, &base, EntryUse::Usual, false);
    let session = move || -> Arc<dyn opal_session::Session + Send> {
        Arc::new(LocalSession::new(Setup {
            environment: Arc::clone(environment),
            start: from.clone(),
            home: context.ambient.home.clone(),
            marker: u32::from_le_bytes(opal_trust::keys::name()).to_string(),
            terminal: None,
            entries: entries.clone(),
            pages: Some(helpers::pages()),
        }))
    };
    let reach = Some(reach(subject, context, options)?);
    Ok(Place { session: Box::new(session), reach, start, base, clock: crate::clock::now })
}

/// What is remembered of earlier runs of a source in `base`; none without a runtime root.
pub(crate) fn remembered(
    context: &Context<'_>,
    options: &PlanOptions,
    base: &Path,
    how: EntryUse,
    makes_key: bool,
) -> Option<Arc<dyn EntryStore>> {
    let root = context.root(options.root.as_ref())?;
    Some(Arc::new(MachineEntries::new(root, base.to_owned(), top_around, how, makes_key)))
}

/// Where the first step starts.
pub(crate) fn start(subject: &Subject<'_>) -> Result<PathBuf, Failure> {
    Ok(subject.start_from(&here()?))
}

/// Where relative paths of resources begin.
pub(crate) fn base(subject: &Subject<'_>) -> Result<PathBuf, Failure> {
    Ok(subject.base_from(&here()?))
}

/// The keys of a plan that is made here.
pub(crate) fn own_keys<'k>(
    subject: &'k Subject<'_>,
    context: &'k Context<'_>,
    options: &'k PlanOptions,
) -> OwnKeys<'k> {
    let load = move || {
        let runner = runner(context, options)?;
        Ok((runner, project_name(&subject.loaded.path)))
    };
    OwnKeys::new(subject.target(), Box::new(load))
}

/// The same for what leaves nothing behind: no key is made.
pub(crate) fn passing_keys<'k>(
    subject: &'k Subject<'_>,
    context: &'k Context<'_>,
    options: &'k PlanOptions,
) -> OwnKeys<'k> {
    let load = move || {
        let known = known_runner(context, options)?;
        let runner = known.unwrap_or_else(|| Runner::ephemeral("nothing is left"));
        Ok((runner, project_name(&subject.loaded.path)))
    };
    OwnKeys::new(subject.target(), Box::new(load))
}

/// The view of a plan that was made here. What was drawn for it may be `fleeting`: nothing
/// keeps it.
pub(crate) fn view<'p>(
    resolved: &'p Resolved,
    keys: &OwnKeys<'_>,
    context: &'p Context<'_>,
    fleeting: bool,
) -> PlanView<'p> {
    let plan = &resolved.plan;
    let mut notes = Vec::new();
    let ephemeral = keys.used_runner().and_then(Runner::why_ephemeral);
    if let Some(why) = ephemeral {
        notes.push(format!("the placeholders are valid only for this view: {why}"));
    }
    if fleeting && keys.drew() {
        notes.push("the random values are generated for this plan only".to_owned());
    }
    let facts = Facts {
        key_of_process: ephemeral.is_some(),
        compiler_version: Some(env!("CARGO_PKG_VERSION").into()),
        plugins: providers::of(plan, &context.registry),
        ..Facts::default()
    };
    PlanView::new(plan, plan_hash(plan))
        .with_registry(&context.registry)
        .with_facts(facts)
        .with_notes(notes)
}

/// What a plan that could not be made ends with: the source may be fine, and the world not.
fn unplanned(errors: &[Diagnostic]) -> Exit {
    use Code::{ValueFailed, ValueMissing, ValueUnreachable};
    let is_value =
        |error: &Diagnostic| matches!(error.code, ValueMissing | ValueFailed | ValueUnreachable);
    match errors.iter().all(is_value) {
        true if errors.iter().any(|error| error.code == ValueUnreachable) => Exit::Unavailable,
        true => Exit::NoValue,
        false => Exit::Source,
    }
}

/// What the machine is called.
pub(crate) fn host() -> String {
    OsWorld::new(Surroundings::default()).host().name
}

/// The directory of the process.
pub(crate) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        let message = format!("the working directory cannot be used: {error}");
        Failure::new(Exit::NoFile, message, "change to an existing directory: `cd`")
    })
}

/// The key that stands in for the runner's, or the machine's own, made at first need.
pub(crate) fn runner(context: &Context<'_>, options: &PlanOptions) -> Result<Runner, KeyError> {
    if let Some(brought) = brought(context, options.identity.as_deref())? {
        return Ok(brought);
    }
    match context.root(options.root.as_ref()) {
        Some(root) => Runner::of_machine(&root),
        None => Ok(Runner::ephemeral("no home directory for a key")),
    }
}

/// The same key where there is one already: looking makes none.
pub(crate) fn known_runner(
    context: &Context<'_>,
    options: &PlanOptions,
) -> Result<Option<Runner>, KeyError> {
    if let Some(brought) = brought(context, options.identity.as_deref())? {
        return Ok(Some(brought));
    }
    context.root(options.root.as_ref()).map_or(Ok(None), |root| Runner::known(&root))
}

/// The key that `--identity` or `$OPAL_IDENTITY` brings, in place of the machine's.
pub(crate) fn brought(
    context: &Context<'_>,
    identity: Option<&str>,
) -> Result<Option<Runner>, KeyError> {
    let source = match (identity, &context.ambient.identity) {
        (Some(option), _) => IdentitySource::from_option(option)?,
        (None, Some(variable)) => {
            IdentitySource::from_variable(variable, context.ambient.home.as_deref())?
        }
        (None, None) => return Ok(None),
    };
    source.load().map(Some)
}
