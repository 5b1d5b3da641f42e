//! The places of a schema: where its subschemas are, what they are called, and where a reference leads.

use std::collections::BTreeMap;

use serde_json::Value;

use super::uri;

/// How subschemas are written below a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    One,
    List,
    Map,
}

/// All keywords that have subschemas.
pub(super) const WITH_SUBSCHEMAS: [(&str, Form); 20] = [
    ("$defs", Form::Map),
    ("additionalProperties", Form::One),
    ("allOf", Form::List),
    ("anyOf", Form::List),
    ("contains", Form::One),
    ("contentSchema", Form::One),
    ("definitions", Form::Map),
    ("dependentSchemas", Form::Map),
    ("else", Form::One),
    ("if", Form::One),
    ("items", Form::One),
    ("not", Form::One),
    ("oneOf", Form::List),
    ("patternProperties", Form::Map),
    ("prefixItems", Form::List),
    ("properties", Form::Map),
    ("propertyNames", Form::One),
    ("then", Form::One),
    ("unevaluatedItems", Form::One),
    ("unevaluatedProperties", Form::One),
];

/// The place of what is below a place, as a JSON pointer.
pub(super) fn below(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The places of the subschemas of one schema.
pub(super) fn subschemas(place: &str, schema: &Value) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for (keyword, form) in WITH_SUBSCHEMAS {
        let Some(value) = schema.get(keyword) else { continue };
        let at = below(place, keyword);
        match (form, value) {
            (Form::One, _) => found.push(at),
            (Form::List, Value::Array(list)) if !list.is_empty() => {
                found.extend((0..list.len()).map(|index| format!("{at}/{index}")));
            }
            (Form::Map, Value::Object(map)) => found.extend(map.keys().map(|key| below(&at, key))),
            (Form::List, _) => return Err(format!("`{at}` must be a list of schemas")),
            (Form::Map, _) => return Err(format!("`{at}` must be a map of schemas")),
        }
    }
    Ok(found)
}

/// A part of the document with an address of its own.
#[derive(Debug)]
struct Resource {
    address: String,
    place: String,
}

/// What a name inside a resource stands for.
#[derive(Debug)]
struct Anchor {
    place: String,
    is_dynamic: bool,
}

/// Where a reference leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) place: String,
    /// The name by which a schema further out can take its place.
    pub(super) dynamic: Option<String>,
}

/// The resources of a document and the names in each.
#[derive(Debug)]
pub(super) struct Places {
    resources: Vec<Resource>,
    by_address: BTreeMap<String, usize>,
    /// The resource of each place where the standard has a schema.
    inside: BTreeMap<String, usize>,
    anchors: BTreeMap<(usize, String), Anchor>,
}

impl Places {
    pub(super) fn of(document: &Value) -> Result<Self, String> {
        let mut places = Self {
            resources: Vec::new(),
            by_address: BTreeMap::new(),
            inside: BTreeMap::new(),
            anchors: BTreeMap::new(),
        };
        places.begin(String::new(), uri::UNNAMED.to_owned());
        let mut open = vec![(String::new(), 0)];
        while let Some((place, around)) = open.pop() {
            let Some(schema) = document.pointer(&place) else { continue };
            let resource = places.enter(&place, around, schema)?;
            places.name(&place, resource, schema)?;
            open.extend(subschemas(&place, schema)?.into_iter().map(|place| (place, resource)));
            places.inside.insert(place, resource);
        }
        Ok(places)
    }

    fn begin(&mut self, place: String, address: String) -> usize {
        let index = self.resources.len();
        self.by_address.insert(address.clone(), index);
        self.resources.push(Resource { address, place });
        index
    }

    /// The resource that a schema is in: the one around it, or the one that begins with it.
    fn enter(&mut self, place: &str, around: usize, schema: &Value) -> Result<usize, String> {
        let Some(id) = schema.get("$id") else { return Ok(around) };
        let at = below(place, "$id");
        let id = id.as_str().ok_or_else(|| format!("`{at}` must be a text"))?;
        let (address, fragment) = uri::resolve(&self.resources[around].address, id);
        if !fragment.is_empty() {
            return Err(format!("`{at}` must be an address without a fragment"));
        }
        if place.is_empty() {
            self.by_address = BTreeMap::from([(address.clone(), 0)]);
            self.resources[0].address = address;
            return Ok(0);
        }
        if self.by_address.contains_key(&address) {
            return Err(format!("`{at}` is the address of two schemas"));
        }
        Ok(self.begin(place.to_owned(), address))
    }

    /// Keeps the names that a schema gives itself.
    fn name(&mut self, place: &str, resource: usize, schema: &Value) -> Result<(), String> {
        for (keyword, is_dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            let Some(name) = schema.get(keyword) else { continue };
            let at = below(place, keyword);
            let name = name.as_str().filter(|name| is_name(name));
            let name = name.ok_or_else(|| format!("`{at}` must be a name"))?;
            let anchor = Anchor { place: place.to_owned(), is_dynamic };
            let before = self.anchors.insert((resource, name.to_owned()), anchor);
            if before.is_some_and(|before| before.place != place) {
                return Err(format!("`{at}` is the name of two schemas"));
            }
        }
        Ok(())
    }

    /// The resource that a place is in: the innermost.
    pub(super) fn resource(&self, place: &str) -> usize {
        let mut place = place;
        loop {
            match (self.inside.get(place), place.rsplit_once('/')) {
                (Some(resource), _) => return *resource,
                (None, Some((around, _))) => place = around,
                (None, None) => return 0,
            }
        }
    }

    /// Where a reference at a place leads; none where that is not in the document.
    pub(super) fn target(&self, document: &Value, place: &str, reference: &str) -> Option<Target> {
        let base = &self.resources[self.resource(place)].address;
        let (address, fragment) = uri::resolve(base, reference);
        let index = *self.by_address.get(&address)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            let place = format!("{}{fragment}", self.resources[index].place);
            document.pointer(&place)?;
            return Some(Target { place, dynamic: None });
        }
        let anchor = self.anchors.get(&(index, fragment.clone()))?;
        let dynamic = anchor.is_dynamic.then_some(fragment);
        Some(Target { place: anchor.place.clone(), dynamic })
    }

    /// The places that a dynamic name has, each with its resource.
    pub(super) fn dynamic(&self, name: &str) -> impl Iterator<Item = (usize, &str)> {
        let anchors = self.anchors.iter().filter(move |((_, other), _)| other == name);
        let anchors = anchors.filter(|(_, anchor)| anchor.is_dynamic);
        anchors.map(|((resource, _), anchor)| (*resource, anchor.place.as_str()))
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}
