//! One share, from its message to its acknowledgement.

use std::rc::Rc;
use std::sync::Arc;

use async_nats::jetstream::{AckKind, Message};
use opal_core::message::counted;
use opal_trust::order::OrderId;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::child::{Child, Job};
use super::claim::{self, Asked, Claim};
use super::desk::{Desk, Room};
use super::ending::{Ended, Ending, begin_next};
use super::folder::Folder;
use super::outcome::{Outcome, PAST_END};
use super::prepared::{Prepared, Ticket};
use super::refusal::{LATER, Refusal};
use super::refusing::refused;
use super::running::{Renewing, Running};
use crate::counter::Halt;
use crate::notice::say;
use crate::report::Reporter;
use crate::time::seconds;

/// How often the server hears that somebody works on a share.
const PROGRESS: u64 = 10;

/// Works on the share of a message.
pub(crate) async fn work(desk: Rc<Desk>, message: Message, room: &mut Room) {
    let message = Rc::new(message);
    let alive = Alive::begin(Rc::clone(&message));
    let outcome = attempt(&desk, &message, room).await;
    drop(alive);
    let acknowledged = match outcome {
        Outcome::Done => message.double_ack().await,
        Outcome::Again(after) => message.ack_with(AckKind::Nak(Some(after))).await,
        Outcome::Never => message.ack_with(AckKind::Term).await,
        Outcome::Leave => Ok(()),
    };
    if let Err(error) = acknowledged {
        say(&format!("opal runner: a share could not be acknowledged: {error}"));
    }
}

/// Tells the server that somebody works on a message, until it is dropped.
struct Alive(tokio::task::JoinHandle<()>);

impl Alive {
    fn begin(message: Rc<Message>) -> Self {
        Self(tokio::task::spawn_local(async move {
            loop {
                tokio::time::sleep(seconds(PROGRESS)).await;
                let _ = message.ack_with(AckKind::Progress).await;
            }
        }))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The order and the number of a share, from the subject of its message.
fn subject(subject: &str, pool: &str) -> Option<(OrderId, u32)> {
    let rest = subject.strip_prefix("opal.shares.")?.strip_prefix(pool)?.strip_prefix('.')?;
    let (order, share) = rest.split_once('.')?;
    Some((OrderId::parse(order)?, share.parse().ok()?))
}

async fn attempt(desk: &Rc<Desk>, message: &Message, room: &mut Room) -> Outcome {
    let Some((id, share)) = subject(&message.subject, &desk.pool.name) else {
        say("opal runner: a message without a share was removed");
        return Outcome::Never;
    };
    let declined = desk.declined.borrow().why(id, share);
    if let Some((which, refusal)) = declined {
        return refused(desk, id, share, which, refusal).await;
    }
    let Some(ticket) = Ticket::read(&message.payload) else {
        let refusal = Refusal::damaged("the message of the share is damaged");
        return refused(desk, id, share, None, refusal).await;
    };
    let prepared = match desk.prepared(id, &ticket).await {
        Ok(prepared) => prepared,
        Err(refusal) => return refused(desk, id, share, None, refusal).await,
    };
    match turn(desk, &prepared, share, room).await {
        Ok(claim) => run(desk, &prepared, share, claim).await,
        Err(NotNow::Refused(why)) => {
            refused(desk, id, share, Some(share), prepared.refuse(why)).await
        }
        Err(NotNow::PastEnd) => {
            let refusal = Refusal::past_end().about(&prepared.order).recorded();
            refused(desk, id, share, Some(share), refusal).await
        }
        Err(NotNow::Later) => Outcome::Again(seconds(LATER)),
        Err(NotNow::Done) => Outcome::Done,
    }
}

/// Why this runner does not work on a share now.
enum NotNow {
    Refused(&'static str),
    PastEnd,
    Later,
    Done,
}

/// Takes a share whose turn it is.
async fn turn(
    desk: &Rc<Desk>,
    prepared: &Prepared,
    share: u32,
    room: &mut Room,
) -> Result<Rc<Claim>, NotNow> {
    let order = &prepared.order;
    let Some(targets) = order.share(share).map(|it| it.targets.len()) else {
        return Err(NotNow::Refused("the order has no such share"));
    };
    if prepared.is_past_end() {
        // Of a share that has ended, only its message comes again.
        let is_done = claim::is_done(&desk.pool, order, share).await;
        return Err(if is_done { NotNow::Done } else { NotNow::PastEnd });
    }
    room.shrink(targets);
    prepared.tally.is_turn(share).await.map_err(|halt| match halt {
        Halt::Reset => NotNow::Refused(Halt::Reset.words()),
        _ => NotNow::Later,
    })?;
    match claim::take(&desk.pool, &desk.key, order, share).await {
        Asked::Mine(claim) => {
            if claim.has_begun() {
                prepared.tally.has_begun();
            }
            let targets = counted(targets, "target");
            say(&format!("opal runner: order {}: share {share}: {targets}", order.id));
            Ok(claim)
        }
        // Its runner may have died before it sent the next batch.
        Asked::Done => match begin_next(desk, prepared, share).await {
            Ok(()) => Err(NotNow::Done),
            Err(_) => Err(NotNow::Later),
        },
        Asked::Foreign(why) => Err(NotNow::Refused(why)),
        Asked::Busy | Asked::Away => Err(NotNow::Later),
    }
}

/// Has a share run by a process of its own.
async fn run(desk: &Rc<Desk>, prepared: &Rc<Prepared>, share: u32, claim: Rc<Claim>) -> Outcome {
    let order = &prepared.order;
    let mut reporter =
        Reporter::new(desk.pool.clone(), desk.key.clone(), order, share, claim.attempt);
    // Nobody has had it, and nobody may begin: no process has to say so.
    let stopped = prepared.tally.stopped(&prepared.signer).await;
    if let (Ok(Some(reason)), 1) = (stopped, claim.attempt) {
        let targets = order.share(share).map(|it| it.targets.as_slice()).unwrap_or_default();
        let skipped =
            |name: &String| json!({"target": name, "status": "skipped", "message": reason});
        let result = Some((0, targets.iter().map(skipped).collect()));
        let ending = Ending { desk, prepared, share, claim: &claim, reporter };
        return ending.settle(Ended { result, ..Ended::default() }).await;
    }
    let renewing = Renewing::begin(Rc::clone(&claim), Rc::clone(prepared));
    let (folder, mut child) = match start(desk, prepared, share).await {
        Ok(started) => started,
        Err(error) => {
            drop(renewing);
            claim.release().await;
            let message = format!("the share cannot be started: {error}");
            let refusal = Refusal::not_here(74, message).about(order);
            return refused(desk, order.id, share, Some(share), refusal).await;
        }
    };
    child.tell(&json!({"claims": journal(prepared, share, &claim)})).await;
    reporter.add(&json!({"taken": order.share(share).map(|it| &it.targets)})).await;
    let mut running = Running {
        prepared,
        share,
        claim: Rc::clone(&claim),
        reporter,
        child,
        failed: 0,
        waiting: None,
        held: 0,
        stopping: None,
        is_past_end: false,
    };
    running.lend().await;
    let result = running.follow(desk, &renewing).await;
    let Running { mut child, reporter, stopping, is_past_end, .. } = running;
    // Its process knows only that targets did not start.
    let result = result.map(|(exit, rows)| match exit {
        0 if is_past_end => (PAST_END.into(), rows),
        _ => (exit, rows),
    });
    let why = stopping.map(|(why, _)| why);
    let ending = Ending { desk, prepared, share, claim: &claim, reporter };
    let outcome = if result.is_some() {
        let outcome = ending.settle(Ended { result, why, ..Ended::default() }).await;
        // What it does where its share has ended, it does now that everybody knows of it.
        if outcome == Outcome::Done {
            child.tell(&json!({"kept": true})).await;
        }
        child.end().await;
        outcome
    } else {
        let (code, said) = child.end().await;
        ending.settle(Ended { result, code, said, why }).await
    };
    drop(renewing);
    let _ = spawn_blocking(move || drop(folder)).await;
    outcome
}

async fn start(desk: &Desk, prepared: &Prepared, share: u32) -> std::io::Result<(Folder, Child)> {
    // The claims of other shares are renewed meanwhile.
    let parts = Arc::clone(&prepared.parts);
    let made = spawn_blocking(move || Folder::make(&parts)).await;
    let folder = made.map_err(std::io::Error::other)??;
    let job = Job {
        opal: &desk.opal,
        root: &desk.root,
        folder: folder.path(),
        source: &prepared.order.source,
        share,
    };
    let child = folder.lend(|| Child::start(&job))?;
    Ok((folder, child))
}

/// The last entries of the journals, by the names of the targets: those that somebody has begun.
fn journal(prepared: &Prepared, share: u32, claim: &Claim) -> Value {
    let names = prepared.order.share(share).map(|it| it.targets.as_slice()).unwrap_or_default();
    let numbers = claim.journal.borrow();
    let known = names.iter().zip(numbers.iter()).filter(|(_, number)| **number > 0);
    known
        .map(|(name, number)| (name.clone(), json!(number)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
