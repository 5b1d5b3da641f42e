//! What must not be shown: sensitive and write-only attributes, and arguments that came as secrets.

use std::collections::BTreeMap;

use opal_core::data::Secret;

use crate::schema::{Attribute, Block, Nesting, Of};
use crate::value::Value;

/// Shorter texts are not searched for: they would be found everywhere.
const SHORTEST: usize = 4;

/// What a message shows in place of a secret.
pub const HIDDEN: &str = "🔒";

/// The paths of all values in a state that are secret: `password`, `rule[0].key`.
#[must_use]
pub fn paths(block: &Block, state: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(block, state, "", &mut |path, _| found.push(path));
    found.sort();
    found
}

/// The texts of a state that are secret.
#[must_use]
pub fn texts(block: &Block, state: &Value) -> Vec<Secret> {
    let mut found = Vec::new();
    walk(block, state, "", &mut |_, value| leaves(value, &mut found));
    found
}

/// All texts of a value.
pub fn leaves(value: &Value, found: &mut Vec<Secret>) {
    match value {
        Value::Text(text) if text.expose().len() >= SHORTEST => {
            found.push(Secret::new(text.expose()));
        }
        Value::List(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Map(fields) => fields.values().for_each(|field| leaves(field, found)),
        Value::Typed(typed) => leaves(&typed.1, found),
        _ => {}
    }
}

type Visit<'a> = &'a mut dyn FnMut(String, &Value);

fn walk(block: &Block, state: &Value, below: &str, visit: Visit<'_>) {
    attributes(&block.attributes, state, below, visit);
    for (name, nested) in &block.blocks {
        let path = format!("{below}{name}");
        each(nested.nesting, state.field(name), &path, &mut |item, path| {
            walk(&nested.block, item, &format!("{path}."), visit);
        });
    }
}

fn attributes(all: &BTreeMap<String, Attribute>, state: &Value, below: &str, visit: Visit<'_>) {
    for (name, attribute) in all {
        let (path, value) = (format!("{below}{name}"), state.field(name));
        if value.is_null() {
            continue;
        }
        if attribute.sensitive || attribute.write_only {
            visit(path, value);
        } else if let Of::Nested(nesting, inner) = &attribute.of {
            each(*nesting, value, &path, &mut |item, path| {
                attributes(inner, item, &format!("{path}."), visit);
            });
        }
    }
}

/// The objects that a nested value consists of, with their paths.
fn each(nesting: Nesting, value: &Value, path: &str, visit: &mut dyn FnMut(&Value, &str)) {
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, Value::Map(_)) => visit(value, path),
        (Nesting::List | Nesting::Set, Value::List(items)) => {
            for (at, item) in items.iter().enumerate() {
                visit(item, &format!("{path}[{at}]"));
            }
        }
        (Nesting::Map, Value::Map(fields)) => {
            for (name, item) in fields {
                visit(item, &format!("{path}.{name}"));
            }
        }
        _ => {}
    }
}

/// Whether a path is one of these, or below one.
#[must_use]
pub fn covers(paths: &[String], path: &str) -> bool {
    paths.iter().any(|it| it == path || is_below(it, path))
}

/// Whether a path is below another one.
#[must_use]
pub fn is_below(above: &str, path: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// A text without the secrets that are known.
#[must_use]
pub fn scrub(text: &str, known: &[Secret]) -> String {
    // Longer ones first: a secret may be part of another one.
    let mut known: Vec<&str> = known.iter().map(Secret::expose).collect();
    known.sort_by_key(|it| std::cmp::Reverse(it.len()));
    known.into_iter().filter(|it| it.len() >= SHORTEST).fold(text.to_owned(), |text, secret| {
        let quoted = format!("{secret:?}");
        let text = text.replace(secret, HIDDEN);
        text.replace(quoted.trim_matches('"'), HIDDEN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Nested;
    use crate::value::Type;

    fn attribute(sensitive: bool) -> Attribute {
        Attribute {
            of: Of::Plain(Type::String),
            required: false,
            optional: true,
            computed: false,
            sensitive,
            write_only: false,
            description: String::new(),
            deprecated: None,
        }
    }

    #[test]
    fn secrets_are_found_wherever_they_are_nested() {
        let fields = |sensitive| BTreeMap::from([("key".to_owned(), attribute(sensitive))]);
        let inner = Block { attributes: fields(true), ..Block::default() };
        let nested = |nesting| Nested { nesting, block: inner.clone(), min_items: 0, max_items: 0 };
        let mut attributes = fields(false);
        let of = Of::Nested(Nesting::List, fields(true));
        attributes.insert("all".to_owned(), Attribute { of, ..attribute(false) });
        attributes.insert("password".to_owned(), attribute(true));
        let block = Block {
            attributes,
            blocks: BTreeMap::from([
                ("list".to_owned(), nested(Nesting::List)),
                ("map".to_owned(), nested(Nesting::Map)),
                ("single".to_owned(), nested(Nesting::Single)),
            ]),
            ..Block::default()
        };
        let object = |text: &str| Value::map([("key", Value::text(text))]);
        let state = Value::map([
            ("key", Value::text("plain")),
            ("password", Value::text("canary-1")),
            ("all", Value::List(vec![object("canary-2")])),
            ("list", Value::List(vec![object("canary-3"), object("canary-4")])),
            ("map", Value::map([("a", object("canary-5"))])),
            ("single", object("canary-6")),
        ]);
        let found =
            ["all[0].key", "list[0].key", "list[1].key", "map.a.key", "password", "single.key"];
        assert_eq!(paths(&block, &state), found);
        let texts = texts(&block, &state);
        assert_eq!(texts.len(), 6);
        let said = scrub("canary-1, canary-12 and \"canary-3\", plain", &texts);
        assert_eq!(said, "🔒, 🔒2 and \"🔒\", plain");
    }

    #[test]
    fn a_path_covers_what_is_below_it() {
        let paths = ["a".to_owned(), "b.c".to_owned()];
        for (path, is_covered) in
            [("a", true), ("a.x", true), ("a[0]", true), ("ab", false), ("b", false), ("b.c", true)]
        {
            assert_eq!(covers(&paths, path), is_covered, "{path}");
        }
    }
}
