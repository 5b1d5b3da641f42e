//! What has become of an order, from the signed events of its runners, and whether all is in order.
//!
//! The queue is not trusted: a start that the counter cannot have allowed ends the order.

use std::collections::{BTreeMap, BTreeSet};

use opal_trust::keys::PublicKey;
use opal_trust::order::Order;
use serde_json::{Value, json};

use crate::report::Said;
use crate::runner::is_failure;

/// `EX_UNAVAILABLE`: a target cannot be reached, or was lost.
const UNAVAILABLE: u8 = 69;

/// What is known of an order.
pub(crate) struct Follow {
    pub(crate) order: Order,
    tolerate: usize,
    rows: BTreeMap<String, Value>,
    /// How shares have ended: the code of one that was refused.
    ended: BTreeMap<u32, Option<u8>>,
    /// The next number of each attempt of each runner.
    numbers: BTreeMap<(u32, u64, PublicKey), u64>,
    /// The changes of the counter that events name.
    versions: BTreeSet<u64>,
    failed: BTreeSet<String>,
    /// The change with which more had failed than are tolerated.
    exceeded: Option<u64>,
}

/// What is to be said about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Somebody else than a runner of the order has signed it.
    Stranger(PublicKey),
    /// Messages are missing before it: the number of the first, and of this one.
    Missing(u64, u64),
    /// It came before.
    Repeated,
    /// A start that is out of order: why.
    OutOfOrder(&'static str),
}

impl Follow {
    pub(crate) fn new(order: Order, tolerate: usize) -> Self {
        Self {
            order,
            tolerate,
            rows: BTreeMap::new(),
            ended: BTreeMap::new(),
            numbers: BTreeMap::new(),
            versions: BTreeSet::new(),
            failed: BTreeSet::new(),
            exceeded: None,
        }
    }

    /// Takes a message. One with a notice [`Notice::Stranger`] or [`Notice::Repeated`] counts for nothing.
    pub(crate) fn take(&mut self, said: &Said) -> Vec<Notice> {
        if !self.order.has_runner(&said.by) {
            return vec![Notice::Stranger(said.by)];
        }
        let next = self.numbers.entry((said.share, said.attempt, said.by)).or_insert(1);
        let mut notices = Vec::new();
        match said.number {
            // Refusals before a claim have no attempt, and each is the first message.
            _ if said.attempt == 0 => {}
            number if number < *next => return vec![Notice::Repeated],
            number if number > *next => notices.push(Notice::Missing(*next, number)),
            _ => {}
        }
        *next = said.number + 1;
        for line in &said.lines {
            notices.extend(self.line(said.share, line).map(Notice::OutOfOrder));
        }
        notices
    }

    fn line(&mut self, share: u32, line: &Value) -> Option<&'static str> {
        if let Some(result) = line.get("result") {
            for row in result["targets"].as_array().into_iter().flatten() {
                self.row(share, row);
            }
            self.ended.entry(share).or_insert(None);
        } else if let Some(refused) = line.get("refused") {
            let code = refused["code"].as_u64().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
            for name in self.names(share) {
                // What it did before is known.
                if self.rows.contains_key(&name) {
                    continue;
                }
                let row =
                    json!({"target": name, "status": "skipped", "message": refused["message"]});
                self.row(share, &row);
            }
            self.ended.insert(share, Some(code));
        } else if line.get("start").is_some() {
            return self.start(share, line["version"].as_u64()?);
        } else if let Some(ended) = line.get("ended") {
            self.end(share, ended, line["version"].as_u64());
        }
        None
    }

    fn names(&self, share: u32) -> Vec<String> {
        self.order.share(share).map(|it| it.targets.clone()).unwrap_or_default()
    }

    fn row(&mut self, share: u32, row: &Value) {
        let name = row["target"].as_str().unwrap_or_default().to_owned();
        if self.names(share).contains(&name) {
            if is_failure(row["status"].as_str()) {
                self.failed.insert(name.clone());
            }
            self.rows.insert(name, row.clone());
        }
    }

    /// Whether a start is one that the counter cannot have allowed.
    fn start(&mut self, share: u32, version: u64) -> Option<&'static str> {
        let batch = self.order.share(share).map_or(u32::MAX, |it| it.batch);
        let has_ended = |it: u32| self.ended.get(&it).is_some_and(Option::is_none);
        if !(1..batch).all(|earlier| self.order.batch(earlier).all(has_ended)) {
            return Some("a target has started before the batch before its own ended");
        }
        // A share of an earlier batch changes nothing, so its starts have no change of their own.
        let is_current = !self.order.batch(batch).all(has_ended);
        if is_current && !self.versions.insert(version) {
            return Some("two starts have the same number: the counter was reset");
        }
        match self.exceeded {
            Some(limit) if version > limit => {
                Some("a target has started after more had failed than are tolerated")
            }
            _ => None,
        }
    }

    fn end(&mut self, share: u32, ended: &Value, version: Option<u64>) {
        let name = ended["target"].as_str().unwrap_or_default();
        if !self.names(share).iter().any(|it| it == name) || !is_failure(ended["status"].as_str()) {
            return;
        }
        self.failed.insert(name.to_owned());
        if let Some(version) = version
            && self.versions.insert(version)
            && self.failed.len() > self.tolerate
            && self.exceeded.is_none()
        {
            self.exceeded = Some(version);
        }
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        let has_ended = |it: u32| self.ended.contains_key(&it);
        for batch in 1..=self.order.batches() {
            if !self.order.batch(batch).all(has_ended) {
                return false;
            }
            let is_refused =
                self.order.batch(batch).any(|it| self.ended.get(&it).is_some_and(Option::is_some));
            if is_refused || self.failed.len() > self.tolerate {
                return true;
            }
        }
        true
    }

    /// A row for each target, in the order of the plan.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let row = |name: &str| match self.rows.get(name) {
            Some(row) => row.clone(),
            None => json!({"target": name, "status": "skipped"}),
        };
        self.order.targets().map(row).collect()
    }

    /// The exit code, as a run of the whole fleet has it.
    pub(crate) fn code(&self) -> u8 {
        if let Some(code) = self.ended.values().copied().flatten().next() {
            return code;
        }
        let failures = || {
            self.order
                .targets()
                .filter_map(|it| self.rows.get(it))
                .filter(|it| is_failure(it["status"].as_str()))
        };
        let Some(first) = failures().next().filter(|_| failures().count() > self.tolerate) else {
            let whole = self.order.targets().all(|it| self.rows.contains_key(it));
            return u8::from(!whole);
        };
        match first["status"].as_str() {
            Some("failed") => {
                first["code"].as_i64().and_then(|it| u8::try_from(it).ok()).unwrap_or(1)
            }
            _ => UNAVAILABLE,
        }
    }

    /// The last line of a run in which targets have failed.
    pub(crate) fn failure(&self) -> Option<String> {
        let rows = self.rows();
        let failed = rows.iter().filter(|it| is_failure(it["status"].as_str())).count();
        (failed > self.tolerate).then(|| {
            format!("error: {failed} of {} targets failed (tolerate={})", rows.len(), self.tolerate)
        })
    }

    /// How far it is: targets that have ended, and all.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.order.targets().count())
    }
}

#[cfg(test)]
mod tests;
