//! What does not fit: the place, the value, and the reason in words that do not show the value.

use std::fmt::Display;

use serde_json::Value;

use super::super::places;
use super::super::rules::Sized;

const TOO_LONG: &str =
    "it takes too long to compare them with the schema, so write fewer references in it";

/// What kind of fault it is, where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Type,
    Required(String),
    /// Something that nobody knows.
    Unexpected,
    Other,
}

/// One thing that does not fit.
#[derive(Debug)]
pub(in super::super) struct Fault<'v> {
    /// As a JSON pointer.
    pub(in super::super) place: String,
    pub(in super::super) value: &'v Value,
    pub(in super::super) kind: Kind,
    pub(in super::super) reason: String,
}

/// Collects faults where somebody wants to know them.
pub(super) struct Faults<'v> {
    found: Vec<Fault<'v>>,
    most: usize,
    /// How many ask only for yes or no.
    hushed: usize,
    is_stopped: bool,
    path: Vec<String>,
    /// What a reason calls the value.
    shown: String,
}

impl<'v> Faults<'v> {
    pub(super) fn new(most: usize) -> Self {
        let shown = "this value".to_owned();
        Self { found: Vec::new(), most, hushed: 0, is_stopped: false, path: Vec::new(), shown }
    }

    pub(super) fn found(self) -> Vec<Fault<'v>> {
        self.found
    }

    pub(super) fn hush(&mut self) {
        self.hushed += 1;
    }

    pub(super) fn speak(&mut self) {
        self.hushed -= 1;
    }

    /// Whether another fault would change nothing.
    pub(super) fn enough(&self) -> bool {
        self.is_stopped || self.hushed > 0 || self.found.len() >= self.most
    }

    pub(super) fn push(
        &mut self,
        value: &'v Value,
        kind: Kind,
        reason: impl FnOnce(&str) -> String,
    ) {
        if !self.enough() {
            let place =
                self.path.iter().fold(String::new(), |place, key| places::below(&place, key));
            self.found.push(Fault { place, value, kind, reason: reason(&self.shown) });
        }
    }

    /// Says that the question has no answer, whoever asked.
    pub(super) fn stop(&mut self, value: &'v Value) {
        if !self.is_stopped {
            let (place, reason) = (String::new(), TOO_LONG.to_owned());
            self.found.insert(0, Fault { place, value, kind: Kind::Unexpected, reason });
            self.is_stopped = true;
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    pub(super) fn below(&mut self, key: String) {
        self.path.push(key);
    }

    pub(super) fn back(&mut self) {
        self.path.pop();
    }

    /// The same question about something with a name of its own.
    pub(super) fn about<'o>(&self, shown: String) -> Faults<'o> {
        let most = if self.enough() { 0 } else { self.most - self.found.len() };
        Faults { shown, ..Faults::new(most) }
    }
}

/// Names between quotes.
pub(super) fn listed(names: &[impl Display], quote: char) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
    names.join(", ")
}

/// What is there and should not be.
pub(super) fn unexpected(what: &str, keys: &[&str]) -> String {
    let verb = if keys.len() == 1 { "was" } else { "were" };
    format!("{what} properties are not allowed ({} {verb} unexpected)", listed(keys, '\''))
}

/// A number of things.
pub(super) fn many(what: Sized, count: u64) -> String {
    let (one, more) = match what {
        Sized::Text => ("character", "characters"),
        Sized::List => ("item", "items"),
        Sized::Map => ("property", "properties"),
    };
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The first of what is allowed.
pub(super) fn options(all: &[Value]) -> String {
    const MOST: usize = 3;
    let shown = |some: &[Value]| some.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match all {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] if all.len() <= MOST => format!("{} or {last}", shown(first)),
        _ => format!("{} or {} other candidates", shown(&all[..MOST - 1]), all.len() - (MOST - 1)),
    }
}
