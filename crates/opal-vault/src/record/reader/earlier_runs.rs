//! What earlier runs of a contract left.

use crate::event::Status as Ended;
use opal_core::contract::{Earlier, Seen};
use opal_core::hash::{Algorithm, Digest};
use opal_core::placeholder::Placeholder;
use opal_core::resource::Status;
use serde_json::Value;

use super::{Found, Run, State, list};
use crate::root::{Root, RootError};

/// What the runs of the contract with this digest have left, the newest first.
pub fn earlier(
    root: &Root,
    contract: Digest,
    algorithm: Algorithm,
) -> Result<Vec<Earlier>, RootError> {
    let left = |run: &Run| {
        if run.contract() != Some(contract) {
            return None;
        }
        match run.state {
            State::Ended(Ended::Refused) => None,
            State::Ended(Ended::Crashed) | State::Running => Some(Earlier::Unseen),
            State::Ended(_) => Some(seen(run, algorithm).map_or(Earlier::Unseen, Earlier::Left)),
        }
    };
    let runs = list(root)?;
    let read = |found: &Found| match Run::load(found) {
        Ok(run) => left(&run),
        // Removed in the meantime.
        Err(_) if !found.folder.exists() => None,
        // It may be one of them, and nobody knows what it left.
        Err(_) => Some(Earlier::Unseen),
    };
    Ok(runs.iter().filter_map(read).collect())
}

fn seen(run: &Run, algorithm: Algorithm) -> Option<Vec<Seen>> {
    run.get("resources")?.as_array()?.iter().map(|one| entry(one, algorithm)).collect()
}

fn entry(value: &Value, algorithm: Algorithm) -> Option<Seen> {
    let details = match (value.get("digest"), value.get("length")) {
        (Some(digest), Some(length)) => Some(Placeholder {
            length: length.as_u64()?.try_into().ok()?,
            algorithm,
            digest: Digest::parse(digest.as_str()?)?,
        }),
        _ => None,
    };
    let digest = |name: &str| match value.get(name) {
        Some(digest) => Digest::parse(digest.as_str()?).map(Some),
        None => Some(None),
    };
    Some(Seen {
        path: value.get("path")?.as_str()?.into(),
        status: Status::named(value.get("status")?.as_str()?)?,
        details,
        identity: digest("identity")?,
        account: digest("account")?,
        by_prerequisite: value.get("prerequisite").and_then(Value::as_bool).unwrap_or_default(),
    })
}
