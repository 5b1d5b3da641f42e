//! Schemas: what a provider's resources and data sources consist of.
//!
//! | what | where |
//! |---|---|
//! | reading the answers of both protocols | `read` |

mod read;

use std::collections::BTreeMap;

use crate::value::{Type, Value};

pub use read::{Malformed, identities, v5, v6};

/// Everything a provider offers.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    pub provider: Block,
    pub resources: BTreeMap<String, Block>,
    pub data: BTreeMap<String, Block>,
    /// Types that can be listed, with the configuration of the list.
    pub lists: BTreeMap<String, Block>,
    /// What identifies an object of a type.
    pub identities: BTreeMap<String, Identity>,
    /// Whether a destroy is planned first.
    pub plans_destroy: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub attributes: BTreeMap<String, Attribute>,
    pub blocks: BTreeMap<String, Nested>,
    pub description: String,
    pub deprecated: Option<String>,
    pub version: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    pub of: Of,
    pub required: bool,
    pub optional: bool,
    pub computed: bool,
    pub sensitive: bool,
    pub write_only: bool,
    pub description: String,
    pub deprecated: Option<String>,
}

impl Attribute {
    /// Whether a configuration may give it.
    #[must_use]
    pub const fn is_configurable(&self) -> bool {
        self.required || self.optional
    }
}

/// What an attribute holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    Plain(Type),
    Nested(Nesting, BTreeMap<String, Attribute>),
}

impl Of {
    #[must_use]
    pub fn implied(&self) -> Type {
        match self {
            Self::Plain(of) => of.clone(),
            Self::Nested(nesting, attributes) => nesting.around(object(attributes)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nested {
    pub nesting: Nesting,
    pub block: Block,
    pub min_items: u64,
    pub max_items: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    Single,
    /// Like `Single`, but never null.
    Group,
    List,
    Set,
    Map,
}

impl Nesting {
    fn around(self, of: Type) -> Type {
        match self {
            Self::Single | Self::Group => of,
            Self::List => Type::List(Box::new(of)),
            Self::Set => Type::Set(Box::new(of)),
            Self::Map => Type::Map(Box::new(of)),
        }
    }
}

/// What identifies an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub attributes: BTreeMap<String, IdentityAttribute>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityAttribute {
    pub of: Type,
    pub required: bool,
}

impl Identity {
    #[must_use]
    pub fn implied(&self) -> Type {
        Type::Object(
            self.attributes.iter().map(|(name, it)| (name.clone(), it.of.clone())).collect(),
        )
    }
}

fn object(attributes: &BTreeMap<String, Attribute>) -> Type {
    Type::Object(attributes.iter().map(|(name, it)| (name.clone(), it.of.implied())).collect())
}

impl Block {
    /// The type of an object of this block.
    #[must_use]
    pub fn implied(&self) -> Type {
        let Type::Object(mut fields) = object(&self.attributes) else { return Type::Dynamic };
        for (name, nested) in &self.blocks {
            fields.insert(name.clone(), nested.nesting.around(nested.block.implied()));
        }
        Type::Object(fields)
    }

    /// What a configuration without anything in it is.
    #[must_use]
    pub fn empty(&self) -> Value {
        let attributes = self.attributes.keys().map(|name| (name.clone(), Value::Null));
        let blocks = self.blocks.iter().map(|(name, nested)| (name.clone(), nested.empty()));
        Value::Map(attributes.chain(blocks).collect())
    }

    /// A configuration as the provider expects it: every attribute is there, and a block that was left
    /// out is empty.
    #[must_use]
    pub fn complete(&self, config: Value) -> Value {
        let Value::Map(mut fields) = config else { return config };
        for name in self.attributes.keys() {
            fields.entry(name.clone()).or_insert(Value::Null);
        }
        for (name, nested) in &self.blocks {
            let given = fields.remove(name).filter(|given| !given.is_null());
            let whole = given.map_or_else(|| nested.empty(), |given| nested.complete(given));
            fields.insert(name.clone(), whole);
        }
        Value::Map(fields)
    }
}

impl Nested {
    fn empty(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::Null,
            Nesting::Group => self.block.empty(),
            Nesting::List | Nesting::Set => Value::List(Vec::new()),
            Nesting::Map => Value::Map(BTreeMap::new()),
        }
    }

    fn complete(&self, given: Value) -> Value {
        match (self.nesting, given) {
            (Nesting::Single | Nesting::Group, given) => self.block.complete(given),
            (Nesting::List, Value::List(items)) => {
                Value::List(items.into_iter().map(|item| self.block.complete(item)).collect())
            }
            (Nesting::Set, Value::List(items)) => {
                Value::set(items.into_iter().map(|item| self.block.complete(item)).collect())
            }
            (Nesting::Map, Value::Map(fields)) => {
                let each = fields.into_iter();
                Value::Map(each.map(|(name, item)| (name, self.block.complete(item))).collect())
            }
            (_, given) => given,
        }
    }
}
