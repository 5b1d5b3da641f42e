//! The functions of expressions: conversions, text, lists, paths.

use opal_core::{Code, Secret};

use super::{OpError, limit, operate, same, scalar, text};
use crate::plan::datum::{Datum, MAX_ITEMS, Plain, TooLarge, begin_as};
use crate::unit::Builtin;

pub(crate) fn builtin(function: Builtin, args: &[&Datum]) -> Result<Datum, OpError> {
    let symbol = || {
        let args: Vec<String> = args.iter().map(|arg| arg.symbol()).collect();
        format!("{}({})", function.name(), args.join(", "))
    };
    let mut result = operate(args, symbol, || match (function, args) {
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
        (Builtin::Replace, [value, from, to]) => {
            let all = [value, from, to].map(|arg| string(function, arg));
            let [value, from, to] = all;
            replace(value?, from?, to?)
        }
        (Builtin::Upper, [value]) => whole(string(function, value)?.to_uppercase()),
        (Builtin::Lower, [value]) => whole(string(function, value)?.to_lowercase()),
        (Builtin::Contains, [value, part]) => contains(value, part).map(Plain::Bool),
        (Builtin::StartsWith, [value, prefix]) => {
            let prefix = string(function, prefix)?;
            Ok(Plain::Bool(string(function, value)?.starts_with(prefix)))
        }
        (Builtin::EndsWith, [value, suffix]) => {
            let suffix = string(function, suffix)?;
            Ok(Plain::Bool(string(function, value)?.ends_with(suffix)))
        }
        (Builtin::Basename, [value]) => text(std::iter::once(basename(string(function, value)?))),
        (Builtin::Dirname, [value]) => text(std::iter::once(dirname(string(function, value)?))),
        (Builtin::Path, [_, ..]) => {
            let mut parts = Vec::new();
            for arg in args {
                match &arg.plain {
                    // `path(@var.parts.*)`
                    Plain::Array(list) => parts.extend(list.items.iter()),
                    _ => parts.push(arg),
                }
            }
            let parts = parts.iter().map(|part| string(function, part));
            path(&parts.collect::<Result<Vec<_>, _>>()?)
        }
        _ => Err(wrong(function, args.first().copied())),
    })?;
    begin(&mut result, function, args);
    Ok(result)
}

/// Says how a text begins that the function has put together.
fn begin(result: &mut Datum, function: Builtin, args: &[&Datum]) {
    match (function, args) {
        (Builtin::Join, [list, separator]) => {
            // After an empty element the separator is the beginning.
            if let [first, rest @ ..] = items(list).as_slice() {
                begin_as(result, &[&[*first, *separator], rest].concat());
            }
        }
        (Builtin::Path, _) => {
            let parts: Vec<&Datum> = args.iter().flat_map(|arg| items(arg)).collect();
            begin_as(result, &parts);
        }
        _ => {}
    }
}

/// The items of a list that was made here; anything else is one item.
fn items(datum: &Datum) -> Vec<&Datum> {
    match &datum.plain {
        Plain::Array(list) if datum.taint.is_none() => list.items.iter().collect(),
        _ => vec![datum],
    }
}

fn whole(text: String) -> Result<Plain, OpError> {
    limit(text.len())?;
    Ok(Plain::Text(Secret::new(text)))
}

fn replace(value: &str, from: &str, to: &str) -> Result<Plain, OpError> {
    if from.is_empty() {
        let message = "`replace` cannot search for an empty text";
        return Err(OpError::new(Code::NoResult, message, Builtin::Replace.form()));
    }
    let found = value.matches(from).count();
    limit((value.len() - found * from.len()).saturating_add(found.saturating_mul(to.len())))?;
    whole(value.replace(from, to))
}

/// A part of a text, an element of a list, or a key of a map.
fn contains(value: &Datum, part: &Datum) -> Result<bool, OpError> {
    match (&value.plain, &part.plain) {
        (Plain::Text(value), Plain::Text(part)) => Ok(value.expose().contains(part.expose())),
        (Plain::Map(fields), Plain::Text(key)) => Ok(fields.items.contains_key(key.expose())),
        // An element of another type is a different element.
        (Plain::Array(list), _) => {
            Ok(list.items.iter().any(|item| same(item, part).unwrap_or(false)))
        }
        (Plain::Text(_) | Plain::Map(_), _) => Err(wrong(Builtin::Contains, Some(part))),
        _ => Err(wrong(Builtin::Contains, Some(value))),
    }
}

/// As the program `basename` has it: slashes at the end do not count.
fn basename(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => "",
        "" => "/",
        path => path.rsplit('/').next().unwrap_or(path),
    }
}

/// As the program `dirname` has it.
fn dirname(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rfind('/') {
        _ if trimmed.is_empty() && !path.is_empty() => "/",
        None => ".",
        Some(at) => match trimmed[..at].trim_end_matches('/') {
            "" => "/",
            directory => directory,
        },
    }
}

/// Parts with one `/` between each two. Nothing else changes: `..` stays, and an absolute part
/// after the first is an error, because other languages disagree about what it means.
fn path(parts: &[&str]) -> Result<Plain, OpError> {
    if parts.iter().skip(1).any(|part| part.starts_with('/')) {
        let message = "only the first part of a path may begin with `/`";
        let help = "write the later parts without the leading `/`";
        return Err(OpError::new(Code::NoResult, message, help));
    }
    let mut pieces: Vec<&str> = Vec::with_capacity(parts.len() * 2);
    let mut is_open = true;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !is_open {
            pieces.push("/");
        }
        pieces.push(part);
        is_open = part.ends_with('/');
    }
    text(pieces.iter().copied())
}

fn join(list: &Datum, separator: &str) -> Result<Plain, OpError> {
    let Plain::Array(list) = &list.plain else { return Err(wrong(Builtin::Join, Some(list))) };
    let parts: Vec<opal_core::wiped::Wiped<String>> =
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
        Plain::Float(_) => Err(inconvertible(value, "a 64-bit integer")),
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
    OpError::new(Code::NotConvertible, message, "check its value, or convert something else")
}

fn wrong(function: Builtin, given: Option<&Datum>) -> OpError {
    let given = given.map_or("that".into(), |given| given.type_of().with_article());
    let message = format!("`{}` does not accept {given}", function.name());
    OpError::new(Code::WrongType, message, function.form())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_as_the_programs_do() {
        for (given, base, directory) in [
            ("/usr/lib", "lib", "/usr"),
            ("/usr/", "usr", "/"),
            ("usr", "usr", "."),
            ("/", "/", "/"),
            ("//", "/", "/"),
            ("a//b//", "b", "a"),
            ("..", "..", "."),
            ("", "", "."),
        ] {
            assert_eq!((basename(given), dirname(given)), (base, directory), "{given}");
        }
    }
}
