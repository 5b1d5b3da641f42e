//! Whether a value may stand at its place in shell text.

use std::rc::Rc;

use opal_core::context::{Context, Place};
use opal_core::{Code, Diagnostic, Span};

use super::datum::{Datum, Plain, Taint};
use super::graph::diagnostic;
use super::operate;

/// `dash` where the reference says that the value may begin a word with `-`.
pub(crate) fn check(
    datum: &Datum,
    context: Context,
    dash: bool,
    span: Span,
) -> Result<(), Diagnostic> {
    if context.is_reevaluated() {
        let message =
            format!("`{}` would become code: this text is evaluated once more", datum.symbol());
        return Err(Diagnostic::new(Code::ReevaluatedText, span, message)
            .help("to paste it unprotected, write `@raw(…)`"));
    }
    match &datum.plain {
        Plain::Open(_) => return open(datum, context, dash, span),
        Plain::Handle(_) => return Ok(()),
        // What stands first says how the text begins; what is open there is open here.
        Plain::Joined(parts) => {
            let first = parts.items.first().filter(|part| matches!(part.plain, Plain::Text(_)));
            return first.map_or(Ok(()), |first| scalar(first, context, dash, span));
        }
        Plain::Array(list) if context.is_whole_word() && context.place() == Place::Word => {
            for item in &list.items {
                let item = &Datum { plain: item.plain.clone(), taint: own_or(item, datum) };
                scalar(item, context, dash || tainted_dash(datum), span)?;
            }
            return Ok(());
        }
        Plain::Int(_) => {}
        _ if matches!(context.place(), Place::Arithmetic | Place::Subscript) => {
            let message = format!(
                "shell arithmetic evaluates `{}` as code, and it is {}",
                datum.symbol(),
                datum.type_of().with_article()
            );
            return Err(Diagnostic::new(Code::ArithmeticNotInt, span, message)
                .help("compute with opal: `var n = int(…) + 1`, then `@var.n`"));
        }
        _ => {}
    }
    scalar(datum, context, dash, span)
}

/// Where an item came from: what a decorator gave as a whole has one source for all of it.
fn own_or(item: &Datum, list: &Datum) -> Option<Rc<Taint>> {
    item.taint.clone().or_else(|| list.taint.clone())
}

fn tainted_dash(datum: &Datum) -> bool {
    datum.taint.as_ref().is_some_and(|taint| taint.dash)
}

fn scalar(datum: &Datum, context: Context, dash: bool, span: Span) -> Result<(), Diagnostic> {
    match datum.plain {
        Plain::Open(_) => return open(datum, context, dash, span),
        Plain::Handle(_) | Plain::Joined(_) => return Ok(()),
        _ => {}
    }
    let text = operate::scalar(datum).map_err(|error| diagnostic(error, span))?;
    if text.contains('\0') {
        let message =
            format!("`{}` holds a NUL character, which no command can take", datum.symbol());
        return Err(Diagnostic::new(Code::NulInText, span, message)
            .help("remove it, or hand the data over in a file"));
    }
    let from_world = datum.is_tainted() && matches!(datum.plain, Plain::Text(_));
    // What is drawn was judged by what can be, before it was.
    let drawn = datum.taint.as_ref().is_some_and(|taint| taint.drawn);
    if from_world && !drawn && text.starts_with('-') && begins_word(datum, context, dash) {
        return Err(leading_dash(datum, span));
    }
    Ok(())
}

/// A value that is not known: random ones are judged by what can be drawn.
fn open(datum: &Datum, context: Context, dash: bool, span: Span) -> Result<(), Diagnostic> {
    let draws_dash = datum.taint.as_ref().is_some_and(|taint| taint.draws_dash);
    if draws_dash && begins_word(datum, context, dash) {
        return Err(leading_dash(datum, span));
    }
    Ok(())
}

fn begins_word(datum: &Datum, context: Context, dash: bool) -> bool {
    context.is_word_start() && !context.is_after_dashes() && !dash && !tainted_dash(datum)
}

fn leading_dash(datum: &Datum, span: Span) -> Diagnostic {
    let random = datum.taint.as_ref().is_some_and(|taint| taint.draws_dash);
    let begins = if random { "can begin" } else { "begins" };
    let message = format!(
        "`{}` {begins} with `-`, so the program would take it for an option",
        datum.symbol()
    );
    Diagnostic::new(Code::LeadingDash, span, message)
        .help("put `--` before it: `rm -- @var.FILE`")
        .help("where it is meant to be an option, say so: `@var.NAME(dash=true)`")
}
