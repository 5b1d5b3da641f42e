//! `opal module`: looking at modules, and running them.

mod approval;
pub(crate) mod around;
mod basis;
mod complete;
mod init;
mod keeper;
mod machine;
mod masked;
mod new;
mod order;
mod preflight;
pub(crate) mod run;

use std::io;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::{Diagnostic, Severity, suggest};
use opal_modules::inputs::{self, Given, InvalidInputs};
use opal_modules::keep::State;
use opal_modules::lint::{Findings, Lint};
use opal_modules::load::{self, Read};
use opal_modules::run::Command;
use opal_modules::{Hints, ModuleRef, NotFound, Places, Spec};
use serde_json::{Map, Value};

use crate::ambient::Ambient;
use crate::commands::check::CheckedFile;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::options::PlanOptions;
use crate::project;
use crate::view::module as view;

pub(crate) use basis::basis;
pub(crate) use complete::{Complete, complete, messages};
pub(crate) use keeper::Keeping;

const VERBS: [&str; 12] = [
    "apply",
    "deploy",
    "destroy",
    "init",
    "lint",
    "list",
    "new",
    "plan",
    "preflight",
    "show",
    "validate",
    "verify",
];

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some((verb, matches)) => word(context, verb, matches),
        None => Err(Failure::usage("`opal module` needs a command", "see `opal module --help`")),
    }
}

/// A command by its name, as `opal module` and `hyops` have it.
pub(crate) fn word(
    context: &Context<'_>,
    verb: &str,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match verb {
        "list" => list(context, matches),
        "show" => show(context, matches),
        "validate" if !matches.get_flag("tools") => validate(context, matches),
        "lint" => lint(context, matches),
        "init" => init::run(context, matches),
        "new" => new::run(context, matches),
        "preflight" => preflight::run(context, matches),
        _ => match Command::named(verb) {
            Some(command) => run::run(context, matches, command),
            None => {
                let near = suggest::nearest(verb, VERBS);
                let help = near.map_or("see `opal module --help`".to_owned(), |near| {
                    format!("did you mean `opal module {near}`?")
                });
                Err(Failure::usage(format!("`opal module` has no command `{verb}`"), help))
            }
        },
    }
}

/// What the environment says about modules.
struct Surroundings {
    modules: Option<std::ffi::OsString>,
    packs: Option<std::ffi::OsString>,
    program: Option<PathBuf>,
}

impl Surroundings {
    fn read() -> Self {
        let mut environment = Ambient::environment();
        let mut take = |name: &str| {
            environment.remove(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty())
        };
        let (modules, packs) = (take("HYOPS_MODULES_ROOT"), take("HYOPS_PACKS_ROOT"));
        Self { modules, packs, program: Ambient::program() }
    }

    fn hints<'s>(&'s self, module_root: Option<&'s Path>) -> Hints<'s> {
        Hints {
            module_root,
            modules_variable: self.modules.as_deref(),
            packs_variable: self.packs.as_deref(),
            program: self.program.as_deref(),
        }
    }
}

fn places(matches: &ArgMatches) -> Result<Places, Failure> {
    let around = Surroundings::read();
    let module_root = matches.get_one::<PathBuf>("module-root").map(PathBuf::as_path);
    let hints = around.hints(module_root);
    Places::find(&hints).map_err(|missing| not_found(missing, Exit::Configuration))
}

pub(crate) fn not_found(missing: NotFound, exit: Exit) -> Failure {
    Failure::new(exit, missing.message, missing.help)
}

fn reference(matches: &ArgMatches) -> Result<ModuleRef, Failure> {
    let named = |id| matches.try_get_one::<String>(id).ok().flatten();
    let text = named("module").or_else(|| named("module-option")).map_or("", String::as_str);
    ModuleRef::parse(text).map_err(|no| Failure::usage(no.message, no.help))
}

fn invalid(invalid: &InvalidInputs) -> Failure {
    let help = "say it with `--inputs FILE`, `HYOPS_INPUT_<key>` or `HYOPS_INPUTS_JSON`";
    Failure::new(Exit::Source, invalid.to_string(), help)
}

/// A spec without faults; else what is wrong with it has been shown.
pub(crate) fn whole<T>(
    read: Read<T>,
    context: &Context<'_>,
    json: bool,
) -> Result<Option<T>, Failure> {
    let name = read.path.display().to_string();
    let file = checked(name, read.text, read.checked.diagnostics);
    if file.diagnostics.is_empty() {
        return Ok(read.checked.found);
    }
    if read.checked.found.is_none() || !json {
        view::faults(&file, context, json)?;
    }
    Ok(read.checked.found)
}

fn checked(name: String, text: String, diagnostics: Vec<Diagnostic>) -> CheckedFile {
    CheckedFile { name, text, diagnostics, failure: None }
}

/// The modules below the root that the environment names, with their titles; none where there is none.
pub(crate) fn names() -> Vec<(String, Option<String>)> {
    let around = Surroundings::read();
    let found = Places::find(&around.hints(None)).ok().and_then(|places| listed(&places).ok());
    found
        .unwrap_or_default()
        .into_iter()
        .map(|(name, spec)| (name, spec.and_then(|it| it.title)))
        .collect()
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let listed = listed(&places(matches)?)?;
    view::list(&listed, context, context.typed.wants_json())
}

/// The directories of specs, with what is in those that have no fault.
fn listed(places: &Places) -> Result<Vec<(String, Option<Spec>)>, Failure> {
    let found = look([places.modules.as_path()])?;
    let specs = found.files.iter().filter(|file| file.path.ends_with("spec.yml"));
    let listed = specs
        .map(|file| {
            let folder = file.path.parent().unwrap_or(Path::new(""));
            let folder = folder.strip_prefix(&places.modules).unwrap_or(folder);
            let is_whole = !file.diagnostics.iter().any(Diagnostic::is_error);
            let spec = is_whole.then(|| Spec::read(&file.text).found).flatten();
            (folder.display().to_string(), spec)
        })
        .collect();
    Ok(listed)
}

fn show(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = context.typed.wants_json();
    let read = load::spec(&places, &module).map_err(|it| not_found(it, Exit::NoFile))?;
    let Some(spec) = whole(read, context, json)? else { return Ok(Exit::Source) };
    // What is kept of runs is told where it is; looking makes no root.
    let states =
        around::root(context, matches).map(|root| root.states(&module)).unwrap_or_default();
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for path in states {
        match State::seen(&path) {
            Ok(state) => found.extend(state),
            Err(unkept) => warnings.push(unkept.to_string()),
        }
    }
    view::warnings(&warnings);
    view::show(&spec, &found, json)
}

fn validate(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = context.typed.wants_json();
    let Some(mut complete) = complete(context, &places, &module, json)? else {
        return Ok(Exit::Source);
    };
    let options = PlanOptions::from(matches)?.or(PlanOptions::before(&context.typed.before)?);
    let given = given(context, matches, &options.env_files)?;
    let Some(given) = given else { return Ok(Exit::Source) };
    around::warn(context, &options.env_files, (&places, None))?;
    let inputs = inputs::outlook(&complete.spec, &given, complete.schema.as_ref());
    let inputs = inputs.map_err(|it| invalid(&it))?;
    complete.unknown(&given, json);
    view::valid(&complete, &inputs, json)
}

/// What is said besides the spec; none where the file of inputs has faults, which have been shown.
fn given(
    context: &Context<'_>,
    matches: &ArgMatches,
    env_files: &[PathBuf],
) -> Result<Option<Given>, Failure> {
    let path = matches.get_one::<PathBuf>("inputs").map(PathBuf::as_path);
    given_with(context, (path, env_files), context.typed.wants_json())
}

/// The same, with this file, and with these of variables for what the environment does not set.
pub(crate) fn given_with(
    context: &Context<'_>,
    (path, env_files): (Option<&Path>, &[PathBuf]),
    json: bool,
) -> Result<Option<Given>, Failure> {
    let mut given = Given::default();
    if let Some(path) = path {
        match file_of_inputs(path)? {
            Ok(file) => given.file = file,
            Err(faults) => {
                view::faults(&faults, context, json)?;
                return Ok(None);
            }
        }
    }
    for (name, value) in context.environment(env_files)? {
        let Some(name) = name.to_str() else { continue };
        let is_json = name == inputs::JSON_VARIABLE;
        let Some(path) = name.strip_prefix(inputs::VARIABLE).or(is_json.then_some("")) else {
            continue;
        };
        let value = value.to_str().ok_or_else(|| {
            let message = format!("the variable `{name}` is not UTF-8");
            Failure::new(Exit::Source, message, "inputs are text")
        })?;
        if is_json {
            given.json = Some(value.to_owned()).filter(|value| !value.is_empty());
        } else {
            given.variables.push((path.to_owned(), value.to_owned()));
        }
    }
    Ok(Some(given))
}

fn file_of_inputs(path: &Path) -> Result<Result<Map<String, Value>, CheckedFile>, Failure> {
    let source = project::read(path).map_err(|failure| Failure {
        help: vec!["`--inputs` names a file in YAML".to_owned()],
        ..failure
    })?;
    let text = match source.text {
        Ok(text) => text,
        Err(no_text) => {
            let shown = masked::masked(&no_text.shown);
            return Ok(Err(checked(source.name, shown, vec![no_text.diagnostic])));
        }
    };
    let shown = |faults| checked(source.name, masked::masked(&text), faults);
    Ok(inputs::read_file(&text).map_err(shown))
}

fn lint(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folders = matches.get_many::<PathBuf>("folders").into_iter().flatten();
    let all = look(folders.map(PathBuf::as_path))?;
    let counts = view::Counts {
        modules: all.modules,
        profiles: all.profiles,
        blueprints: all.blueprints,
        packs: all.packs,
    };
    let files: Vec<CheckedFile> = all
        .files
        .into_iter()
        .map(|file| checked(file.path.display().to_string(), file.text, file.diagnostics))
        .collect();
    view::lint(&files, &counts, context, context.typed.wants_json())?;
    let has_errors = files.iter().any(|file| file.count(Severity::Error) > 0);
    Ok(if has_errors { Exit::Source } else { Exit::Done })
}

fn look<'f>(folders: impl IntoIterator<Item = &'f Path>) -> Result<Findings, Failure> {
    let mut lint = Lint::default();
    for folder in folders {
        lint.add(folder).map_err(|error| unseen(folder, &error))?;
    }
    Ok(lint.finish())
}

fn unseen(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("`{}` cannot be looked through: {error}", folder.display());
    let help = "name a directory of modules or packs, not too large to be looked through";
    Failure::new(Exit::NoFile, message, help)
}
