//! Whether a value may be given to a parameter, now that it is known.

use opal_core::decorator::Param;
use opal_core::{Code, Diagnostic, Span, Type};

use super::datum::{Datum, Plain};
use crate::check::{listed, matches};

/// Against the parameter of a decorator.
pub(crate) fn check(param: &Param, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    accepts(param.name, &param.ty, datum, span)?;
    if let (Some((low, high)), Plain::Int(given)) = (param.range, &datum.plain)
        && !(low..=high).contains(given)
    {
        let message =
            format!("`{}` is `{}`, which is out of its range", param.name, datum.symbol());
        return Err(Diagnostic::new(Code::OutOfRange, span, message)
            .help(format!("it goes from {low} to {high}")));
    }
    if let (Some(pattern), Plain::Text(text)) = (param.pattern, &datum.plain)
        && !matches(pattern, text.expose())
    {
        let message = format!("`{}` is not of the form that `{}` has", datum.symbol(), param.name);
        return Err(Diagnostic::new(Code::PatternMismatch, span, message)
            .help(format!("it matches `{pattern}`")));
    }
    Ok(())
}

/// Against a type; what is not known yet gets the benefit of the doubt.
pub(crate) fn accepts(name: &str, ty: &Type, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    if let (Type::OneOf(choices), Plain::Text(text)) = (ty, &datum.plain)
        && !choices.contains(text.expose())
    {
        let message = format!("`{}` is not among the values of `{name}`", datum.symbol());
        return Err(Diagnostic::new(Code::NotAChoice, span, message)
            .help(format!("known are {}", listed(choices.iter()))));
    }
    if fits(ty, datum) {
        return Ok(());
    }
    let message = format!(
        "`{name}` is {}, and {} is wanted: `{}`",
        datum.type_of().with_article(),
        ty.with_article(),
        datum.symbol()
    );
    let help = "nothing is converted by itself: use `int(…)`, `float(…)` or `str(…)`";
    Err(Diagnostic::new(Code::WrongType, span, message).help(help))
}

fn fits(ty: &Type, datum: &Datum) -> bool {
    match (ty, &datum.plain) {
        (_, Plain::Open(_) | Plain::Handle(_)) => true,
        // A regex is its text by now; the checks have seen that it was written as one.
        (Type::Regex, Plain::Text(_)) => true,
        (Type::Array(element), Plain::Array(list)) => {
            list.items.iter().all(|item| fits(element.get(), item))
        }
        (Type::Map(element), Plain::Map(fields)) => {
            fields.items.values().all(|item| fits(element.get(), item))
        }
        (Type::OneOf(choices), Plain::Text(text)) => choices.contains(text.expose()),
        _ => ty.accepts(&datum.type_of()),
    }
}
