//! `opal check`: every mistake, in one go.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use opal_core::{Diagnostic, Severity, diagnostic};
use opal_ops::source::Loaded;
use opal_ops::source::imports::Wanted;
use opal_plan::check;
use opal_session::world::{OsWorld, Surroundings};
use opal_syntax::Parse;
use opal_syntax::source::NoText;

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::planning::syntax;
use crate::project::Chosen;
use crate::source;
use crate::source::NotLoaded;
use crate::view::check as view;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let files = files(context, matches)?;
    let mut checked: Vec<CheckedFile> = Vec::new();
    for file in files.iter().flat_map(|chosen| file(context, chosen)) {
        // Several sources may import one file.
        if !checked.iter().any(|known| known.name == file.name) {
            checked.push(file);
        }
    }
    let format = if matches.get_flag("json") {
        "json"
    } else {
        matches.get_one::<String>("format").map_or("human", String::as_str)
    };
    view::show(&checked, format, context.inks())?;
    Ok(exit(&checked))
}

/// The files that were named, or the project's.
pub(crate) fn files(context: &Context<'_>, matches: &ArgMatches) -> Result<Vec<Chosen>, Failure> {
    let named = matches.get_many::<PathBuf>("files").into_iter().flatten();
    let named: Vec<Chosen> = named.map(Chosen::named).collect();
    if named.is_empty() {
        return Ok(vec![context.needed(Some(matches))?]);
    }
    match context.is_global(matches) {
        true => Err(Failure::usage("`-g` names a file, and so do the arguments", "omit `-g`")),
        false => Ok(named),
    }
}

/// What is wrong with a file, and with those that it imports.
fn file(context: &Context<'_>, chosen: &Chosen) -> Vec<CheckedFile> {
    let name = chosen.path.display().to_string();
    let failed = |failure: Failure| {
        let (name, text) = (name.clone(), String::new());
        vec![CheckedFile { name, text, diagnostics: vec![], failure: Some(failure) }]
    };
    let loaded = match source::read(chosen, &context.registry) {
        Ok(loaded) => loaded,
        Err(NotLoaded::Failure(failure)) => return failed(failure),
        Err(NotLoaded::NoText { name, found }) => {
            let NoText { shown, diagnostic } = *found;
            return vec![CheckedFile::new(name, shown, vec![diagnostic])];
        }
    };
    checked(context, loaded).unwrap_or_else(failed)
}

fn checked(context: &Context<'_>, mut loaded: Loaded) -> Result<Vec<CheckedFile>, Failure> {
    source::import(&mut loaded, Wanted::Everything, &context.registry)?;
    // What is wrong with packages is found, whether a source names them or not.
    context.registry.read_all()?;
    let found = match loaded.parse() {
        None => configuration(context, &loaded.text)?,
        Some(parse) => language(context, &loaded, parse)?,
    };
    Ok(CheckedFile::of(&loaded, found))
}

/// What is wrong with texts of the language: names that the command line has taken and what the
/// shell's parser says included.
fn language(
    context: &Context<'_>,
    loaded: &Loaded,
    parse: &Parse,
) -> Result<Vec<Diagnostic>, Failure> {
    let (text, links) = (&loaded.text, &loaded.imports.program.links);
    let checked = check::check_with_texts(parse, text, links, &context.registry);
    let mut found = checked.all();
    found.extend(loaded.imports.program.errors.iter().cloned());
    found.extend(check::reserved(checked.unit(), &context.opal_for(loaded)));
    found.extend(syntax::of_file(&checked.texts, text, &world(context)?)?);
    diagnostic::sort(&mut found);
    Ok(found)
}

/// What is wrong with a configuration, its commands included.
fn configuration(context: &Context<'_>, text: &str) -> Result<Vec<Diagnostic>, Failure> {
    match opal_config::read(text, &context.registry) {
        Ok(config) => syntax::of_config(&config, text, &context.registry, &world(context)?),
        Err(found) => Ok(found),
    }
}

/// The machine, for the shell's parser.
pub(super) fn world(context: &Context<'_>) -> Result<OsWorld, Failure> {
    let environment = Arc::clone(context.environment(&[])?);
    Ok(OsWorld::new(Surroundings { environment, ..Surroundings::default() }))
}

fn exit(checked: &[CheckedFile]) -> Exit {
    if let Some(failure) = checked.iter().find_map(|file| file.failure.as_ref()) {
        failure.exit
    } else if checked.iter().any(|file| file.count(Severity::Error) > 0) {
        Exit::Source
    } else {
        Exit::Done
    }
}
