//! Rules about what is below a value: the keys of a map, the elements of a list.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::super::rules::{Id, Keys, Rule, Sized};
use super::faults::{many, unexpected};
use super::{Answer, Kind, Run, Seen};

impl<'r, 'v> Run<'r, 'v> {
    pub(super) fn below(
        &mut self,
        rule: &'r Rule,
        value: &'v Value,
        seen: &Seen<'v>,
    ) -> Answer<'v> {
        match (rule, value) {
            (Rule::Keys(keys), Value::Object(map)) => self.keys(keys, value, map),
            (Rule::PropertyNames(id), Value::Object(map)) => self.names(*id, value, map),
            (Rule::UnevaluatedProperties(id), Value::Object(map)) => {
                self.other_keys(*id, value, map, seen)
            }
            (Rule::Items { first, rest }, Value::Array(items)) => self.items(first, *rest, items),
            (Rule::Contains { schema, least, most }, Value::Array(items)) => {
                self.contains(*schema, *least..=most.unwrap_or(u64::MAX), value, items)
            }
            (Rule::UnevaluatedItems(id), Value::Array(items)) => {
                self.other_items(*id, value, items, seen)
            }
            _ => Answer { fits: true, seen: Seen::default() },
        }
    }

    /// Holds a schema against what is below a key.
    fn at(&mut self, key: String, id: Id, value: &'v Value) -> bool {
        self.faults.below(key);
        let fits = self.fits(id, value).is_some();
        self.faults.back();
        fits
    }

    fn keys(
        &mut self,
        keys: &'r Keys,
        value: &'v Value,
        map: &'v Map<String, Value>,
    ) -> Answer<'v> {
        let mut fits = true;
        let mut seen = Vec::new();
        let mut unknown = Vec::new();
        for (key, below) in map {
            let named = keys.named.get(key).copied();
            let matched = keys.matched.iter().filter(|(pattern, _)| pattern.is_match(key));
            let mut schemas: Vec<Id> =
                named.into_iter().chain(matched.map(|(_, id)| *id)).collect();
            if schemas.is_empty() {
                match keys.others {
                    Some(id) if self.is_never(id) => unknown.push(key.as_str()),
                    others => schemas.extend(others),
                }
            }
            if !schemas.is_empty() {
                seen.push(key.as_str());
            }
            for id in schemas {
                fits &= self.at(key.clone(), id, below);
            }
        }
        fits &= self.is(unknown.is_empty(), value, Kind::Unexpected, |_| {
            unexpected("Additional", &unknown)
        });
        Answer { fits, seen: Seen::keys(seen.into_iter()) }
    }

    fn is_never(&self, id: Id) -> bool {
        matches!(self.rules.nodes[id].rules[..], [Rule::Never])
    }

    /// The keys themselves; they are not secret, so they are named.
    fn names(&mut self, id: Id, value: &'v Value, map: &'v Map<String, Value>) -> Answer<'v> {
        let mut fits = true;
        for key in map.keys() {
            let name = Value::from(key.as_str());
            let mut run = Run {
                rules: self.rules,
                faults: self.faults.about(name.to_string()),
                active: Vec::new(),
                scope: self.scope.clone(),
                visits: self.visits,
            };
            fits &= run.fits(id, &name).is_some();
            self.visits = run.visits;
            if run.faults.is_stopped() {
                self.faults.stop(value);
            }
            for fault in run.faults.found() {
                self.is(false, value, Kind::Other, |_| fault.reason);
            }
        }
        Answer { fits, seen: Seen::default() }
    }

    fn other_keys(
        &mut self,
        id: Id,
        value: &'v Value,
        map: &'v Map<String, Value>,
        seen: &Seen<'v>,
    ) -> Answer<'v> {
        let mut unknown = Vec::new();
        for (key, below) in map.iter().filter(|(key, _)| !seen.keys.contains(key.as_str())) {
            if self.quietly(id, below).is_none() {
                unknown.push(key.as_str());
            }
        }
        let reason = |_: &str| unexpected("Unevaluated", &unknown);
        let fits = self.is(unknown.is_empty(), value, Kind::Unexpected, reason);
        Answer { fits, seen: Seen::keys(map.keys().map(String::as_str)) }
    }

    fn items(&mut self, first: &[Id], rest: Option<Id>, items: &'v [Value]) -> Answer<'v> {
        let mut fits = true;
        let schemas = first.iter().copied().map(Some).chain(std::iter::repeat(rest));
        for (index, (item, schema)) in items.iter().zip(schemas).enumerate() {
            let Some(id) = schema else { break };
            fits &= self.at(index.to_string(), id, item);
        }
        let first = if rest.is_some() { items.len() } else { first.len() };
        Answer { fits, seen: Seen { first, ..Seen::default() } }
    }

    fn contains(
        &mut self,
        id: Id,
        expected: RangeInclusive<u64>,
        value: &'v Value,
        items: &'v [Value],
    ) -> Answer<'v> {
        let mut seen = Seen::default();
        for (index, item) in items.iter().enumerate() {
            if self.quietly(id, item).is_some() {
                seen.elements.insert(index);
            }
        }
        let fits = u64::try_from(seen.elements.len()).is_ok_and(|found| expected.contains(&found));
        let reason = |shown: &str| format!("None of {shown} are valid under the given schema");
        Answer { fits: self.is(fits, value, Kind::Other, reason), seen }
    }

    fn other_items(
        &mut self,
        id: Id,
        value: &'v Value,
        items: &'v [Value],
        seen: &Seen<'v>,
    ) -> Answer<'v> {
        let mut unknown = 0;
        for (index, item) in items.iter().enumerate() {
            unknown += u64::from(!seen.has_element(index) && self.quietly(id, item).is_none());
        }
        let reason =
            |_: &str| format!("Unevaluated items are not allowed ({})", many(Sized::List, unknown));
        let fits = self.is(unknown == 0, value, Kind::Other, reason);
        Answer { fits, seen: Seen { first: items.len(), ..Seen::default() } }
    }
}
