//! Whom connections lead to: whoever answered first, and under contract whoever answered when it was
//! made. It is known before any value or step is sent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError, RwLock};

use opal_core::contract::TargetRecord;
use opal_core::crossing::Crossing;
use opal_core::resolver::Trouble;
use opal_core::target::{Hop, HostKey, Identity};
use opal_session::targets::{Contracted, Refusal, Refused, Trust, label, transport};

use super::lock;
use crate::dial::error::{DialCause, DialError};
use crate::dial::ssh::KeyPolicy;
use crate::error::RemoteError;

/// One end of a connection: the last of `hops`, which are all on the way to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) way: &'a [Crossing],
    pub(super) hops: &'a [Hop],
}

#[derive(Debug, Default)]
pub(super) struct Holding {
    trust: RwLock<Trust>,
    /// Who answered first at each end.
    first: Mutex<BTreeMap<Vec<Hop>, Identity>>,
    /// By label and transport.
    refused: Mutex<BTreeMap<(String, Vec<String>), Refusal>>,
}

impl Holding {
    pub(super) fn hold(&self, trust: Trust) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = trust;
    }

    fn trust(&self) -> Trust {
        self.trust.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a contract is made or run.
    pub(super) fn is_contract(&self) -> bool {
        !matches!(self.trust(), Trust::Users)
    }

    pub(super) fn refused(&self) -> Vec<Refused> {
        let refused = lock(&self.refused);
        let all = refused.iter().map(|((target, transport), why)| Refused {
            target: target.clone(),
            transport: transport.clone(),
            why: why.clone(),
        });
        all.collect()
    }

    /// Who answers at the end of a way, with the key of the host that it is on.
    pub(super) fn identity(&self, way: &[Crossing]) -> Option<Identity> {
        let hops: Vec<Hop> = way.iter().flat_map(Crossing::hops).collect();
        let found = lock(&self.first).get(&hops).cloned()?;
        Some(Identity { host_key: self.host_key(&End { way, hops: &hops }), ..found })
    }

    /// Of the host that the last crossing leads to, where `ssh` has said it.
    fn host_key(&self, end: &End<'_>) -> Option<HostKey> {
        let before: usize = end.way.iter().rev().skip(1).map(|it| it.hops().count()).sum();
        let hops = end.hops.get(..=before)?;
        lock(&self.first).get(hops).and_then(|found| found.host_key.clone())
    }

    /// Which host keys a connection accepts.
    pub(super) fn keys(&self, end: &End<'_>) -> KeyPolicy {
        let trust = self.trust();
        if matches!(trust, Trust::Users) {
            return KeyPolicy::Users;
        }
        let known = lock(&self.first).get(end.hops).and_then(|found| found.host_key.clone());
        let contracted = || match &trust {
            Trust::Contract(held) if !held.is_forced => {
                held.record(&transport(end.way))?.host_key.clone()
            }
            _ => None,
        };
        known.or_else(contracted).map_or(KeyPolicy::Reported, KeyPolicy::Only)
    }

    /// Whether whoever answers may be sent anything.
    pub(super) fn recognize(&self, end: &End<'_>, found: Identity) -> Result<(), Trouble> {
        let target = label(end.way);
        match lock(&self.first).entry(end.hops.to_vec()) {
            Entry::Vacant(entry) => drop(entry.insert(found.clone())),
            Entry::Occupied(known) if *known.get() == found => {}
            Entry::Occupied(_) => {
                return Err(RemoteError::OtherMachine { target: &target }.into());
            }
        }
        // Whoever comes next is not held against a stranger.
        self.judge(end, found).inspect_err(|_| drop(lock(&self.first).remove(end.hops)))?;
        lock(&self.refused).remove(&(target, transport(end.way)));
        Ok(())
    }

    /// Whether the contract has whoever answers, where there is one.
    pub(super) fn judge(&self, end: &End<'_>, found: Identity) -> Result<(), Trouble> {
        let Trust::Contract(held) = self.trust() else { return Ok(()) };
        let found = Identity { host_key: self.host_key(end), ..found };
        let Err(words) = judge(&held, end, &found) else { return Ok(()) };
        let trouble = RemoteError::Changed { target: &label(end.way), words: &words }.into();
        self.refuse(end, Refusal::Changed(words));
        Err(trouble)
    }

    /// A connection that was not made.
    pub(super) fn failed(&self, end: &End<'_>, error: DialError) -> Trouble {
        let changed = match &error.cause {
            DialCause::Stopped => return error.trouble(&label(end.way)),
            DialCause::OtherKey { .. } => Some(error.to_string()),
            _ => None,
        };
        let is_refused_key = error.is_refused_key();
        if let Some(words) = changed {
            let (target, words) = (label(end.way), vec![words]);
            let trouble = RemoteError::Changed { target: &target, words: &words }.into();
            self.refuse(end, Refusal::Changed(words));
            return trouble;
        }
        let trouble = error.trouble(&label(end.way));
        let why = match is_refused_key {
            true => Refusal::Key(trouble.clone()),
            false => Refusal::Unreachable(trouble.clone()),
        };
        self.refuse(end, why);
        trouble
    }

    fn refuse(&self, end: &End<'_>, why: Refusal) {
        lock(&self.refused).insert((label(end.way), transport(end.way)), why);
    }
}

/// Whether the contract has whoever answers; in what it differs where it does not.
fn judge(held: &Contracted, end: &End<'_>, found: &Identity) -> Result<(), Vec<String>> {
    let way = transport(end.way);
    let Some(record) = held.record(&way) else {
        // A user or a container may be made by an earlier step. A machine is never added.
        return match end.hops.last() {
            Some(Hop::Ssh(_)) => Err(vec!["it is not among the targets of the contract".into()]),
            _ => Ok(()),
        };
    };
    if held.is_forced {
        return Ok(());
    }
    let all: usize = end.way.iter().map(|crossing| crossing.hops().count()).sum();
    let mut found = found.clone();
    // The record is of the user that steps run as, not of the one that opal logs in as.
    if end.hops.len() != all {
        found.user = record.user;
    }
    // Of a container that is made, only the image was known.
    if let Some(Hop::NewContainer(_)) = end.hops.last() {
        let (os, arch) = (record.os.clone(), record.arch.clone());
        found = Identity { user: record.user, os, arch, ..found };
    }
    let now = TargetRecord::new(&record.name, way, &found, held.algorithm, &held.key);
    let words = record.differences(&now, "in the contract", "now");
    if words.is_empty() { Ok(()) } else { Err(words) }
}
