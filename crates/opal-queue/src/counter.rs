//! How far all runners of an order are: the batch, and which of its targets have started and failed. One value
//! in the bucket of claims, changed by compare-and-set and signed by whoever changed it.
//!
//! Each target has a bit of its own, so a runner that takes a share over counts nothing twice and forgets
//! nothing. The number of the counter grows with each change. Whoever sees a smaller one than before knows that
//! it was reset.

use std::cell::Cell;
use std::collections::BTreeMap;

use opal_trust::keys::SigningKey;
use opal_trust::messages::{Kind, Message};
use opal_trust::order::{MAX_SHARE, Order};
use serde_json::{Value, json};

use crate::patience::PAUSE;
use crate::pool::Pool;
use crate::trouble::Trouble;

/// How often a change is tried where others are quicker.
const TRIES: u32 = 200;

/// What is in the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counter {
    /// The number of the last change.
    version: u64,
    /// The batch whose targets may start, from 1.
    batch: u32,
    /// Failed targets of the batches before it.
    failed: u64,
    /// The shares of this batch that somebody has begun.
    shares: BTreeMap<u32, Progress>,
}

/// A bit for each target, in the order of the share.
pub(crate) type Bits = u64;

// Every target of a share has a bit.
const _: () = assert!(MAX_SHARE < Bits::BITS as usize);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    started: Bits,
    failed: Bits,
    is_done: bool,
}

/// Targets that may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) targets: Bits,
    /// The number of the change.
    pub(crate) version: u64,
}

/// Why no target may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// More targets have failed than are tolerated.
    Failures,
    /// An earlier batch has not ended.
    TooEarly,
    /// The counter is older than before, or nobody of the pool has signed it.
    Reset,
    /// The server does not answer.
    Away,
}

impl Halt {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Failures => "more targets have failed than are tolerated",
            Self::TooEarly => "an earlier batch has not ended",
            Self::Reset => "the counter of the queue was reset or changed",
            Self::Away => "the queue does not answer",
        }
    }
}

/// The counter of an order, as one runner uses it.
pub(crate) struct Tally {
    pool: Pool,
    key: SigningKey,
    order: Order,
    tolerate: u64,
    /// The largest number seen.
    seen: Cell<u64>,
    /// One change at a time: others of this runner would only be slower.
    turn: tokio::sync::Mutex<()>,
}

impl Counter {
    fn failed(&self) -> u64 {
        self.failed + self.shares.values().map(|it| u64::from(it.failed.count_ones())).sum::<u64>()
    }

    /// Whether it can be the counter of an order.
    fn fits(&self, order: &Order) -> bool {
        let fits = |(number, it): (&u32, &Progress)| {
            let share = order.share(*number).filter(|share| share.batch == self.batch);
            share.is_some_and(|share| (it.started | it.failed) >> share.targets.len() == 0)
        };
        self.version > 0
            && (1..=order.batches()).contains(&self.batch)
            && self.shares.iter().all(fits)
    }

    /// Notes that targets of a share of a batch start. Answers which of them may.
    fn start(
        &mut self,
        batch: u32,
        share: u32,
        targets: Bits,
        tolerate: u64,
    ) -> Result<Bits, Halt> {
        // A share of a batch that has ended, sent again: its targets say what they have done.
        if batch < self.batch {
            return Ok(targets);
        }
        if batch > self.batch {
            return Err(Halt::TooEarly);
        }
        let is_over = self.failed() > tolerate;
        let progress = self.shares.entry(share).or_default();
        // What another runner has started comes to its end, whatever failed meanwhile.
        let allowed = if is_over { targets & progress.started } else { targets };
        if allowed == 0 {
            return Err(Halt::Failures);
        }
        progress.started |= allowed;
        Ok(allowed)
    }

    /// Notes that targets of a share of a batch have failed; none where the batch has ended, so that nothing
    /// changes.
    fn fail(&mut self, batch: u32, share: u32, failed: Bits) -> Option<()> {
        if batch != self.batch {
            return None;
        }
        self.shares.entry(share).or_default().failed |= failed;
        Some(())
    }

    fn write(&self) -> Value {
        let shares = self.shares.iter();
        let shares: Vec<Value> =
            shares.map(|(number, it)| json!([number, it.started, it.failed, it.is_done])).collect();
        json!({"batch": self.batch, "failed": self.failed, "shares": shares})
    }

    fn read(version: u64, content: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(content).ok()?;
        let mut shares = BTreeMap::new();
        for share in value["shares"].as_array()? {
            let number = u32::try_from(share[0].as_u64()?).ok()?;
            let progress = Progress {
                started: share[1].as_u64()?,
                failed: share[2].as_u64()?,
                is_done: share[3].as_bool()?,
            };
            shares.insert(number, progress);
        }
        let batch = u32::try_from(value["batch"].as_u64()?).ok()?;
        Some(Self { version, batch, failed: value["failed"].as_u64()?, shares })
    }
}

impl Tally {
    pub(crate) fn new(pool: Pool, key: SigningKey, order: Order, tolerate: usize) -> Self {
        let tolerate = tolerate as u64;
        Self { pool, key, order, tolerate, seen: Cell::new(0), turn: tokio::sync::Mutex::new(()) }
    }

    fn name(&self) -> String {
        format!("{}.count", self.order.id)
    }

    /// The counter and its revision.
    async fn load(&self) -> Result<(Counter, u64), Halt> {
        let entry = self.pool.claims.entry(self.name()).await.map_err(|_| Halt::Away)?;
        let (counter, revision) = match entry {
            None => (Counter { batch: 1, ..Counter::default() }, 0),
            Some(entry) => {
                let opened = Message::open(&entry.value, Kind::Claim);
                let opened = opened.filter(|(message, by)| {
                    message.order == self.order.id
                        && message.share == 0
                        && self.order.has_runner(by)
                });
                let (message, _) = opened.ok_or(Halt::Reset)?;
                let counter = Counter::read(message.number, &message.content);
                let counter = counter.filter(|it| it.fits(&self.order));
                (counter.ok_or(Halt::Reset)?, entry.revision)
            }
        };
        if counter.version < self.seen.get() {
            return Err(Halt::Reset);
        }
        self.seen.set(counter.version);
        Ok((counter, revision))
    }

    async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Counter) -> Result<Option<T>, Halt>,
    ) -> Result<(Option<T>, u64), Halt> {
        let _turn = self.turn.lock().await;
        for attempt in 0..TRIES {
            let (mut counter, revision) = self.load().await?;
            let Some(changed) = change(&mut counter)? else { return Ok((None, counter.version)) };
            counter.version += 1;
            let message = Message {
                kind: Kind::Claim,
                order: self.order.id,
                share: 0,
                attempt: 0,
                number: counter.version,
                content: counter.write().to_string().into_bytes(),
            };
            let bytes = message.sign(&self.key);
            // 0: there must be none yet.
            if self.pool.claims.update(self.name(), bytes.into(), revision).await.is_ok() {
                self.seen.set(counter.version);
                return Ok((Some(changed), counter.version));
            }
            // Somebody was quicker, or the server is away: both look again.
            tokio::time::sleep(std::time::Duration::from_millis(attempt.min(20).into())).await;
        }
        Err(Halt::Away)
    }

    /// Somebody has begun a share: there is a counter, unless it was reset.
    pub(crate) fn has_begun(&self) {
        self.seen.set(self.seen.get().max(1));
    }

    /// Which targets of a share may start.
    pub(crate) async fn start(&self, share: u32, targets: Bits) -> Result<Started, Halt> {
        let batch = self.batch(share);
        let change =
            |counter: &mut Counter| counter.start(batch, share, targets, self.tolerate).map(Some);
        let (allowed, version) = self.change(change).await?;
        Ok(Started { targets: allowed.unwrap_or_default(), version })
    }

    /// Whether it is the turn of a share, without a change.
    pub(crate) async fn is_turn(&self, share: u32) -> Result<(), Halt> {
        let (counter, _) = self.load().await?;
        match counter.batch < self.batch(share) {
            true => Err(Halt::TooEarly),
            false => Ok(()),
        }
    }

    /// These targets of a share have failed. Answers the number of the change: where nothing has changed there
    /// is none, because the last one is somebody else's.
    pub(crate) async fn fail(&self, share: u32, failed: Bits) -> Result<Option<u64>, Halt> {
        let batch = self.batch(share);
        let change = |counter: &mut Counter| Ok(counter.fail(batch, share, failed));
        self.change(change).await.map(|(changed, version)| changed.map(|()| version))
    }

    /// A share has ended. Answers the batch that may begin now, if any.
    pub(crate) async fn done(&self, share: u32) -> Result<Option<u32>, Halt> {
        let batch = self.batch(share);
        let (last, all): (u32, Vec<u32>) =
            (self.order.batches(), self.order.batch(batch).collect());
        let change = |counter: &mut Counter| {
            // It was noted before, and its next batch may not have been sent.
            if batch < counter.batch {
                return Ok(None);
            }
            counter.shares.entry(share).or_default().is_done = true;
            let is_done = |it: &u32| counter.shares.get(it).is_some_and(|it| it.is_done);
            if all.iter().all(is_done) && counter.failed() <= self.tolerate && batch < last {
                counter.failed = counter.failed();
                counter.batch += 1;
                counter.shares.clear();
            }
            Ok(Some(counter.batch))
        };
        let (changed, _) = self.change(change).await?;
        let now = match changed {
            Some(now) => now,
            None => self.load().await?.0.batch,
        };
        Ok((now == batch + 1).then_some(now))
    }

    fn batch(&self, share: u32) -> u32 {
        self.order.share(share).map_or(u32::MAX, |it| it.batch)
    }

    /// Whether who sent the order has stopped it, and why.
    pub(crate) async fn stopped(
        &self,
        signer: &opal_trust::keys::PublicKey,
    ) -> Result<Option<String>, Trouble> {
        let entry = self.pool.claims.entry(stop_name(&self.order)).await;
        let entry = entry.map_err(|it| Trouble::server("asking for a stop", it))?;
        let Some(entry) = entry else { return Ok(None) };
        let message = Message::open(&entry.value, Kind::Stop);
        let mine = message.filter(|(it, by)| it.order == self.order.id && by == signer);
        // Somebody may have written over a stop.
        let why = mine
            .map_or("the stop in the queue is damaged, or of somebody else".into(), |it| {
                String::from_utf8_lossy(&it.0.content).into_owned()
            });
        Ok(Some(why))
    }
}

/// Asks again while the server is away. Whoever waits decides for how long.
pub(crate) async fn answered<T>(mut ask: impl AsyncFnMut() -> Result<T, Halt>) -> Result<T, Halt> {
    loop {
        match ask().await {
            Err(Halt::Away) => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

/// Where a stop of an order is.
pub(crate) fn stop_name(order: &Order) -> String {
    format!("{}.stop", order.id)
}

#[cfg(test)]
mod tests;
