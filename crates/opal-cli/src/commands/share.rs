//! A share of an order: `opal run --plan FILE --order ORDER --share N`, which a queue runner starts for each
//! share that it takes.
//!
//! | what | where |
//! |---|---|
//! | whether the order holds here, and has this share | `order` |
//! | talking to the queue runner over standard input and output | `io`, with its `lines` |
//! | what keeps its targets from two runners | this file |

mod io;
mod lines;
mod order;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opal_core::contract::Contract;
use opal_core::journal::{JournalKey, Opening};
use opal_exec::execute::Fencing;
use opal_ops::contract::ShareRun;
use opal_session::stop::Stop;
use opal_trust::contracts::ContractKeys;
use opal_trust::order::Order;
use opal_vault::Vault;
use opal_vault::ledger::ShareOf;
use opal_vault::targets::{FleetTable, TargetEnd};

pub(crate) use io::ShareIo;
use order::only_fleet;
pub(crate) use order::{Given, taken};

/// A share that may run.
#[derive(Debug)]
pub(crate) struct Share {
    order: Order,
    /// Of the order, as texts have it.
    id: String,
    number: u32,
    io: Option<Arc<ShareIo>>,
}

impl Share {
    /// Its targets, in the order of the plan.
    pub(crate) fn targets(&self) -> &[String] {
        self.order.share(self.number).map_or(&[], |share| &share.targets)
    }

    /// A pattern for `--limit` that leaves its targets.
    pub(crate) fn limit(&self) -> String {
        crate::limit::only(self.targets().iter().cloned())
    }

    /// Whether all shares of the order together are less than the targets of its contract.
    pub(crate) fn is_limited(&self, contract: &Contract) -> bool {
        let ordered: BTreeSet<&str> = self.order.targets().collect();
        let fleet = only_fleet(contract.plan());
        fleet.is_none_or(|fleet| !fleet.targets().all(|name| ordered.contains(name)))
    }

    /// What the ledger knows it by.
    pub(crate) fn of(&self) -> ShareOf<'_> {
        ShareOf { order: &self.id, number: self.number }
    }

    pub(crate) fn run(&self) -> ShareRun<'_> {
        ShareRun { of: self.of(), once: self.order.once }
    }

    /// Whom the queue runner hears; none where there is none.
    pub(crate) fn io(&self) -> Option<&Arc<ShareIo>> {
        self.io.as_ref()
    }

    /// What keeps its targets from two runners.
    pub(crate) fn fence(&self, keys: &ContractKeys) -> Fence<'_> {
        let key = |name: &String| (name.clone(), keys.journal_key(&self.id, name));
        Fence { share: self, keys: self.targets().iter().map(key).collect() }
    }

    /// Does something once the share has ended: where a queue runner has started it, once the queue has the
    /// result. Until then another runner may have to come to the same end.
    pub(crate) fn at_end(&self, work: impl FnOnce() + Send + 'static) {
        match &self.io {
            Some(io) => io.at_end(Box::new(work)),
            None => work(),
        }
    }

    /// How its targets ended.
    pub(crate) fn ended(&self, fleets: &[FleetTable], vault: &Vault) {
        self.io.iter().for_each(|io| io.keep(&opal_vault::record::target_rows(fleets, vault)));
    }
}

/// The targets of a share, with the keys of their journals.
pub(crate) struct Fence<'s> {
    share: &'s Share,
    keys: BTreeMap<String, JournalKey>,
}

impl fmt::Debug for Fence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").field("share", self.share).finish_non_exhaustive()
    }
}

impl Fencing for Fence<'_> {
    fn start(&self, target: &str, stop: &Stop) -> Result<(), String> {
        if !self.keys.contains_key(target) {
            return Err("the target is not in this share of the order".to_owned());
        }
        self.share.io.as_ref().map_or(Ok(()), |io| io.may_start(target, stop))
    }

    fn counts_failures(&self) -> bool {
        self.share.io.is_some()
    }

    fn opening(&self, target: &str) -> Opening {
        // One that is not in the share does not start.
        let key = self.keys.get(target).cloned().unwrap_or_else(|| JournalKey::new([0; 32]));
        Opening {
            order: self.share.id.clone(),
            end: self.share.order.end,
            now: crate::clock::unix_time(),
            target: target.to_owned(),
            key,
            claim: self.share.io.as_ref().map_or(0, |io| io.claim(target)),
            patience: Duration::ZERO,
        }
    }

    fn noted(&self, target: &str, number: u64) {
        self.share.io.iter().for_each(|io| io.noted(target, number));
    }

    fn ended(&self, target: &str, end: TargetEnd) {
        self.share.io.iter().for_each(|io| io.ended(target, end));
    }
}
