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
    /// Targets that were allowed to start.
    started: BTreeSet<String>,
    /// The last attempt of each share.
    attempts: BTreeMap<u32, u64>,
    /// Who has declined a share; under none, who has declined all of them.
    declined: BTreeMap<Option<u32>, BTreeSet<PublicKey>>,
    is_declined: bool,
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
    /// Another runner has had the share since: how it ended counts for nothing.
    Late,
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
            started: BTreeSet::new(),
            attempts: BTreeMap::new(),
            declined: BTreeMap::new(),
            is_declined: false,
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
        let last = self.attempts.entry(said.share).or_default();
        *last = said.attempt.max(*last);
        let is_late = said.attempt != 0 && said.attempt < *last;
        for line in &said.lines {
            if is_late && (line.get("result").is_some() || line.get("refused").is_some()) {
                notices.push(Notice::Late);
                continue;
            }
            notices.extend(self.line(said.share, said.by, line).map(Notice::OutOfOrder));
        }
        notices
    }

    fn line(&mut self, share: u32, by: PublicKey, line: &Value) -> Option<&'static str> {
        if let Some(result) = line.get("result") {
            self.works(by, share);
            for row in result["targets"].as_array().into_iter().flatten() {
                self.row(share, row);
            }
            self.ended.entry(share).or_insert(None);
        } else if let Some(refused) = line.get("refused") {
            self.refuse(share, refused);
        } else if let Some(declined) = line.get("declined") {
            self.decline(share, by, declined);
        } else if line.get("start").is_some() {
            self.works(by, share);
            return self.start(share, line);
        } else if let Some(ended) = line.get("ended") {
            self.end(share, ended, line["version"].as_u64());
        }
        None
    }

    fn refuse(&mut self, share: u32, refused: &Value) {
        let code = refused["code"].as_u64().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
        for name in self.names(share) {
            // What it did before is known.
            if self.rows.contains_key(&name) {
                continue;
            }
            let row = json!({"target": name, "status": "skipped", "message": refused["message"]});
            self.row(share, &row);
        }
        self.ended.insert(share, Some(code));
    }

    /// A runner works on a share of the order, so it does not decline it any more.
    fn works(&mut self, by: PublicKey, share: u32) {
        for which in [None, Some(share)] {
            if let Some(all) = self.declined.get_mut(&which) {
                all.remove(&by);
            }
        }
    }

    /// A runner cannot run a share, or any. Where none can, the shares that nobody has begun are refused.
    fn decline(&mut self, share: u32, by: PublicKey, declined: &Value) {
        let which = (declined["all"] != true).then_some(share);
        self.declined.entry(which).or_default().insert(by);
        let has_declined = |share: u32, key: &PublicKey| {
            [None, Some(share)]
                .iter()
                .any(|it| self.declined.get(it).is_some_and(|all| all.contains(key)))
        };
        let waiting = (1..).zip(&self.order.shares).filter(|(number, it)| {
            !self.ended.contains_key(number)
                && !it.targets.iter().any(|name| self.started.contains(name))
        });
        let refused = waiting.map(|(number, _)| number).filter(|number| {
            self.order.runners.iter().all(|runner| has_declined(*number, &runner.key))
        });
        for number in refused.collect::<Vec<u32>>() {
            self.is_declined = true;
            self.refuse(number, declined);
        }
    }

    /// Whether a share has ended because all runners have declined it: it is still in the queue.
    pub(crate) fn is_declined(&self) -> bool {
        self.is_declined
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
    fn start(&mut self, share: u32, line: &Value) -> Option<&'static str> {
        let version = line["version"].as_u64()?;
        let names = line["start"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let known = self.names(share);
        let names: Vec<String> = names.map(str::to_owned).filter(|it| known.contains(it)).collect();
        let is_new = names.iter().any(|it| !self.started.contains(it));
        self.started.extend(names);
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
            // What was begun before comes to its end.
            Some(limit) if is_new && version > limit => {
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
            if is_refused || self.failures(batch) > self.tolerate {
                return true;
            }
        }
        true
    }

    /// How many targets have failed until the end of a batch. Those of the next one do not end it early.
    fn failures(&self, batch: u32) -> usize {
        let shares = self.order.shares.iter().filter(|it| it.batch <= batch);
        shares.flat_map(|it| &it.targets).filter(|it| self.failed.contains(*it)).count()
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
        let is_over = self.failed.len() > self.tolerate;
        let mut rows = self.order.targets().filter_map(|it| self.rows.get(it));
        let Some(first) = rows.find(|it| is_failure(it["status"].as_str())).filter(|_| is_over)
        else {
            let whole = self.order.targets().all(|it| self.rows.contains_key(it));
            return u8::from(!whole || is_over);
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
        let (failed, all) = (self.failed.len(), self.order.targets().count());
        (failed > self.tolerate).then(|| {
            format!("error: {failed} of {all} targets failed (tolerate={})", self.tolerate)
        })
    }

    /// How far it is: targets that have ended, and all.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.order.targets().count())
    }
}

#[cfg(test)]
pub(crate) mod tests;
