//! `targets` of PROVENANCE: who answered on each target when the contract was made.

use super::parts::{RECORD_WEIGHT, write_optional, write_set};
use crate::contract::json::Writer;
use crate::contract::weight;
use crate::data::Data;
use crate::hash::Algorithm;
use crate::placeholder::{Placeholder, PlaceholderKey};
use crate::plan::Plan;
use crate::target::{HostKey, Identity};

/// What the digest of a machine ID is of; no value has this key.
const MACHINE: &str = "target machine";

/// A target, and who answered there when the contract was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRecord {
    /// The names of the targets on the way to it, with `/` between them.
    pub name: String,
    /// How it is reached, one crossing after the other.
    pub transport: Vec<String>,
    /// The number of the user; none in a container that a block makes.
    pub user: Option<u32>,
    pub os: String,
    pub arch: String,
    /// Of a host that `ssh` connects to.
    pub host_key: Option<HostKey>,
    /// Of the ID of the machine or the image, under the placeholder key of the contract.
    pub machine: Placeholder,
}

impl TargetRecord {
    #[must_use]
    pub fn new(
        name: &str,
        transport: Vec<String>,
        found: &Identity,
        algorithm: Algorithm,
        key: &PlaceholderKey,
    ) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            user: found.user,
            os: found.os.clone(),
            arch: found.arch.clone(),
            host_key: found.host_key.clone(),
            machine: key.placeholder(algorithm, MACHINE, &Data::text(found.machine.as_str())),
        }
    }

    /// In plain words: how it is reached, and who answered.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { os, arch, machine, .. } = self;
        let transport = self.transport.join(" / ");
        let key = match &self.host_key {
            Some(key) => format!(", host key {key} ({})", key.algorithm()),
            None => String::new(),
        };
        match self.user {
            Some(user) => {
                format!("{transport}, user number {user}, {os} {arch}{key}, machine {machine}")
            }
            None => format!("{transport}, {os} {arch}{key}, image {machine}"),
        }
    }

    /// In what another record of the same target differs, one line each; empty where it is the same.
    /// `then` and `now` say whose each is.
    #[must_use]
    pub fn differences(&self, other: &Self, then: &str, now: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut hold = |what: &str, before: &str, after: &str| {
            if before != after {
                words.push(format!("{what} is {before} {then}, {after} {now}"));
            }
        };
        let key = |record: &Self| match &record.host_key {
            Some(key) => key.to_string(),
            None => "unknown".to_owned(),
        };
        hold("host key", &key(self), &key(other));
        let user = |record: &Self| match record.user {
            Some(user) => format!("number {user}"),
            None => "unknown".to_owned(),
        };
        hold("user", &user(self), &user(other));
        hold("operating system", &self.os, &other.os);
        hold("architecture", &self.arch, &other.arch);
        if self.machine != other.machine {
            words.push(format!("another machine or image answers {now} than {then}"));
        }
        words
    }
}

pub(super) fn write(
    json: &mut Writer,
    plan: &Plan,
    targets: &[TargetRecord],
) -> Result<usize, String> {
    if targets.is_empty() {
        return Ok(0);
    }
    json.plain_key("targets");
    json.open(b'[');
    let mut heavy = 0;
    for target in targets {
        if target.machine.algorithm != plan.algorithm {
            return Err(format!("`{}` was hashed with another algorithm", target.name));
        }
        json.item();
        json.open(b'{');
        write_optional(json, "arch", Some(&target.arch));
        write_optional(json, "digest", Some(&target.machine.digest.hex()));
        let key = target.host_key.as_ref().map(HostKey::to_text);
        write_optional(json, "host_key", key.as_deref());
        json.plain_key("length");
        json.int(target.machine.length.into());
        write_optional(json, "name", Some(&target.name));
        write_optional(json, "os", Some(&target.os));
        json.plain_key("transport");
        let count = write_set(json, target.transport.iter().map(String::as_str));
        heavy += RECORD_WEIGHT + weight::MAP + count * weight::ITEM;
        if let Some(user) = target.user {
            json.plain_key("user");
            json.int(user.into());
        }
        json.close(b'}');
    }
    json.close(b']');
    Ok(heavy)
}
