//! Who works on a share: a value in the bucket of claims, changed by compare-and-set.
//!
//! A runner renews its claim every few seconds. One that could not for 20 s stops its work. Another takes the
//! share over after the claim has stayed the same for longer than that, by its own clock. Both clocks go on while
//! a machine sleeps.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use opal_trust::keys::SigningKey;
use opal_trust::messages::{Kind, Message};
use opal_trust::order::Order;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::pool::Pool;
use crate::time::{Moment, seconds};

/// How often a claim is renewed, in seconds.
pub(crate) const RENEWAL: u64 = 5;

/// How long a claim holds without a renewal.
const LEASE: u64 = 20;

/// How long a claim must stay the same before another runner takes it.
const SILENCE: u64 = 25;

/// What a share is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Held,
    /// Its runner has given it back.
    Free,
    Done,
}

impl State {
    const ALL: [Self; 3] = [Self::Held, Self::Free, Self::Done];

    const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Free => "free",
            Self::Done => "done",
        }
    }
}

/// What came of asking for a share.
pub(crate) enum Asked {
    Mine(Rc<Claim>),
    /// Somebody has ended it.
    Done,
    /// Somebody else works on it.
    Busy,
    /// What is there cannot be the claim of a runner: why.
    Foreign(&'static str),
    /// The server does not answer.
    Away,
}

/// A share that this runner works on.
pub(crate) struct Claim {
    pool: Pool,
    key: SigningKey,
    order: opal_trust::order::OrderId,
    share: u32,
    pub(crate) attempt: u64,
    revision: Cell<u64>,
    beat: Cell<u64>,
    renewed: Cell<Moment>,
    is_lost: Cell<bool>,
    /// Its last word is on the way.
    is_ending: Cell<bool>,
    /// The last entry in the journal of each target, in the order of the share.
    pub(crate) journal: RefCell<Vec<u64>>,
    /// A journal has its first entry, which the claim has to say soon: who takes the share over notices only by
    /// it that the journal is gone.
    pub(crate) is_begun: Notify,
    turn: tokio::sync::Mutex<()>,
}

struct Found {
    state: State,
    attempt: u64,
    revision: u64,
    journal: Vec<u64>,
}

fn name(order: &Order, share: u32) -> String {
    format!("{}.{share}", order.id)
}

/// Takes a share, or says why not. It waits where its last runner may be dead.
pub(crate) async fn take(pool: &Pool, key: &SigningKey, order: &Order, share: u32) -> Asked {
    let targets = order.share(share).map_or(0, |it| it.targets.len());
    let mut waited: Option<(u64, Moment)> = None;
    loop {
        let found = match look(pool, order, share, targets).await {
            Ok(found) => found,
            Err(asked) => return asked,
        };
        let (revision, attempt, journal) = match found {
            None => (0, 1, vec![0; targets]),
            Some(Found { state: State::Done, .. }) => return Asked::Done,
            Some(Found { state: State::Free, revision, attempt, journal }) => {
                (revision, attempt + 1, journal)
            }
            Some(Found { state: State::Held, revision, attempt, journal }) => match waited {
                Some((before, since))
                    if before == revision && since.elapsed() >= seconds(SILENCE) =>
                {
                    (revision, attempt + 1, journal)
                }
                Some((before, _)) if before != revision => return Asked::Busy,
                _ => {
                    waited.get_or_insert((revision, Moment::now()));
                    tokio::time::sleep(seconds(1)).await;
                    continue;
                }
            },
        };
        let claim = Claim {
            pool: pool.clone(),
            key: key.clone(),
            order: order.id,
            share,
            attempt,
            revision: Cell::new(revision),
            beat: Cell::new(0),
            renewed: Cell::new(Moment::now()),
            is_lost: Cell::new(false),
            is_ending: Cell::new(false),
            journal: RefCell::new(journal),
            is_begun: Notify::new(),
            turn: tokio::sync::Mutex::new(()),
        };
        return match claim.write(State::Held).await {
            true => Asked::Mine(Rc::new(claim)),
            false => Asked::Busy,
        };
    }
}

/// Whether somebody has ended a share.
pub(crate) async fn is_done(pool: &Pool, order: &Order, share: u32) -> bool {
    let targets = order.share(share).map_or(0, |it| it.targets.len());
    let found = look(pool, order, share, targets).await;
    matches!(found, Ok(Some(Found { state: State::Done, .. })))
}

async fn look(
    pool: &Pool,
    order: &Order,
    share: u32,
    targets: usize,
) -> Result<Option<Found>, Asked> {
    let entry = pool.claims.entry(name(order, share)).await.map_err(|_| Asked::Away)?;
    let Some(entry) = entry else { return Ok(None) };
    let foreign = |why| Err(Asked::Foreign(why));
    let Some((message, by)) = Message::open(&entry.value, Kind::Claim) else {
        return foreign("the claim in the queue is damaged, or nobody has signed it");
    };
    if !order.has_runner(&by) {
        return foreign("the claim in the queue is not signed by a runner of the pool");
    }
    if message.order != order.id || message.share != share {
        return foreign("the claim in the queue is of another order or share");
    }
    let value: Value = serde_json::from_slice(&message.content).unwrap_or_default();
    let state = State::ALL.into_iter().find(|it| Some(it.name()) == value["state"].as_str());
    let journal: Option<Vec<u64>> =
        value["journal"].as_array().and_then(|all| all.iter().map(Value::as_u64).collect());
    match (state, journal) {
        (Some(state), Some(journal)) if journal.len() == targets => {
            Ok(Some(Found { state, attempt: message.attempt, revision: entry.revision, journal }))
        }
        _ => foreign("the claim in the queue does not say what it should"),
    }
}

impl Claim {
    /// Whether this runner may work on the share now. Once it may not, it never may again.
    pub(crate) fn holds(&self) -> bool {
        if self.renewed.get().elapsed() >= seconds(LEASE) {
            self.is_lost.set(true);
        }
        !self.is_lost.get()
    }

    /// Until when it holds, in milliseconds of the clock of this machine.
    pub(crate) fn until(&self) -> u64 {
        self.renewed.get().after(seconds(LEASE))
    }

    /// Waits for something as long as the claim holds; none where it does not any more.
    pub(crate) async fn or_lost<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = async {
                while self.holds() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            } => None,
        }
    }

    /// Says that somebody still works on it. Whether the server has heard it.
    pub(crate) async fn renew(&self) -> bool {
        self.is_ending.get() || self.write(State::Held).await
    }

    /// Whether somebody has begun to work on its targets.
    pub(crate) fn has_begun(&self) -> bool {
        self.journal.borrow().iter().any(|number| *number > 0)
    }

    /// Says that it has ended. Whether the claim still held.
    pub(crate) async fn finish(&self) -> bool {
        self.last(State::Done).await
    }

    /// Gives it back.
    pub(crate) async fn release(&self) -> bool {
        self.last(State::Free).await
    }

    async fn last(&self, state: State) -> bool {
        self.is_ending.set(true);
        let write = async {
            while !self.write(state).await {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        self.or_lost(write).await.is_some()
    }

    /// Whether the server took it. Where somebody else has written meanwhile, the claim is lost.
    async fn write(&self, state: State) -> bool {
        let _turn = self.turn.lock().await;
        if !self.holds() || self.is_ending.get() && state == State::Held {
            return false;
        }
        let begun = Moment::now();
        let content = json!({"journal": *self.journal.borrow(), "state": state.name()});
        self.beat.set(self.beat.get() + 1);
        let message = Message {
            kind: Kind::Claim,
            order: self.order,
            share: self.share,
            attempt: self.attempt,
            number: self.beat.get(),
            content: content.to_string().into_bytes(),
        };
        let bytes = message.sign(&self.key);
        let name = format!("{}.{}", self.order, self.share);
        let revision = self.revision.get();
        if let Ok(revision) = self.pool.claims.update(&name, bytes.clone().into(), revision).await {
            return self.confirm(revision, begun);
        }
        // The answer may be lost and the change not: what is there says it.
        match self.pool.claims.entry(&name).await {
            Ok(Some(entry)) if entry.value.as_ref() == bytes.as_slice() => {
                self.confirm(entry.revision, begun)
            }
            Ok(Some(entry)) if entry.revision == revision => false,
            // A change whose answer was lost came later: the next one follows it.
            Ok(Some(entry)) if self.is_mine(&entry.value) => {
                self.revision.set(entry.revision);
                false
            }
            Ok(_) => {
                self.is_lost.set(true);
                false
            }
            Err(_) => false,
        }
    }

    fn confirm(&self, revision: u64, begun: Moment) -> bool {
        self.revision.set(revision);
        self.renewed.set(begun);
        true
    }

    /// Whether a value is one that this claim has sent.
    fn is_mine(&self, value: &[u8]) -> bool {
        Message::open(value, Kind::Claim).is_some_and(|(it, by)| {
            by == self.key.public()
                && (it.order, it.share, it.attempt) == (self.order, self.share, self.attempt)
                && it.number <= self.beat.get()
        })
    }
}
