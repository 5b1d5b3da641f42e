//! `opal plugin`: packages of decorators.

mod acceptance;
pub(crate) mod author;
mod bundle;
mod fetching;
mod files;
mod index;
mod mirroring;
mod project;
mod providers;
mod publishing;
mod reaching;
pub(crate) mod rebuild;
mod report;
mod templates;
mod verify;

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::{LineIndex, suggest};
use opal_files::SystemError;
use opal_plugins::accept::Acceptances;
use opal_plugins::adapt::native::NativeRules;
use opal_plugins::address::{Address, AddressError, is_local};
use opal_plugins::capability::Capability;
use opal_plugins::installed::{Installed, LoadError};
use opal_plugins::lock::{self, Lock};
use opal_plugins::names::Requirement;
use opal_plugins::project::{Wanted, requirement};

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::decorators::{core, failure, unaccepted};
use crate::failure::{Exit, Failure};
use crate::{helpers, view};

use acceptance::Question;
use fetching::Fetching;
use files::write;
use project::Project;
use providers::Getting;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("add", matches)) => add(context, matches),
        Some(("remove", matches)) => remove(context, matches),
        Some(("update", matches)) => install(context, matches, true),
        Some(("install", matches)) => install(context, matches, false),
        Some(("search", matches)) => search(context, matches),
        Some(("list", matches)) => list(context, matches),
        Some(("info", matches)) => info(context, matches),
        Some(("accepted", matches)) => accepted(context, matches),
        Some(("trust", matches)) => trust(context, matches),
        Some(("init", matches)) => author::init(matches),
        Some(("verify", matches)) => verify::run(context, matches),
        Some(("pack", matches)) => publishing::pack(context, matches),
        Some(("publish", matches)) => publishing::publish(context, matches),
        Some(("yank", matches)) => publishing::yank(context, matches),
        Some(("mirror", matches)) => publishing::mirror(context, matches),
        _ => Err(Failure::usage("`opal plugin` needs a command", "see `opal plugin --help`")),
    }
}

fn machine(context: &Context<'_>, matches: &ArgMatches) -> Result<Acceptances, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    Acceptances::load(&root).map_err(|error| unaccepted(&root, error))
}

/// `opal add` and `opal plugin add`.
pub(crate) fn add(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = word(matches, "package");
    let project = Project::here(context, matches)?;
    let alias = matches.get_one::<String>("as").cloned();
    if providers::is_provider(&given) {
        return providers::add(context, matches, &project, &given, alias);
    }
    let allow = allowed(matches)?;
    let new = if is_local(&given) {
        let key = project.key(Path::new(&given))?;
        match project.read_package(&key, alias) {
            Ok(one) => one.wanted,
            Err(LoadError::Manifest { directory, faulty }) => {
                return faults(context, directory, faulty);
            }
            Err(error) => return Err(failure(&project.file, error)),
        }
    } else {
        let (address, key, requirement) = elsewhere(&given)?;
        Wanted { alias, ..Wanted::plain(&key, address, requirement) }
    };
    if project.wanted.iter().any(|wanted| wanted.key == new.key) {
        let help = "change its version in opal.mod; `opal plugin install` accepts it as it is now";
        let message = format!("`{}` is in opal.mod already", new.key);
        return Err(Failure::new(Exit::Configuration, message, help));
    }
    let mut wanted = project.wanted.clone();
    wanted.push(new.clone());
    let fetching = Fetching::new(context, matches, &project)?;
    let resolved = fetching.resolve(&wanted, None)?;
    let mut all = project.fetched(wanted, &resolved.lock)?;
    let Some(one) = all.iter_mut().find(|one| one.wanted.key == new.key) else {
        return Err(Failure::new(Exit::Bug, "the package is not there", "report this"));
    };
    if one.wanted.requirement.to_string() == NEWEST {
        // Whoever names no version gets what fits the newest one.
        let fits = format!("^{}", one.version());
        one.wanted.requirement = fits.parse().unwrap_or_else(|_| Requirement::any(&fits));
    }
    if !allow.is_empty() {
        // What the package names itself, and the hosts that it leaves open.
        let is_closed = |it: &&Capability| !matches!(it, Capability::Open(_));
        let closed = one.manifest.capabilities.iter().filter(is_closed).cloned();
        one.wanted.allow = Some(closed.chain(allow).collect());
    }
    let one = all.iter().find(|one| one.wanted.key == new.key).expect("it was there");
    let near = all.iter().find(|other| suggest::distance(other.name(), one.name()) == 1);
    let question = Question {
        context,
        matches,
        project: &project,
        policy: fetching.policy(),
        near: near.map(Installed::name),
        before: None,
    };
    view::plugin::notes(&resolved.notes);
    let meant: Vec<&Installed> =
        all.iter().filter(|it| it.name() == one.name() || it.wanted.is_needed).collect();
    question.accept(&meant)?;
    let text = project.with(one)?;
    write(&project.file, &text)?;
    write(&project.lock_file(), &project.lock_of(&all).write())?;
    let notes = compiled(context, matches, &meant, resolved.notes);
    view::plugin::added(one, &notes, matches.get_flag("json"))
}

/// Compiles the code of packages that were accepted; more notes, where one cannot be compiled.
fn compiled(
    context: &Context<'_>,
    matches: &ArgMatches,
    all: &[&Installed],
    mut notes: Vec<String>,
) -> Vec<String> {
    let root = context.root(matches.get_one("root"));
    helpers::run_packages(root.as_ref(), NativeRules::default());
    let failed = |one: &&Installed| {
        let why = one.compile()?;
        Some(format!("{} {} cannot be compiled: {why}", one.name(), one.version()))
    };
    let more: Vec<String> = all.iter().filter_map(failed).collect();
    view::plugin::notes(&more);
    notes.extend(more);
    notes
}

/// The capabilities of `--allow`.
fn allowed(matches: &ArgMatches) -> Result<Vec<Capability>, Failure> {
    let given = matches.get_many::<String>("allow").into_iter().flatten();
    let read = |text: &String| match text.parse::<Capability>() {
        Ok(open @ Capability::Open(_)) => {
            let message = format!("`--allow {open}` names no host");
            Err(Failure::usage(message, format!("write `--allow {open}:HOST`")))
        }
        Ok(found) => Ok(found),
        Err(why) => {
            let help = "write it as `net:vault.example`; see `opal explain E1308`";
            Err(Failure::usage(format!("`--allow {text}` is not a capability: {why}"), help))
        }
    };
    given.map(read).collect()
}

/// What is wrong with the files of a package, each line of it.
fn faults(
    context: &Context<'_>,
    directory: PathBuf,
    faulty: Vec<opal_plugins::manifest::Faulty>,
) -> Result<Exit, Failure> {
    let file = |it: opal_plugins::manifest::Faulty| {
        let name = directory.join(&it.file).display().to_string();
        CheckedFile::new(name, it.text, it.diagnostics)
    };
    let files: Vec<CheckedFile> = faulty.into_iter().map(file).collect();
    view::check::to_stderr(&files, context.err())?;
    Ok(Exit::Source)
}

/// What is wanted of a package whose version nobody names.
const NEWEST: &str = ">=0.0.0";

/// `acme/vault@1.2`, `github.com/team/k8s@v1`, `git@host:o/r.git@v2.0.0`.
fn elsewhere(given: &str) -> Result<(Address, String, Requirement), Failure> {
    let (key, version) = match given.rsplit_once('@') {
        Some((key, version)) if Address::parse(key).is_ok() => (key, Some(version)),
        _ => (given, None),
    };
    let help = "write it like `acme/vault@1.2`, `github.com/team/k8s@v1.0.0` or `./plugins/house`";
    let address = Address::parse(key).map_err(|error| match error {
        AddressError::Terraform => {
            Failure::usage(format!("`{key}` is not the address of a provider"), help)
        }
        AddressError::Invalid => {
            Failure::usage(format!("`{key}` is not the address of a package"), help)
        }
    })?;
    let requirement = match (version, &address) {
        (Some(text), _) => requirement(&address, text)
            .ok_or_else(|| Failure::usage(format!("`{text}` is not a version of `{key}`"), help))?,
        (None, Address::Git(_)) => {
            let message = format!("`{key}` needs a tag, a branch or a commit");
            return Err(Failure::usage(message, format!("write `{key}@v1.0.0`")));
        }
        (None, _) => NEWEST.parse().unwrap_or_else(|_| Requirement::any(NEWEST)),
    };
    Ok((address, key.to_owned(), requirement))
}

fn remove(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = word(matches, "package");
    let project = Project::here(context, matches)?;
    if providers::is_provider(&given) {
        return providers::remove(&project, &given, matches.get_flag("json"));
    }
    let wanted = project.find(&given)?;
    let text = project.without(&wanted.key)?;
    let left = project.wanted.iter().filter(|it| it.key != wanted.key).cloned().collect();
    let all = project.packages(left, project.lock.as_ref())?;
    write(&project.file, &text)?;
    write(&project.lock_file(), &project.lock_of(&all).write())?;
    view::plugin::removed(&wanted.key, matches.get_flag("json"))
}

/// `opal plugin install`, and `update`, which may change versions.
fn install(context: &Context<'_>, matches: &ArgMatches, updates: bool) -> Result<Exit, Failure> {
    let project = Project::here(context, matches)?;
    let given = matches.try_get_many::<String>("package").ok().flatten();
    let given: Vec<&String> = given.into_iter().flatten().collect();
    let only = given.iter().map(|given| project.find(given)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<String> = given.iter().map(|it| (*it).clone()).collect();
    let fetching = Fetching::new(context, matches, &project)?;
    let resolved = fetching.resolve(&project.wanted, updates.then_some(&names))?;
    let all = project.fetched(project.wanted.clone(), &resolved.lock)?;
    let is_meant = |one: &&Installed| {
        only.is_empty()
            || one.wanted.is_needed
            || only.iter().any(|only| only.key == one.wanted.key)
    };
    let meant: Vec<&Installed> = all.iter().filter(is_meant).collect();
    let question = Question {
        context,
        matches,
        project: &project,
        policy: fetching.policy(),
        near: None,
        before: project.lock.as_ref().filter(|_| updates),
    };
    view::plugin::notes(&resolved.notes);
    question.accept(&meant)?;
    let getting = Getting::new(context, matches, &project)?;
    let providers = getting.all(&project.providers, &question, updates)?;
    let text = Lock { providers, ..Installed::lock(&all) }.write();
    let is_new = crate::decorators::text_of(&project.lock_file())?.as_deref() != Some(&text);
    if is_new {
        write(&project.lock_file(), &text)?;
    }
    let written = is_new.then_some(lock::FILE);
    let notes = compiled(context, matches, &meant, resolved.notes);
    view::plugin::installed(&meant, written, &notes, matches.get_flag("json"))
}

fn search(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let project = Project::here(context, matches)?;
    let words = matches.get_many::<String>("word").into_iter().flatten().cloned();
    let words: Vec<String> = words.collect();
    let found = Fetching::new(context, matches, &project)?.list("search", &words)?;
    view::plugin::found(&found, matches.get_flag("json"))
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let project = Project::here(context, matches)?;
    let all = project.packages(project.wanted.clone(), project.lock.as_ref())?;
    let accepted = machine(context, matches)?;
    let providers = Getting::new(context, matches, &project)?.rows(&project, &accepted);
    view::plugin::list(&all, &providers, &accepted, matches.get_flag("json"))
}

fn info(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = word(matches, "package");
    let project = Project::here(context, matches)?;
    let one = match project.find(&given) {
        Ok(wanted) => project.read(wanted.clone()),
        Err(_) if Path::new(&given).is_dir() => {
            let key = project.key(Path::new(&given))?;
            project.read_package(&key, None)
        }
        Err(_) if project.has_registry_of(&given) => {
            let found = Fetching::new(context, matches, &project)?.list("versions", &[given])?;
            return view::plugin::versions(&found, matches.get_flag("json"));
        }
        Err(failure) => return Err(failure),
    };
    let one = one.map_err(|error| failure(&project.file, error))?;
    let accepted = machine(context, matches)?;
    view::plugin::info(&one, &accepted, matches.get_flag("json"))
}

fn accepted(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let found = machine(context, matches)?;
    // A directory of this machine means nothing on another.
    let found = Acceptances { trusted: Default::default(), ..found };
    view::plugin::accepted(&found, matches.get_flag("json"))
}

fn trust(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given: &PathBuf = matches.get_one("directory").expect("clap demands it");
    let whole = given.canonicalize().map_err(|error| {
        let message = format!("`{}` cannot be used: {}", given.display(), SystemError(&error));
        Failure::new(Exit::NoFile, message, "name an existing directory")
    })?;
    if !whole.is_dir() || whole.parent().is_none() {
        let message = format!("`{}` is not a directory of packages", given.display());
        return Err(Failure::usage(message, "name the directory that your packages are in"));
    }
    let mut found = machine(context, matches)?;
    found.trusted.insert(whole.clone());
    let root = context.needed_root(matches.get_one("root"))?;
    found.save(&root).map_err(acceptance::unsaved)?;
    view::plugin::trusted(&whole, matches.get_flag("json"))
}

fn word(matches: &ArgMatches, name: &str) -> String {
    matches.get_one::<String>(name).cloned().unwrap_or_default()
}
