//! From the words behind a task's name to constants of its parameters' types.
//!
//! | type | how it is written |
//! |---|---|
//! | `String`, a closed set | as it is |
//! | `Int`, `Float`, `Duration` | as in source: `3`, `-1.5`, `1h30m` |
//! | `Bool` | `--x` and `--no-x`, or `true` and `false` |
//! | `Array` | `a,b,c`; nothing at all is the empty Array |
//! | `Map` | `k=v,k=v`; nothing at all is the empty Map |
//! | `name...` | one word an item |
//!
//! Items of an `Array` and values of a `Map` are Strings, unless the type says otherwise. In both,
//! `\,` `\=` and `\\` are the characters themselves. Brackets around the items are refused, so
//! that a literal of the language is never taken for a strange first and last item.
//!
//! Deliberately not here: defaults, which are the planner's, and which word is for which
//! parameter, which is in [`crate::task_words`].

use std::collections::BTreeMap;

use opal_core::{Duration, Type, Value};

/// A word as a value of `ty`, or what the parameter expects.
pub(crate) fn read(ty: &Type, word: &str) -> Result<Value, String> {
    let wanted = |form: &str| format!("expects {}, as in `{form}`", ty.with_article());
    match ty {
        Type::Int => word.parse().map(Value::Int).map_err(|_| match is_digits(word) {
            true => format!("{}, of at most 64 bits", wanted("3")),
            false => wanted("3"),
        }),
        Type::Float => {
            let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
            value.map(Value::Float).ok_or_else(|| wanted("1.5"))
        }
        Type::Bool => word.parse().map(Value::Bool).map_err(|_| wanted("true")),
        Type::Duration => {
            let reason = |error| format!("{}: {error}", wanted("1m30s"));
            Duration::parse(word).map(Value::Duration).map_err(reason)
        }
        Type::OneOf(choices) if !choices.contains(word) => {
            Err(format!("expects {}", ty.with_article()))
        }
        Type::Array(item) => {
            let items = parts(word, wanted("a,b"))?;
            let items = items.into_iter().map(|text| read_item(item.get(), text));
            items.collect::<Result<_, _>>().map(Value::Array)
        }
        Type::Map(item) => read_map(item.get(), &parts(word, wanted("key=value,other=value"))?),
        // A default that is worked out has its type only in the plan, which looks again.
        Type::String | Type::OneOf(_) | Type::Any => Ok(string(word)),
        Type::Null | Type::Regex | Type::Object(_) => {
            Err(format!("cannot be given on the command line: it is {}", ty.with_article()))
        }
    }
}

fn read_map(ty: &Type, entries: &[&str]) -> Result<Value, String> {
    let mut fields = BTreeMap::new();
    for entry in entries {
        let Some((key, value)) = split(entry, '=') else {
            return Err(format!("expects `key=value,other=value`, and `{entry}` has no `=`"));
        };
        let (key, value) = (unescaped(key), read_item(ty, value)?);
        if fields.insert(key.clone(), value).is_some() {
            return Err(format!("has the key `{key}` twice"));
        }
    }
    Ok(Value::Map(fields))
}

/// An item is written as its type is, but a list has no list in it.
fn read_item(ty: &Type, text: &str) -> Result<Value, String> {
    match ty {
        Type::Array(_) | Type::Map(_) => {
            Err("cannot be given on the command line: it is a list inside a list".to_owned())
        }
        _ => read(ty, &unescaped(text)).map_err(|wanted| format!("{wanted} for each item")),
    }
}

/// What stands between the commas, escapes left as they are.
fn parts(word: &str, wanted: String) -> Result<Vec<&str>, String> {
    let in_brackets = |open, close| word.starts_with(open) && word.ends_with(close);
    if in_brackets('[', ']') || in_brackets('{', '}') {
        return Err(format!("{wanted}, without brackets"));
    }
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some((part, after)) = split(rest, ',') {
        parts.push(part);
        rest = after;
    }
    if !word.is_empty() {
        parts.push(rest);
    }
    Ok(parts)
}

/// What stands before and behind the first `at` without a `\` in front of it.
fn split(text: &str, at: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        if c == at && !escaped {
            return Some((&text[..index], &text[index + c.len_utf8()..]));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// A `\` in front of a character that separates, or of another `\`, goes; any other stays.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let follows = chars.peek().copied().filter(|next| matches!(next, ',' | '=' | '\\'));
        match follows {
            Some(next) if c == '\\' => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

fn is_digits(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn string(text: &str) -> Value {
    Value::String(text.to_owned().into())
}

#[cfg(test)]
mod tests;
