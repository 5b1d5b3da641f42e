//! Whether a value may be given to a parameter, now that it is known.

use opal_core::decorator::Param;
use opal_core::parameter::{self, Known, Mismatch, Origin};
use opal_core::script::interpreted;
use opal_core::{Code, Diagnostic, Span, Type};

use super::datum::{Datum, Plain, inherit};
use super::declared;

/// Against the parameter of a decorator.
pub(crate) fn check(param: &Param, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    parameter::check(param, datum)
        .map_err(|mismatch| refused(&mismatch, param.name, datum, span))?;
    secrets(param, datum, span)?;
    declared::check(param, datum, span)?;
    if param.environment { variables(datum, span) } else { Ok(()) }
}

/// The code of a package gets a secret only where its manifest says that it takes one.
fn secrets(param: &Param, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    let takes_none = !param.takes_secrets && param.shape.is_some_and(|shape| !shape.holds_secret());
    let is_secret = || inherit(&[datum], String::new).is_some_and(|taint| taint.class.is_secret());
    if !takes_none || !is_secret() {
        return Ok(());
    }
    let message =
        format!("`{}` does not take secrets, and `{}` is one", param.name, datum.symbol());
    Err(Diagnostic::new(Code::PackageSecret, span, message)
        .help("if it is not a secret, read it with `public=true`")
        .help("or let the manifest of the package say `x-opal-secret: true` for the parameter"))
}

/// Variables of the environment: those that a shell, a loader or opal interprets take no value but a
/// constant, and names are known before anything runs.
fn variables(datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    let refused = |message: String| {
        Err(Diagnostic::new(Code::ReevaluatedText, span, message)
            .help("write the value as a literal, or call the program by its path"))
    };
    match &datum.plain {
        Plain::Map(fields) => {
            let is_value =
                |item: &Datum| item.is_tainted() || item.is_runtime() || datum.taint.is_some();
            let mut items = fields.items.iter().filter(|(_, item)| is_value(item));
            match items.find_map(|(name, _)| Some((name, interpreted(name)?))) {
                Some((name, row)) => refused(format!(
                    "a value would become code: `{name}` is interpreted, as {}",
                    row.why
                )),
                None => Ok(()),
            }
        }
        Plain::Handle(_) => refused(format!(
            "`{}` could name variables that are interpreted, such as `BASH_ENV`",
            datum.symbol()
        )),
        _ => Ok(()),
    }
}

/// Against a type; what is not known yet gets the benefit of the doubt.
pub(crate) fn accepts(name: &str, ty: &Type, datum: &Datum, span: Span) -> Result<(), Diagnostic> {
    parameter::accepts(ty, datum).map_err(|mismatch| refused(&mismatch, name, datum, span))
}

fn refused(mismatch: &Mismatch, name: &str, datum: &Datum, span: Span) -> Diagnostic {
    mismatch.diagnostic(name, Origin::Computed(&datum.symbol()), span)
}

impl Known for Datum {
    fn type_of(&self) -> Type {
        self.type_of()
    }

    fn as_text(&self) -> Option<&str> {
        match &self.plain {
            Plain::Text(text) => Some(text.expose()),
            _ => None,
        }
    }

    fn as_int(&self) -> Option<i64> {
        match &self.plain {
            Plain::Int(given) => Some(*given),
            _ => None,
        }
    }

    fn as_float(&self) -> Option<f64> {
        match &self.plain {
            Plain::Float(given) => Some(*given),
            _ => None,
        }
    }

    fn parts(&self) -> Option<Vec<(String, &dyn Known)>> {
        match &self.plain {
            Plain::Array(list) => {
                Some(parameter::numbered(list.items.iter().map(|item| item as &dyn Known)))
            }
            Plain::Map(fields) => {
                let items = fields.items.iter();
                Some(items.map(|(name, item)| (name.to_string(), item as &dyn Known)).collect())
            }
            _ => None,
        }
    }

    fn all(&self, holds: &dyn Fn(&dyn Known) -> bool) -> Option<bool> {
        match &self.plain {
            Plain::Array(list) => Some(list.items.iter().all(|item| holds(item))),
            Plain::Map(fields) => Some(fields.items.values().all(|item| holds(item))),
            _ => None,
        }
    }

    fn may_be_regex(&self) -> bool {
        // The checks have seen that it was written as one.
        true
    }
}
