//! Objects of a state file as steps: the smallest configuration whose plan is the same.
//!
//! ```text
//! attributes ──upgrade──▶ state ──generate──▶ configuration ──minus what a create plans──▶ arguments
//! arguments ──identity, verify──▶ how the step finds its object, and whether it is as described
//! ```
//!
//! | what | where |
//! |---|---|
//! | reading state files | [`state`] |

pub mod state;

use std::collections::{BTreeMap, BTreeSet};

use opal_core::data::Secret;
use opal_core::recipe::{Recipes, Way};

use crate::client::{Id, Observe};
use crate::differ;
use crate::identity::{self, Chosen, Refused};
use crate::schema::{Attribute, Block, Nested, Nesting, Of};
use crate::secrets;
use crate::trouble::Trouble;
use crate::value::{Value, convert};
use crate::verify::{self, Ask, Verified};
use state::Managed;

/// What a step for an object says.
#[derive(Clone, Debug)]
pub struct Adopted {
    /// Arguments, without those that a create plans anyway.
    pub args: Value,
    /// What the object is found by, where the arguments do not identify it.
    pub adopt: Option<Id>,
    /// Paths in the arguments whose values are secret.
    pub secrets: Vec<String>,
    pub verified: Verified,
}

/// Why there is no step for an object.
#[derive(Debug)]
pub enum Unadopted {
    /// It cannot be identified, or exists only in a state file.
    Refused(Refused),
    Trouble(Trouble),
}

impl From<Trouble> for Unadopted {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// The step for an object.
pub async fn adopt(
    observe: &Observe,
    recipes: &Recipes,
    provider: &Value,
    managed: &Managed,
) -> Result<Adopted, Unadopted> {
    let of = managed.of.as_str();
    // Nothing but the file has it, so no provider is asked.
    if recipes.way(of) == Some(&Way::State) {
        return Err(Unadopted::Refused(Refused::StateOnly));
    }
    let block = observe.resource(of)?;
    let state = observe.upgrade(of, managed.version, managed.attributes.expose()).await?;
    let generated = observe.generate(of, &state).await?;
    let whole = generated.unwrap_or_else(|| state.clone());
    let whole = configured(block, &whole, true);
    let whole = valid(observe, of, block, whole).await?;
    let identity = observe.schemas().identities.get(of);
    let choose = |config: &Value, adopt: Option<Id>| {
        let config = block.complete(config.clone());
        let step =
            identity::Step { of, config: &config, provider, adopt, mark: None, project: None };
        identity::choose(&step, recipes, identity)
    };
    let (by, adopt) = match choose(&whole, None) {
        Ok(by) => (by, None),
        Err(Refused::Unidentified) => {
            let id = named(managed, &state, identity)
                .ok_or(Unadopted::Refused(Refused::Unidentified))?;
            let by = choose(&whole, Some(id.clone())).map_err(Unadopted::Refused)?;
            (by, Some(id))
        }
        Err(refused) => return Err(Unadopted::Refused(refused)),
    };
    let needed: BTreeSet<&str> = match &by {
        Chosen::Import { filled, .. } => {
            filled.iter().filter_map(|it| it.path.split('.').next()).collect()
        }
        _ => BTreeSet::new(),
    };
    let small = smaller(observe, of, block, (&whole, &state), &needed).await?;
    // Without what was left out it must be found in the same way.
    let args = match choose(&small, adopt.clone()) {
        Ok(again) if again == by => small,
        _ => whole,
    };
    let ask = Ask {
        of: of.to_owned(),
        config: block.complete(args.clone()),
        by,
        ignore: Vec::new(),
        rewrite: false,
    };
    let verified = verify::verify(observe, &ask).await?;
    let mut hidden = secrets::paths(block, &args);
    hidden.extend(marked(managed, &args));
    hidden.sort();
    hidden.dedup();
    Ok(Adopted { args, adopt, secrets: hidden, verified })
}

/// What the state says that an object is found by.
fn named(
    managed: &Managed,
    state: &Value,
    identity: Option<&crate::schema::Identity>,
) -> Option<Id> {
    let of_state = managed.identity.as_ref().zip(identity).and_then(|(data, identity)| {
        convert::from_data(data, &identity.implied(), "identity").ok()
    });
    let id = || state.field("id").as_text().filter(|id| !id.is_empty()).map(str::to_owned);
    of_state.map(Id::Identity).or_else(|| id().map(Id::Text))
}

/// A configuration that the provider accepts: where it does not take what it would choose itself, that
/// is left out.
async fn valid(observe: &Observe, of: &str, block: &Block, whole: Value) -> Result<Value, Trouble> {
    let first = observe.validate(of, &block.complete(whole.clone())).await;
    let Err(trouble) = first else { return Ok(whole) };
    let is_chosen = |name: &str| block.attributes.get(name).is_some_and(|it| it.computed);
    let Value::Map(fields) = whole else { return Err(trouble) };
    let rest = Value::Map(fields.into_iter().filter(|(name, _)| !is_chosen(name)).collect());
    match observe.validate(of, &block.complete(rest.clone())).await {
        Ok(()) => Ok(rest),
        Err(_) => Err(trouble),
    }
}

/// A configuration without what a create plans anyway.
async fn smaller(
    observe: &Observe,
    of: &str,
    block: &Block,
    (whole, state): (&Value, &Value),
    needed: &BTreeSet<&str>,
) -> Result<Value, Trouble> {
    let Value::Map(all) = whole else { return Ok(whole.clone()) };
    // A provider chooses only what is computed; older libraries do not know nothing from zero.
    let is_chosen = |name: &str, value: &Value| {
        let attribute = block.attributes.get(name);
        let is_computed = attribute.is_some_and(|it| it.computed);
        let is_optional = attribute.is_some_and(|it| !it.required);
        !needed.contains(name) && (is_computed || (is_optional && is_zero(value)))
    };
    let rest = all.clone().into_iter().filter(|(name, value)| !is_chosen(name, value));
    let Ok(least) = create(observe, of, block, &Value::Map(rest.collect())).await else {
        return Ok(whole.clone());
    };
    let is_planned = |name: &str, value: &Value| {
        let (planned, actual) = (least.state.field(name), state.field(name));
        planned.says_same(actual) || (least.is_legacy && planned.is_null() && is_zero(value))
    };
    let kept = all.iter();
    let kept = kept.filter(|(name, value)| !is_chosen(name, value) || !is_planned(name, value));
    let kept = Value::Map(kept.map(|(name, value)| (name.clone(), value.clone())).collect());
    let (Ok(before), Ok(after)) =
        (create(observe, of, block, whole).await, create(observe, of, block, &kept).await)
    else {
        return Ok(whole.clone());
    };
    let differences = differ::differences(block, &before.state, &after.state, &[]);
    let is_same = differences.iter().all(|it| {
        it.actual.has_unknown() || {
            let zero = |value: &Value| value.is_null() || is_zero(value);
            after.is_legacy && zero(&it.expected) && zero(&it.actual)
        }
    });
    Ok(if is_same { kept } else { whole.clone() })
}

async fn create(
    observe: &Observe,
    of: &str,
    block: &Block,
    config: &Value,
) -> Result<crate::client::Planned, Trouble> {
    let config = block.complete(config.clone());
    observe.validate(of, &config).await?;
    observe.plan(of, None, &config).await
}

/// What older libraries of providers do not tell apart from nothing.
fn is_zero(value: &Value) -> bool {
    match value.plain() {
        Value::Bool(it) => !it,
        Value::Text(text) => text.expose().is_empty(),
        Value::Number(number) => number.to_string() == "0",
        Value::List(items) => items.is_empty(),
        Value::Map(fields) => fields.is_empty(),
        _ => false,
    }
}

/// What a configuration can say of a state: nothing that only the provider decides, and no nulls.
fn configured(block: &Block, state: &Value, is_top: bool) -> Value {
    let mut fields = attributes(&block.attributes, state, is_top);
    for (name, nested) in &block.blocks {
        let value = nested_blocks(nested, state.field(name));
        if !value.is_null() {
            fields.insert(name.clone(), value);
        }
    }
    Value::Map(fields)
}

fn attributes(
    all: &BTreeMap<String, Attribute>,
    state: &Value,
    is_top: bool,
) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    for (name, attribute) in all {
        let value = state.field(name);
        let is_id = is_top && name == "id" && attribute.computed;
        let is_old = attribute.deprecated.is_some() && !attribute.required;
        if value.is_null()
            || !attribute.is_configurable()
            || attribute.write_only
            || is_id
            || is_old
        {
            continue;
        }
        let value = match &attribute.of {
            Of::Plain(_) => value.clone(),
            Of::Nested(nesting, inner) => {
                each(*nesting, value, &|item| Value::Map(attributes(inner, item, false)))
            }
        };
        fields.insert(name.clone(), value);
    }
    fields
}

fn nested_blocks(nested: &Nested, value: &Value) -> Value {
    let value = each(nested.nesting, value, &|item| configured(&nested.block, item, false));
    match &value {
        Value::List(items) if items.is_empty() => Value::Null,
        Value::Map(fields) if fields.is_empty() => Value::Null,
        _ => value,
    }
}

fn each(nesting: Nesting, value: &Value, make: &dyn Fn(&Value) -> Value) -> Value {
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, Value::Map(_)) => make(value),
        (Nesting::List, Value::List(items)) => Value::List(items.iter().map(make).collect()),
        (Nesting::Set, Value::List(items)) => Value::set(items.iter().map(make).collect()),
        (Nesting::Map, Value::Map(fields)) => {
            Value::Map(fields.iter().map(|(name, item)| (name.clone(), make(item))).collect())
        }
        _ => Value::Null,
    }
}

/// The paths in arguments that a state file calls sensitive. A provider may have moved what it calls so to
/// another place: there it is found by what it says.
fn marked(managed: &Managed, args: &Value) -> Vec<String> {
    let all = leaves(args);
    let covered =
        |mark: &str| all.iter().any(|(path, _)| secrets::covers(&[mark.to_owned()], path));
    let moved: Vec<&String> = managed.sensitive.iter().filter(|mark| !covered(mark)).collect();
    let said = managed.texts_of(&moved);
    let is_marked = |path: &str, value: &Value| {
        let is_said = value.as_text().is_some_and(|text| said.iter().any(|it| it.expose() == text));
        is_said || secrets::covers(&managed.sensitive, path)
    };
    all.iter()
        .filter(|(path, value)| is_marked(path, value))
        .map(|(path, _)| path.clone())
        .collect()
}

/// The texts of arguments at these paths.
#[must_use]
pub fn texts(args: &Value, paths: &[String]) -> Vec<Secret> {
    let mut found = Vec::new();
    for (_, value) in leaves(args).iter().filter(|(path, _)| secrets::covers(paths, path)) {
        secrets::leaves(value, &mut found);
    }
    found
}

/// All scalars, with their paths.
fn leaves(value: &Value) -> Vec<(String, &Value)> {
    fn walk<'v>(value: &'v Value, path: &str, found: &mut Vec<(String, &'v Value)>) {
        match value.plain() {
            Value::List(items) => {
                for (at, item) in items.iter().enumerate() {
                    walk(item, &format!("{path}[{at}]"), found);
                }
            }
            Value::Map(fields) => {
                let dot = if path.is_empty() { "" } else { "." };
                for (name, item) in fields {
                    walk(item, &format!("{path}{dot}{name}"), found);
                }
            }
            scalar => found.push((path.to_owned(), scalar)),
        }
    }
    let mut found = Vec::new();
    walk(value, "", &mut found);
    found
}
