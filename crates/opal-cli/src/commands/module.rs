//! `opal module`: looking at modules. Nothing here runs one.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::{Diagnostic, Severity, suggest};
use opal_modules::module::inputs::{self, Given};
use opal_modules::module::lint::{self, Findings};
use opal_modules::module::load::{self, Read};
use opal_modules::module::{Hints, ModuleRef, NotFound, Places, Spec};
use serde_json::{Map, Value};

use crate::ambient::Ambient;
use crate::builtins::MODULE_LATER;
use crate::commands::check::CheckedFile;
use crate::dispatch::Context;
use crate::failure::{Exit, Failure};
use crate::project;
use crate::view::module as view;

const VERBS: [&str; 4] = ["lint", "list", "show", "validate"];

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("list", matches)) => list(context, matches),
        Some(("show", matches)) => show(context, matches),
        Some(("validate", matches)) => validate(context, matches),
        Some(("lint", matches)) => lint(context, matches),
        Some((verb, _)) if MODULE_LATER.contains(&verb) => Err(Failure::new(
            Exit::Unavailable,
            format!("`opal module {verb}` is not part of this version"),
            "modules can be listed, shown, linted and validated; see `opal module --help`",
        )),
        Some((verb, _)) => {
            let near = suggest::nearest(verb, VERBS.into_iter().chain(MODULE_LATER));
            let help = near.map_or("see `opal module --help`".to_owned(), |near| {
                format!("did you mean `opal module {near}`?")
            });
            Err(Failure::usage(format!("`opal module` has no command `{verb}`"), help))
        }
        None => Err(Failure::usage("`opal module` needs a command", "see `opal module --help`")),
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
}

fn places(matches: &ArgMatches) -> Result<Places, Failure> {
    let around = Surroundings::read();
    let hints = Hints {
        module_root: matches.get_one::<PathBuf>("module-root").map(PathBuf::as_path),
        modules_variable: around.modules.as_deref(),
        packs_variable: around.packs.as_deref(),
        program: around.program.as_deref(),
    };
    Places::find(&hints).map_err(|missing| not_found(missing, Exit::Configuration))
}

fn not_found(missing: NotFound, exit: Exit) -> Failure {
    Failure::new(exit, missing.message, missing.help)
}

fn reference(matches: &ArgMatches) -> Result<ModuleRef, Failure> {
    let text = matches.get_one::<String>("module").map_or("", String::as_str);
    ModuleRef::parse(text).map_err(|no| Failure::usage(no.message, no.help))
}

/// A spec without faults; else what is wrong with it has been shown.
fn whole<T>(read: Read<T>, context: &Context<'_>, json: bool) -> Result<Option<T>, Failure> {
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

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let places = places(matches)?;
    let found = look(&places.modules)?;
    let specs = found.files.iter().filter(|file| file.path.ends_with("spec.yml"));
    let listed: Vec<(String, Option<Spec>)> = specs
        .map(|file| {
            let folder = file.path.parent().unwrap_or(Path::new(""));
            let folder = folder.strip_prefix(&places.modules).unwrap_or(folder);
            let is_whole = !file.diagnostics.iter().any(Diagnostic::is_error);
            let spec = is_whole.then(|| Spec::read(&file.text).found).flatten();
            (folder.display().to_string(), spec)
        })
        .collect();
    view::list(&listed, context, matches.get_flag("json"))
}

fn show(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = matches.get_flag("json");
    let read = load::spec(&places, &module).map_err(|it| not_found(it, Exit::NoFile))?;
    match whole(read, context, json)? {
        Some(spec) => view::show(&spec, json),
        None => Ok(Exit::Source),
    }
}

fn validate(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (places, module) = (places(matches)?, reference(matches)?);
    let json = matches.get_flag("json");
    let missing = |it| not_found(it, Exit::Source);
    let read = load::spec(&places, &module).map_err(|it| not_found(it, Exit::NoFile))?;
    let source = (read.path.display().to_string(), read.text.clone());
    let Some(spec) = whole(read, context, json)? else { return Ok(Exit::Source) };
    let profile = load::profile(&places, &spec).map_err(missing)?;
    let Some(profile) = whole(profile, context, json)? else { return Ok(Exit::Source) };
    let unknown = spec.unknown_hooks(Some(&profile));
    if !unknown.is_empty() {
        view::faults(&checked(source.0, source.1, unknown), context, json)?;
        return Ok(Exit::Source);
    }
    let stack = places.stack(&spec.execution.driver, &spec.execution.pack).map_err(missing)?;
    for dependency in spec.dependencies.iter().filter(|dependency| dependency.required) {
        load::spec(&places, &dependency.module_ref).map_err(missing)?;
    }
    let schema = load::schema(&places, &module).map_err(missing)?;
    let Some(given) = given(context, matches)? else { return Ok(Exit::Source) };
    let inputs = inputs::resolve(&spec, &given, schema.as_ref()).map_err(|invalid| {
        let help = "say it with `--inputs FILE`, `HYOPS_INPUT_<key>` or `HYOPS_INPUTS_JSON`";
        Failure::new(Exit::Source, invalid.to_string(), help)
    })?;
    let keys: Vec<&str> = inputs.keys().map(String::as_str).collect();
    view::valid(&spec, &stack, &keys, json)
}

/// What is said besides the spec; none where the file of inputs has faults, which have been shown.
fn given(context: &Context<'_>, matches: &ArgMatches) -> Result<Option<Given>, Failure> {
    let mut given = Given::default();
    if let Some(path) = matches.get_one::<PathBuf>("inputs") {
        match file_of_inputs(path)? {
            Ok(file) => given.file = file,
            Err(faults) => {
                view::faults(&faults, context, matches.get_flag("json"))?;
                return Ok(None);
            }
        }
    }
    for (name, value) in Ambient::environment() {
        let Some(name) = name.to_str() else { continue };
        let is_json = name == inputs::JSON_VARIABLE;
        let Some(path) = name.strip_prefix(inputs::VARIABLE).or(is_json.then_some("")) else {
            continue;
        };
        let value = value.into_string().map_err(|_| {
            let message = format!("the variable `{name}` is not UTF-8");
            Failure::new(Exit::Source, message, "inputs are text")
        })?;
        if is_json {
            given.json = Some(value).filter(|value| !value.is_empty());
        } else {
            given.variables.push((path.to_owned(), value));
        }
    }
    Ok(Some(given))
}

fn file_of_inputs(path: &Path) -> Result<Result<Map<String, Value>, CheckedFile>, Failure> {
    let source = project::read(path)?;
    let text = match source.text {
        Ok(text) => text,
        Err(no_text) => {
            return Ok(Err(checked(source.name, no_text.shown, vec![no_text.diagnostic])));
        }
    };
    Ok(inputs::read_file(&text).map_err(|faults| checked(source.name, text, faults)))
}

fn lint(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folders = matches.get_many::<PathBuf>("folders").into_iter().flatten();
    let mut all = Findings::default();
    for folder in folders {
        let found = look(folder)?;
        all.files.extend(found.files);
        all.modules += found.modules;
        all.profiles += found.profiles;
        all.blueprints += found.blueprints;
        all.packs += found.packs;
    }
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
    view::lint(&files, &counts, context, matches.get_flag("json"))?;
    let has_errors = files.iter().any(|file| file.count(Severity::Error) > 0);
    Ok(if has_errors { Exit::Source } else { Exit::Done })
}

fn look(folder: &Path) -> Result<Findings, Failure> {
    lint::lint(folder).map_err(|error| {
        let shown = folder.display();
        let help = "name a directory of modules or packs, not too large to be looked through";
        Failure::new(Exit::NoFile, format!("`{shown}` cannot be looked through: {error}"), help)
    })
}
