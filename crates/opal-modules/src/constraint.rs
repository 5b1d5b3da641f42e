//! Constraints: what must hold for the inputs and outputs of a module beyond their types.
//!
//! Constraints on inputs are checked before anything runs, constraints on outputs after the tools of an
//! apply. A message names keys and what the spec says, never a value.

mod range;

use std::cmp::Ordering;

use opal_core::gather::Gather as _;
use opal_core::suggest;
use regex::Regex;
use serde_json::{Map, Number, Value, json};

pub(super) use range::Range;

/// Every rule of one input or output.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub subject: Subject,
    pub rules: Vec<Rule>,
    /// Why, for whoever breaks it.
    pub message: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The path of an input: `network.cidr`.
    Input(String),
    /// The name of an output, with any dots in it.
    Output(String),
}

/// One rule. A value that is not set keeps every rule but [`Rule::Set`].
#[derive(Clone, Debug)]
pub enum Rule {
    /// It has a value: neither null nor an empty text.
    Set,
    /// It is one of these. The elements of a list are checked one by one.
    OneOf(Vec<Value>),
    /// A number, or the number of elements of a list.
    AtLeast(Number),
    AtMost(Number),
    /// The whole text matches. The elements of a list are checked one by one.
    Matches(Pattern),
    /// It is not the same as this input.
    DiffersFrom(String),
    /// Where it is set, this input is set too.
    Needs(String),
    /// An address or a range of addresses, inside this one. The elements of a list are checked one by one.
    Within(Bounds),
}

#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

impl Pattern {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let regex = Regex::new(&format!(r"\A(?:{text})\z")).ok()?;
        Some(Self { text: text.to_owned(), regex })
    }
}

/// The range that another one must be inside of.
#[derive(Clone, Debug)]
pub enum Bounds {
    /// As it was written, and read.
    Range(String, Range),
    /// The path of the input that holds it.
    Input(String),
}

impl Bounds {
    /// A range has a slash, and a path of an input has none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.contains('/') {
            true => Some(Self::Range(text.to_owned(), Range::parse(text)?)),
            false => Some(Self::Input(text.to_owned())),
        }
    }
}

/// All that the inputs break, in the order of the spec.
#[must_use]
pub(super) fn of_inputs<'c>(
    constraints: impl IntoIterator<Item = &'c Constraint>,
    inputs: &Map<String, Value>,
) -> Vec<String> {
    let faults = constraints.into_iter().flat_map(|one| match &one.subject {
        Subject::Input(path) => one.faults(path, at(inputs, path), inputs),
        Subject::Output(_) => Vec::new(),
    });
    faults.collect()
}

/// All that the outputs break, in the order of the spec.
#[must_use]
pub(super) fn of_outputs(
    constraints: &[Constraint],
    outputs: &Map<String, Value>,
    inputs: &Map<String, Value>,
) -> Vec<String> {
    let faults = constraints.iter().flat_map(|one| match &one.subject {
        Subject::Output(name) => one.faults(name, outputs.get(name), inputs),
        Subject::Input(_) => Vec::new(),
    });
    faults.collect()
}

/// The value at a path such as `network.cidr`.
#[must_use]
pub(super) fn at<'m>(map: &'m Map<String, Value>, path: &str) -> Option<&'m Value> {
    let mut keys = path.split('.');
    let first = map.get(keys.next()?)?;
    keys.try_fold(first, |value, key| value.get(key))
}

/// Whether a value was given.
pub(super) fn is_set(value: Option<&Value>) -> bool {
    !matches!(value, None | Some(Value::Null)) && value.is_none_or(|it| it != "")
}

/// Why a path cannot name one of these inputs, with the nearest that exists. Below an input that holds
/// no keys yet, anything may come.
pub(super) fn unknown_input(known: &Map<String, Value>, path: &str) -> Option<String> {
    let mut map = known;
    for key in path.split('.') {
        match map.get(key) {
            Some(Value::Object(below)) if !below.is_empty() => map = below,
            Some(_) => return None,
            None => {
                let near = suggest::nearest(key, map.keys().map(String::as_str));
                return Some(near.map_or_else(
                    || "add it to `inputs.defaults`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ));
            }
        }
    }
    None
}

impl Constraint {
    /// The paths of other inputs that it compares with.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter_map(|rule| match rule {
            Rule::DiffersFrom(path) | Rule::Needs(path) | Rule::Within(Bounds::Input(path)) => {
                Some(path.as_str())
            }
            _ => None,
        })
    }

    /// Every input that it reads.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let own = match &self.subject {
            Subject::Input(path) => Some(path.as_str()),
            Subject::Output(_) => None,
        };
        own.into_iter().chain(self.others())
    }

    fn faults(
        &self,
        name: &str,
        value: Option<&Value>,
        inputs: &Map<String, Value>,
    ) -> Vec<String> {
        let fault = |rule: &Rule| {
            let fault = rule.fault(value, inputs)?;
            let why = self.message.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            Some(format!("`{name}` {fault}{why}"))
        };
        self.rules.iter().filter_map(fault).collect()
    }

    /// As it is part of a plan.
    #[must_use]
    pub fn json(&self) -> Value {
        let mut map: Map<String, Value> =
            self.rules.iter().map(|rule| (rule.key().to_owned(), rule.operand())).gathered();
        match &self.subject {
            Subject::Input(path) => map.insert("input".to_owned(), path.as_str().into()),
            Subject::Output(name) => map.insert("output".to_owned(), name.as_str().into()),
        };
        map.into()
    }
}

impl Rule {
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::OneOf(_) => "one_of",
            Self::AtLeast(_) => "at_least",
            Self::AtMost(_) => "at_most",
            Self::Matches(_) => "matches",
            Self::DiffersFrom(_) => "differs_from",
            Self::Needs(_) => "needs",
            Self::Within(_) => "within",
        }
    }

    fn operand(&self) -> Value {
        match self {
            Self::Set => json!(true),
            Self::OneOf(values) => json!(values),
            Self::AtLeast(bound) | Self::AtMost(bound) => json!(bound),
            Self::Matches(pattern) => json!(pattern.text),
            Self::DiffersFrom(path) | Self::Needs(path) => json!(path),
            Self::Within(Bounds::Range(text, _) | Bounds::Input(text)) => json!(text),
        }
    }

    /// How a value breaks it.
    fn fault(&self, value: Option<&Value>, inputs: &Map<String, Value>) -> Option<String> {
        if let Self::Set = self {
            return (!is_set(value)).then(|| "must have a value".to_owned());
        }
        let value = value.filter(|it| is_set(Some(it)))?;
        match self {
            Self::Set => None,
            Self::OneOf(allowed) => {
                let listed: Vec<String> =
                    allowed.iter().map(|it| format!("`{}`", shown(it))).collect();
                broken(each(value, |it| allowed.contains(it)), || {
                    format!("must be one of {}", listed.join(", "))
                })
            }
            Self::AtLeast(bound) => bounded(value, bound, Ordering::Less, "at least"),
            Self::AtMost(bound) => bounded(value, bound, Ordering::Greater, "at most"),
            Self::Matches(Pattern { text, regex }) => {
                let fits = |it: &Value| it.as_str().is_some_and(|it| regex.is_match(it));
                broken(each(value, fits), || format!("must match `{text}`"))
            }
            Self::DiffersFrom(path) => {
                broken(at(inputs, path) != Some(value), || format!("must differ from `{path}`"))
            }
            Self::Needs(path) => broken(is_set(at(inputs, path)), || format!("needs `{path}`")),
            Self::Within(bounds) => within(value, bounds, inputs),
        }
    }
}

fn broken(holds: bool, words: impl FnOnce() -> String) -> Option<String> {
    (!holds).then(words)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether it holds for a value, or for every element of a list.
fn each(value: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().all(holds),
        other => holds(other),
    }
}

fn bounded(value: &Value, bound: &Number, wrong: Ordering, words: &str) -> Option<String> {
    match value {
        Value::Number(number) => {
            broken(compare(number, bound) != Some(wrong), || format!("must be {words} {bound}"))
        }
        Value::Array(items) => broken(compare(&items.len().into(), bound) != Some(wrong), || {
            format!("must have {words} {bound} elements")
        }),
        _ => Some("must be a number or a list".to_owned()),
    }
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn within(value: &Value, bounds: &Bounds, inputs: &Map<String, Value>) -> Option<String> {
    let (name, outer) = match bounds {
        Bounds::Range(text, range) => (text, Some(*range)),
        Bounds::Input(path) => {
            let outer = at(inputs, path);
            if !is_set(outer) {
                return None;
            }
            (path, outer.and_then(Value::as_str).and_then(Range::parse))
        }
    };
    let Some(outer) = outer else {
        return Some(format!("must be inside `{name}`, which is not a range of addresses"));
    };
    let read = |it: &Value| it.as_str().and_then(Range::parse);
    if !each(value, |it| read(it).is_some()) {
        return Some("must be a range of addresses, such as `10.20.0.0/16`".to_owned());
    }
    broken(each(value, |it| read(it).is_some_and(|it| it.is_inside(outer))), || {
        format!("must be inside `{name}`")
    })
}

#[cfg(test)]
mod tests;
