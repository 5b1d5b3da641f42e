//! A JSON document as text, with the place of each key and leaf in it: what is hidden in the text is
//! hidden in the leaves, and nothing is read back from text.

use std::ops::Range;
use std::slice;

use serde_json::{Map, Value};

use super::below;
use crate::{Hidden, Vault};
use opal_core::gather::Gather as _;

/// A text or number of a document in which something is hidden by what is around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenLeaf<'v> {
    pub value: &'v Value,
    /// All of it, and not a part.
    pub is_whole: bool,
}

/// The text of `{key: value}`, indented. A number has quotes, as a text has.
pub(super) struct Layout {
    text: String,
    /// Of each key and leaf, in the order of the text; without quotes.
    places: Vec<Range<usize>>,
}

impl Layout {
    pub(super) fn new(key: &str, value: &Value) -> Self {
        let mut layout = Self { text: "{\n  ".to_owned(), places: Vec::new() };
        layout.entry(key, value, 1);
        layout.text.push_str("\n}");
        layout
    }

    fn entry(&mut self, key: &str, value: &Value, depth: usize) {
        self.quoted(&Value::from(key).to_string());
        self.text.push_str(": ");
        self.value(value, depth);
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                self.block("[]", depth, items, |it, item| it.value(item, depth + 1));
            }
            Value::Object(map) if !map.is_empty() => {
                self.block("{}", depth, map, |it, (key, value)| it.entry(key, value, depth + 1));
            }
            Value::Array(_) => self.text.push_str("[]"),
            Value::Object(_) => self.text.push_str("{}"),
            Value::Number(number) => self.quoted(&format!("\"{number}\"")),
            Value::String(_) => self.quoted(&value.to_string()),
            Value::Null | Value::Bool(_) => {
                let start = self.text.len();
                self.text.push_str(&value.to_string());
                self.places.push(start..self.text.len());
            }
        }
    }

    fn quoted(&mut self, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.places.push(start + 1..self.text.len() - 1);
    }

    fn block<T>(
        &mut self,
        brackets: &str,
        depth: usize,
        items: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Self, T),
    ) {
        self.text.push_str(&brackets[..1]);
        for (index, item) in items.into_iter().enumerate() {
            self.text.push_str(if index == 0 { "\n" } else { ",\n" });
            self.text.push_str(&"  ".repeat(depth + 1));
            write(self, item);
        }
        self.text.push('\n');
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(&brackets[1..]);
    }

    pub(super) fn hidden(&self, vault: &Vault) -> Vec<Hidden> {
        vault.hidden_in(&self.text)
    }
}

/// Walks a document in the order of its text.
pub(super) struct Walk<'l> {
    places: slice::Iter<'l, Range<usize>>,
    hidden: &'l [Hidden],
}

impl<'l> Walk<'l> {
    pub(super) fn new(layout: &'l Layout, hidden: &'l [Hidden]) -> Self {
        let mut walk = Self { places: layout.places.iter(), hidden };
        // The key of the document itself.
        let _ = walk.next();
        walk
    }

    /// The place of the next key or leaf, and what is hidden in it.
    fn next(&mut self) -> (Range<usize>, &'l [Hidden]) {
        let place = self.places.next().cloned().unwrap_or_default();
        let first = self.hidden.partition_point(|part| part.range.end <= place.start);
        self.hidden = &self.hidden[first..];
        let count = self.hidden.partition_point(|part| part.range.start < place.end);
        (place, &self.hidden[..count])
    }

    /// The document without what is hidden.
    pub(super) fn seen(&mut self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.seen(item)).collect(),
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| {
                    let name = self.seen_text(key).unwrap_or_else(|| key.clone());
                    (name, self.seen(value))
                };
                map.iter().map(entry).gathered::<Map<_, _>>().into()
            }
            Value::String(text) => self.seen_text(text).map_or_else(|| value.clone(), Value::from),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.seen_text(&value.to_string()).map_or_else(|| value.clone(), Value::from)
            }
        }
    }

    /// What is seen of a text, if that is not all of it.
    fn seen_text(&mut self, text: &str) -> Option<String> {
        let (place, hidden) = self.next();
        if hidden.is_empty() {
            return None;
        }
        let (mut seen, mut at) = (String::new(), place.start);
        let mut parts = hidden.iter().peekable();
        let mut is_open = false;
        for c in text.chars() {
            let end = at + width(c);
            while parts.next_if(|part| part.range.end <= at).is_some() {
                is_open = false;
            }
            // Of a character that is written in several, all or nothing.
            match parts.peek().filter(|part| part.range.start < end) {
                None => seen.push(c),
                Some(part) if !is_open => {
                    seen.push_str(&part.label);
                    is_open = true;
                }
                Some(_) => {}
            }
            at = end;
        }
        debug_assert_eq!(at, place.end, "as long as it was written");
        Some(seen)
    }

    /// The leaves in which something is hidden, each with where it is.
    pub(super) fn leaves<'v>(
        &mut self,
        at: String,
        value: &'v Value,
        found: &mut Vec<(String, HiddenLeaf<'v>)>,
    ) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.leaves(format!("{at}/{index}"), item, found);
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    let _ = self.next();
                    self.leaves(below(&at, key), value, found);
                }
            }
            Value::Null | Value::Bool(_) => {
                let _ = self.next();
            }
            Value::String(_) | Value::Number(_) => {
                let (place, hidden) = self.next();
                if !hidden.is_empty() {
                    found.push((at, HiddenLeaf { value, is_whole: covers(hidden, &place) }));
                }
            }
        }
    }
}

/// Whether nothing of a place is left.
fn covers(hidden: &[Hidden], place: &Range<usize>) -> bool {
    let reach = |at: usize, part: &Hidden| match part.range.start <= at {
        true => at.max(part.range.end),
        false => at,
    };
    hidden.iter().fold(place.start, reach) >= place.end
}

/// How many bytes JSON has for a character.
fn width(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_is_that_of_json_and_each_place_is_a_key_or_a_leaf() {
        let value = json!({
            "empty": [{}, [], ""], "text\n": "a\u{1}\"\\é\u{7f}", "list": [true, null, {"deep": ["x"]}],
        });
        let layout = Layout::new("key", &value);
        assert_eq!(layout.text, format!("{:#}", json!({"key": value})));
        let places: Vec<&str> =
            layout.places.iter().map(|place| &layout.text[place.clone()]).collect();
        let expected = [
            "key",
            "empty",
            "",
            "list",
            "true",
            "null",
            "deep",
            "x",
            "text\\n",
            "a\\u0001\\\"\\\\é\u{7f}",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn what_is_hidden_in_the_text_is_hidden_in_the_leaves_whatever_it_cuts() {
        let value = json!({"a": "x\nq", "b": 12, "c": null, "d": "kept"});
        let layout = Layout::new("key", &value);
        let seen = |from: &str, to: &str| {
            let start = layout.text.find(from).unwrap();
            let end = layout.text.find(to).unwrap();
            let hidden = [Hidden { range: start..end, label: "<l>".into() }];
            Walk::new(&layout, &hidden).seen(&value)
        };
        // In the middle of `\n`.
        assert_eq!(seen("nq\"", "q\"")["a"], "x<l>q");
        // From one leaf to another, with what is between them.
        let expected = json!({"a": "x\n<l>", "<l>": "<l>", "c": null, "d": "kept"});
        assert_eq!(seen("q\"", "c\": null"), expected);
        assert_eq!(
            seen("null", ",\n    \"d"),
            json!({"a": "x\nq", "b": 12, "c": "<l>", "d": "kept"})
        );
        assert_eq!(seen("\"key", "\": {"), value);
    }
}
