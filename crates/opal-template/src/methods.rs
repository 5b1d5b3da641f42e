//! The methods of texts, maps and lists that people know from Jinja in Python.
//!
//! A template that calls something is rendered in a process of its own, so what a method makes is
//! bounded there.

use minijinja::value::{ValueKind, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// All of them, whatever they are methods of.
pub(super) const NAMES: [&str; 22] = [
    "capitalize",
    "count",
    "endswith",
    "find",
    "get",
    "isalpha",
    "isdigit",
    "items",
    "join",
    "keys",
    "lower",
    "lstrip",
    "removeprefix",
    "removesuffix",
    "replace",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "upper",
    "values",
];

pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    name: &str,
    args: &[Value],
) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::Map => of_map(value, name, args),
        ValueKind::Seq if name == "count" => {
            let (wanted,): (Value,) = from_args(args)?;
            Ok(Value::from(value.try_iter()?.filter(|item| *item == wanted).count()))
        }
        ValueKind::String => match name {
            "capitalize" | "lower" | "upper" => {
                let () = from_args(args)?;
                state.apply_filter(name, std::slice::from_ref(value))
            }
            "join" => {
                let (items,): (Value,) = from_args(args)?;
                state.apply_filter(name, &[items, value.clone()])
            }
            _ => of_text(value.as_str().unwrap_or_default(), name, args),
        },
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

fn of_map(map: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    if name == "get" {
        let (key, fallback): (Value, Option<Value>) = from_args(args)?;
        let found = map.get_item(&key)?;
        return Ok(if found.is_undefined() { fallback.unwrap_or(Value::from(())) } else { found });
    }
    let each: fn(&Value, Value) -> Result<Value, Error> = match name {
        "keys" => |_, key| Ok(key),
        "values" => |map, key| map.get_item(&key),
        "items" => |map, key| map.get_item(&key).map(|value| Value::from_iter([key, value])),
        _ => return Err(ErrorKind::UnknownMethod.into()),
    };
    let () = from_args(args)?;
    map.try_iter()?.map(|key| each(map, key)).collect()
}

fn of_text(text: &str, name: &str, args: &[Value]) -> Result<Value, Error> {
    Ok(match name {
        "startswith" => Value::from(any(args, |part| text.starts_with(part))?),
        "endswith" => Value::from(any(args, |part| text.ends_with(part))?),
        "strip" | "lstrip" | "rstrip" => Value::from(stripped(text, name, args)?),
        "removeprefix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(part).unwrap_or(text))
        }
        "removesuffix" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(part).unwrap_or(text))
        }
        "replace" => {
            let (old, new, most): (&str, &str, Option<i64>) = from_args(args)?;
            Value::from(match most.and_then(|most| usize::try_from(most).ok()) {
                Some(most) => text.replacen(old, new, most),
                None => text.replace(old, new),
            })
        }
        "split" => split(text, args)?,
        "splitlines" => {
            let () = from_args(args)?;
            text.lines().map(Value::from).collect()
        }
        "count" => {
            let (part,): (&str,) = from_args(args)?;
            Value::from(text.matches(part).count())
        }
        "find" => {
            let (part,): (&str,) = from_args(args)?;
            let at = text.find(part).map(|at| text[..at].chars().count());
            at.map_or(Value::from(-1), Value::from)
        }
        "isdigit" | "isalpha" => {
            let () = from_args(args)?;
            let is = if name == "isdigit" { char::is_numeric } else { char::is_alphabetic };
            Value::from(!text.is_empty() && text.chars().all(is))
        }
        _ => return Err(ErrorKind::UnknownMethod.into()),
    })
}

/// One text, or a list of which any will do.
fn any(args: &[Value], is: impl Fn(&str) -> bool) -> Result<bool, Error> {
    let (wanted,): (Value,) = from_args(args)?;
    if let Some(part) = wanted.as_str() {
        return Ok(is(part));
    }
    Ok(wanted.try_iter()?.any(|part| part.as_str().is_some_and(&is)))
}

fn stripped<'t>(text: &'t str, name: &str, args: &[Value]) -> Result<&'t str, Error> {
    let (chars,): (Option<&str>,) = from_args(args)?;
    let is = |c: char| chars.map_or_else(|| c.is_whitespace(), |chars| chars.contains(c));
    Ok(match name {
        "lstrip" => text.trim_start_matches(is),
        "rstrip" => text.trim_end_matches(is),
        _ => text.trim_matches(is),
    })
}

/// At most so many times, from the left; without a separator, at white space.
fn split(text: &str, args: &[Value]) -> Result<Value, Error> {
    let (separator, most): (Option<&str>, Option<i64>) = from_args(args)?;
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX - 1);
    let Some(separator) = separator else {
        let (mut rest, mut parts) = (text.trim_start(), Vec::new());
        while !rest.is_empty() {
            let end = rest.find(char::is_whitespace).filter(|_| parts.len() < most);
            let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
            parts.push(Value::from(part));
            rest = after.trim_start();
        }
        return Ok(Value::from(parts));
    };
    if separator.is_empty() {
        return Err(Error::new(ErrorKind::InvalidOperation, "the separator is empty"));
    }
    Ok(text.splitn(most + 1, separator).map(Value::from).collect())
}

#[cfg(test)]
mod tests;
