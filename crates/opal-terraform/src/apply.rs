//! Makes an object as a step describes it, and verifies that it is.
//!
//! An apply is never repeated: where it is not known how it ended, only a verification tells. What is about
//! to be done is announced before it is done, and whoever hears it may refuse it.

use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::call::Deed;
use tokio::time::{Instant, sleep};

use crate::client::{Change, Object, Observe, Planned};
use crate::differ::Difference;
use crate::identity::Chosen;
use crate::ignored::accepted;
use crate::rules;
use crate::trouble::{Trouble, Why};
use crate::value::Value;
use crate::verify::{Ask, Status, Verified, present, verify};
use crate::wire::Call;

/// Between two verifications of what settles.
const PAUSE: Duration = Duration::from_millis(500);

/// What a step allows.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Destroy and create what cannot be changed in place.
    pub replace: bool,
    /// How long a change may take to become visible.
    pub settle: Duration,
    /// What identifies the only object that may be deleted; empty where none may be. Where nothing is
    /// said, the one that the arguments identify.
    pub only: Option<Secret>,
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Acted {
    pub done: Done,
    pub object: Option<Object>,
    /// What the provider did against the rules, where it is built on a library that allows that.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// It was already in the desired state.
    Nothing,
    Created,
    /// What was changed: what was to be and what was there.
    Changed(Vec<Difference>),
    Replaced,
    Removed,
}

/// Makes it so.
pub async fn apply(
    observe: &Observe,
    change: &Change,
    ask: &Ask,
    allowed: Allowed,
    announce: &impl AsyncFn(Deed) -> Result<(), Trouble>,
) -> Result<Acted, Trouble> {
    let before = verify(observe, ask).await?;
    let (done, prior) = match (&before.status, before.object) {
        (Status::Satisfied, object) => {
            return Ok(Acted { done: Done::Nothing, object, warnings: Vec::new() });
        }
        (Status::Blocked(why), _) => return Err(Trouble::invalid(why.clone())),
        (Status::Missing, _) => (Done::Created, None),
        (Status::Rewrite, object) => (Done::Changed(Vec::new()), object),
        (Status::Drifted { replace, .. }, object) if !replace.is_empty() => {
            if !allowed.replace {
                return Err(fixed(replace));
            }
            if let Some(object) = &object {
                is_meant(object, ask, allowed.only.as_ref())?;
                announce(Deed::Replace).await?;
                remove(observe, change, &ask.of, object).await?;
            }
            (Done::Replaced, None)
        }
        (Status::Drifted { differences, .. }, object) => {
            (Done::Changed(differences.clone()), object)
        }
    };
    match &done {
        Done::Created => announce(Deed::Create).await?,
        Done::Changed(_) => announce(Deed::Change).await?,
        // That was announced before its first half.
        _ => {}
    }
    let (made, warnings) = make(observe, change, ask, prior.as_ref()).await?;
    // Whatever is wrong with it now, the record names it.
    let failed = |trouble: Trouble| trouble.beside(made.shown_identity());
    // What was sent again cannot be read back: the rest must be right.
    let ask = &Ask { rewrite: false, ..ask.clone() };
    let after = settle(observe, ask, allowed.settle).await.map_err(failed)?;
    match after.status {
        // What was just made has more than a replay knows.
        Status::Satisfied if matches!(ask.by, Chosen::Replay(_)) => {
            Ok(Acted { done, object: Some(made), warnings })
        }
        Status::Satisfied => Ok(Acted { done, object: after.object.or(Some(made)), warnings }),
        Status::Missing => {
            let id = made.state.field("id").as_text().unwrap_or("unknown").to_owned();
            Err(failed(Trouble::invalid(format!(
                "it was created (id {id}), but what identifies it does not find it"
            ))))
        }
        Status::Blocked(why) => Err(failed(Trouble::invalid(format!("after the apply: {why}")))),
        Status::Rewrite => Ok(Acted { done, object: after.object.or(Some(made)), warnings }),
        Status::Drifted { differences, .. } => {
            let paths: Vec<String> = differences.into_iter().map(|it| it.path).collect();
            let why = format!("still drifted after the apply: {}", paths.join(", "));
            Err(failed(Trouble::invalid(why)))
        }
    }
}

/// Plans from what was just read, and makes the plan happen.
async fn make(
    observe: &Observe,
    change: &Change,
    ask: &Ask,
    prior: Option<&Object>,
) -> Result<(Object, Vec<String>), Trouble> {
    let block = observe.resource(&ask.of)?;
    // What the step accepts as it is stays so, whatever else changes.
    let config = match prior {
        Some(prior) => accepted(block, &ask.config, &prior.state, &ask.ignore),
        None => ask.config.clone(),
    };
    let planned = observe.plan(&ask.of, prior, &config).await?;
    // Whoever changes an object has not agreed to its removal.
    if prior.is_some() && !planned.replace.is_empty() {
        return Err(fixed(&planned.replace));
    }
    let before = prior.map_or(&Value::Null, |prior| &prior.state);
    let broken = rules::broken(block, &config, before, &planned.state);
    let broken =
        broken.iter().map(|path| format!("the plan changes `{path}`, which is configured"));
    let mut broken: Vec<String> = broken.collect();
    if !broken.is_empty() && !planned.is_legacy {
        return Err(Trouble::malformed(Call::Plan, broken.remove(0)));
    }
    let applied = change.apply(&ask.of, prior, &planned, &config).await?;
    if !applied.errors.is_empty() {
        let trouble = Trouble::new(Call::Apply, Why::Said(applied.errors));
        // What was made although it failed is named, so that a person can find it.
        return Err(match &applied.object {
            Some(object) => trouble.beside(object.shown_identity()),
            None => trouble,
        });
    }
    let Some(object) = applied.object else {
        return Err(Trouble::malformed(Call::Apply, "nothing is there afterwards"));
    };
    let malformed =
        |why: &str| Err(Trouble::malformed(Call::Apply, why).beside(object.shown_identity()));
    if object.state.has_unknown() {
        return malformed("the new state has unknown values");
    }
    let is_kept = rules::is_kept(&block.implied(), &planned.state, &object.state);
    if !is_kept && !applied.is_legacy {
        return malformed("the new state is not what was planned");
    }
    if !is_kept {
        broken.push("the new state is not what was planned".to_owned());
    }
    Ok((object, broken))
}

fn fixed(paths: &[String]) -> Trouble {
    Trouble::invalid(format!("{} cannot be changed in place", paths.join(", ")))
}

/// Whether an object is gone: `.absent`.
pub async fn absent(
    observe: &Observe,
    change: &Change,
    ask: &Ask,
    settle: Duration,
    only: Option<&Secret>,
    announce: &impl AsyncFn(Deed) -> Result<(), Trouble>,
) -> Result<Acted, Trouble> {
    let nothing = Acted { done: Done::Nothing, object: None, warnings: Vec::new() };
    let before = present(observe, ask).await?;
    match (before.status, before.object) {
        (Status::Missing, _) => return Ok(nothing),
        (Status::Blocked(why), _) => return Err(Trouble::invalid(why)),
        (_, None) => return Err(Trouble::invalid("what was found cannot be read")),
        (_, Some(object)) => {
            is_meant(&object, ask, only)?;
            announce(Deed::Remove).await?;
            remove(observe, change, &ask.of, &object).await?;
        }
    }
    let until = Instant::now() + settle;
    loop {
        if matches!(present(observe, ask).await?.status, Status::Missing) {
            return Ok(Acted { done: Done::Removed, ..nothing });
        }
        if Instant::now() >= until {
            return Err(Trouble::invalid("it is still there after it was removed"));
        }
        sleep(PAUSE).await;
    }
}

/// Whether an object is the one that may be deleted. A tag can be moved, also after somebody agreed, so it
/// is never enough.
fn is_meant(object: &Object, ask: &Ask, only: Option<&Secret>) -> Result<(), Trouble> {
    let found = object.shown_identity();
    match (only, &ask.by) {
        (None, Chosen::Mark { .. }) => {
            Err(Trouble::invalid("what is found by its tag is deleted only by its identity"))
        }
        (Some(only), _) if only.expose().is_empty() => Err(Trouble::invalid(
            "there was nothing to delete when it was verified; verify it again",
        )),
        (Some(only), _) if found.as_ref().map(Secret::expose) != Some(only.expose()) => {
            Err(Trouble::invalid("another object was found than the one that may be deleted"))
        }
        _ => Ok(()),
    }
}

async fn remove(
    observe: &Observe,
    change: &Change,
    of: &str,
    object: &Object,
) -> Result<(), Trouble> {
    let planned = if observe.schemas().plans_destroy {
        observe.plan(of, Some(object), &Value::Null).await?
    } else {
        Planned {
            state: Value::Null,
            private: object.private.clone(),
            identity: None,
            replace: Vec::new(),
            is_legacy: false,
            proposed: Value::Null,
        }
    };
    let applied = change.apply(of, Some(object), &planned, &Value::Null).await?;
    if applied.errors.is_empty() && applied.object.is_some() {
        return Err(Trouble::malformed(Call::Apply, "the object is still there after its removal"));
    }
    match applied.errors {
        errors if errors.is_empty() => Ok(()),
        errors => Err(Trouble::new(Call::Apply, Why::Said(errors))),
    }
}

/// Verifies until it is satisfied or blocked, or the limit has passed.
async fn settle(observe: &Observe, ask: &Ask, within: Duration) -> Result<Verified, Trouble> {
    let until = Instant::now() + within;
    loop {
        let now = verify(observe, ask).await?;
        let is_open = matches!(now.status, Status::Missing | Status::Drifted { .. });
        if !is_open || Instant::now() >= until {
            return Ok(now);
        }
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::client::Id;

    #[test]
    fn only_the_object_that_somebody_agreed_to_is_deleted() {
        let object = |id: &str| Object {
            state: Value::map([("id", Value::text(id))]),
            private: Vec::new(),
            identity: None,
        };
        let ask = |by: Chosen| Ask {
            of: "box_thing".to_owned(),
            config: Value::Null,
            by,
            ignore: Vec::new(),
            rewrite: false,
        };
        let ways = [
            ask(Chosen::Import { id: Id::Text("a".to_owned()), filled: Vec::new() }),
            ask(Chosen::Adopt(Id::Text("a".to_owned()))),
            ask(Chosen::Replay(BTreeMap::new())),
        ];
        for way in &ways {
            let is_meant = |id: &str, only: Option<&str>| {
                is_meant(&object(id), way, only.map(Secret::new).as_ref()).is_ok()
            };
            assert!(is_meant("a", Some("a")) && is_meant("a", None));
            assert!(!is_meant("b", Some("a")));
            // There was nothing to delete, so nobody agreed to anything.
            assert!(!is_meant("a", Some("")) && !is_meant("", Some("")));
        }
    }
}
