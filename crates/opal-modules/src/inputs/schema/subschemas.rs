//! Which parts of a schema speak of a place: followed along with the inputs, so that a schema that
//! refers to itself is no longer than they are. What holds under a condition is taken to hold: here it
//! is asked what may be secret, and not whether something fits.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

/// Keywords whose schemas speak of the same place.
const HERE: [&str; 6] = ["allOf", "anyOf", "else", "if", "oneOf", "then"];
/// Keywords whose schemas speak of elements, and those of keys that are not named.
const ELEMENTS: [&str; 4] = ["contains", "items", "prefixItems", "unevaluatedItems"];
const OTHER_KEYS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// The parts of a schema that speak of one place.
#[derive(Debug)]
pub(super) struct Nodes<'s> {
    /// The document, and all parts of it that have an address of their own.
    addressed: Rc<[&'s Value]>,
    all: Vec<&'s Map<String, Value>>,
}

impl<'s> Nodes<'s> {
    /// Those that speak of the inputs as a whole.
    pub(super) fn of(document: &'s Value) -> Self {
        let parts = all(document).into_iter().skip(1).filter(|node| node.get("$id").is_some());
        Self::closed([document].into_iter().chain(parts).collect(), vec![document])
    }

    /// With all that they refer to, each once.
    fn closed(addressed: Rc<[&'s Value]>, mut open: Vec<&'s Value>) -> Self {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        while let Some(node) = open.pop() {
            let Value::Object(node) = node else { continue };
            if !seen.insert(std::ptr::from_ref(node)) {
                continue;
            }
            all.push(node);
            open.extend(HERE.iter().filter_map(|key| node.get(*key)).flat_map(schemas));
            open.extend(node.get("dependentSchemas").into_iter().flat_map(values));
            let refers = ["$ref", "$dynamicRef"].iter().filter_map(|key| node.get(*key)?.as_str());
            open.extend(refers.flat_map(|to| targets(&addressed, to)));
        }
        Self { addressed, all }
    }

    /// Those about what is below a key.
    fn key(&self, key: &str) -> Self {
        let mut found = Vec::new();
        for node in &self.all {
            let properties = node.get("properties").unwrap_or(&Value::Null);
            found.extend(property(properties, key));
            found.extend(node.get("patternProperties").into_iter().flat_map(values));
            if properties.get(key).is_none() {
                found.extend(OTHER_KEYS.iter().filter_map(|key| node.get(*key)));
            }
        }
        Self::closed(Rc::clone(&self.addressed), found)
    }

    /// Those that speak of the elements of a list.
    fn elements(&self) -> Self {
        let below =
            self.all.iter().flat_map(|node| ELEMENTS.iter().filter_map(|key| node.get(*key)));
        Self::closed(Rc::clone(&self.addressed), below.flat_map(schemas).collect())
    }

    /// Those about what is at a path.
    pub(super) fn path(self, keys: &[&str]) -> Self {
        keys.iter().fold(self, |nodes, key| nodes.key(key))
    }

    fn is_secret(&self) -> bool {
        self.all.iter().any(|node| node.get("writeOnly") == Some(&Value::Bool(true)))
    }

    /// Whether only a text is allowed; none where anything is.
    pub(super) fn wants_text(&self) -> Option<bool> {
        let types = self.all.iter().filter_map(|node| node.get("type")).flat_map(schemas);
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
                    let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                    self.key(key).secrets(&at, value, found);
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

/// A schema, or a list of them.
fn schemas(value: &Value) -> impl Iterator<Item = &Value> {
    let list = value.as_array().map(Vec::as_slice);
    list.unwrap_or(std::slice::from_ref(value)).iter()
}

fn values(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(Map::values)
}

/// Variables are often written in capitals: where there is no key as written, another case will do.
fn property<'s>(properties: &'s Value, key: &str) -> Option<&'s Value> {
    let properties = properties.as_object()?;
    let alike = || properties.iter().find(|(other, _)| other.eq_ignore_ascii_case(key));
    properties.get(key).or_else(|| alike().map(|(_, below)| below))
}

/// A value and everything in it.
fn all(document: &Value) -> Vec<&Value> {
    let mut found = vec![document];
    let mut next = 0;
    while let Some(node) = found.get(next).copied() {
        found.extend(values(node));
        found.extend(node.as_array().into_iter().flatten());
        next += 1;
    }
    found
}

/// What a reference may lead to: addresses count by their last part, and a place without an address
/// is looked for in every part that has one, so that nothing is missed.
fn targets<'s>(addressed: &[&'s Value], reference: &str) -> Vec<&'s Value> {
    let (address, place) = reference.split_once('#').unwrap_or((reference, ""));
    let last = |address: &str| address.trim_end_matches('#').rsplit('/').next().map(str::to_owned);
    let is_meant = |part: &&&Value| {
        let id = part.get("$id").and_then(Value::as_str);
        address.is_empty() || id.is_some_and(|id| last(id) == last(address))
    };
    let place = decoded(place);
    let parts = addressed.iter().filter(is_meant);
    if place.is_empty() || place.starts_with('/') {
        return parts.filter_map(|part| part.pointer(&place)).collect();
    }
    let is_named = |node: &&Value| {
        let mut names = ["$anchor", "$dynamicAnchor"].iter().filter_map(|key| node.get(key));
        names.any(|name| *name == *place)
    };
    parts.flat_map(|part| all(part)).filter(is_named).collect()
}

/// A fragment without `%41`.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%');
        let hex = hex.and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets(schema: &Value, inputs: &Value) -> Vec<String> {
        let mut found = BTreeSet::new();
        Nodes::of(schema).secrets("", inputs, &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn what_is_secret_is_found_however_the_schema_says_it() {
        let secret = json!({"writeOnly": true});
        let schema = json!({
            "$defs": {"pin": secret, "named": {"$anchor": "named", "writeOnly": true}},
            "properties": {
                "referred": {"$ref": "#/$defs/pin"},
                "anchored": {"$ref": "#named"},
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
            "referred": 1, "anchored": 1, "list": [{}, {"code": 1}], "first": [1], "map": {"a/b": 1},
            "matched": {"x": {"a": 1}}, "plain": 1, "all": 1, "any": 1, "then": 1, "else": 1, "other": 1,
        });
        let expected = [
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
    fn what_is_secret_is_found_through_an_address() {
        let secret = json!({"writeOnly": true});
        let schema = json!({
            "$id": "https://example.com/inputs.json",
            "$defs": {
                "a b": secret,
                "login": {
                    "$id": "login.json",
                    "$defs": {"pin": secret, "token": {"$anchor": "token", "writeOnly": true}},
                    "properties": {"pin": {"$ref": "#/$defs/pin"}},
                },
            },
            "properties": {
                "relative": {"$ref": "login.json"},
                "absolute": {"$ref": "https://example.com/login.json"},
                "place": {"$ref": "login.json#/$defs/pin"},
                "name": {"$ref": "login.json#token"},
                "own": {"$ref": "inputs.json#/$defs/a%20b"},
                "plain": {"$ref": "other.json"},
            },
        });
        let pin = json!({"pin": 1, "user": 2});
        let inputs = json!({
            "relative": pin, "absolute": pin, "place": 1, "name": 1, "own": 1, "plain": 1,
        });
        let expected = ["/absolute/pin", "/name", "/own", "/place", "/relative/pin"];
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
        let wants = |keys: &[&str]| Nodes::of(&schema).path(keys).wants_text();
        for keys in [&["a"][..], &["A"], &["b"], &["d", "e"]] {
            assert_eq!(wants(keys), Some(true), "{keys:?}");
        }
        assert_eq!(wants(&["c"]), Some(false));
        assert_eq!([wants(&["d"]), wants(&["f"]), wants(&["g"])], [None; 3]);
    }
}
