//! Schemas of both protocols as one type. Names are checked: they become names of decorators.

use std::collections::BTreeMap;
use std::fmt;

use super::{Attribute, Block, Identity, IdentityAttribute, Nested, Nesting, Of, Schemas};
use crate::value::{MAX_DEPTH, NotType, Type};
use crate::wire;

/// Why a schema cannot be used. It names nothing that the provider wrote, except a name that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    Name,
    /// The type of an attribute, with the name of the attribute.
    Type(String),
    Nesting(String),
    Depth,
    /// A name twice, in one block.
    Twice(String),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => {
                f.write_str("its schema has a name with other characters than a-z, 0-9 and _")
            }
            Self::Type(name) => write!(f, "its schema gives `{name}` an unknown type"),
            Self::Nesting(name) => write!(f, "its schema nests `{name}` in an unknown way"),
            Self::Depth => write!(f, "its schema is nested more than {MAX_DEPTH} levels deep"),
            Self::Twice(name) => write!(f, "its schema has `{name}` twice"),
        }
    }
}

fn name(name: &str) -> Result<String, Malformed> {
    let is_name = (1..=128).contains(&name.len())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    if is_name { Ok(name.to_owned()) } else { Err(Malformed::Name) }
}

fn plain(of: &[u8], name: &str) -> Result<Type, Malformed> {
    Type::read(of).map_err(|NotType| Malformed::Type(name.to_owned()))
}

fn nesting(number: i32, name: &str) -> Result<Nesting, Malformed> {
    Ok(match number {
        1 => Nesting::Single,
        2 => Nesting::List,
        3 => Nesting::Set,
        4 => Nesting::Map,
        5 => Nesting::Group,
        _ => return Err(Malformed::Nesting(name.to_owned())),
    })
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn deprecated(is: bool, message: &str) -> Option<String> {
    is.then(|| message.to_owned())
}

fn insert<T>(into: &mut BTreeMap<String, T>, name: String, it: T) -> Result<(), Malformed> {
    match into.insert(name.clone(), it) {
        None => Ok(()),
        Some(_) => Err(Malformed::Twice(name)),
    }
}

macro_rules! reader {
    ($module:ident, $of:expr) => {
        pub fn $module(response: &wire::schema::$module::Response) -> Result<Schemas, Malformed> {
            use wire::schema::$module as from;

            fn attributes(
                all: &[from::Attribute],
                depth: usize,
            ) -> Result<BTreeMap<String, Attribute>, Malformed> {
                if depth > MAX_DEPTH {
                    return Err(Malformed::Depth);
                }
                let mut read = BTreeMap::new();
                for it in all {
                    let name = name(&it.name)?;
                    let of: fn(&from::Attribute, usize) -> Result<Of, Malformed> = $of;
                    let attribute = Attribute {
                        of: of(it, depth)?,
                        required: it.required,
                        optional: it.optional,
                        computed: it.computed,
                        sensitive: it.sensitive,
                        write_only: it.write_only,
                        description: it.description.clone(),
                        deprecated: deprecated(it.deprecated, &it.deprecation_message),
                    };
                    insert(&mut read, name, attribute)?;
                }
                Ok(read)
            }

            fn block(from: &from::Block, depth: usize) -> Result<Block, Malformed> {
                let attributes = attributes(&from.attributes, depth)?;
                let mut blocks = BTreeMap::new();
                for it in &from.block_types {
                    let name = name(&it.type_name)?;
                    if attributes.contains_key(&name) {
                        return Err(Malformed::Twice(name));
                    }
                    let inner = it.block.as_ref().map(|it| block(it, depth + 1)).transpose()?;
                    let nested = Nested {
                        nesting: nesting(it.nesting, &name)?,
                        block: inner.unwrap_or_default(),
                        min_items: count(it.min_items),
                        max_items: count(it.max_items),
                    };
                    insert(&mut blocks, name, nested)?;
                }
                Ok(Block {
                    attributes,
                    blocks,
                    description: from.description.clone(),
                    deprecated: deprecated(from.deprecated, ""),
                    version: 0,
                })
            }

            fn one(from: &from::Schema) -> Result<Block, Malformed> {
                let read = from.block.as_ref().map(|it| block(it, 0)).transpose()?;
                Ok(Block { version: from.version, ..read.unwrap_or_default() })
            }

            let all = |from: &BTreeMap<String, from::Schema>| {
                let each = from.iter().map(|(key, schema)| Ok((name(key)?, one(schema)?)));
                each.collect::<Result<BTreeMap<_, _>, Malformed>>()
            };
            Ok(Schemas {
                provider: response.provider.as_ref().map(one).transpose()?.unwrap_or_default(),
                resources: all(&response.resources)?,
                data: all(&response.data_sources)?,
                lists: all(&response.lists)?,
                identities: BTreeMap::new(),
                plans_destroy: response.capabilities.as_ref().is_some_and(|it| it.plan_destroy),
            })
        }
    };
}

reader!(v5, |it, _| plain(&it.of, &it.name).map(Of::Plain));
reader!(v6, |it, depth| match &it.nested_type {
    None => plain(&it.of, &it.name).map(Of::Plain),
    Some(object) => {
        let nesting = nesting(object.nesting, &it.name)?;
        if nesting == Nesting::Group {
            return Err(Malformed::Nesting(it.name.clone()));
        }
        Ok(Of::Nested(nesting, attributes(&object.attributes, depth + 1)?))
    }
});

/// What identifies the objects of each type.
pub fn identities(
    response: &wire::IdentitySchemas,
) -> Result<BTreeMap<String, Identity>, Malformed> {
    let mut read = BTreeMap::new();
    for (key, schema) in &response.schemas {
        let mut attributes = BTreeMap::new();
        for it in &schema.attributes {
            let of = plain(&it.of, &it.name)?;
            let attribute = IdentityAttribute { of, required: it.required_for_import };
            insert(&mut attributes, name(&it.name)?, attribute)?;
        }
        read.insert(name(key)?, Identity { attributes });
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::schema::v6::{Attribute, Block, NestedBlock, Object, Response, Schema};

    fn attribute(name: &str, of: &str) -> Attribute {
        Attribute { name: name.to_owned(), of: of.into(), ..Attribute::default() }
    }

    fn read(
        attributes: Vec<Attribute>,
        block_types: Vec<NestedBlock>,
    ) -> Result<Schemas, Malformed> {
        let block = Block { attributes, block_types, ..Block::default() };
        let schema = Schema { version: 1, block: Some(block) };
        v6(&Response { resources: [("a_b".to_owned(), schema)].into(), ..Response::default() })
    }

    #[test]
    fn a_schema_that_cannot_be_trusted_is_refused() {
        let text = r#""string""#;
        let nested = |name: &str, nesting| NestedBlock {
            type_name: name.to_owned(),
            nesting,
            ..NestedBlock::default()
        };
        let object = |nesting| Attribute {
            nested_type: Some(Object { nesting, attributes: vec![] }),
            ..attribute("o", "")
        };
        let deep = (0..100).fold(attribute("x", text), |inner, _| Attribute {
            nested_type: Some(Object { nesting: 1, attributes: vec![inner] }),
            ..attribute("x", "")
        });
        let x = || "x".to_owned();
        for (attributes, blocks, why) in [
            (vec![attribute("a\u{1b}[2J", text)], vec![], Malformed::Name),
            (vec![attribute("", text)], vec![], Malformed::Name),
            (vec![attribute(&"a".repeat(129), text)], vec![], Malformed::Name),
            (vec![attribute("x", "{}")], vec![], Malformed::Type(x())),
            (vec![attribute("x", text), attribute("x", text)], vec![], Malformed::Twice(x())),
            (vec![attribute("x", text)], vec![nested("x", 1)], Malformed::Twice(x())),
            (vec![], vec![nested("x", 9)], Malformed::Nesting(x())),
            (vec![object(5)], vec![], Malformed::Nesting("o".to_owned())),
            (vec![deep], vec![], Malformed::Depth),
        ] {
            assert_eq!(read(attributes, blocks).unwrap_err(), why);
        }
    }

    #[test]
    fn a_configuration_is_completed_to_the_type_of_its_schema() {
        let inner = Block { attributes: vec![attribute("p", r#""number""#)], ..Block::default() };
        let nested = |name: &str, nesting| NestedBlock {
            type_name: name.to_owned(),
            block: Some(inner.clone()),
            nesting,
            ..NestedBlock::default()
        };
        let blocks = vec![nested("one", 1), nested("some", 2), nested("group", 5)];
        let schemas = read(vec![attribute("x", r#""string""#)], blocks).unwrap();
        let block = &schemas.resources["a_b"];
        use crate::value::Value;
        let given = Value::map([("some", Value::List(vec![Value::map([])]))]);
        let whole = Value::map([
            ("x", Value::Null),
            ("one", Value::Null),
            ("some", Value::List(vec![Value::map([("p", Value::Null)])])),
            ("group", Value::map([("p", Value::Null)])),
        ]);
        let completed = block.complete(given);
        assert!(completed == whole, "{completed:?}");
        assert!(crate::value::msgpack::encode(&completed, &block.implied()).is_ok());
    }
}
