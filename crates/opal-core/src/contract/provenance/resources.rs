//! `resources` of PROVENANCE: what was seen of each resource when the contract was made.

use super::parts::{RECORD_WEIGHT, write_optional};
use crate::contract::json::Writer;
use crate::hash::Digest;
use crate::placeholder::Placeholder;
use crate::plan::Plan;
use crate::resource::Status;

/// What the verification of a resource found, without its details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The path of its step.
    pub path: Box<str>,
    pub status: Status,
    /// Of what differs, under the placeholder key of the contract.
    pub details: Option<Placeholder>,
    /// Of what the world calls the object, and of the account that it belongs to, under the same key.
    pub identity: Option<Digest>,
    pub account: Option<Digest>,
    /// Blocked only because of what it depends on.
    pub by_prerequisite: bool,
}

pub(super) fn write(json: &mut Writer, plan: &Plan, seen: &[Seen]) -> Result<usize, String> {
    if seen.is_empty() {
        return Ok(0);
    }
    json.plain_key("resources");
    json.open(b'[');
    for seen in seen {
        json.item();
        json.open(b'{');
        write_optional(json, "account", seen.account.map(|it| it.hex()).as_deref());
        if let Some(found) = &seen.details {
            if found.algorithm != plan.algorithm {
                return Err(format!("`{}` was hashed with another algorithm", seen.path));
            }
            write_optional(json, "digest", Some(&found.digest.hex()));
        }
        write_optional(json, "identity", seen.identity.map(|it| it.hex()).as_deref());
        if let Some(found) = &seen.details {
            json.plain_key("length");
            json.int(found.length.into());
        }
        write_optional(json, "path", Some(&seen.path));
        if seen.by_prerequisite {
            json.plain_key("prerequisite");
            json.bool(true);
        }
        write_optional(json, "status", Some(seen.status.name()));
        json.close(b'}');
    }
    json.close(b']');
    Ok(seen.iter().map(|seen| RECORD_WEIGHT + seen.path.len()).sum())
}
