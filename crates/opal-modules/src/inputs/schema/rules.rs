//! A schema as rules: each keyword is read once, and what it cannot mean is refused.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Number, Value};

use super::keywords::Keywords;
use super::places::{Places, subschemas};

/// The place of a schema among the [`Rules`].
pub(super) type Id = usize;

/// What has a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sized {
    Text,
    List,
    Map,
}

/// Which numbers a limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// One rule of a schema. Rules are checked in the order of the variants.
#[derive(Debug)]
pub(super) enum Rule {
    Never,
    Type(Vec<&'static str>),
    Const(Value),
    Enum(Vec<Value>),
    Limit(Side, Number),
    MultipleOf(Number),
    AtLeast(Sized, u64),
    AtMost(Sized, u64),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    Pattern(Regex, String),
    UniqueItems,
    Keys(Keys),
    PropertyNames(Id),
    Items { first: Vec<Id>, rest: Option<Id> },
    Contains { schema: Id, least: u64, most: Option<u64> },
    DependentSchemas(Vec<(String, Id)>),
    AllOf(Vec<Id>),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id, Value),
    If { condition: Id, then: Option<Id>, otherwise: Option<Id> },
    Reference(Id),
    DynamicReference(Id, String),
    UnevaluatedItems(Id),
    UnevaluatedProperties(Id),
}

/// The keys of a map, and what is below each.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) named: BTreeMap<String, Id>,
    pub(super) matched: Vec<(Regex, Id)>,
    pub(super) others: Option<Id>,
}

/// One schema.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) resource: usize,
    pub(super) rules: Vec<Rule>,
}

/// A schema with all of its subschemas; the first is the schema itself.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) nodes: Vec<Node>,
    /// Where each dynamic name leads, by resource.
    pub(super) dynamic: BTreeMap<(usize, String), Id>,
    pub(super) places: Places,
}

impl Rules {
    pub(super) fn read(document: &Value) -> Result<Self, String> {
        let places = Places::of(document)?;
        let mut reader = Reader { document, places, ids: BTreeMap::new(), open: Vec::new() };
        reader.id(String::new());
        let mut nodes = Vec::new();
        let mut dynamic = BTreeMap::new();
        while let Some(place) = reader.open.get(nodes.len()).cloned() {
            let node = reader.node(&place)?;
            for rule in &node.rules {
                let Rule::DynamicReference(_, name) = rule else { continue };
                let all: Vec<_> =
                    reader.places.dynamic(name).map(|(at, to)| (at, to.to_owned())).collect();
                for (resource, place) in all {
                    dynamic.insert((resource, name.clone()), reader.id(place));
                }
            }
            nodes.push(node);
        }
        Ok(Self { nodes, dynamic, places: reader.places })
    }
}

/// Reads schema after schema; each place once.
pub(super) struct Reader<'d> {
    document: &'d Value,
    places: Places,
    ids: BTreeMap<String, Id>,
    /// All places found so far, in the order of their ids.
    open: Vec<String>,
}

impl Reader<'_> {
    pub(super) fn id(&mut self, place: String) -> Id {
        let next = self.open.len();
        *self.ids.entry(place).or_insert_with_key(|place| {
            self.open.push(place.clone());
            next
        })
    }

    fn node(&mut self, place: &str) -> Result<Node, String> {
        let resource = self.places.resource(place);
        let rules = match self.document.pointer(place) {
            Some(Value::Bool(true)) => Vec::new(),
            Some(Value::Bool(false)) => vec![Rule::Never],
            Some(value @ Value::Object(schema)) => {
                for place in subschemas(place, value)? {
                    self.id(place);
                }
                Keywords::new(place, schema, self).rules()?
            }
            _ => return Err(format!("`{place}` must be a map, `true` or `false`")),
        };
        Ok(Node { resource, rules })
    }

    /// The schema that a reference at a place means, and its dynamic name.
    pub(super) fn target(&mut self, place: &str, to: &str) -> Result<(Id, Option<String>), String> {
        let target = self.places.target(self.document, place, to).ok_or_else(|| {
            format!("`{place}` refers to `{to}`, which is not in the schema; nothing is fetched")
        })?;
        Ok((self.id(target.place), target.dynamic))
    }
}
