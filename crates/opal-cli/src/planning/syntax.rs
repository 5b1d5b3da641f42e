//! Shell syntax errors, found by the shell's own parser before anything runs.

use opal_config::Config;
use opal_core::plan::Plan;
use opal_core::resolver::{ScriptPart, Trouble};
use opal_core::shell;
use opal_core::shell::syntax::{Fault, faults};
use opal_core::{Code, Diagnostic, Registry, Span};
use opal_ops::source::Loaded;
use opal_plan::check::{self, CommandText};
use opal_session::world::OsWorld;

use crate::failure::{Exit, Failure};

/// Of the steps of a plan.
pub(crate) fn of_plan(
    plan: &Plan,
    source: &str,
    world: &OsWorld,
) -> Result<Vec<Diagnostic>, Failure> {
    let texts: Vec<(Span, Vec<ScriptPart>)> =
        shell::texts(plan).into_iter().map(|text| (text.span, text.parts)).collect();
    find(texts.iter().map(|(span, parts)| (*span, parts.as_slice())), source, world)
}

/// Of everything that a file says to a shell.
pub(crate) fn of_file(
    texts: &[CommandText],
    source: &str,
    world: &OsWorld,
) -> Result<Vec<Diagnostic>, Failure> {
    find(texts.iter().map(|text| (text.span, text.parts.as_slice())), source, world)
}

/// Of the commands of a configuration, each at its own place.
pub(crate) fn of_config(
    config: &Config,
    source: &str,
    registry: &Registry,
    world: &OsWorld,
) -> Result<Vec<Diagnostic>, Failure> {
    let texts = check::texts(&opal_config::lower(config, registry), registry);
    of_file(&texts, source, world)
}

/// Of the commands whose output could not be read. A shell has rejected them already, in words that may
/// hold values; the parser says where, in place of the exit code.
pub(crate) fn in_place_of(
    errors: Vec<Diagnostic>,
    loaded: &Loaded,
    registry: &Registry,
    world: &OsWorld,
) -> Vec<Diagnostic> {
    let failed = errors.iter().filter(|error| error.code == Code::ValueFailed);
    let failed: Vec<Span> = failed.map(|error| error.primary.span).collect();
    let (false, Some(parse)) = (failed.is_empty(), loaded.parse()) else { return errors };
    let checked =
        check::check_with_texts(parse, &loaded.text, &loaded.imports.program.links, registry);
    let mut texts = checked.texts;
    let is_in = |one: Span, other: Span| other.start <= one.start && one.end <= other.end;
    texts.retain(|text| failed.iter().any(|span| is_in(text.span, *span)));
    let Ok(found) = of_file(&texts, &loaded.text, world) else { return errors };
    let is_said = |error: &Diagnostic| {
        let span = error.primary.span;
        error.code == Code::ValueFailed && found.iter().any(|it| is_in(it.primary.span, span))
    };
    let mut kept: Vec<Diagnostic> = errors.into_iter().filter(|error| !is_said(error)).collect();
    kept.extend(found);
    kept
}

fn find<'t>(
    texts: impl Iterator<Item = (Span, &'t [ScriptPart])>,
    source: &str,
    world: &OsWorld,
) -> Result<Vec<Diagnostic>, Failure> {
    let (spans, scripts): (Vec<Span>, Vec<&[ScriptPart]>) = texts.unzip();
    let found = faults(&scripts, &mut |text| world.syntax(text)).map_err(unasked)?;
    let told = |Fault { text, line, message }| {
        let place = line_of(source, spans[text], line);
        Diagnostic::new(Code::ShellSyntax, place, message).help("fix the command; nothing has run")
    };
    Ok(found.into_iter().map(told).collect())
}

fn unasked(trouble: Trouble) -> Failure {
    let help = trouble.help.into_iter().map(Into::into).collect();
    Failure { help, ..Failure::new(Exit::Unavailable, trouble.message, "") }
}

/// The part of `span` that is meant by a line of the step's text, from 1. A text in quotes has
/// lines of its own: there it is the whole call.
pub(crate) fn line_of(source: &str, span: Span, line: u32) -> Span {
    let Some(text) = source.get(span.range()) else { return span };
    let is_quoted = text.starts_with(['@', '"', '\'']);
    if is_quoted || !text.contains('\n') {
        return span;
    }
    let mut start = span.start;
    for (index, content) in text.split_inclusive('\n').enumerate() {
        if index as u32 + 1 == line {
            let blank = content.len() - content.trim_start().len();
            let end = start + content.trim_end().len() as u32;
            return Span::new((start + blank as u32).min(end), end);
        }
        start += content.len() as u32;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_step_is_found_in_the_source() {
        let source = "fun a() {\n    ( echo 1\n      echo 2 ) x\n}\n";
        let step = Span::new(14, 41);
        let found = |line| &source[line_of(source, step, line).range()];
        assert_eq!(found(1), "( echo 1");
        assert_eq!(found(2), "echo 2 ) x");
        assert_eq!(found(9), &source[step.range()]);
    }
}
