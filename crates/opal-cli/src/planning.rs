//! From a source to a plan: what every command that plans has in common.

mod project;
pub(crate) mod syntax;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opal_core::contract::plan_hash;
use opal_core::hash::Algorithm;
use opal_core::keys::Keys;
use opal_core::plan::Target;
use opal_core::resolver::Probe;
use opal_core::selection::Selection;
use opal_core::view::{Facts, PlanView};
use opal_core::{Code, Diagnostic, Value};
use opal_modules::run as module;
use opal_plan::check::{self, Checked};
use opal_plan::plan::{Purpose, Request, Resolved, Unplanned, plan, source_hash};
use opal_plan::unit::Unit;
use opal_session::world::{OsWorld, Surroundings};
use opal_trust::contracts::OwnKeys;
use opal_trust::keys::{IdentitySource, KeyError, Runner};

use crate::commands::check::CheckedFile;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::signals::Watched;
use crate::source::{Form, Loaded};
use crate::view;

use project::project_name;
pub(crate) use project::{checked_out, commit, is_as_committed, is_modified, project_file};

/// What there is to say where the time of a run ends before its plan is made.
pub(crate) const CUT_OFF: &str = "planning was cut off";

/// What is planned: a source and a target in it.
#[derive(Debug)]
pub(crate) struct Subject<'s> {
    pub(crate) loaded: &'s Loaded,
    /// None for the script.
    pub(crate) function: Option<String>,
    pub(crate) arguments: BTreeMap<String, Value>,
}

/// A program without mistakes.
#[derive(Debug)]
pub(crate) enum Program {
    Language(Checked),
    /// Of a configuration, or of a run of a module.
    Lowered(Unit),
}

impl Program {
    fn unit(&self) -> &Unit {
        match self {
            Self::Language(checked) => checked.unit(),
            Self::Lowered(unit) => unit,
        }
    }
}

/// What a plan is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim<'a> {
    pub(crate) algorithm: Algorithm,
    pub(crate) purpose: Purpose,
    /// The resources that are verified or applied.
    pub(crate) selection: Selection<'a>,
}

impl<'a> Aim<'a> {
    pub(crate) fn new(purpose: Purpose, options: &PlanOptions) -> Self {
        let algorithm = options.algorithm.unwrap_or_default();
        Self { algorithm, purpose, selection: Selection::default() }
    }

    /// The same for what was asked, `--only` and `--skip` included.
    pub(crate) fn of(purpose: Purpose, asked: &'a Asked) -> Self {
        Self { selection: asked.selection(), ..Self::new(purpose, &asked.plan) }
    }
}

/// What stands in the way was shown already, and the exit code is known; or there is a value.
pub(crate) type Outcome<T> = Result<Result<T, Exit>, Failure>;

impl Subject<'_> {
    pub(crate) fn target(&self) -> &str {
        self.function.as_deref().unwrap_or(Target::SCRIPT)
    }

    /// Looks for mistakes; those that the target does not reach do not stop it.
    pub(crate) fn check(&self, context: &Context<'_>, json: bool) -> Outcome<Program> {
        match self.examine(context) {
            Ok(program) => Ok(Ok(program)),
            Err(errors) => {
                self.report(errors, context, json)?;
                Ok(Err(Exit::Source))
            }
        }
    }

    /// The same, without a word about what stops it.
    pub(crate) fn examine(&self, context: &Context<'_>) -> Result<Program, Vec<Diagnostic>> {
        let loaded = self.loaded;
        let parse = match &loaded.form {
            Form::Language(parse) => parse,
            Form::Config(Ok(config)) => {
                return Ok(Program::Lowered(opal_config::lower(config, &context.registry)));
            }
            Form::Module(run) => return Ok(Program::Lowered(module::lower(&run.prepared))),
            Form::Config(Err(errors)) => return Err(errors.clone()),
        };
        let mut checked = check::check_parsed(parse, &loaded.text, &context.registry);
        let findings = checked.findings(self.function.as_deref());
        if !findings.errors.is_empty() {
            return Err(findings.errors);
        }
        let elsewhere = findings.warnings.iter().filter(|found| found.is_error());
        let elsewhere: usize = elsewhere.map(|found| 1 + found.more).sum();
        if elsewhere > 0 {
            view::check::elsewhere(elsewhere, self.target());
        }
        checked.lower(parse, &loaded.text, self.function.as_deref());
        Ok(Program::Language(checked))
    }

    /// Says where the target does not do what it looks like.
    pub(crate) fn advise(&self, context: &Context<'_>, program: &Program) {
        if let Program::Language(checked) = program {
            let habits = checked.habits(self.function.as_deref());
            view::check::advice(self.loaded, habits, context);
        }
    }

    /// Plans what was examined.
    pub(crate) fn resolve(
        &self,
        context: &Context<'_>,
        program: &Program,
        Aim { algorithm, purpose, selection }: Aim<'_>,
        world: &OsWorld,
        keys: &mut dyn Keys,
    ) -> Result<Resolved, Unplanned> {
        let request = Request {
            unit: program.unit(),
            registry: &context.registry,
            text: self.loaded.parse().map(|parse| (parse, self.loaded.text.as_str())),
            function: self.function.as_deref(),
            arguments: &self.arguments,
            algorithm,
            purpose,
            selection,
        };
        let mut resolved = plan(&request, world, keys)?;
        if self.loaded.parse().is_none() {
            // Its unit was planned without the text beside it.
            resolved.plan.source_hash = source_hash(algorithm, &self.loaded.text);
        }
        Ok(resolved)
    }

    /// The plan, made with `keys`.
    pub(crate) fn plan(
        &self,
        context: &Context<'_>,
        program: &Program,
        options: &PlanOptions,
        aim: Aim<'_>,
        keys: &mut dyn Keys,
        watched: &Watched,
    ) -> Outcome<Resolved> {
        let world = self.world(context, options)?.stopped_by(watched.stop());
        context.stages.end("check");
        let planned = self.resolve(context, program, aim, &world, keys);
        context.stages.end("plan");
        match planned {
            Ok(resolved) => {
                // A run asks the shell that it starts anyway.
                if aim.purpose != Purpose::Run
                    && let Some(exit) = self.misspelt(context, options, &resolved, &world)?
                {
                    return Ok(Err(exit));
                }
                view::trace::source(self.loaded, options);
                view::trace::plan(&resolved.plan, options);
                Ok(Ok(resolved))
            }
            Err(Unplanned::Key(error)) => Err(Failure::key(error)),
            Err(Unplanned::Errors(errors)) => match watched.cut_off(CUT_OFF) {
                Some(ended) => ended.map(Err),
                None => {
                    let exit = unplanned(&errors);
                    self.report(errors, context, options.is_json())?;
                    Ok(Err(exit))
                }
            },
        }
    }

    /// Has the shell's parser read the steps of a plan; what it rejects is shown.
    pub(crate) fn misspelt(
        &self,
        context: &Context<'_>,
        options: &PlanOptions,
        resolved: &Resolved,
        world: &OsWorld,
    ) -> Result<Option<Exit>, Failure> {
        let found = syntax::of_plan(&resolved.plan, &self.loaded.text, world)?;
        if found.is_empty() {
            return Ok(None);
        }
        self.report(found, context, options.is_json())?;
        Ok(Some(Exit::Source))
    }

    pub(crate) fn report(
        &self,
        diagnostics: Vec<Diagnostic>,
        context: &Context<'_>,
        json: bool,
    ) -> Result<(), Failure> {
        let file = self.found(diagnostics);
        if json {
            view::check::show(std::slice::from_ref(&file), "json", context)?;
        } else {
            view::check::to_stderr(&file, context)?;
        }
        Ok(())
    }

    /// The source with what was found in it.
    pub(crate) fn found(&self, diagnostics: Vec<Diagnostic>) -> CheckedFile {
        let (name, text) = (self.loaded.name.clone(), self.loaded.text.clone());
        CheckedFile { name, text, diagnostics, failure: None }
    }

    /// The machine, seen from where the steps start.
    pub(crate) fn world(
        &self,
        context: &Context<'_>,
        options: &PlanOptions,
    ) -> Result<OsWorld, Failure> {
        Ok(OsWorld::new(Surroundings {
            environment: context.environment(&options.env_files)?.clone(),
            start: self.start()?,
            home: context.ambient.home.clone(),
        }))
    }

    /// The steps of a function and of a configuration start beside their file, those of a script
    /// where it was called.
    pub(crate) fn start(&self) -> Result<PathBuf, Failure> {
        let is_script = self.function.is_none() && !self.loaded.is_config();
        if is_script { here() } else { self.base() }
    }

    /// The directory of the source: relative paths of resources begin there.
    pub(crate) fn base(&self) -> Result<PathBuf, Failure> {
        let here = here()?;
        match self.loaded.path.parent() {
            // Joined with nothing, a path would end in a slash, which steps could see.
            Some(folder) if folder != Path::new("") => Ok(here.join(folder)),
            _ => Ok(here),
        }
    }

    /// The keys of a plan that is made here.
    pub(crate) fn own_keys<'k>(
        &'k self,
        context: &'k Context<'_>,
        options: &'k PlanOptions,
    ) -> OwnKeys<'k> {
        let load = move || {
            let runner = runner(context, options)?;
            Ok((runner, project_name(&self.loaded.path)))
        };
        OwnKeys::new(self.target(), Box::new(load))
    }

    /// The same for what leaves nothing behind: no key is made.
    pub(crate) fn passing_keys<'k>(
        &'k self,
        context: &'k Context<'_>,
        options: &'k PlanOptions,
    ) -> OwnKeys<'k> {
        let load = move || {
            let known = known_runner(context, options)?;
            let runner = known.unwrap_or_else(|| Runner::ephemeral("nothing is left behind"));
            Ok((runner, project_name(&self.loaded.path)))
        };
        OwnKeys::new(self.target(), Box::new(load))
    }

    /// The view of a plan that was made here. What was drawn for it may be `fleeting`: nothing
    /// keeps it.
    pub(crate) fn view<'p>(
        &self,
        resolved: &'p Resolved,
        keys: &OwnKeys<'_>,
        context: &'p Context<'_>,
        fleeting: bool,
    ) -> PlanView<'p> {
        let plan = &resolved.plan;
        let mut notes = Vec::new();
        let ephemeral = keys.used_runner().and_then(Runner::why_ephemeral);
        if let Some(why) = ephemeral {
            notes.push(format!("the placeholders hold for this view only: {why}"));
        }
        if fleeting && keys.drew() {
            notes.push("the random values are drawn for this plan and gone with it".to_owned());
        }
        let facts = Facts {
            key_of_process: ephemeral.is_some(),
            compiler_version: Some(env!("CARGO_PKG_VERSION").into()),
            ..Facts::default()
        };
        PlanView::new(plan, plan_hash(plan))
            .with_registry(&context.registry)
            .with_facts(facts)
            .with_notes(notes)
    }
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
        Failure::new(Exit::NoFile, message, "change to a directory that is there: `cd`")
    })
}

/// The key that stands in for the runner's, or the machine's own, made at first need.
pub(crate) fn runner(context: &Context<'_>, options: &PlanOptions) -> Result<Runner, KeyError> {
    if let Some(brought) = brought(context, options.identity.as_deref())? {
        return Ok(brought);
    }
    match context.root(options.root.as_ref()) {
        Some(root) => Runner::of_machine(&root),
        None => Ok(Runner::ephemeral("there is no home directory to keep a key in")),
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
