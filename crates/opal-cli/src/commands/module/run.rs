//! A run of one module: prepared, planned, and shown, kept as a contract, or executed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::ArgMatches;
use opal_core::Value;
use opal_core::plan::Target;
use opal_modules::ModuleRef;
use opal_modules::inputs::{self, Given};
use opal_modules::keep::{Instance, Lock, NoLock, RunId, Unkept};
use opal_modules::load;
use opal_modules::run::Command;
use opal_modules::run::decorators::descriptors;
use opal_modules::run::{Prepared, Run, Unprepared, Wanted, prepare};
use opal_ops::planning::Subject;
use opal_ops::source::Loaded;
use opal_plan::plan::Purpose;

use super::around::{self, Around};
use super::complete::unfound;
use super::keeper::Keeping;
use super::{approval, checked, given, not_found, order, reference};
use crate::commands::execute::recording::MODULE;
use crate::commands::execute::{self, Errand};
use crate::commands::plan;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::{Asked, PlanOptions};
use crate::planning;
use crate::signals::Watched;
use crate::tasks::{option, quoted};
use crate::view::module as view;

/// How long tools have to end once they are asked to: who makes something elsewhere has to wait for it,
/// or nobody knows of it afterwards.
const GRACE: Duration = Duration::from_mins(10);

/// The argument of a plan that says what is done with its module.
const COMMAND: &str = "command";
const INPUTS: &str = "inputs";
/// Where that file was when the plan was made, for who looks for it from elsewhere.
const INPUTS_AT: &str = "inputs_at";
const INSTANCE: &str = "instance";
const OUT_DIR: &str = "out_dir";
const ROOT: &str = "root";
/// Why nobody looks whether the run can begin.
pub(crate) const SKIP: &str = "skip_preflight";
/// Where the files of variables were: a contract holds no values, and who runs it names them again.
const ENV_FILES: &str = "env_files";

/// One module, and what is to be done with it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) module: ModuleRef,
    pub(crate) command: Command,
    pub(crate) instance: Option<Instance>,
    pub(crate) given: Given,
    /// The file of inputs, as it was typed.
    pub(crate) file: Option<String>,
    /// The files of variables, as they were typed.
    pub(crate) env_files: Vec<PathBuf>,
    pub(crate) is_named: bool,
}

impl Job {
    /// A module that comes along with another, and of which variables alone can say something.
    pub(crate) fn along(module: ModuleRef, command: Command, given: Given) -> Self {
        let (file, env_files) = (None, Vec::new());
        Self { module, command, instance: None, given, file, env_files, is_named: false }
    }
}

/// `opal module apply REF` and its like.
pub(crate) fn run(
    context: &Context<'_>,
    matches: &ArgMatches,
    command: Command,
) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let mut around = Around::read(context, matches)?;
    let given = given(context, matches, &asked.plan.env_files)?;
    let Some(given) = given else { return Ok(Exit::Source) };
    around::warn(context, &asked.plan.env_files, (&around.places, Some(&around.root)))?;
    around.asks = approval::is_asked(context, &asked);
    let file = matches.get_one::<PathBuf>(INPUTS);
    let job = Job {
        module: reference(matches)?,
        command,
        instance: around::instance(matches)?,
        given,
        file: file.map(|path| path.display().to_string()),
        env_files: asked.plan.env_files.clone(),
        is_named: true,
    };
    let watched = watched(&asked)?;
    let is_set = matches.try_get_one::<bool>("with-deps").ok().flatten().copied();
    if !is_set.unwrap_or(false) {
        return one(context, &asked, &around, job, &watched);
    }
    around.gathered = asked.plan.is_json().then(RefCell::default);
    let module = job.module.clone();
    let exit = with_deps(context, &asked, &around, job, &watched)?;
    if let Some(runs) = around.gathered {
        view::with_deps((&module, command), runs.into_inner(), exit)?;
    }
    Ok(exit)
}

/// Who hears of Ctrl+C and of the end of the time, for all runs of one command; where nothing runs, Ctrl+C
/// ends opal itself.
pub(crate) fn watched(asked: &Asked) -> Result<Watched, Failure> {
    let watched = if asked.plan.dry_run { Watched::nothing() } else { Watched::begin()? };
    watched.be_patient(GRACE);
    Ok(watched.within(asked.run.timeout))
}

/// Runs a module, and before it what it builds on.
pub(crate) fn with_deps(
    context: &Context<'_>,
    asked: &Asked,
    around: &Around,
    job: Job,
    watched: &Watched,
) -> Result<Exit, Failure> {
    fit(around, &job)?;
    match order::before(context, asked, around, &job, watched)? {
        Ok(()) => one(context, asked, around, job, watched),
        Err(exit) => Ok(exit),
    }
}

/// Refuses inputs that could never do, before anything that the module builds on is applied. What is
/// imported is not known yet, so nothing is missing.
fn fit(around: &Around, job: &Job) -> Result<(), Failure> {
    let missing = |it| not_found(it, Exit::NoFile);
    let read = load::spec(&around.places, &job.module).map_err(missing)?;
    // What is wrong with it is shown by who needs all of it.
    let Some(spec) = read.checked.found else { return Ok(()) };
    inputs::foreseen(&spec, &job.given).map_err(|invalid| super::invalid(&invalid))
}

/// Runs one module, or shows the plan of that.
pub(crate) fn one(
    context: &Context<'_>,
    asked: &Asked,
    around: &Around,
    job: Job,
    watched: &Watched,
) -> Result<Exit, Failure> {
    runs_whole(asked)?;
    let Some(source) = load(context, around, job, asked.plan.is_json())? else {
        return Ok(Exit::Source);
    };
    let (context, loaded) = (&source.context, &source.loaded);
    let subject = Subject { loaded, function: None, arguments: source.arguments };
    if asked.plan.dry_run {
        asked.for_plan()?;
        if !asked.plan.is_json() {
            view::warnings(&source.run.prepared.warnings);
        }
        return plan::plan(context, &subject, asked);
    }
    asked.for_run()?;
    // Nobody else changes this module until the end.
    let _lock = ready(around, &source.run)?;
    let checked = match planning::check(&subject, context, asked.plan.is_json())? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let mut keys = planning::own_keys(&subject, context, &asked.plan);
    let aim = asked.aim(Purpose::Run);
    let planned =
        planning::plan(&subject, context, &checked, &asked.plan, aim, &mut keys, watched)?;
    let resolved = match planned {
        Ok(resolved) => resolved,
        Err(exit) => return Ok(exit),
    };
    if around.asks && source.run.prepared.command.changes() {
        let shown = planning::view(&resolved, &keys, context, false);
        if let Some(exit) = approval::ask(context, &source.run, &shown, watched)? {
            return Ok(exit);
        }
    }
    let keeper = Keeping::new(context, asked, around, (&source.run, watched));
    let errand = Errand {
        subject: &subject,
        resolved: &resolved,
        watched,
        contract: None,
        claim: None,
        again: None,
        keeper: Some(&keeper),
    };
    execute::execute(context, asked, &errand)
}

/// Refuses what would begin in the middle.
pub(crate) fn runs_whole(asked: &Asked) -> Result<(), Failure> {
    match asked.run.of_a_source() {
        Some(option) => Err(Failure::usage(
            format!(
                "`{option}` is for tasks: a module always runs whole, in a directory of its own"
            ),
            "leave it away",
        )),
        None => Ok(()),
    }
}

/// A module as something that can be planned.
pub(crate) struct Source<'a> {
    /// With the decorators of this run.
    pub(crate) context: Context<'a>,
    pub(crate) loaded: Loaded,
    pub(crate) run: Arc<Run>,
    pub(crate) arguments: BTreeMap<String, Value>,
}

/// Prepares a run; none where the faults of a file have been shown.
pub(crate) fn load<'a>(
    context: &Context<'a>,
    around: &Around,
    job: Job,
    json: bool,
) -> Result<Option<Source<'a>>, Failure> {
    let Job { module, command, instance, given, file, env_files, is_named } = job;
    let mut arguments = BTreeMap::new();
    if !env_files.is_empty() {
        let files = env_files.iter().map(|file| {
            let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            Value::String(whole.display().to_string().into())
        });
        arguments.insert(ENV_FILES.to_owned(), Value::Array(files.collect()));
    }
    let mut argument = |name: &str, value: String| {
        drop(arguments.insert(name.to_owned(), Value::String(value.into())))
    };
    argument(MODULE, module.as_str().to_owned());
    argument(COMMAND, command.name().to_owned());
    instance.iter().for_each(|instance| argument(INSTANCE, instance.as_str().to_owned()));
    if let Some(file) = file {
        let is_far = Path::new(&file).is_absolute();
        if let Some(at) = std::path::absolute(&file).ok().filter(|_| !is_far) {
            argument(INPUTS_AT, at.display().to_string());
        }
        argument(INPUTS, file);
    }
    if around.is_root_typed {
        argument(ROOT, around.root.path().display().to_string());
    }
    around.out_dir.iter().for_each(|folder| argument(OUT_DIR, folder.display().to_string()));
    around.skip_preflight.iter().for_each(|reason| argument(SKIP, reason.clone()));
    let wanted = Wanted {
        command,
        module: &module,
        instance: instance.as_ref(),
        places: &around.places,
        root: &around.root,
        given,
        is_named,
        programs: &around.programs,
    };
    let prepared = told(context, around, (&module, prepare(wanted)), json)?;
    let Some(mut prepared) = prepared else { return Ok(None) };
    let set_aside = prepared.set_aside(context.environment(&env_files)?);
    let id = RunId::new(command.name(), SystemTime::now(), opal_trust::keys::name());
    let run = Arc::new(Run::new(prepared, id));
    let context = context.with(&descriptors(&run)).without(&set_aside);
    let loaded = Loaded::module(Arc::clone(&run));
    Ok(Some(Source { context, loaded, run, arguments }))
}

/// Tells why a run of a module cannot be planned; none where the faults of a file have been shown.
pub(super) fn told(
    context: &Context<'_>,
    around: &Around,
    (module, prepared): (&ModuleRef, Result<Prepared, Unprepared>),
    json: bool,
) -> Result<Option<Prepared>, Failure> {
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(Unprepared::Faults { path, text, diagnostics }) => {
            let file = checked(path.display().to_string(), text, diagnostics);
            view::faults(&file, context, json && around.gathered.is_none())?;
            around.faulty(&path).map_or(Ok(None), Err)
        }
        Err(Unprepared::Missing(missing)) => {
            let exit = match around.is_there(module) {
                true => unfound(&around.places, &missing),
                false => Exit::NoFile,
            };
            Err(not_found(missing, exit))
        }
        Err(Unprepared::Dependency(missing)) => Err(not_found(missing, Exit::Unavailable)),
        Err(Unprepared::Inputs(invalid)) => Err(super::invalid(&invalid)),
    }
}

/// What a contract has planned, as it would be planned today.
pub(crate) fn of_contract<'a>(
    context: &Context<'a>,
    (spec, target): (&Path, &Target),
    options: &PlanOptions,
) -> Result<Option<(Around, Source<'a>)>, Failure> {
    let (text, json) = (|name: &str| argument(target, name), options.is_json());
    let strange = || {
        Failure::new(Exit::Source, "the contract names no module that could be run", "make it anew")
    };
    let module = text(MODULE).and_then(|name| ModuleRef::parse(name).ok()).ok_or_else(strange)?;
    let command = text(COMMAND).and_then(Command::named).ok_or_else(strange)?;
    let instance = text(INSTANCE).map(Instance::parse).transpose().map_err(|_| strange())?;
    let mut around = Around::of_spec(context, (spec, text(ROOT).map(Path::new)), &module)?;
    around.skip_preflight = text(SKIP).map(str::to_owned);
    around.out_dir = text(OUT_DIR).map(PathBuf::from);
    let file = inputs_of(target);
    let said = super::given_with(context, (file.as_deref(), &options.env_files), json);
    let said = said.map_err(|failure| match &file {
        Some(path) if !path.exists() => {
            let anew = typed(target, Some(spec)).unwrap_or_default().join(" ");
            let help = format!("bring it back, or make a new one: `{anew} --dry-run -o FILE`");
            failure.help(format!("the contract was made with it: {help}"))
        }
        _ => failure,
    })?;
    let Some(given) = said else { return Ok(None) };
    around::warn(context, &options.env_files, (&around.places, Some(&around.root)))?;
    let file = file.map(|path| path.display().to_string());
    // The contract has its arguments already.
    let env_files = Vec::new();
    let job = Job { module, command, instance, given, file, env_files, is_named: true };
    Ok(load(context, &around, job, json)?.map(|source| (around, source)))
}

/// What a plan of a module was given.
fn argument<'t>(target: &'t Target, name: &str) -> Option<&'t str> {
    match target.arguments.get(name) {
        Some(Value::String(text)) if target.name == Target::SCRIPT => Some(text.as_ref()),
        _ => None,
    }
}

/// The file of inputs that a plan was made with: as it was named, seen from here, else where it was.
fn inputs_of(target: &Target) -> Option<PathBuf> {
    let near = PathBuf::from(argument(target, INPUTS)?);
    let is_near = near.is_file();
    let at = argument(target, INPUTS_AT).filter(|_| !is_near);
    Some(at.map_or(near, PathBuf::from))
}

/// The words that plan the same again; none where it is no plan of a module.
pub(crate) fn typed(target: &Target, spec: Option<&Path>) -> Option<Vec<String>> {
    let text = |name: &str| argument(target, name);
    let module = ModuleRef::parse(text(MODULE)?).ok()?;
    let mut words = vec!["opal module".to_owned(), text(COMMAND)?.to_owned(), module.to_string()];
    let root = spec.and_then(|spec| around::unusual_root(spec, &module));
    let inputs = inputs_of(target).map(|path| path.display().to_string());
    let options = [
        ("--module-root", root.as_deref()),
        ("--out-dir", text(OUT_DIR)),
        ("--root", text(ROOT)),
        ("--inputs", inputs.as_deref()),
        ("--state-instance", text(INSTANCE)),
    ];
    for (name, value) in options {
        words.extend(value.into_iter().flat_map(|value| option(name, value)));
    }
    words.extend(text(SKIP).map(|reason| format!("--skip-preflight={}", quoted(reason))));
    Some(words)
}

/// The files of variables that a plan of a module was made with.
pub(crate) fn env_files(target: &Target) -> Vec<&str> {
    let Some(Value::Array(files)) = target.arguments.get(ENV_FILES) else { return Vec::new() };
    let texts = files.iter().filter_map(|file| match file {
        Value::String(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// Makes the directories of the runtime root, and sees to it that a module is changed by one at a time.
pub(crate) fn ready(around: &Around, run: &Run) -> Result<Option<Lock>, Failure> {
    around.root.ensure().map_err(|unkept| unwritten(&unkept))?;
    if !run.prepared.command.changes() {
        return Ok(None);
    }
    Lock::take(&run.prepared.state()).map(Some).map_err(|no| match no {
        NoLock::Busy(_) => Failure::new(Exit::Unavailable, no.to_string(), no.help()),
        NoLock::Unkept(unkept) => unwritten(&unkept),
    })
}

pub(crate) fn unwritten(unkept: &Unkept) -> Failure {
    let exit = if unkept.is_unsafe() { Exit::NotTrusted } else { Exit::Write };
    Failure::new(exit, unkept.to_string(), unkept.help())
}
