//! What identifies a resource in the world: the first way that applies.
//!
//! | what | where |
//! |---|---|
//! | which values may fill the places of a recipe | [`template`] |
//! | lists that a recipe names | [`recipes`] |
//!
//! The recipes themselves are in `opal_core::recipe`: `opal check` reads them too.
//!
//! Ids are never guessed: a wrong one reads as missing, and would create a duplicate.

pub mod recipes;
pub mod template;

use std::collections::BTreeMap;
use std::fmt;

use opal_core::recipe::template::Template;
use opal_core::recipe::{Mark, Recipes, TAG, Way};

use crate::client::Id;
use crate::schema::Identity;
use crate::value::{Type, Value};
use template::{Filling, Unfit};

/// What a step says that matters here.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// The type: `aws_vpc`.
    pub of: &'a str,
    pub config: &'a Value,
    /// The configuration of the provider.
    pub provider: &'a Value,
    pub adopt: Option<Id>,
    pub mark: Option<&'a str>,
    /// The name in `opal.mod`, which marks need.
    pub project: Option<&'a str>,
}

/// The way that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Named by the step. Never created.
    Adopt(Id),
    /// Found by import. The arguments must be the object's.
    Import { id: Id, filled: Vec<Filled> },
    /// Read with what a create would plan, and these values.
    Replay(BTreeMap<String, Value>),
    /// Found by a tag that opal writes.
    Mark { tag: String, mark: Mark },
}

/// An argument that fills a place of an id, with its value there. The object must have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    pub path: String,
    pub value: Value,
}

impl Filled {
    /// Whether a state has another value. Where the step left it out, the provider may do so too.
    #[must_use]
    pub fn is_other(&self, config: &Value, state: &Value) -> bool {
        let there = template::at(state, &self.path);
        let is_left_out = there.is_null() && template::at(config, &self.path).is_null();
        !there.says_same(&self.value) && !is_left_out
    }
}

/// Why a resource cannot be identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// E1401.
    Unidentified,
    /// E1402.
    StateOnly,
    /// A mark needs `name` in `opal.mod`.
    NoProject,
    /// Services read other characters of a mark as patterns or lists.
    Mark,
    /// No recipe says what a mark of this type is for.
    Unmarkable,
    /// The step is blocked: a value cannot be part of an id.
    Unfit(Unfit),
}

impl Refused {
    /// The message, for a type.
    #[must_use]
    pub fn message(&self, of: &str) -> String {
        match self {
            Self::Unidentified => format!("cannot identify `{of}`"),
            Self::StateOnly => format!("`{of}` exists only in a state file"),
            Self::NoProject => "a mark needs `name` in `opal.mod`".to_owned(),
            Self::Mark => {
                let letters = "letters, digits, `-`, `_` and `.`, with `/` between parts";
                format!("the mark of `{of}` is invalid: expected up to {MAX_MARK} {letters}")
            }
            Self::Unmarkable => {
                format!("`{of}` cannot have a mark: no recipe says where its tags are")
            }
            Self::Unfit(unfit) => format!("cannot identify `{of}`: {unfit}"),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message("it"))
    }
}

/// Characters of a mark.
const MAX_MARK: usize = 100;

/// Whether every service reads a mark literally: filters of some read `*`, `?` and `,` in another way.
fn is_mark(mark: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(fits);
    mark.len() <= MAX_MARK && mark.split('/').all(is_part)
}

/// The way for a step. It asks no provider.
pub fn choose(
    step: &Step<'_>,
    recipes: &Recipes,
    identity: Option<&Identity>,
) -> Result<Chosen, Refused> {
    let way = recipes.way(step.of);
    if way == Some(&Way::State) {
        return Err(Refused::StateOnly);
    }
    if let Some(id) = &step.adopt {
        return Ok(Chosen::Adopt(id.clone()));
    }
    let tag = match (step.mark, step.project) {
        (None, _) => None,
        (Some(_), None) => return Err(Refused::NoProject),
        (Some(mark), _) if !is_mark(mark) => return Err(Refused::Mark),
        (Some(mark), Some(project)) => Some(format!("{project}/{mark}")),
    };
    if tag.is_some() && !way.is_some_and(Way::takes_mark) {
        return Err(Refused::Unmarkable);
    }
    let filling = Filling { config: step.config, provider: step.provider, mark: tag.as_deref() };
    let all = |templates: &BTreeMap<String, Template>| {
        let each =
            templates.iter().map(|(name, template)| Ok((name.clone(), filling.value(template)?)));
        each.collect::<Result<BTreeMap<_, _>, Unfit>>().map_err(Refused::Unfit)
    };
    match way {
        Some(Way::Import(template)) => {
            let id = filling.text(template).map_err(Refused::Unfit)?;
            return Ok(Chosen::Import { id: Id::Text(id), filled: filling.filled(template) });
        }
        Some(Way::Identity(templates)) => {
            let filled = templates.values().flat_map(|it| filling.filled(it)).collect();
            return Ok(Chosen::Import { id: Id::Identity(Value::Map(all(templates)?)), filled });
        }
        Some(Way::Replay(templates)) => return Ok(Chosen::Replay(all(templates)?)),
        Some(Way::Mark(mark)) => {
            if let Some(tag) = tag {
                return Ok(Chosen::Mark { tag, mark: mark.clone() });
            }
        }
        Some(Way::State) | None => {}
    }
    identity.and_then(|identity| derived(step.config, identity)).ok_or(Refused::Unidentified)
}

/// The configuration of an object that is found by its tag: the tag is part of it.
#[must_use]
pub fn tagged(mut config: Value, by: &Chosen) -> Value {
    let Chosen::Mark { tag, mark } = by else { return config };
    if let Value::Map(fields) = &mut config {
        let mut tags = match fields.remove(&mark.tags) {
            Some(Value::Map(tags)) => tags,
            _ => BTreeMap::new(),
        };
        tags.insert(TAG.to_owned(), Value::text(tag.as_str()));
        fields.insert(mark.tags.clone(), Value::Map(tags));
    }
    config
}

/// The identity of arguments of the same names, where all that are required are given.
fn derived(config: &Value, identity: &Identity) -> Option<Chosen> {
    let mut values = BTreeMap::new();
    let mut requires_any = false;
    for (name, attribute) in &identity.attributes {
        let value = config.field(name);
        let fits = matches!(
            (value, &attribute.of),
            (Value::Text(_), Type::String)
                | (Value::Number(_), Type::Number)
                | (Value::Bool(_), Type::Bool)
        ) && value.as_text() != Some("");
        requires_any |= attribute.required;
        match (fits, attribute.required) {
            (true, _) if name != "id" => {
                values.insert(name.clone(), value.clone());
            }
            (_, true) => return None,
            (_, false) => {}
        }
    }
    let filled = values.iter();
    let filled =
        filled.map(|(name, value)| Filled { path: name.clone(), value: value.clone() }).collect();
    requires_any.then(|| Chosen::Import { id: Id::Identity(Value::Map(values)), filled })
}

#[cfg(test)]
mod tests;
