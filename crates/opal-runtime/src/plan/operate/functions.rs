//! `int float str split join lines trim`.

use opal_core::{Code, Secret};

use super::{OpError, operate, scalar, text};
use crate::plan::datum::{Datum, MAX_ITEMS, Plain, TooLarge};
use crate::plan::scoped::Builtin;

pub(crate) fn builtin(function: Builtin, args: &[&Datum]) -> Result<Datum, OpError> {
    let symbol = || {
        let args: Vec<String> = args.iter().map(|arg| arg.symbol()).collect();
        format!("{}({})", function.name(), args.join(", "))
    };
    operate(args, symbol, || match (function, args) {
        (Builtin::Int, [value]) => int(value),
        (Builtin::Float, [value]) => float(value),
        (Builtin::Str, [value]) => scalar(value).map(|text| Plain::Text(Secret::new(&**text))),
        (Builtin::Split, [value, separator]) => {
            let (value, separator) = (string(function, value)?, string(function, separator)?);
            // Splitting nothing gives nothing, and an empty separator gives the characters.
            match (value, separator) {
                ("", _) => strings(std::iter::empty()),
                (value, "") => {
                    let ends = |(at, c): (usize, char)| &value[at..at + c.len_utf8()];
                    strings(value.char_indices().map(ends))
                }
                (value, separator) => strings(value.split(separator)),
            }
        }
        (Builtin::Lines, [value]) => strings(string(function, value)?.lines()),
        (Builtin::Trim, [value]) => text(std::iter::once(string(function, value)?.trim())),
        (Builtin::Join, [list, separator]) => join(list, string(function, separator)?),
        _ => Err(wrong(function, args.first().copied())),
    })
}

fn join(list: &Datum, separator: &str) -> Result<Plain, OpError> {
    let Plain::Array(list) = &list.plain else { return Err(wrong(Builtin::Join, Some(list))) };
    let parts: Vec<zeroize::Zeroizing<String>> =
        list.items.iter().map(scalar).collect::<Result<_, _>>()?;
    let separated = parts
        .iter()
        .enumerate()
        .flat_map(|(index, part)| [if index == 0 { "" } else { separator }, part.as_str()]);
    text(separated)
}

fn strings<'t>(parts: impl Iterator<Item = &'t str> + Clone) -> Result<Plain, OpError> {
    if parts.clone().nth(MAX_ITEMS).is_some() {
        return Err(TooLarge.into());
    }
    Ok(Datum::array(parts.map(Datum::text).collect())?)
}

fn string(function: Builtin, datum: &Datum) -> Result<&str, OpError> {
    match &datum.plain {
        Plain::Text(text) => Ok(text.expose()),
        _ => Err(wrong(function, Some(datum))),
    }
}

fn int(value: &Datum) -> Result<Plain, OpError> {
    match &value.plain {
        Plain::Int(value) => Ok(Plain::Int(*value)),
        // Beyond 2^53 a Float names no exact Int; the bounds are exact Floats.
        Plain::Float(float) if float.abs() < 9.2e18 => Ok(Plain::Int(float.trunc() as i64)),
        Plain::Float(_) => Err(inconvertible(value, "a whole number of 64 bits")),
        Plain::Text(text) => {
            let number = text.expose().trim().parse().map(Plain::Int);
            number.map_err(|_| inconvertible(value, "a whole number"))
        }
        _ => Err(wrong(Builtin::Int, Some(value))),
    }
}

fn float(value: &Datum) -> Result<Plain, OpError> {
    match &value.plain {
        Plain::Int(value) => Ok(Plain::Float(*value as f64)),
        Plain::Float(value) => Ok(Plain::Float(*value)),
        Plain::Text(text) => {
            let number = text.expose().trim().parse().ok().filter(|n: &f64| n.is_finite());
            number.map(Plain::Float).ok_or_else(|| inconvertible(value, "a number"))
        }
        _ => Err(wrong(Builtin::Float, Some(value))),
    }
}

fn inconvertible(value: &Datum, wanted: &str) -> OpError {
    let message = format!("`{}` is not {wanted}", value.symbol());
    OpError::new(Code::NotConvertible, message, "look at what it holds, or convert something else")
}

fn wrong(function: Builtin, given: Option<&Datum>) -> OpError {
    let given = given.map_or("that".into(), |given| given.type_of().with_article());
    let message = format!("`{}` does not take {given}", function.name());
    OpError::new(Code::WrongType, message, crate::check::function_form(function.name()))
}
