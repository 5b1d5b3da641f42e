//! Whether an object is as a step describes it, without a state file.
//!
//! ```text
//! 1 find     the beginning of the object, by import
//! 2 observe  O = read; gone: missing
//! 3 plan     P = plan(O, configuration); P = O: satisfied
//! 4 replay   P0 = plan(nothing, configuration); S0 = P0, unknowns from O; S = read(S0); gone: missing
//! 5 decide   S = S0: satisfied; else P = plan(S, configuration); P = S: satisfied, else drifted
//! ```
//!
//! Step 4 replaces the state file: what cannot be read back keeps its configured value, equivalent
//! spellings stay equal, defaults are the provider's. Nothing here can ask for a change.

use std::collections::BTreeMap;

use opal_core::data::Secret;
use opal_core::recipe::{Listing, Mark, TAG};

use crate::client::{Id, Listed, Object, Observe, Planned};
use crate::differ::{self, Difference};
use crate::identity::recipes;
use crate::identity::template::at;
use crate::identity::{Chosen, Filled};
use crate::ignored::accepted;
use crate::schema::Block;
use crate::trouble::Trouble;
use crate::value::Value;

/// What is verified.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The type: `aws_vpc`.
    pub of: String,
    /// Completed to the type of its schema.
    pub config: Value,
    pub by: Chosen,
    /// Attributes whose actual value is accepted.
    pub ignore: Vec<String>,
    /// What cannot be read back is sent again.
    pub rewrite: bool,
}

#[derive(Clone, Debug)]
pub struct Verified {
    pub status: Status,
    /// The object: the prior state of a change.
    pub object: Option<Object>,
    /// Attributes that were not compared, because they cannot be read back.
    pub unread: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum Status {
    Satisfied,
    Missing,
    Drifted {
        differences: Vec<Difference>,
        /// Attributes that cannot be changed in place.
        replace: Vec<String>,
    },
    Blocked(String),
    /// It is there, and what cannot be read back is to be sent again.
    Rewrite,
}

impl Verified {
    fn of(status: Status, object: Option<Object>) -> Self {
        Self { status, object, unread: Vec::new() }
    }

    fn blocked(why: impl Into<String>) -> Self {
        Self::of(Status::Blocked(why.into()), None)
    }

    /// What a contract compares: the identity, and everything that a configuration can say.
    #[must_use]
    pub fn digest(&self, block: &Block) -> Secret {
        let object = self.object.as_ref();
        let state = object.map(|object| differ::show(&differ::configurable(block, &object.state)));
        let identity = object.and_then(Object::shown_identity);
        let identity = identity.as_ref().map_or("", Secret::expose);
        Secret::new(format!("{identity}\n{}", state.as_deref().unwrap_or("nothing")))
    }

    #[must_use]
    pub const fn is_satisfied(&self) -> bool {
        matches!(self.status, Status::Satisfied)
    }
}

/// Verifies one object. An error is a status too: the step is blocked.
pub async fn verify(observe: &Observe, ask: &Ask) -> Result<Verified, Trouble> {
    let found = match &ask.by {
        Chosen::Replay(known) => replay(observe, ask, None, known).await?,
        Chosen::Adopt(id) => match find(observe, ask, id, &[]).await? {
            // It is never created.
            Verified { status: Status::Missing, .. } => {
                Verified::blocked(format!("not found: {id}"))
            }
            found => found,
        },
        Chosen::Import { id, filled } => find(observe, ask, id, filled).await?,
        Chosen::Mark { tag, mark } => marked(observe, ask, tag, mark).await?,
    };
    // Nothing else has asked whether it can be created. A replay has, and what is as it is configured is
    // valid.
    if matches!(found.status, Status::Missing) && !matches!(ask.by, Chosen::Replay(_)) {
        observe.validate(&ask.of, &ask.config).await?;
    }
    Ok(found)
}

/// Whether an object is there, whatever it is like: for `.absent`, whose configuration only identifies.
pub async fn present(observe: &Observe, ask: &Ask) -> Result<Verified, Trouble> {
    let found = match &ask.by {
        Chosen::Replay(_) => {
            let found = verify(observe, ask).await?;
            return Ok(found);
        }
        Chosen::Adopt(id) => object(observe, ask, id, &[]).await?,
        Chosen::Import { id, filled } => object(observe, ask, id, filled).await?,
        Chosen::Mark { tag, mark } => match by_tag(observe, ask, tag, mark).await? {
            Ok(None) => Ok(None),
            Ok(Some(id)) => object(observe, ask, &id, &[]).await?,
            Err(why) => Err(why),
        },
    };
    Ok(match found {
        Ok(None) => Verified::of(Status::Missing, None),
        Ok(Some(object)) => Verified::of(Status::Satisfied, Some(object)),
        Err(why) => Verified::blocked(why),
    })
}

/// The object of an id, if it is the one that the arguments name. The inner error blocks.
async fn object(
    observe: &Observe,
    ask: &Ask,
    id: &Id,
    filled: &[Filled],
) -> Result<Result<Option<Object>, String>, Trouble> {
    let stub = observe.import(&ask.of, id).await?;
    let Some(observed) = observe.read(&ask.of, &stub).await? else { return Ok(Ok(None)) };
    // Another object answers to the id.
    let other = filled.iter().find(|it| it.is_other(&ask.config, &observed.state));
    if let Some(Filled { path, .. }) = other {
        return Ok(Err(format!("what was found has another `{path}`")));
    }
    // A list may have selected by something else, or by nothing.
    if let Chosen::Mark { tag, mark } = &ask.by
        && !has_tag(&observed.state, mark, tag)
    {
        return Ok(Err(format!("what was listed does not have the tag {TAG}={tag}: {id}")));
    }
    Ok(Ok(Some(observed)))
}

async fn find(
    observe: &Observe,
    ask: &Ask,
    id: &Id,
    filled: &[Filled],
) -> Result<Verified, Trouble> {
    match object(observe, ask, id, filled).await? {
        Ok(None) => Ok(Verified::of(Status::Missing, None)),
        Ok(Some(observed)) if ask.rewrite => again(observe, ask, observed).await,
        Ok(Some(observed)) => decide(observe, ask, observed).await,
        Err(why) => Ok(Verified::blocked(why)),
    }
}

/// What cannot be read back is sent again, unless that would need another object.
async fn again(observe: &Observe, ask: &Ask, observed: Object) -> Result<Verified, Trouble> {
    observe.validate(&ask.of, &ask.config).await?;
    let block = observe.resource(&ask.of)?;
    let config = accepted(block, &ask.config, &observed.state, &ask.ignore);
    let planned = observe.plan(&ask.of, Some(&observed), &config).await?;
    let status = match planned.replace.is_empty() {
        true => Status::Rewrite,
        false => Status::Drifted {
            differences: differ::differences(block, &planned.state, &observed.state, &ask.ignore),
            replace: planned.replace,
        },
    };
    Ok(Verified::of(status, Some(observed)))
}

fn has_tag(state: &Value, mark: &Mark, tag: &str) -> bool {
    at(state, &mark.tags).field(TAG).as_text() == Some(tag)
}

/// What has a tag: none, one, or several, which block.
async fn by_tag(
    observe: &Observe,
    ask: &Ask,
    tag: &str,
    mark: &Mark,
) -> Result<Result<Option<Id>, String>, Trouble> {
    let (names, ids) = match &mark.from {
        Listing::List(config) => {
            let all = observe.list(&ask.of, recipes::marked(config, tag)).await?;
            let found = all.into_iter().filter(|it| has_tag(&it.state, mark, tag));
            let found: Vec<_> = found.collect();
            let id = |it: &Listed| it.state.field("id").as_text().map(str::to_owned);
            let names: Vec<String> =
                found.iter().map(|it| id(it).unwrap_or_else(|| it.name.clone())).collect();
            let ids: Vec<Option<Id>> =
                found.into_iter().map(|it| it.identity.map(Id::Identity)).collect();
            (names, ids)
        }
        Listing::Data { of, config, missing } => {
            let state = match observe.data(of, recipes::marked(config, tag)).await {
                Ok(state) => state,
                // Some data sources report an error where nothing matches.
                Err(trouble) if missing.as_ref().is_some_and(|it| trouble.says(it)) => {
                    return Ok(Ok(None));
                }
                Err(trouble) => return Err(trouble),
            };
            let names = recipes::ids(&state);
            let ids = names.iter().map(|id| Some(Id::Text(id.clone()))).collect();
            (names, ids)
        }
    };
    Ok(match &ids[..] {
        [] => Ok(None),
        [Some(id)] => Ok(Some(id.clone())),
        [None] => Err("what is listed has no identity".to_owned()),
        _ => Err(format!("several objects have the tag {TAG}={tag}: {}", names.join(", "))),
    })
}

/// Verifies an object that is found by its tag.
async fn marked(observe: &Observe, ask: &Ask, tag: &str, mark: &Mark) -> Result<Verified, Trouble> {
    let id = match by_tag(observe, ask, tag, mark).await? {
        Ok(None) => return Ok(Verified::of(Status::Missing, None)),
        Ok(Some(id)) => id,
        Err(why) => return Ok(Verified::blocked(why)),
    };
    let found = find(observe, ask, &id, &[]).await?;
    // A tag can be moved: this is probably another object.
    if let Status::Drifted { replace, .. } = &found.status
        && !replace.is_empty()
    {
        let why = format!("what has the tag {TAG}={tag} differs in {}", replace.join(", "));
        return Ok(Verified::blocked(why));
    }
    Ok(found)
}

async fn decide(observe: &Observe, ask: &Ask, observed: Object) -> Result<Verified, Trouble> {
    let block = observe.resource(&ask.of)?;
    let config = accepted(block, &ask.config, &observed.state, &ask.ignore);
    let ask = &Ask { config, ..ask.clone() };
    let planned = observe.plan(&ask.of, Some(&observed), &ask.config).await?;
    if is_same(block, ask, &planned.state, &observed.state) {
        return Ok(Verified::of(Status::Satisfied, Some(observed)));
    }
    replay(observe, ask, Some(observed), &BTreeMap::new()).await
}

/// Steps 4 and 5.
async fn replay(
    observe: &Observe,
    ask: &Ask,
    observed: Option<Object>,
    known: &BTreeMap<String, Value>,
) -> Result<Verified, Trouble> {
    let block = observe.resource(&ask.of)?;
    observe.validate(&ask.of, &ask.config).await?;
    let created = observe.plan(&ask.of, None, &ask.config).await?;
    let none = Value::Null;
    let from = observed.as_ref().map_or(&none, |it| &it.state);
    let mut state = filled(&created.state, from);
    if let Value::Map(fields) = &mut state {
        for (name, value) in known {
            if created.state.field(name) == &Value::Unknown {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
    let assumed = Object {
        state,
        private: observed.as_ref().map(|it| it.private.clone()).unwrap_or_default(),
        identity: observed.as_ref().and_then(|it| it.identity.clone()),
    };
    let Some(now) = observe.read(&ask.of, &assumed).await? else {
        return Ok(Verified::of(Status::Missing, None));
    };
    if ask.rewrite {
        return again(observe, ask, now).await;
    }
    let unread = observed.as_ref().map(|it| differ::unread(block, &it.state, &now.state));
    let status = if is_same(block, ask, &now.state, &assumed.state) {
        Status::Satisfied
    } else {
        let config = accepted(block, &ask.config, &now.state, &ask.ignore);
        let planned = observe.plan(&ask.of, Some(&now), &config).await?;
        judge(block, ask, &planned, &now)
    };
    Ok(Verified { status, object: Some(now), unread: unread.unwrap_or_default() })
}

fn judge(block: &Block, ask: &Ask, planned: &Planned, now: &Object) -> Status {
    let differences = differ::differences(block, &planned.state, &now.state, &ask.ignore);
    if differences.is_empty() {
        return Status::Satisfied;
    }
    Status::Drifted { differences, replace: planned.replace.clone() }
}

fn is_same(block: &Block, ask: &Ask, expected: &Value, actual: &Value) -> bool {
    differ::differences(block, expected, actual, &ask.ignore).is_empty()
}

/// A planned state with what was observed where it is unknown.
fn filled(planned: &Value, observed: &Value) -> Value {
    match planned {
        Value::Unknown => observed.clone(),
        Value::Map(fields) => {
            let each = fields
                .iter()
                .map(|(name, value)| (name.clone(), filled(value, observed.field(name))));
            Value::Map(each.collect())
        }
        Value::List(items) => {
            let none = Value::Null;
            let each = items.iter().enumerate();
            let each =
                each.map(|(at, item)| filled(item, observed.items().get(at).unwrap_or(&none)));
            Value::List(each.collect())
        }
        // Only an object that is known has the types of all its parts.
        Value::Typed(typed) if planned.has_unknown() => {
            let whole = filled(&typed.1, observed);
            match observed {
                Value::Typed(there) if there.0 == typed.0 => {
                    Value::Typed(Box::new((there.0.clone(), whole)))
                }
                _ => whole,
            }
        }
        known => known.clone(),
    }
}
