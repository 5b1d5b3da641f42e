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

use crate::client::{Id, Object, Observe, Planned};
use crate::differ::{self, Difference};
use crate::identity::Chosen;
use crate::identity::recipes::{Mark, TAG};
use crate::identity::template::at;
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
}

impl Verified {
    fn of(status: Status, object: Option<Object>) -> Self {
        Self { status, object, unread: Vec::new() }
    }

    fn blocked(why: impl Into<String>) -> Self {
        Self::of(Status::Blocked(why.into()), None)
    }

    #[must_use]
    pub const fn is_satisfied(&self) -> bool {
        matches!(self.status, Status::Satisfied)
    }
}

/// Verifies one object. An error is a status too: the step is blocked.
pub async fn verify(observe: &Observe, ask: &Ask) -> Result<Verified, Trouble> {
    observe.validate(&ask.of, &ask.config).await?;
    match &ask.by {
        Chosen::Replay(known) => replay(observe, ask, None, known).await,
        Chosen::Adopt(id) => {
            let found = find(observe, ask, id, &[]).await?;
            // It is never created.
            if matches!(found.status, Status::Missing) {
                return Ok(Verified::blocked(format!("not found: {}", shown(id))));
            }
            Ok(found)
        }
        Chosen::Import { id, filled } => find(observe, ask, id, filled).await,
        Chosen::Mark { tag, mark } => marked(observe, ask, tag, mark).await,
    }
}

async fn find(
    observe: &Observe,
    ask: &Ask,
    id: &Id,
    filled: &[String],
) -> Result<Verified, Trouble> {
    let stub = observe.import(&ask.of, id).await?;
    let Some(observed) = observe.read(&ask.of, &stub).await? else {
        return Ok(Verified::of(Status::Missing, None));
    };
    // Another object answers to the id.
    let other = filled.iter().find(|path| at(&observed.state, path) != at(&ask.config, path));
    if let Some(path) = other {
        return Ok(Verified::blocked(format!("what was found has another `{path}`")));
    }
    decide(observe, ask, observed).await
}

/// Finds an object by its tag.
async fn marked(observe: &Observe, ask: &Ask, tag: &str, mark: &Mark) -> Result<Verified, Trouble> {
    let all = observe.list(&ask.of, mark.list.clone()).await?;
    let has_tag = |state: &Value| at(state, &mark.tags).field(TAG).as_text() == Some(tag);
    let found: Vec<_> = all.into_iter().filter(|listed| has_tag(&listed.state)).collect();
    let one = match &found[..] {
        [] => return Ok(Verified::of(Status::Missing, None)),
        [one] => one,
        several => {
            let names: Vec<&str> = several.iter().map(|it| it.name.as_str()).collect();
            let why = format!("several objects have the tag {TAG}={tag}: {}", names.join(", "));
            return Ok(Verified::blocked(why));
        }
    };
    let Some(identity) = &one.identity else {
        return Ok(Verified::blocked("what is listed has no identity"));
    };
    let found = find(observe, ask, &Id::Identity(identity.clone()), &[]).await?;
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
    let unread = observed.as_ref().map(|it| differ::unread(block, &it.state, &now.state));
    let status = if is_same(block, ask, &now.state, &assumed.state) {
        Status::Satisfied
    } else {
        let planned = observe.plan(&ask.of, Some(&now), &ask.config).await?;
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
        known => known.clone(),
    }
}

fn shown(id: &Id) -> String {
    match id {
        Id::Text(id) => id.clone(),
        Id::Identity(value) => differ::show(value),
    }
}
