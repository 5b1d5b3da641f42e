//! Holds values against the rules of a schema.

mod below;
mod faults;
mod seen;

use serde_json::Value;

use super::number::{compare, is_multiple, is_whole, order};
use super::rules::{Id, Rule, Rules, Side, Sized};
pub(super) use faults::{Fault, Kind};
use faults::{Faults, listed, many, options};
use seen::Seen;

/// As many schemas are followed inside each other.
const MOST_LEVELS: usize = 400;
/// As often is a value held against a schema; a second or so.
const MOST_VISITS: usize = 2_000_000;

/// What does not fit, at most `most` of it, in the order of the rules.
pub(super) fn faults<'v>(rules: &Rules, value: &'v Value, most: usize) -> Vec<Fault<'v>> {
    let mut run =
        Run { rules, faults: Faults::new(most), active: Vec::new(), scope: Vec::new(), visits: 0 };
    run.fits(0, value);
    run.faults.found()
}

/// What one rule says.
struct Answer<'v> {
    fits: bool,
    /// What it has spoken about, even where that does not fit.
    seen: Seen<'v>,
}

struct Run<'r, 'v> {
    rules: &'r Rules,
    faults: Faults<'v>,
    /// The schemas that are being followed, each with the value that it is held against.
    active: Vec<(Id, *const Value)>,
    /// The resources entered on the way here.
    scope: Vec<usize>,
    visits: usize,
}

impl<'r, 'v> Run<'r, 'v> {
    /// What a schema says of a value; none where the value does not fit.
    fn fits(&mut self, id: Id, value: &'v Value) -> Option<Seen<'v>> {
        let rules: &'r Rules = self.rules;
        self.visits += 1;
        if self.visits > MOST_VISITS || self.active.len() >= MOST_LEVELS {
            self.faults.stop(value);
            return None;
        }
        let node = &rules.nodes[id];
        self.active.push((id, std::ptr::from_ref(value)));
        self.scope.push(node.resource);
        let mut all = Answer { fits: true, seen: Seen::default() };
        for rule in &node.rules {
            let answer = self.rule(rule, value, &all.seen);
            all.fits &= answer.fits;
            all.seen.add(answer.seen);
            if !all.fits && self.faults.enough() {
                break;
            }
        }
        self.scope.pop();
        self.active.pop();
        all.fits.then_some(all.seen)
    }

    /// The same where only the answer counts, and not what does not fit.
    fn quietly(&mut self, id: Id, value: &'v Value) -> Option<Seen<'v>> {
        self.faults.hush();
        let seen = self.fits(id, value);
        self.faults.speak();
        seen
    }

    fn rule(&mut self, rule: &'r Rule, value: &'v Value, seen: &Seen<'v>) -> Answer<'v> {
        match rule {
            Rule::PropertyNames(_)
            | Rule::Keys(_)
            | Rule::Items { .. }
            | Rule::Contains { .. }
            | Rule::UnevaluatedItems(_)
            | Rule::UnevaluatedProperties(_) => self.below(rule, value, seen),
            Rule::DependentSchemas(_)
            | Rule::AllOf(_)
            | Rule::AnyOf(_)
            | Rule::OneOf(_)
            | Rule::Not(..)
            | Rule::If { .. }
            | Rule::Reference(_)
            | Rule::DynamicReference(..) => {
                let seen = self.here(rule, value);
                Answer { fits: seen.is_some(), seen: seen.unwrap_or_default() }
            }
            _ => Answer { fits: self.itself(rule, value), seen: Seen::default() },
        }
    }

    /// Rules about the value itself.
    fn itself(&mut self, rule: &Rule, value: &'v Value) -> bool {
        match rule {
            Rule::Never => self.is(false, value, Kind::Unexpected, |shown| {
                format!("False schema does not allow {shown}")
            }),
            Rule::Type(types) => {
                let fits = types.iter().any(|one| is_of(value, one));
                let plural = if types.len() == 1 { "" } else { "s" };
                self.is(fits, value, Kind::Type, |shown| {
                    format!("{shown} is not of type{plural} {}", listed(types, '"'))
                })
            }
            Rule::Const(only) => {
                let fits = order(only, value).is_eq();
                self.is(fits, value, Kind::Other, |_| format!("{only} was expected"))
            }
            Rule::Enum(all) => {
                let fits = all.iter().any(|one| order(one, value).is_eq());
                self.is(fits, value, Kind::Other, |shown| {
                    format!("{shown} is not one of {}", options(all))
                })
            }
            Rule::Limit(..) | Rule::MultipleOf(_) => self.number(rule, value),
            Rule::AtLeast(what, count) => {
                let fits = size(*what, value).is_none_or(|size| size >= *count);
                self.is(fits, value, Kind::Other, |shown| match what {
                    Sized::Text => format!("{shown} is shorter than {}", many(*what, *count)),
                    Sized::List | Sized::Map => {
                        format!("{shown} has less than {}", many(*what, *count))
                    }
                })
            }
            Rule::AtMost(what, count) => {
                let fits = size(*what, value).is_none_or(|size| size <= *count);
                self.is(fits, value, Kind::Other, |shown| match what {
                    Sized::Text => format!("{shown} is longer than {}", many(*what, *count)),
                    Sized::List | Sized::Map => {
                        format!("{shown} has more than {}", many(*what, *count))
                    }
                })
            }
            Rule::Required(keys) => self.required(keys, value),
            Rule::DependentRequired(all) => {
                let mut fits = true;
                for (_, keys) in all.iter().filter(|(key, _)| value.get(key).is_some()) {
                    fits &= self.required(keys, value);
                }
                fits
            }
            Rule::Pattern(pattern, text) => {
                let fits = value.as_str().is_none_or(|value| pattern.is_match(value));
                self.is(fits, value, Kind::Other, |shown| {
                    format!("{shown} does not match \"{text}\"")
                })
            }
            Rule::UniqueItems => {
                let fits = value.as_array().is_none_or(|items| are_unique(items));
                self.is(fits, value, Kind::Other, |shown| {
                    format!("{shown} has non-unique elements")
                })
            }
            _ => true,
        }
    }

    fn number(&mut self, rule: &Rule, value: &'v Value) -> bool {
        let Value::Number(number) = value else { return true };
        match rule {
            Rule::Limit(side, limit) => {
                let order = compare(number, limit);
                let (fits, reason) = match side {
                    Side::AtLeast => (order.is_ge(), "less than the minimum"),
                    Side::AtMost => (order.is_le(), "greater than the maximum"),
                    Side::Above => (order.is_gt(), "less than or equal to the minimum"),
                    Side::Below => (order.is_lt(), "greater than or equal to the maximum"),
                };
                self.is(fits, value, Kind::Other, |shown| format!("{shown} is {reason} of {limit}"))
            }
            Rule::MultipleOf(of) => self.is(is_multiple(number, of), value, Kind::Other, |shown| {
                format!("{shown} is not a multiple of {of}")
            }),
            _ => true,
        }
    }

    fn required(&mut self, keys: &[String], value: &'v Value) -> bool {
        let Value::Object(map) = value else { return true };
        let mut fits = true;
        for key in keys {
            fits &= self.is(map.contains_key(key), value, Kind::Required(key.clone()), |_| {
                format!("{} is a required property", Value::from(key.as_str()))
            });
        }
        fits
    }

    /// Rules that hold other schemas against the same value.
    fn here(&mut self, rule: &'r Rule, value: &'v Value) -> Option<Seen<'v>> {
        match rule {
            Rule::DependentSchemas(all) => {
                let known = all.iter().filter(|(key, _)| value.get(key).is_some());
                self.all(known.map(|(_, id)| *id), value)
            }
            Rule::AllOf(all) => self.all(all.iter().copied(), value),
            Rule::AnyOf(all) => {
                let fit = self.fitting(all, value);
                self.is(!fit.is_empty(), value, Kind::Other, |shown| none_of(shown, "anyOf"))
                    .then(|| Seen::sum(fit))
            }
            Rule::OneOf(all) => {
                let fit = self.fitting(all, value);
                let reason = |shown: &str| match fit.len() {
                    0 => none_of(shown, "oneOf"),
                    _ => format!(
                        "{shown} is valid under more than one of the schemas listed in the 'oneOf' keyword"
                    ),
                };
                self.is(fit.len() == 1, value, Kind::Other, reason).then(|| Seen::sum(fit))
            }
            Rule::Not(id, schema) => {
                let fits = self.quietly(*id, value).is_none();
                self.is(fits, value, Kind::Other, |shown| {
                    format!("{schema} is not allowed for {shown}")
                })
                .then(Seen::default)
            }
            Rule::If { condition, then, otherwise } => match self.quietly(*condition, value) {
                Some(mut seen) => {
                    seen.add(self.all(then.iter().copied(), value)?);
                    Some(seen)
                }
                None => self.all(otherwise.iter().copied(), value),
            },
            Rule::Reference(id) => self.referred(*id, value),
            Rule::DynamicReference(id, name) => {
                let rules = self.rules;
                let outer =
                    self.scope.iter().find_map(|at| rules.dynamic.get(&(*at, name.clone())));
                self.referred(outer.copied().unwrap_or(*id), value)
            }
            _ => Some(Seen::default()),
        }
    }

    /// A schema that refers to itself for the same value says nothing new.
    fn referred(&mut self, id: Id, value: &'v Value) -> Option<Seen<'v>> {
        if self.active.contains(&(id, std::ptr::from_ref(value))) {
            return Some(Seen::default());
        }
        self.fits(id, value)
    }

    fn all(&mut self, ids: impl Iterator<Item = Id>, value: &'v Value) -> Option<Seen<'v>> {
        let mut all = Some(Seen::default());
        for id in ids {
            match (self.fits(id, value), &mut all) {
                (Some(seen), Some(all)) => all.add(seen),
                (Some(_), None) => {}
                (None, _) => all = None,
            }
        }
        all
    }

    fn fitting(&mut self, ids: &[Id], value: &'v Value) -> Vec<Seen<'v>> {
        ids.iter().filter_map(|id| self.quietly(*id, value)).collect()
    }

    /// Reports what does not fit.
    fn is(
        &mut self,
        fits: bool,
        value: &'v Value,
        kind: Kind,
        reason: impl FnOnce(&str) -> String,
    ) -> bool {
        if !fits {
            self.faults.push(value, kind, reason);
        }
        fits
    }
}

fn none_of(shown: &str, keyword: &str) -> String {
    format!("{shown} is not valid under any of the schemas listed in the '{keyword}' keyword")
}

fn is_of(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || name == "integer" && is_whole(number),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn size(what: Sized, value: &Value) -> Option<u64> {
    let size = match (what, value) {
        (Sized::Text, Value::String(text)) => text.chars().count(),
        (Sized::List, Value::Array(items)) => items.len(),
        (Sized::Map, Value::Object(map)) => map.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

fn are_unique(items: &[Value]) -> bool {
    let mut sorted: Vec<&Value> = items.iter().collect();
    sorted.sort_unstable_by(|left, right| order(left, right));
    sorted.windows(2).all(|pair| order(pair[0], pair[1]).is_ne())
}
