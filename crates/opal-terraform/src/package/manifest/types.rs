//! Attributes and blocks as parameters and results.

use serde_json::{Map, Value as Json, json};

use crate::schema::{Attribute, Block, Nested, Nesting, Of};
use crate::trouble::visible;
use crate::value::Type;

/// Whether all that a step must give can be a parameter.
pub(super) fn is_usable(block: &Block) -> bool {
    let names = block.attributes.keys().chain(block.blocks.keys());
    names.into_iter().all(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// What a step may give, and what it must. `named` says how an attribute is called.
pub(super) fn parameters(
    block: &Block,
    named: &dyn Fn(&str) -> String,
) -> (Map<String, Json>, Vec<String>) {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, attribute) in block.attributes.iter().filter(|(_, it)| it.is_configurable()) {
        properties.insert(named(name), described(attribute, given(attribute)));
        if attribute.required {
            required.push(named(name));
        }
    }
    for (name, nested) in &block.blocks {
        properties.insert(named(name), nested_block(nested, &|block| fields(block)));
        if nested.min_items > 0 {
            required.push(named(name));
        }
    }
    required.sort();
    (properties, required)
}

/// The fields of a block inside of another one keep their names.
fn fields(block: &Block) -> Json {
    let (properties, required) = parameters(block, &|name| name.to_owned());
    super::closed(properties, required)
}

/// What a resource or a data source gives.
pub(super) fn results(block: &Block, version: &str) -> Json {
    let mut results = result_fields(block);
    results["version"] = version.into();
    results
}

fn result_fields(block: &Block) -> Json {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, attribute) in &block.attributes {
        let is_there = attribute.required && !attribute.write_only;
        let mut of = described(attribute, result(attribute));
        if is_there {
            required.push(name.clone());
        } else {
            of = nullable(of);
        }
        properties.insert(name.clone(), of);
    }
    for (name, nested) in &block.blocks {
        properties.insert(name.clone(), nullable(nested_result(nested)));
    }
    super::closed(properties, required)
}

/// The same, or nothing.
fn nullable(mut of: Json) -> Json {
    if let Some(word) = of.get("type").and_then(Json::as_str) {
        of["type"] = json!([word, "null"]);
    }
    of
}

fn described(attribute: &Attribute, mut of: Json) -> Json {
    let mut docs = visible(&attribute.description);
    if let Some(why) = &attribute.deprecated {
        let why = if why.is_empty() { "deprecated by the provider" } else { why };
        docs = format!("Deprecated: {}. {docs}", visible(why));
        of["x-opal-deprecated"] = visible(why).into();
    }
    if !docs.trim().is_empty() {
        of["description"] = docs.trim().into();
    }
    if attribute.sensitive || attribute.write_only {
        of["x-opal-secret"] = true.into();
    }
    of
}

fn given(attribute: &Attribute) -> Json {
    match &attribute.of {
        Of::Plain(of) => plain(of, false),
        Of::Nested(nesting, inner) => {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            for (name, attribute) in inner.iter().filter(|(_, it)| it.is_configurable()) {
                properties.insert(name.clone(), described(attribute, given(attribute)));
                if attribute.required {
                    required.push(name.clone());
                }
            }
            around(*nesting, super::closed(properties, required))
        }
    }
}

fn result(attribute: &Attribute) -> Json {
    match &attribute.of {
        Of::Plain(of) => plain(of, true),
        Of::Nested(nesting, inner) => {
            let each =
                inner.iter().map(|(name, it)| (name.clone(), nullable(described(it, result(it)))));
            around(*nesting, super::closed(each.collect(), Vec::new()))
        }
    }
}

fn around(nesting: Nesting, of: Json) -> Json {
    match nesting {
        Nesting::Single | Nesting::Group => of,
        Nesting::List | Nesting::Set => json!({"type": "array", "items": of}),
        Nesting::Map => json!({"type": "object", "additionalProperties": of}),
    }
}

/// A block of which there is at most one may be written as a Map.
fn nested_block(nested: &Nested, fields: &dyn Fn(&Block) -> Json) -> Json {
    let mut of = around(nested.nesting, fields(&nested.block));
    if matches!(nested.nesting, Nesting::List | Nesting::Set) && nested.max_items == 1 {
        of["x-opal-one-or-more"] = true.into();
    }
    of
}

fn nested_result(nested: &Nested) -> Json {
    around(nested.nesting, result_fields(&nested.block))
}

/// Elements of results may be null.
fn plain(of: &Type, is_result: bool) -> Json {
    let inner = |of: &Type| {
        let of = plain(of, is_result);
        if is_result { nullable(of) } else { of }
    };
    match of {
        Type::Dynamic => json!({"x-opal-any": true}),
        Type::Bool => json!({"type": "boolean"}),
        Type::Number => json!({"type": "number", "x-opal-numeric": true}),
        Type::String => json!({"type": "string"}),
        Type::List(of) | Type::Set(of) => json!({"type": "array", "items": inner(of)}),
        Type::Map(of) => json!({"type": "object", "additionalProperties": inner(of)}),
        Type::Tuple(_) => json!({"type": "array", "items": {"x-opal-any": true}}),
        Type::Object(fields) => {
            let each = fields.iter().map(|(name, of)| (name.clone(), inner(of)));
            super::closed(each.collect(), Vec::new())
        }
    }
}

/// What opal adds to every resource.
pub(super) fn add(properties: &mut Map<String, Json>, names: &[&str]) {
    for name in names {
        properties.insert((*name).to_owned(), added(name));
    }
}

fn added(name: &str) -> Json {
    let texts =
        |docs: &str| json!({"type": "array", "items": {"type": "string"}, "description": docs});
    let flag = |docs: &str| json!({"type": "boolean", "description": docs});
    let text = |docs: &str| json!({"type": "string", "description": docs});
    let duration =
        |docs: &str| json!({"type": "string", "x-opal-duration": true, "description": docs});
    match name {
        "id" => text("Name of this step, for `depends_on` of others"),
        "depends_on" => texts("Steps that must be done before this one"),
        "verify_timeout" => duration("How long a verification may take"),
        "adopt" => {
            let docs = "Import id or identity of an object that exists; it is never created";
            json!({"x-opal-any": true, "description": docs})
        }
        "mark" => text("Name in the tag that opal writes, and finds the object by"),
        "ignore" => texts("Attributes whose actual value is accepted"),
        "replace" => flag("Whether it may be destroyed and created again"),
        "rewrite" => flag("Whether what cannot be read back is sent again"),
        _ => duration("How long a change may take to become visible"),
    }
}
