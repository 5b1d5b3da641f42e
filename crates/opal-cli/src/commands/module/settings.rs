//! What a run of modules works with, as the command line and the environment have it.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_modules::inputs::Given;
use opal_modules::keep::RuntimeRoot;
use opal_modules::run::Programs;
use opal_modules::{ModuleRef, Places};
use serde_json::Value;

use super::inputs::places;
use crate::ambient::Ambient;
use crate::context::Context;
use crate::failure::module::not_found;
use crate::failure::{Exit, Failure};
use crate::module_roots::RootVariables;
use crate::view::module as view;

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) places: Places,
    pub(crate) root: RuntimeRoot,
    /// Whether it was typed, and so belongs to what a contract has planned.
    pub(crate) is_root_typed: bool,
    pub(crate) programs: Programs,
    /// Where evidence goes instead.
    pub(crate) out_dir: Option<PathBuf>,
    /// Why nobody looks whether a run can begin.
    pub(crate) skip_preflight: Option<String>,
    /// Whether a person is shown the plan of what changes something, and asked.
    pub(crate) asks: bool,
    /// What variables say to every module.
    pub(crate) said: Given,
    /// Takes what would be printed as JSON, where several runs are one document.
    pub(crate) gathered: Option<RefCell<Vec<Value>>>,
}

impl Settings {
    /// Whether there is such a module at all.
    pub(crate) fn is_there(&self, module: &ModuleRef) -> bool {
        self.places.module(module).join("spec.yml").is_file()
    }

    pub(crate) fn read(context: &Context<'_>, matches: &ArgMatches) -> Result<Self, Failure> {
        let skip = matches.try_get_one::<String>("skip-preflight").ok().flatten().cloned();
        if skip.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            return Err(Failure::usage(
                "`--skip-preflight` needs a reason, which is recorded with the run",
                "write `--skip-preflight=\"the registry is down, tools are installed\"`",
            ));
        }
        let (places, out_dir) = (places(matches)?, out_dir(matches)?);
        out_dir.as_deref().map_or(Ok(()), |folder| beside_packs(folder, &places))?;
        Ok(Self {
            places,
            root: root(context, matches)?,
            is_root_typed: path(matches, "runtime-root").is_some(),
            programs: Programs::new(variable("PATH").as_ref()),
            out_dir,
            skip_preflight: skip,
            asks: false,
            said: Given::default(),
            gathered: None,
        })
    }

    /// Warns of files of variables that say where opal looks, where that is another place.
    pub(crate) fn warn(&self, context: &Context<'_>, env_files: &[PathBuf]) -> Result<(), Failure> {
        warn(context, env_files, &self.places, Some(&self.root))
    }

    /// That a file has faults, which have been shown, where several runs are one document.
    pub(super) fn faulty(&self, file: &Path) -> Option<Failure> {
        let message = format!("`{}` has errors", file.display());
        let help = "fix them; `opal module lint DIR` lists all errors below a directory";
        self.gathered.as_ref().map(|_| Failure::new(Exit::Source, message, help))
    }

    /// For a contract, which says itself where its spec is.
    pub(crate) fn of_spec(
        context: &Context<'_>,
        spec: &Path,
        root: Option<&Path>,
        module: &ModuleRef,
    ) -> Result<Self, Failure> {
        let variables = RootVariables::read();
        let places = Places::find(&variables.hints(Some(root_of(spec, module))));
        Ok(Self {
            places: places.map_err(|missing| not_found(missing, Exit::Configuration))?,
            root: found_root(context, root)?,
            is_root_typed: root.is_some(),
            programs: Programs::new(variable("PATH").as_ref()),
            out_dir: None,
            skip_preflight: None,
            asks: false,
            said: Given::default(),
            gathered: None,
        })
    }
}

/// The modules root that the spec of a module stands in.
fn root_of<'s>(spec: &'s Path, module: &ModuleRef) -> &'s Path {
    let above = 1 + module.path().components().count();
    let folder = spec.ancestors().nth(above).unwrap_or(Path::new(""));
    if folder == Path::new("") { Path::new(".") } else { folder }
}

/// The same, where it must be typed to be found.
pub(super) fn unusual_root(spec: &Path, module: &ModuleRef) -> Option<String> {
    let root = root_of(spec, module);
    let usual = Places::find(&RootVariables::read().hints(None)).ok();
    let is_usual = usual.is_some_and(|usual| is_same(&usual.modules, root));
    (!is_usual).then(|| root.display().to_string())
}

fn path<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m PathBuf> {
    matches.try_get_one::<PathBuf>(name).ok().flatten()
}

/// Where evidence goes instead, whoever reads of it from elsewhere.
pub(super) fn out_dir(matches: &ArgMatches) -> Result<Option<PathBuf>, Failure> {
    let out_dir = path(matches, "out-dir").map(std::path::absolute).transpose();
    let out_dir = out_dir.map_err(|error| Failure::unreadable(Path::new("."), &error))?;
    out_dir.as_deref().map_or(Ok(()), named_in_text)?;
    Ok(out_dir)
}

/// Refuses a directory for evidence among the packs: nothing is ever written there.
fn beside_packs(folder: &Path, places: &Places) -> Result<(), Failure> {
    let whole = |path: &Path| path.canonicalize().ok();
    let packs = places.packs().ok().and_then(whole);
    let there = folder.ancestors().find_map(whole);
    match packs.zip(there) {
        Some((packs, there)) if there.starts_with(&packs) => Err(Failure::usage(
            format!("`--out-dir` is `{}`, which is inside the packs", folder.display()),
            "name another directory: packs are read-only",
        )),
        _ => Ok(()),
    }
}

/// Tools are told of these directories, and documents name them, in text.
fn named_in_text(path: &Path) -> Result<(), Failure> {
    if path.to_str().is_some() {
        return Ok(());
    }
    let message = format!("the name of `{}` is not UTF-8", path.display());
    Err(Failure::new(Exit::Configuration, message, "name a directory in UTF-8"))
}

/// Warns of files of variables that say where opal looks, and say something else than what it does:
/// they are for inputs and for tools.
pub(crate) fn warn(
    context: &Context<'_>,
    env_files: &[PathBuf],
    places: &Places,
    root: Option<&RuntimeRoot>,
) -> Result<(), Failure> {
    let used = [
        ("HYOPS_MODULES_ROOT", Some(places.modules.as_path())),
        ("HYOPS_PACKS_ROOT", places.packs().ok()),
        ("HYOPS_RUNTIME_ROOT", root.map(RuntimeRoot::path)),
    ];
    let said = context.environment(env_files)?;
    let mut warnings = Vec::new();
    for (name, used) in used {
        let own = variable(name);
        let value = said.get(OsStr::new(name)).filter(|value| own.is_none() && !value.is_empty());
        let (Some(value), Some(used)) = (value, used) else { continue };
        if !is_same(Path::new(value), used) {
            warnings.push(format!(
                "`{name}` is read only from the environment, not from a file of variables: `{}` is used",
                used.display()
            ));
        }
    }
    view::warnings(&warnings);
    Ok(())
}

fn is_same(one: &Path, other: &Path) -> bool {
    let found = one.canonicalize().ok().zip(other.canonicalize().ok());
    one == other || found.is_some_and(|(one, other)| one == other)
}

pub(super) fn variable(name: &str) -> Option<OsString> {
    Ambient::environment().remove(OsStr::new(name)).filter(|value| !value.is_empty())
}

/// The runtime root; nothing is made yet.
pub(crate) fn root(context: &Context<'_>, matches: &ArgMatches) -> Result<RuntimeRoot, Failure> {
    found_root(context, path(matches, "runtime-root").map(PathBuf::as_path))
}

fn found_root(context: &Context<'_>, typed: Option<&Path>) -> Result<RuntimeRoot, Failure> {
    let named = variable("HYOPS_RUNTIME_ROOT");
    let found = RuntimeRoot::find(typed, named.as_deref(), context.ambient.home.as_deref());
    let found = found.map_err(|missing| not_found(missing, Exit::Configuration))?;
    named_in_text(found.path())?;
    Ok(found)
}
