//! Which parts of a schema speak of a place: followed along with the inputs, so that a schema that
//! refers to itself is no longer than they are. What holds under a condition is taken to hold: here it
//! is asked what may be secret, and not whether something fits.

use std::collections::BTreeSet;
use std::slice::from_ref;

use serde_json::{Map, Value};

use super::places::{Places, below};

/// Keywords whose schemas speak of the same place.
const HERE: [&str; 6] = ["allOf", "anyOf", "else", "if", "oneOf", "then"];
/// Keywords whose schemas speak of elements, and those of keys that are not named.
const ELEMENTS: [&str; 4] = ["contains", "items", "prefixItems", "unevaluatedItems"];
const OTHER_KEYS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// The parts of a schema that speak of one place.
#[derive(Debug)]
pub(super) struct Nodes<'s> {
    document: &'s Value,
    places: &'s Places,
    /// Each with its place in the document.
    all: Vec<(String, &'s Map<String, Value>)>,
}

impl<'s> Nodes<'s> {
    /// Those that speak of the inputs as a whole.
    pub(super) fn of(document: &'s Value, places: &'s Places) -> Self {
        Self { document, places, all: Vec::new() }.closed(vec![String::new()])
    }

    /// Those at the places, with all that they refer to, each once.
    fn closed(&self, mut open: Vec<String>) -> Self {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        while let Some(place) = open.pop() {
            let Some(Value::Object(node)) = self.document.pointer(&place) else { continue };
            if !seen.insert(place.clone()) {
                continue;
            }
            for key in HERE {
                open.extend(schemas(&place, node, key));
            }
            open.extend(values(&place, node, "dependentSchemas"));
            for key in ["$ref", "$dynamicRef"] {
                let to = node.get(key).and_then(Value::as_str);
                open.extend(to.into_iter().flat_map(|to| self.targets(&place, to)));
            }
            all.push((place, node));
        }
        Self { document: self.document, places: self.places, all }
    }

    /// Where a reference may lead.
    fn targets(&self, place: &str, to: &str) -> Vec<String> {
        let Some(target) = self.places.target(self.document, place, to) else { return Vec::new() };
        let others = target.dynamic.iter().flat_map(|name| self.places.dynamic(name));
        let mut all: Vec<String> = others.map(|(_, place)| place.to_owned()).collect();
        all.push(target.place);
        all
    }

    /// Those about what is below a key.
    fn key(&self, key: &str) -> Self {
        let mut found = Vec::new();
        for (place, node) in &self.all {
            let properties = node.get("properties").unwrap_or(&Value::Null);
            found.extend(property(&below(place, "properties"), properties, key));
            found.extend(values(place, node, "patternProperties"));
            if properties.get(key).is_none() {
                for key in OTHER_KEYS {
                    found.extend(schemas(place, node, key));
                }
            }
        }
        self.closed(found)
    }

    /// Those that speak of the elements of a list.
    fn elements(&self) -> Self {
        let mut found = Vec::new();
        for (place, node) in &self.all {
            for key in ELEMENTS {
                found.extend(schemas(place, node, key));
            }
        }
        self.closed(found)
    }

    /// Those about what is at a path.
    pub(super) fn path(self, keys: &[&str]) -> Self {
        keys.iter().fold(self, |nodes, key| nodes.key(key))
    }

    fn is_secret(&self) -> bool {
        self.all.iter().any(|(_, node)| node.get("writeOnly") == Some(&Value::Bool(true)))
    }

    /// Whether only a text is allowed; none where anything is.
    pub(super) fn wants_text(&self) -> Option<bool> {
        let types = self.all.iter().filter_map(|(_, node)| node.get("type"));
        let types = types.flat_map(|types| types.as_array().map_or(from_ref(types), Vec::as_slice));
        let mut types = types.filter(|one| *one != "null").peekable();
        types.peek()?;
        Some(types.all(|one| one == "string"))
    }

    /// The places of what is called secret, as JSON pointers.
    pub(super) fn secrets(&self, at: &str, value: &Value, found: &mut BTreeSet<String>) {
        if self.all.is_empty() {
            return;
        }
        if self.is_secret() {
            found.insert(at.to_owned());
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    self.key(key).secrets(&below(at, key), value, found);
                }
            }
            Value::Array(items) => {
                let nodes = self.elements();
                for (index, item) in items.iter().enumerate() {
                    nodes.secrets(&format!("{at}/{index}"), item, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// The places of a schema below a key, or of a list of them.
fn schemas(place: &str, node: &Map<String, Value>, key: &str) -> Vec<String> {
    let at = below(place, key);
    match node.get(key) {
        Some(Value::Array(list)) => (0..list.len()).map(|index| format!("{at}/{index}")).collect(),
        Some(_) => vec![at],
        None => Vec::new(),
    }
}

/// The places of the schemas of a map.
fn values(place: &str, node: &Map<String, Value>, key: &str) -> Vec<String> {
    let at = below(place, key);
    let keys = node.get(key).and_then(Value::as_object).into_iter().flat_map(Map::keys);
    keys.map(|key| below(&at, key)).collect()
}

/// Variables are often written in capitals: where there is no key as written, another case will do.
fn property(place: &str, properties: &Value, key: &str) -> Option<String> {
    let properties = properties.as_object()?;
    let alike = || properties.keys().find(|other| other.eq_ignore_ascii_case(key));
    let found = properties.get_key_value(key).map(|(key, _)| key).or_else(alike);
    found.map(|key| below(place, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets(schema: &Value, inputs: &Value) -> Vec<String> {
        let mut found = BTreeSet::new();
        Nodes::of(schema, &Places::of(schema).unwrap()).secrets("", inputs, &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn what_is_secret_is_found_however_the_schema_says_it() {
        let secret = json!({"writeOnly": true});
        let schema = json!({
            "$id": "https://example.com/inputs",
            "$defs": {
                "pin": secret,
                "named": {"$anchor": "named", "writeOnly": true},
                "whole": {"$id": "whole", "$defs": {"pin": secret}, "properties": {"a": {"$ref": "#/$defs/pin"}}},
            },
            "properties": {
                "referred": {"$ref": "#/$defs/pin"},
                "anchored": {"$ref": "#named"},
                "addressed": {"$ref": "whole"},
                "list": {"items": {"properties": {"code": secret}}},
                "first": {"prefixItems": [secret]},
                "map": {"additionalProperties": secret},
                "matched": {"patternProperties": {"^x": {"properties": {"a": secret}}}},
                "plain": {"type": "string"},
            },
            "allOf": [{"properties": {"all": secret}}],
            "oneOf": [{"anyOf": [{"properties": {"any": secret}}]}],
            "if": {"required": ["plain"]},
            "then": {"properties": {"then": secret}},
            "else": {"properties": {"else": secret}},
        });
        let inputs = json!({
            "referred": 1, "anchored": 1, "addressed": {"a": 1}, "list": [{}, {"code": 1}], "first": [1], "map": {"a/b": 1},
            "matched": {"x": {"a": 1}}, "plain": 1, "all": 1, "any": 1, "then": 1, "else": 1, "other": 1,
        });
        let expected = [
            "/addressed/a",
            "/all",
            "/anchored",
            "/any",
            "/else",
            "/first/0",
            "/list/1/code",
            "/map/a~1b",
            "/matched/x/a",
            "/referred",
            "/then",
        ];
        assert_eq!(secrets(&schema, &inputs), expected);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends_with_the_inputs() {
        let schema = json!({
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "pin": {"writeOnly": true}},
            "allOf": [{"$ref": "#"}],
        });
        let inputs = json!({"left": {"right": {"pin": 1}}, "pin": 2});
        assert_eq!(secrets(&schema, &inputs), ["/left/right/pin", "/pin"]);
    }

    #[test]
    fn a_text_is_expected_where_nothing_else_is() {
        let schema = json!({"properties": {
            "a": {"type": "string"}, "b": {"type": ["null", "string"]}, "c": {"type": ["string", "integer"]},
            "d": {"properties": {"e": {"allOf": [{"type": "string"}]}}}, "f": {"type": []},
        }});
        let places = Places::of(&schema).unwrap();
        let wants = |keys: &[&str]| Nodes::of(&schema, &places).path(keys).wants_text();
        for keys in [&["a"][..], &["A"], &["b"], &["d", "e"]] {
            assert_eq!(wants(keys), Some(true), "{keys:?}");
        }
        assert_eq!(wants(&["c"]), Some(false));
        assert_eq!([wants(&["d"]), wants(&["f"]), wants(&["g"])], [None; 3]);
    }
}
