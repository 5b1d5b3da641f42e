//! What has become of an order, from the signed events of its runners, and whether all is in order.
//!
//! The queue is not trusted: a start that the counter cannot have allowed ends the order.

mod known;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use opal_trust::keys::PublicKey;
use opal_trust::order::Order;
use serde_json::{Value, json};

use crate::pool::unix_time;
use crate::report::Said;
use crate::runner::{PAST_END, is_failure};
use crate::time::seconds;
use known::Known;

/// `EX_UNAVAILABLE`: a target cannot be reached, or was lost.
const UNAVAILABLE: u8 = 69;

/// How far the clocks of runners may be from the server's, in seconds.
const SKEW: u64 = 60;

/// What is known of an order.
pub(crate) struct Follow {
    pub(crate) order: Order,
    tolerate: usize,
    rows: BTreeMap<String, Value>,
    /// How shares have ended: the code of one that was refused.
    ended: BTreeMap<u32, Option<u8>>,
    /// The exit codes of shares in which no target has failed.
    exits: BTreeMap<u32, u8>,
    /// The next number of each attempt of each runner.
    numbers: BTreeMap<(u32, u64, PublicKey), u64>,
    /// The changes of the counter that events name.
    versions: BTreeSet<u64>,
    failed: BTreeSet<String>,
    /// The change with which more had failed than are tolerated.
    exceeded: Option<u64>,
    /// Targets that were allowed to start.
    started: BTreeSet<String>,
    /// Shares that a runner has.
    taken: BTreeSet<u32>,
    /// What is known of targets without a row.
    known: Known,
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
            exits: BTreeMap::new(),
            numbers: BTreeMap::new(),
            versions: BTreeSet::new(),
            failed: BTreeSet::new(),
            exceeded: None,
            started: BTreeSet::new(),
            taken: BTreeSet::new(),
            known: Known::default(),
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
            self.know(said, line, is_late);
            notices.extend(self.line(said.share, said.by, line).map(Notice::OutOfOrder));
        }
        notices
    }

    /// Keeps what a line says about targets before their rows come.
    fn know(&mut self, said: &Said, line: &Value, is_late: bool) {
        let targets = self.order.share(said.share).map(|it| it.targets.as_slice());
        let targets = targets.unwrap_or_default();
        let is_own = |name: &&str| targets.iter().any(|it| it == name);
        let started = line["start"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in started.filter(is_own) {
            self.known.begin(name, said.attempt);
        }
        let ended = &line["ended"];
        if let (Some(name), Some(status)) = (ended["target"].as_str(), ended["status"].as_str())
            && is_own(&name)
        {
            self.known.end(name, said.attempt, status, is_late);
        }
    }

    fn line(&mut self, share: u32, by: PublicKey, line: &Value) -> Option<&'static str> {
        if let Some(result) = line.get("result") {
            self.works(by, share);
            let rows = || result["targets"].as_array().into_iter().flatten();
            rows().for_each(|row| self.row(share, row));
            if !rows().any(|row| is_failure(row["status"].as_str())) {
                let exit = result["exit"].as_u64().and_then(|it| u8::try_from(it).ok());
                self.exits.insert(share, exit.unwrap_or(1));
            }
            self.ended.entry(share).or_insert(None);
        } else if let Some(refused) = line.get("refused") {
            self.refuse(share, refused);
        } else if let Some(declined) = line.get("declined") {
            self.decline(share, by, declined);
        } else if line.get("start").is_some() {
            self.works(by, share);
            return self.start(share, line);
        } else if line.get("taken").is_some() {
            self.taken.insert(share);
        } else if line.get("released").is_some() {
            self.taken.remove(&share);
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
            let skipped =
                json!({"target": name, "status": "skipped", "message": refused["message"]});
            self.row(share, &skipped);
        }
        // A message that came again after the end of the order changes nothing.
        let has_result = matches!(self.ended.get(&share), Some(None));
        if !(has_result && code == PAST_END) {
            self.ended.insert(share, Some(code));
        }
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
            // An earlier runner may have begun what the last one has not.
            let is_skipped = row["status"] == "skipped";
            let known = self.known.row(&name).filter(|_| is_skipped);
            let row = known.unwrap_or_else(|| row.clone());
            if is_failure(row["status"].as_str()) {
                self.failed.insert(name.clone());
            }
            self.rows.insert(name, row);
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
        let row = |name: &str| {
            let known = self.rows.get(name).cloned().or_else(|| self.known.row(name));
            known.unwrap_or_else(|| json!({"target": name, "status": "skipped"}))
        };
        self.order.targets().map(row).collect()
    }

    /// The exit code, as a run of the whole fleet has it.
    pub(crate) fn code(&self) -> u8 {
        if let Some(code) = self.ended.values().copied().flatten().next() {
            return code;
        }
        let is_over = self.count_failed() > self.tolerate;
        let rows = self.rows();
        let mut failed = rows.iter().filter(|it| is_failure(it["status"].as_str()));
        let Some(first) = failed.next().filter(|_| is_over) else {
            // A share may have failed as a whole: its record could not be written, or it was stopped.
            let exit = self.exits.values().copied().find(|exit| *exit != 0);
            let whole = self.order.targets().all(|it| self.rows.contains_key(it));
            return exit.unwrap_or(u8::from(!whole || is_over));
        };
        match first["status"].as_str() {
            Some("failed") => {
                first["code"].as_i64().and_then(|it| u8::try_from(it).ok()).unwrap_or(1)
            }
            _ => UNAVAILABLE,
        }
    }

    /// Targets that have failed, on whichever runner.
    fn count_failed(&self) -> usize {
        let mut all = self.failed.clone();
        let rows = self.rows();
        let failed = rows.iter().filter(|it| is_failure(it["status"].as_str()));
        all.extend(failed.filter_map(|it| it["target"].as_str()).map(str::to_owned));
        all.len()
    }

    /// The last line of a run in which targets have failed.
    pub(crate) fn failure(&self) -> Option<String> {
        let (failed, all) = (self.count_failed(), self.order.targets().count());
        (failed > self.tolerate).then(|| {
            format!("error: {failed} of {all} targets failed (tolerate={})", self.tolerate)
        })
    }

    /// How long it takes until all runners know that the order has ended: their clocks may differ.
    pub(crate) fn left(&self) -> Duration {
        let left = self.order.end.saturating_sub(unix_time());
        let (ahead, past) = (left.max(0), left.min(0).unsigned_abs());
        let ahead = Duration::from_secs(ahead.unsigned_abs());
        (ahead + seconds(SKEW)).saturating_sub(Duration::from_secs(past))
    }

    /// Whether a runner has a share, and has not said how it ended.
    pub(crate) fn is_at_work(&self) -> bool {
        self.taken.iter().any(|share| !self.ended.contains_key(share))
    }

    /// How far it is: targets that have ended, and all.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.rows.len(), self.order.targets().count())
    }
}

#[cfg(test)]
pub(crate) mod tests;
