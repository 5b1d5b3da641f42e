//! `opal plugin`: packages of decorators.

mod acceptance;
mod author;
mod files;
mod project;
pub(crate) mod rebuild;
mod verify;

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_core::{LineIndex, suggest};
use opal_plugins::accept::Acceptances;
use opal_plugins::installed::{Installed, LoadError};
use opal_plugins::lock;
use opal_plugins::project::{Wanted, is_local};

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::decorators::{core, failure, unaccepted};
use crate::failure::{Exit, Failure};
use crate::view;

use acceptance::Question;
use files::write;
use project::Project;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("add", matches)) => add(context, matches),
        Some(("remove", matches)) => remove(context, matches),
        Some(("update" | "install", matches)) => install(context, matches),
        Some(("list", matches)) => list(context, matches),
        Some(("info", matches)) => info(context, matches),
        Some(("accepted", matches)) => accepted(context, matches),
        Some(("trust", matches)) => trust(context, matches),
        Some(("init", matches)) => author::init(matches),
        Some(("verify", matches)) => verify::run(context, matches),
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
    if !is_local(&given) {
        return Err(Failure::new(
            Exit::Unavailable,
            format!(
                "`{given}` is not a directory; registries and git are not supported by this build"
            ),
            "name the directory of a package: `opal plugin add ./plugins/house`",
        ));
    }
    let project = Project::here()?;
    let key = project.key(Path::new(&given))?;
    let read = project.read_package(&key, matches.get_one::<String>("as").cloned());
    let one = match read {
        Ok(one) => one,
        Err(LoadError::Manifest { directory, faulty }) => {
            let file = |it: opal_plugins::manifest::Faulty| {
                let name = directory.join(&it.file).display().to_string();
                CheckedFile::new(name, it.text, it.diagnostics)
            };
            let files: Vec<CheckedFile> = faulty.into_iter().map(file).collect();
            view::check::to_stderr(&files, context.err())?;
            return Ok(Exit::Source);
        }
        Err(error) => return Err(failure(&project.file, error)),
    };
    if project.wanted.iter().any(|wanted| wanted.key == key) {
        let help = "accept it as it is now with `opal plugin install`";
        return Err(Failure::new(
            Exit::Configuration,
            format!("`{key}` is in opal.mod already"),
            help,
        ));
    }
    let mut wanted = project.wanted.clone();
    wanted.push(one.wanted.clone());
    let all = project.packages(wanted)?;
    let near = all.iter().find(|other| suggest::distance(other.name(), one.name()) == 1);
    let notes = near.map(|other| format!("its name is one letter from {}", other.name()));
    let question = Question { context, matches, project: &project };
    question.accept(&[&one], notes.as_slice())?;
    let text = project.with(&one)?;
    write(&project.file, &text)?;
    write(&project.lock_file(), &Installed::lock(&all).write())?;
    view::plugin::added(&one, matches.get_flag("json"))
}

fn remove(_: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = word(matches, "package");
    let project = Project::here()?;
    let wanted = project.find(&given)?;
    let text = project.without(&wanted.key)?;
    let left = project.wanted.iter().filter(|it| it.key != wanted.key).cloned().collect();
    let all = project.packages(left)?;
    write(&project.file, &text)?;
    write(&project.lock_file(), &Installed::lock(&all).write())?;
    view::plugin::removed(&wanted.key, matches.get_flag("json"))
}

fn install(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let project = Project::here()?;
    let all = project.packages(project.wanted.clone())?;
    let only = matches.try_get_one::<String>("package").ok().flatten();
    let only = only.map(|given| project.find(given)).transpose()?;
    let is_meant = |one: &&Installed| only.is_none_or(|only: &Wanted| only.key == one.wanted.key);
    let meant: Vec<&Installed> = all.iter().filter(is_meant).collect();
    let question = Question { context, matches, project: &project };
    question.accept(&meant, &[])?;
    let text = Installed::lock(&all).write();
    let is_new = crate::decorators::text_of(&project.lock_file())?.as_deref() != Some(&text);
    if is_new {
        write(&project.lock_file(), &text)?;
    }
    view::plugin::installed(&meant, is_new.then_some(lock::FILE), matches.get_flag("json"))
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let project = Project::here()?;
    let all = project.packages(project.wanted.clone())?;
    let accepted = machine(context, matches)?;
    view::plugin::list(&all, &accepted, matches.get_flag("json"))
}

fn info(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = word(matches, "package");
    let project = Project::here()?;
    let one = match project.find(&given) {
        Ok(wanted) => project.read(wanted.clone()),
        Err(_) if Path::new(&given).is_dir() => {
            let key = project.key(Path::new(&given))?;
            project.read_package(&key, None)
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
        let message = format!("`{}` cannot be used: {error}", given.display());
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
