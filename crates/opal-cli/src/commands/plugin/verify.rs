//! `opal plugin verify`: whether a package does what its manifest says.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_files::SystemError;
use opal_plugins::adapt::native::NativeRules;
use opal_plugins::address::Address;
use opal_plugins::installed::{Installed, LoadError, Store};
use opal_plugins::manifest::Faulty;
use opal_plugins::project::Wanted;
use opal_plugins::suite::report::Report;
use opal_plugins::suite::{self, SuiteError};
use opal_plugins::verified;

use super::files::write;
use super::rebuild::{self, Rebuild};
use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::decorators::{core, failure};
use crate::failure::{Exit, Failure};
use crate::{helpers, view};

pub(super) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let given = matches.get_one::<PathBuf>("directory").cloned().unwrap_or_else(|| ".".into());
    let (one, found) = match tested(context, matches, &given)? {
        Ok(tested) => tested,
        Err(exit) => return Ok(exit),
    };
    let rebuild = match matches.get_flag("rebuild") {
        true => rebuild::check(&one, &one.directory)?,
        false => Rebuild::not_run(&one),
    };
    if let Some(file) = matches.get_one::<PathBuf>("report") {
        let text = view::verified::document(&one, &found, &rebuild).to_string() + "\n";
        write(file, &text)?;
    }
    view::verified::show(&one, &found, &rebuild, matches.get_flag("json"))?;
    let passed = found.passed() && !rebuild.failed();
    if let Some(root) = context.root(matches.get_one("root"))
        && let Err(error) = verified::keep(&root, &one.checksum, passed)
    {
        view::plugin::notes(&[format!("this result is not remembered: {error}")]);
    }
    Ok(if passed { Exit::Done } else { Exit::Differs })
}

/// The package of a directory and what the suite says about it; an exit code where its errors have been shown.
pub(super) fn tested(
    context: &Context<'_>,
    matches: &ArgMatches,
    given: &Path,
) -> Result<Result<(Installed, Report), Exit>, Failure> {
    let directory = given.canonicalize().map_err(|error| {
        let message = format!("`{}` cannot be used: {}", given.display(), SystemError(&error));
        Failure::new(Exit::NoFile, message, "name the directory of a package")
    })?;
    let one = match read(given, &directory) {
        Ok(one) => one,
        Err(LoadError::Manifest { faulty, .. }) => return wrong(context, given, faulty).map(Err),
        Err(error) => return Err(failure(&directory.join("opal.toml"), error)),
    };
    // The code gets nothing of this machine: the world of a test answers it.
    let root = context.root(matches.get_one("root"));
    helpers::run_packages(root.as_ref(), NativeRules::default());
    match suite::run(&one) {
        Ok(found) => Ok(Ok((one, found))),
        Err(SuiteError::Faulty(faulty)) => wrong(context, given, faulty).map(Err),
        Err(SuiteError::NoHelper(why)) => {
            let trouble = why.trouble();
            let help = trouble.help.first().map(ToString::to_string).unwrap_or_default();
            Err(Failure::new(Exit::Unavailable, trouble.message.to_string(), help))
        }
    }
}

/// The package of a directory, wherever it is.
pub(super) fn read(given: &Path, directory: &Path) -> Result<Installed, LoadError> {
    let key = directory.display().to_string();
    let requirement = ">=0.0.0-0".parse();
    let requirement = requirement.map_err(|_| LoadError::Missing { key: key.clone() })?;
    let address = Address::Directory(key.clone());
    let wanted = Wanted::plain(&key, address, requirement);
    let built_in = opal_decorators::registry();
    Installed::read(Path::new(""), wanted, Store::default(), &built_in, &core()).map(|mut one| {
        one.shown = given.to_owned();
        one
    })
}

pub(super) fn wrong(
    context: &Context<'_>,
    given: &Path,
    faulty: Vec<Faulty>,
) -> Result<Exit, Failure> {
    let file = |it: Faulty| {
        let name = given.join(&it.file).display().to_string();
        CheckedFile::new(name.trim_start_matches("./").to_owned(), it.text, it.diagnostics)
    };
    let files: Vec<CheckedFile> = faulty.into_iter().map(file).collect();
    view::check::to_stderr(&files, context.err())?;
    Ok(Exit::Source)
}
