//! One share, from its message to its acknowledgement.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::rc::Rc;
use std::time::Duration;

use async_nats::jetstream::{AckKind, Message};
use opal_trust::order::OrderId;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Desk;
use super::child::{Child, Job};
use super::claim::{self, Asked, Claim};
use super::prepared::{Prepared, Ticket};
use super::refusal::Refusal;
use super::running::{Renewing, Running, Why};
use crate::bundle::unpack;
use crate::counter::Halt;
use crate::notice::say;
use crate::report::Reporter;
use crate::time::seconds;

/// When a share is tried again that cannot run now, in seconds.
const LATER: u64 = 5;

/// Refusals that are remembered, so that each is said once.
const MAX_REPORTED: usize = 10_000;

/// How often a share is tried whose process ends without a result.
const ATTEMPTS: u64 = 5;

/// How often the server hears that somebody works on a share.
const PROGRESS: u64 = 10;

/// What becomes of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The share has ended.
    Done,
    /// Another runner, or this one, tries it again.
    Again(Duration),
    /// Nobody can run it.
    Never,
    /// It is somebody else's now.
    Leave,
}

/// Works on the share of a message.
pub(crate) async fn work(desk: Rc<Desk>, message: Message, room: &mut super::Room) {
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

async fn attempt(desk: &Rc<Desk>, message: &Message, room: &mut super::Room) -> Outcome {
    let Some((id, share)) = subject(&message.subject, &desk.pool.name) else {
        say("opal runner: a message without a share was removed");
        return Outcome::Never;
    };
    let Some(ticket) = Ticket::read(&message.payload) else {
        return refused(desk, id, share, Refusal::damaged("the message of the share is damaged"))
            .await;
    };
    let prepared = match desk.prepared(id, &ticket).await {
        Ok(prepared) => prepared,
        Err(refusal) => return refused(desk, id, share, refusal).await,
    };
    let order = &prepared.order;
    let Some(targets) = order.share(share).map(|it| it.targets.len()) else {
        return refused(desk, id, share, prepared.refuse("the order has no such share")).await;
    };
    if crate::pool::unix_time() >= order.end {
        return refused(desk, id, share, prepared.refuse("the order is past its end")).await;
    }
    room.shrink(targets);
    match prepared.tally.is_turn(share).await {
        Ok(()) => {}
        Err(Halt::Reset) => {
            return refused(desk, id, share, prepared.refuse(Halt::Reset.words())).await;
        }
        Err(_) => return Outcome::Again(seconds(LATER)),
    }
    match claim::take(&desk.pool, &desk.key, order, share).await {
        Asked::Mine(claim) => {
            say(&format!("opal runner: order {id}: share {share}: {targets} targets"));
            run(desk, &prepared, share, claim).await
        }
        // Its runner may have died before it sent the next batch.
        Asked::Done => match begin_next(desk, &prepared, share).await {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Again(seconds(LATER)),
        },
        Asked::Foreign => {
            let why = "the claim in the queue is not signed by a runner of the pool";
            refused(desk, id, share, prepared.refuse(why)).await
        }
        Asked::Busy | Asked::Away => Outcome::Again(seconds(LATER)),
    }
}

/// Says that a share is not run: here, and once to who sent the order.
async fn refused(desk: &Desk, id: OrderId, share: u32, refusal: Refusal) -> Outcome {
    let Refusal { code, message, is_final, order } = refusal;
    let is_long = desk.reported.borrow().len() > MAX_REPORTED;
    if is_long {
        desk.reported.borrow_mut().clear();
    }
    if desk.reported.borrow_mut().insert((id, share, message.clone())) {
        say(&format!("opal runner: order {id}: share {share} refused ({code}): {message}"));
        if let Some(order) = order {
            let kind = if is_final { "refused" } else { "declined" };
            let mut reporter = Reporter::new(desk.pool.clone(), desk.key.clone(), &order, share, 0);
            reporter.add(&json!({kind: {"code": code, "message": message}})).await;
            reporter.send().await;
        }
    }
    if is_final { Outcome::Never } else { Outcome::Again(seconds(LATER)) }
}

/// Sends the shares of the next batch where a share was the last of its own.
async fn begin_next(desk: &Desk, prepared: &Prepared, share: u32) -> Result<(), Halt> {
    let Some(batch) = prepared.tally.done(share).await? else { return Ok(()) };
    let ticket = String::from_utf8_lossy(&prepared.ticket);
    for number in prepared.order.batch(batch) {
        let sent = desk.pool.send_share(prepared.order.id, number, &ticket).await;
        sent.map_err(|_| Halt::Away)?;
    }
    Ok(())
}

async fn run(desk: &Rc<Desk>, prepared: &Rc<Prepared>, share: u32, claim: Rc<Claim>) -> Outcome {
    let order = &prepared.order;
    let mut reporter =
        Reporter::new(desk.pool.clone(), desk.key.clone(), order, share, claim.attempt);
    let folder = match place(prepared) {
        Ok(folder) => folder,
        Err(error) => {
            say(&format!("opal runner: the files of a share cannot be written: {error}"));
            claim.release().await;
            return Outcome::Again(seconds(LATER));
        }
    };
    let job = Job {
        opal: &desk.opal,
        root: &desk.root,
        folder: folder.path(),
        source: &order.source,
        share,
    };
    let mut child = match Child::start(&job) {
        Ok(child) => child,
        Err(error) => {
            say(&format!("opal runner: `opal` cannot be started: {error}"));
            claim.release().await;
            return Outcome::Again(seconds(LATER));
        }
    };
    child.tell(&json!({"claims": journal(prepared, share, &claim)})).await;
    let renewing = Renewing::begin(Rc::clone(&claim), Rc::clone(prepared));
    reporter.add(&json!({"taken": order.share(share).map(|it| &it.targets)})).await;
    let mut running = Running {
        prepared,
        share,
        claim: Rc::clone(&claim),
        reporter,
        child,
        started: 0,
        failed: 0,
        waiting: None,
        stopping: None,
    };
    let result = running.follow(desk, &renewing).await;
    let Running { child, reporter, stopping, .. } = running;
    let (code, said) = child.end().await;
    drop(folder);
    let ended = Ended { result, code, said, why: stopping.map(|(why, _)| why) };
    let outcome = settle(desk, prepared, share, &claim, reporter, ended).await;
    drop(renewing);
    outcome
}

/// How a share's process ended.
struct Ended {
    result: Option<(i64, Vec<Value>)>,
    code: Option<i32>,
    said: String,
    why: Option<Why>,
}

async fn settle(
    desk: &Rc<Desk>,
    prepared: &Rc<Prepared>,
    share: u32,
    claim: &Claim,
    reporter: Reporter,
    ended: Ended,
) -> Outcome {
    if ended.why != Some(Why::Lost)
        && let Some(outcome) =
            claim.or_lost(conclude(desk, prepared, share, claim, reporter, ended)).await
    {
        return outcome;
    }
    say(&format!(
        "opal runner: order {}: share {share} is another runner's now",
        prepared.order.id
    ));
    Outcome::Leave
}

/// Says how a share has ended, to who sent it and to the other runners.
async fn conclude(
    desk: &Desk,
    prepared: &Prepared,
    share: u32,
    claim: &Claim,
    mut reporter: Reporter,
    ended: Ended,
) -> Outcome {
    let id = prepared.order.id;
    let refusal = match (ended.result, ended.why) {
        (_, Some(Why::Ending)) => {
            reporter.add(&json!({"released": true})).await;
            reporter.send().await;
            claim.release().await;
            return Outcome::Again(Duration::ZERO);
        }
        (Some((exit, targets)), _) => {
            let failed = targets.iter().filter(|row| is_failure(row["status"].as_str())).count();
            let all = targets.len();
            say(&format!("opal runner: order {id}: share {share} ended: {failed} of {all} failed"));
            reporter.add(&json!({"result": {"exit": exit, "targets": targets}})).await;
            reporter.send().await;
            let counted = prepared.tally.fail(share, failed as u64).await;
            let next = match counted {
                Ok(_) => begin_next(desk, prepared, share).await,
                Err(halt) => Err(halt),
            };
            match next {
                Ok(()) => return if claim.finish().await { Outcome::Done } else { Outcome::Leave },
                Err(Halt::Reset) => Refusal::damaged(Halt::Reset.words()),
                Err(_) => {
                    claim.release().await;
                    return Outcome::Again(seconds(LATER));
                }
            }
        }
        (None, _) => {
            let code =
                ended.code.and_then(|it| u8::try_from(it).ok()).filter(|it| (1..=125).contains(it));
            if code.is_none() && claim.attempt < ATTEMPTS {
                claim.release().await;
                return Outcome::Again(seconds(LATER));
            }
            Refusal { code: code.unwrap_or(70), ..Refusal::damaged(said_last(&ended.said)) }
        }
    };
    let Refusal { code, message, .. } = refusal;
    say(&format!("opal runner: order {id}: share {share} refused ({code}): {message}"));
    reporter.add(&json!({"refused": {"code": code, "message": message}})).await;
    reporter.send().await;
    if claim.finish().await { Outcome::Never } else { Outcome::Leave }
}

/// The error among what a process said.
fn said_last(said: &str) -> String {
    let error = said.lines().rev().find(|line| line.starts_with("error"));
    let line = error.or(said.lines().last()).unwrap_or("it ended without a result");
    line.chars().take(1_000).collect()
}

pub(crate) fn is_failure(status: Option<&str>) -> bool {
    matches!(status, Some("failed" | "unreachable" | "lost"))
}

/// The directory of a share: contract, order and sources, for this user only.
fn place(prepared: &Prepared) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("opal-share-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()?;
    let at = |name: &str| folder.path().join(name);
    fs::write(at("plan"), &prepared.contract)?;
    fs::write(at("order"), &prepared.line)?;
    if let Some(approvals) = &prepared.approvals {
        fs::write(at("plan.approvals"), approvals)?;
    }
    fs::DirBuilder::new().mode(0o700).create(at("source"))?;
    unpack(&prepared.files, &at("source"))?;
    Ok(folder)
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
