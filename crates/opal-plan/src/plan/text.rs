//! Whether a value is allowed at its place in shell text.

use std::rc::Rc;

use opal_core::context::Context;
use opal_core::script::{Refusal, admit, admit_list, admit_type};
use opal_core::{Code, Diagnostic, Span, Type};

use super::datum::{Datum, Plain, Taint};

/// `dash` where the reference says that the value may begin a word with `-`.
pub(crate) fn check(
    datum: &Datum,
    context: Context,
    dash: bool,
    span: Span,
) -> Result<(), Diagnostic> {
    let place = allowed(datum, context, dash);
    let result = match &datum.plain {
        Plain::Open(_) => return open(datum, place, span),
        Plain::Handle(_) => admit_type(place, &Type::Any),
        // What comes first says how the text begins; what is open there is open here.
        Plain::Joined(parts) => {
            let first = parts.items.first().filter(|part| matches!(part.plain, Plain::Text(_)));
            let first = first.and_then(Datum::to_data);
            admit_type(place, &Type::String)
                .and_then(|()| first.map_or(Ok(()), |first| admit(place, &first).map(drop)))
        }
        Plain::Array(list) if context.takes_array() => {
            let mut items = Vec::with_capacity(list.items.len());
            for item in &list.items {
                let item =
                    Datum::new(item.plain.clone(), own_or(item, datum)).within(item).within(datum);
                let place = allowed(&item, context, dash || may_dash(datum));
                match item.to_data() {
                    _ if matches!(item.plain, Plain::Open(_)) => open(&item, place, span)?,
                    Some(data) => {
                        known(&item, place).map_err(|refusal| refused(&refusal, &item, span))?;
                        items.push((place, data));
                    }
                    None => {
                        known(&item, place).map_err(|refusal| refused(&refusal, &item, span))?
                    }
                }
            }
            // A list with something that is not known is judged when it is.
            match items.len() == list.items.len() {
                true => admit_list(place, &items).map(drop),
                false => admit_type(place, &datum.type_of()),
            }
        }
        _ => known(datum, place),
    };
    result.map_err(|refusal| refused(&refusal, datum, span))
}

fn known(datum: &Datum, place: Context) -> Result<(), Refusal> {
    match datum.to_data() {
        Some(data) => admit(place, &data).map(drop),
        None => admit_type(place, &datum.type_of()),
    }
}

/// The place, with what is said about this value.
fn allowed(datum: &Datum, context: Context, dash: bool) -> Context {
    if !datum.is_tainted() && !datum.is_runtime() {
        let context = context.dash(dash);
        return if datum.is_given() { context.given() } else { context.constant() };
    }
    // What is drawn was judged by what can be, before it was.
    let is_known = !matches!(datum.plain, Plain::Open(_));
    let drawn = is_known && datum.taint.as_ref().is_some_and(|taint| taint.drawn);
    context.dash(dash || drawn || may_dash(datum))
}

/// Where an item came from: what a decorator gave as a whole has one source for all of it.
fn own_or(item: &Datum, list: &Datum) -> Option<Rc<Taint>> {
    item.taint.clone().or_else(|| list.taint.clone())
}

fn may_dash(datum: &Datum) -> bool {
    datum.taint.as_ref().is_some_and(|taint| taint.dash)
}

/// A value that is not known: random ones are judged by what can be drawn.
fn open(datum: &Datum, place: Context, span: Span) -> Result<(), Diagnostic> {
    admit_type(place, &Type::Any).map_err(|refusal| refused(&refusal, datum, span))?;
    let draws_dash = datum.taint.as_ref().is_some_and(|taint| taint.draws_dash);
    if draws_dash && place.is_word_start() && !place.allows_dash() {
        return Err(refused(&Refusal::LeadingDash, datum, span));
    }
    Ok(())
}

/// The place of a value that was judged: what is left to the last line of defence knows no origins.
pub(crate) fn judged(datum: &Datum, context: Context) -> Context {
    let holds_constants = match &datum.plain {
        Plain::Array(list) => list.items.iter().any(|item| !item.is_tainted()),
        _ => !datum.is_tainted(),
    };
    if holds_constants && datum.taint.is_none() { context.constant() } else { context.dash(true) }
}

fn refused(refusal: &Refusal, datum: &Datum, span: Span) -> Diagnostic {
    let mut message = refusal.message(&datum.symbol());
    let draws_dash = datum.taint.as_ref().is_some_and(|taint| taint.draws_dash);
    if refusal.code() == Code::LeadingDash && draws_dash {
        message = message.replacen("begins with", "can begin with", 1);
    }
    let diagnostic = Diagnostic::new(refusal.code(), span, message);
    refusal.help("@var.NAME").into_iter().fold(diagnostic, Diagnostic::help)
}
