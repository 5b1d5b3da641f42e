//! From a word of the command line to a constant of its parameter's type.
//!
//! | type | how it is written |
//! |---|---|
//! | `String`, a closed set | as it is |
//! | `Int`, `Float`, `Duration` | as in source: `3`, `-1.5`, `1h30m` |
//! | `Bool` | `true` and `false` |
//! | `Array` | `a,b,c`; nothing at all is the empty Array |
//! | `Map` | `k=v,k=v`; nothing at all is the empty Map |
//!
//! Items of an `Array` and values of a `Map` are Strings, unless the type says otherwise. In both,
//! `\,` `\=` and `\\` are the characters themselves. Brackets around the items are refused, so
//! that a literal of the language is never taken for a strange first and last item.

use std::collections::BTreeMap;
use std::fmt;

use super::accepts;
use crate::duration::{Duration, DurationError};
use crate::types::Type;
use crate::value::Value;

/// Why a word is not a value of its type. Its `Display` follows the name of the parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordError {
    /// It has another form than `example`.
    Form {
        wanted: Type,
        example: &'static str,
    },
    /// More than 64 bits.
    TooLarge {
        example: &'static str,
    },
    Duration {
        example: &'static str,
        error: DurationError,
    },
    /// It is not in the closed set.
    Choice(Type),
    Brackets {
        wanted: Type,
        example: &'static str,
    },
    /// An entry of a map without its `=`.
    NoEquals {
        entry: String,
    },
    RepeatedKey(String),
    Item(Box<Self>),
    /// An array or a map inside another.
    Nested,
    /// No word can be of this type.
    Unwritable(Type),
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { wanted, example } => {
                write!(f, "expects {}, as in `{example}`", wanted.with_article())
            }
            Self::TooLarge { example } => {
                write!(f, "expects an Int, as in `{example}`, of at most 64 bits")
            }
            Self::Duration { example, error } => {
                write!(f, "expects a Duration, as in `{example}`: {error}")
            }
            Self::Choice(wanted) => write!(f, "expects {}", wanted.with_article()),
            Self::Brackets { wanted, example } => {
                write!(f, "expects {}, as in `{example}`, without brackets", wanted.with_article())
            }
            Self::NoEquals { entry } => {
                write!(f, "expects `key=value,other=value`, but `{entry}` has no `=`")
            }
            Self::RepeatedKey(key) => write!(f, "has a duplicate key `{key}`"),
            Self::Item(error) => write!(f, "{error} for each item"),
            Self::Nested => {
                f.write_str("cannot be given on the command line: it is a list inside a list")
            }
            Self::Unwritable(ty) => {
                write!(f, "cannot be given on the command line: it is {}", ty.with_article())
            }
        }
    }
}

/// The value of type `ty` that `word` is.
///
/// # Errors
/// The word is not written as a value of this type.
pub fn read_word(ty: &Type, word: &str) -> Result<Value, WordError> {
    let form = |example| WordError::Form { wanted: ty.clone(), example };
    match ty {
        Type::Int => word.parse().map(Value::Int).map_err(|_| match is_digits(word) {
            true => WordError::TooLarge { example: "3" },
            false => form("3"),
        }),
        Type::Float => {
            let value = word.parse::<f64>().ok().filter(|value| value.is_finite());
            value.map(Value::Float).ok_or_else(|| form("1.5"))
        }
        Type::Bool => word.parse().map(Value::Bool).map_err(|_| form("true")),
        Type::Duration => {
            let why = |error| WordError::Duration { example: "1m30s", error };
            Duration::parse(word).map(Value::Duration).map_err(why)
        }
        Type::Array(item) => {
            let items = parts(ty, word, "a,b")?;
            let items = items.into_iter().map(|text| read_item(item.get(), text));
            items.collect::<Result<_, _>>().map(Value::Array)
        }
        Type::Map(item) => read_map(item.get(), &parts(ty, word, "key=value,other=value")?),
        // A default that is worked out has its type only in the plan, which checks again.
        Type::String | Type::OneOf(_) | Type::Any => {
            let value = Value::String(word.to_owned().into());
            accepts(ty, &value).map_err(|_| WordError::Choice(ty.clone()))?;
            Ok(value)
        }
        Type::Null | Type::Regex | Type::Object(_) => Err(WordError::Unwritable(ty.clone())),
    }
}

fn read_map(ty: &Type, entries: &[&str]) -> Result<Value, WordError> {
    let mut fields = BTreeMap::new();
    for entry in entries {
        let Some((key, value)) = split(entry, '=') else {
            return Err(WordError::NoEquals { entry: (*entry).to_owned() });
        };
        let (key, value) = (unescaped(key), read_item(ty, value)?);
        if fields.insert(key.clone(), value).is_some() {
            return Err(WordError::RepeatedKey(key));
        }
    }
    Ok(Value::Map(fields))
}

/// An item is written as its type is, but a list has no list in it.
fn read_item(ty: &Type, text: &str) -> Result<Value, WordError> {
    match ty {
        Type::Array(_) | Type::Map(_) => Err(WordError::Nested),
        _ => read_word(ty, &unescaped(text)).map_err(|error| WordError::Item(Box::new(error))),
    }
}

/// The texts between the commas, escapes left as they are.
fn parts<'w>(ty: &Type, word: &'w str, example: &'static str) -> Result<Vec<&'w str>, WordError> {
    let in_brackets = |open, close| word.starts_with(open) && word.ends_with(close);
    if in_brackets('[', ']') || in_brackets('{', '}') {
        return Err(WordError::Brackets { wanted: ty.clone(), example });
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

/// The texts before and after the first `at` without a `\` in front of it.
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
