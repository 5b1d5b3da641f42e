//! `opal fmt`: sources in their one form.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use clap::ArgMatches;
use opal_core::{Code, Diagnostic, Span};
use opal_files::atomic::Unfinished;
use opal_plan::Words;
use opal_syntax::Style;

use super::check::files;
use crate::checked_file::CheckedFile;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::project::Chosen;
use crate::tasks::path_word;
use crate::view::fmt::{Formatted, Outcome};
use crate::{project, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let style = Style { migrate: matches.get_flag("migrate") };
    let (check, diff, json) =
        (matches.get_flag("check"), matches.get_flag("diff"), matches.get_flag("json"));
    let files = files(context, matches)?;
    let from_stdin = files.iter().any(|chosen| chosen.path == Path::new("-"));
    if from_stdin && files.len() > 1 {
        return Err(Failure::usage(
            "`-` cannot be combined with files",
            "format standard input separately",
        ));
    }
    let mut all: Vec<Formatted> =
        files.iter().map(|chosen| format(context, chosen, style)).collect();
    let writes = !check && !diff;
    if writes && !from_stdin {
        for formatted in &mut all {
            write_back(formatted);
        }
    }
    view::fmt::show(&all, &view::fmt::Mode { check, diff, json, from_stdin }, context.err())?;
    Ok(exit(&all, check))
}

fn format(context: &Context<'_>, chosen: &Chosen, style: Style) -> Formatted {
    let path = &chosen.path;
    if project::is_config(path) {
        let name = path.display().to_string();
        let message = format!("`{name}` is a configuration; `opal fmt` formats only opal sources");
        let failure = Failure::usage(
            message,
            format!(
                "to convert it to a source, run `{} convert {}`",
                context.opal(),
                path_word(&name)
            ),
        );
        return Formatted { path: path.into(), name, outcome: Outcome::Failed(failure) };
    }
    let source = match project::read(path) {
        Ok(source) => source,
        Err(failure) => {
            let name = path.display().to_string();
            return Formatted { path: path.into(), name, outcome: Outcome::Failed(failure) };
        }
    };
    let name = source.name;
    let broken = |text: String, diagnostics: Vec<Diagnostic>| {
        Outcome::Broken(CheckedFile { name: name.clone(), text, diagnostics, failure: None })
    };
    let outcome = match source.text {
        Err(no_text) => broken(no_text.shown, vec![no_text.diagnostic]),
        Ok(text) => {
            // What a block of a package is like, its manifest says.
            let packages = context.registry.of_source(path, chosen.is_found);
            let words = Words(&context.registry);
            let mut errors = opal_syntax::source::characters(&text);
            errors.retain(Diagnostic::is_error);
            match opal_syntax::format(&text, &words, style) {
                Some(after) if errors.is_empty() => {
                    if after == text {
                        Outcome::Unchanged(text)
                    } else {
                        Outcome::Changed { before: text, after }
                    }
                }
                _ => {
                    let parse = opal_syntax::parse(&text, &words);
                    let unread = packages.and_then(|()| context.registry.check_read()).err();
                    match (parse.skipped.lines, unread) {
                        (Some(_), Some(failure)) => Outcome::Failed(failure),
                        (unknown, _) => {
                            errors.extend(unknown.map(unknown_block));
                            errors.extend(parse.errors);
                            errors.retain(Diagnostic::is_error);
                            broken(text, errors)
                        }
                    }
                }
            }
        }
    };
    Formatted { path: path.into(), name, outcome }
}

/// What keeps a file without errors of syntax from being formatted.
fn unknown_block(span: Span) -> Diagnostic {
    let message = "the block of an unknown decorator cannot be formatted";
    let help = "`opal check` says more; install the plugin that provides it, or correct its name";
    Diagnostic::new(Code::UnknownDecorator, span, message).help(help)
}

fn write_back(formatted: &mut Formatted) {
    let Outcome::Changed { after, .. } = &formatted.outcome else { return };
    if let Err(error) = replace(&formatted.path, after) {
        let failure = Failure::unreplaced(Path::new(&formatted.name), &error);
        formatted.outcome = Outcome::Failed(failure);
    }
}

/// Puts `text` into the place of a file in one go: a reader sees the old or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link keeps pointing where it points.
    let path = path.canonicalize()?;
    let metadata = fs::metadata(&path)?;
    let permissions = metadata.permissions();
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if permissions.readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut file = Unfinished::beside(&path)?;
    file.write_all(text.as_bytes())?;
    fchown(file.file(), Some(metadata.uid()), Some(metadata.gid()))?;
    file.file().set_permissions(permissions)?;
    file.file().sync_all()?;
    Ok(file.replace(rustix::fs::CWD, &path)?)
}

fn exit(all: &[Formatted], check: bool) -> Exit {
    let mut exit = Exit::Done;
    for formatted in all {
        match &formatted.outcome {
            Outcome::Failed(failure) => return failure.exit,
            Outcome::Broken(_) => exit = Exit::Source,
            Outcome::Changed { .. } if check && exit == Exit::Done => exit = Exit::Differs,
            _ => {}
        }
    }
    exit
}
