//! `opal check`: every mistake, in one go.

use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::{Code, Diagnostic, Severity, diagnostic};
use opal_plan::Words;
use opal_plan::check;
use opal_plan::lower;
use opal_plan::unit::Function;
use opal_session::world::{OsWorld, Surroundings};

use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::planning::syntax;
use crate::view::check as view;
use crate::{builtins, project};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let files = files(context, matches)?;
    let checked: Vec<CheckedFile> = files.iter().map(|path| file(context, path)).collect();
    let format = if matches.get_flag("json") {
        "json"
    } else {
        matches.get_one::<String>("format").map_or("human", String::as_str)
    };
    view::show(&checked, format, context.inks())?;
    Ok(exit(&checked))
}

/// The files that were named, or the project's.
pub(crate) fn files(context: &Context<'_>, matches: &ArgMatches) -> Result<Vec<PathBuf>, Failure> {
    let named: Vec<PathBuf> =
        matches.get_many::<PathBuf>("files").map(|all| all.cloned().collect()).unwrap_or_default();
    if !named.is_empty() {
        return Ok(named);
    }
    Ok(vec![project::file_or_project(context.file(matches))?])
}

pub(crate) fn file(context: &Context<'_>, path: &std::path::Path) -> CheckedFile {
    let name = path.display().to_string();
    let source = match project::read(path) {
        Ok(source) => source,
        Err(failure) => {
            return CheckedFile {
                name,
                text: String::new(),
                diagnostics: vec![],
                failure: Some(failure),
            };
        }
    };
    let (text, diagnostics) = match source.text {
        Ok(text) => {
            let found = match project::is_config(path) {
                true => configuration(context, &text),
                false => language(context, &text),
            };
            match found {
                Ok(diagnostics) => (text, diagnostics),
                Err(failure) => {
                    let failure = Some(failure);
                    return CheckedFile { name, text, diagnostics: vec![], failure };
                }
            }
        }
        Err(no_text) => (no_text.shown, vec![no_text.diagnostic]),
    };
    CheckedFile { name: source.name, text, diagnostics, failure: None }
}

/// What is wrong with a text of the language: names that the command line has taken and what the
/// shell's parser says included.
fn language(context: &Context<'_>, text: &str) -> Result<Vec<Diagnostic>, Failure> {
    let parse = opal_syntax::parse(text, &Words(&context.registry));
    let checked = check::check_with_texts(&parse, text, &context.registry);
    let mut found = checked.all();
    let functions = lower::outline(&parse, text).functions;
    found.extend(functions.iter().filter(|it| builtins::is_reserved(&it.name.text)).map(reserved));
    found.extend(syntax::of_file(&checked.texts, text, &world(context)?)?);
    diagnostic::sort(&mut found);
    Ok(found)
}

/// What is wrong with a configuration, its commands included.
fn configuration(context: &Context<'_>, text: &str) -> Result<Vec<Diagnostic>, Failure> {
    match opal_config::read(text, &context.registry) {
        Ok(config) => {
            let texts =
                check::texts(&opal_config::lower(&config, &context.registry), &context.registry);
            syntax::of_file(&texts, text, &world(context)?)
        }
        Err(found) => Ok(found),
    }
}

/// The machine, for its shell.
fn world(context: &Context<'_>) -> Result<OsWorld, Failure> {
    let environment = context.environment(&[])?.clone();
    Ok(OsWorld::new(Surroundings { environment, ..Surroundings::default() }))
}

fn reserved(function: &Function) -> Diagnostic {
    let name = &function.name.text;
    Diagnostic::new(
        Code::ReservedName,
        function.name.span,
        format!("`opal {name}` is a built-in command and never runs this function"),
    )
    .label("a reserved name")
    .help(format!("run it with `opal run {name}`, or rename it"))
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
