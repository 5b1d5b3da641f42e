//! The proposed new state: what a provider is asked to plan, from a prior state and a configuration.
//!
//! The configuration decides. Where it is silent about an attribute that the provider computes, the
//! prior value stays. Elements of lists belong together by place, of maps by key, and of sets where
//! they differ only in what is computed. Write-only attributes are never part of a state.

use std::collections::BTreeMap;

use crate::schema::{Attribute, Block, Nested, Nesting, Of};
use crate::value::Value;

type Attributes = BTreeMap<String, Attribute>;

/// The proposed new state. A prior state that is null is a create.
#[must_use]
pub fn propose(block: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() {
        return prior.clone();
    }
    if *config == Value::Unknown {
        return Value::Unknown;
    }
    let mut fields = attributes(&block.attributes, prior, config);
    for (name, nested) in &block.blocks {
        let merged = nested_block(nested, prior.field(name), config.field(name));
        fields.insert(name.clone(), merged);
    }
    Value::Map(fields)
}

fn attributes(all: &Attributes, prior: &Value, config: &Value) -> BTreeMap<String, Value> {
    let each = all.iter().map(|(name, attribute)| {
        let (prior, config) = (prior.field(name), config.field(name));
        (name.clone(), one(attribute, prior, config))
    });
    each.collect()
}

fn one(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if attribute.write_only {
        return Value::Null;
    }
    if attribute.computed && config.is_null() {
        // Something in it came from a configuration, which now has none.
        return if was_configured(attribute, prior) { Value::Null } else { prior.clone() };
    }
    match &attribute.of {
        Of::Plain(_) => config.clone(),
        Of::Nested(nesting, inner) => {
            let merge = |prior: &Value, config: &Value| match config {
                Value::Null | Value::Unknown => config.clone(),
                _ => Value::Map(attributes(inner, prior, config)),
            };
            let fits = |prior: &Value, config: &Value| could_be(inner, None, prior, config);
            collection(*nesting, prior, config, merge, fits)
        }
    }
}

fn nested_block(nested: &Nested, prior: &Value, config: &Value) -> Value {
    let block = &nested.block;
    if nested.nesting == Nesting::Single && config.is_null() {
        return Value::Null;
    }
    let fits = |prior: &Value, config: &Value| {
        could_be(&block.attributes, Some(&block.blocks), prior, config)
    };
    collection(nested.nesting, prior, config, |prior, config| propose(block, prior, config), fits)
}

/// Merges each element with the prior one that it belongs to.
fn collection(
    nesting: Nesting,
    prior: &Value,
    config: &Value,
    merge: impl Fn(&Value, &Value) -> Value,
    fits: impl Fn(&Value, &Value) -> bool,
) -> Value {
    match (nesting, config) {
        (_, Value::Unknown) => Value::Unknown,
        (Nesting::Single | Nesting::Group, _) => merge(prior, config),
        (Nesting::List, Value::List(items)) => {
            let each = items.iter().enumerate();
            Value::List(
                each.map(|(at, item)| element(prior.items().get(at), item, &merge)).collect(),
            )
        }
        (Nesting::Map, Value::Map(fields)) => {
            let there = match prior {
                Value::Map(there) => Some(there),
                _ => None,
            };
            let each = fields.iter().map(|(name, item)| {
                let prior = there.and_then(|there| there.get(name));
                (name.clone(), element(prior, item, &merge))
            });
            Value::Map(each.collect())
        }
        (Nesting::Set, Value::List(items)) => {
            let mut left: Vec<&Value> = prior.items().iter().collect();
            let each = items.iter().map(|item| {
                let at = left.iter().position(|prior| fits(prior, item));
                let prior = at.map(|at| left.remove(at));
                merge(prior.unwrap_or(&Value::Null), item)
            });
            Value::set(each.collect())
        }
        (_, config) => config.clone(),
    }
}

/// An element without a prior one is as it is configured, but for what no state has.
fn element(
    prior: Option<&Value>,
    config: &Value,
    merge: impl Fn(&Value, &Value) -> Value,
) -> Value {
    merge(prior.unwrap_or(&Value::Null), config)
}

/// Whether a value has something that only a configuration can have put there.
fn was_configured(attribute: &Attribute, prior: &Value) -> bool {
    attribute.optional && has_configured(attribute, prior)
}

fn has_configured(attribute: &Attribute, value: &Value) -> bool {
    let Of::Nested(nesting, inner) = &attribute.of else { return false };
    each(*nesting, value).iter().any(|value| {
        inner.iter().any(|(name, attribute)| {
            let field = value.field(name);
            !field.is_null() && (!attribute.computed || has_configured(attribute, field))
        })
    })
}

/// The objects that a nested value consists of.
fn each(nesting: Nesting, value: &Value) -> Vec<&Value> {
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, value) => vec![value],
        (Nesting::Map, Value::Map(fields)) => fields.values().collect(),
        (_, value) => value.items().iter().collect(),
    }
}

/// Whether a prior element of a set can have come from this configured one: they differ only where the
/// provider computes and the configuration is silent.
fn could_be(
    attributes: &Attributes,
    blocks: Option<&BTreeMap<String, Nested>>,
    prior: &Value,
    config: &Value,
) -> bool {
    if prior == config {
        return true;
    }
    if prior.is_null() || config.is_null() || *config == Value::Unknown {
        return false;
    }
    let attribute_fits = |name: &String, attribute: &Attribute| {
        let (prior, config) = (prior.field(name), config.field(name));
        prior == config
            || attribute.write_only
            || (attribute.computed && config.is_null())
            || match &attribute.of {
                Of::Plain(_) => false,
                Of::Nested(nesting, inner) => {
                    same_shape(*nesting, prior, config, |prior, config| {
                        could_be(inner, None, prior, config)
                    })
                }
            }
    };
    attributes.iter().all(|(name, attribute)| attribute_fits(name, attribute))
        && blocks.into_iter().flatten().all(|(name, nested)| {
            let block = &nested.block;
            same_shape(nested.nesting, prior.field(name), config.field(name), |prior, config| {
                could_be(&block.attributes, Some(&block.blocks), prior, config)
            })
        })
}

/// Whether two collections have the same places, with elements that fit. Sets inside of sets must be
/// equal: nothing says which elements belong together.
fn same_shape(
    nesting: Nesting,
    prior: &Value,
    config: &Value,
    fits: impl Fn(&Value, &Value) -> bool,
) -> bool {
    if prior == config {
        return true;
    }
    match (nesting, prior, config) {
        (Nesting::Single | Nesting::Group, prior, config) => fits(prior, config),
        (Nesting::List, Value::List(prior), Value::List(config)) => {
            prior.len() == config.len()
                && prior.iter().zip(config).all(|(prior, config)| fits(prior, config))
        }
        (Nesting::Map, Value::Map(prior), Value::Map(config)) => {
            prior.len() == config.len()
                && prior
                    .iter()
                    .zip(config)
                    .all(|((name, prior), (other, config))| name == other && fits(prior, config))
        }
        _ => false,
    }
}

#[cfg(test)]
mod opentofu;
#[cfg(test)]
mod tests;
