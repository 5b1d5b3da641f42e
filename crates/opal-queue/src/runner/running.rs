//! A share while its process runs: what the process says, and what it may do.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use opal_trust::order::Order;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::child::{Child, GRACE, LINGER, Line};
use super::claim::{Claim, RENEWAL};
use super::desk::Desk;
use super::outcome::is_failure;
use super::prepared::Prepared;
use super::refusal::ENDED;
use crate::counter::{Bits, Halt, Started, answered};
use crate::notice::say;
use crate::patience::PAUSE;
use crate::report::Reporter;
use crate::time::seconds;

/// How often lines are sent that nobody waits for.
const FLUSH: Duration = Duration::from_millis(200);

/// How soon a claim names the first entry of a journal, in seconds.
const SOON: u64 = 1;

/// What is running of a share.
pub(super) struct Running<'r> {
    pub(super) prepared: &'r Prepared,
    pub(super) share: u32,
    pub(super) claim: Rc<Claim>,
    pub(super) reporter: Reporter,
    pub(super) child: Child,
    /// Targets that have failed.
    pub(super) failed: Bits,
    /// Lines that came while asks were gathered.
    pub(super) waiting: Option<Line>,
    /// Until when the process believes that the claim holds.
    pub(super) held: u64,
    /// Why it was asked to stop, and when it is killed.
    pub(super) stopping: Option<(Why, Instant)>,
    /// A target did not start because the order has ended.
    pub(super) is_past_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Somebody else may have the share.
    Lost,
    /// This runner ends.
    Ending,
    /// Who sent the order has stopped it.
    Stopped,
}

/// Renews a claim and asks for a stop, until it is dropped.
pub(super) struct Renewing {
    task: tokio::task::JoinHandle<()>,
    stop: Rc<RefCell<Option<String>>>,
}

impl Renewing {
    pub(super) fn begin(claim: Rc<Claim>, prepared: Rc<Prepared>) -> Self {
        let stop: Rc<RefCell<Option<String>>> = Rc::default();
        let found = Rc::clone(&stop);
        let task = tokio::task::spawn_local(async move {
            let mut pause = seconds(RENEWAL);
            loop {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    // Others begin in the same moment.
                    () = claim.is_begun.notified() => tokio::time::sleep(seconds(SOON)).await,
                }
                if !claim.renew().await {
                    // The server is away: the first moment in which it is back counts.
                    pause = PAUSE;
                    continue;
                }
                pause = seconds(RENEWAL);
                if let Ok(Some(reason)) = prepared.tally.stopped(&prepared.signer).await {
                    found.replace(Some(reason));
                }
            }
        });
        Self { task, stop }
    }
}

impl Drop for Renewing {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The targets of a share that have these names.
pub(super) fn bits(order: &Order, share: u32, names: &[&str]) -> Bits {
    let targets = order.share(share).map(|it| it.targets.as_slice()).unwrap_or_default();
    let known = (0..).zip(targets).filter(|(_, it)| names.contains(&it.as_str()));
    known.fold(0, |all, (at, _)| all | 1 << at)
}

/// Waits until this runner may not work on the share any more.
async fn given_up(claim: &Claim, desk: &Desk) {
    while claim.holds() && !desk.stopping.get() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

impl Running<'_> {
    /// Works on the lines of the process until it has a result, or ends without one.
    pub(super) async fn follow(
        &mut self,
        desk: &Desk,
        renewing: &Renewing,
    ) -> Option<(i64, Vec<Value>)> {
        let mut flush = tokio::time::interval(FLUSH);
        let mut ended: Option<Instant> = None;
        loop {
            let waiting = self.waiting.take();
            let line = match waiting {
                Some(line) => Some(line),
                None => tokio::select! {
                    line = self.child.line() => line,
                    _ = flush.tick() => {
                        self.watch(desk, renewing).await;
                        if self.child.has_ended() {
                            let since = *ended.get_or_insert_with(Instant::now);
                            // Something else may have its output open: what it wrote itself is there by now.
                            if since.elapsed() >= LINGER {
                                let last = tokio::time::timeout(Duration::ZERO, self.child.line());
                                self.waiting = Some(last.await.ok()??);
                            }
                        }
                        continue;
                    }
                },
            };
            match line {
                None => return None,
                Some(Line::Result { exit, targets }) => return Some((exit, targets)),
                Some(line) => self.note(line, desk, renewing).await,
            }
        }
    }

    /// What is due every moment: sending lines, and looking whether to go on.
    async fn watch(&mut self, desk: &Desk, renewing: &Renewing) {
        self.lend().await;
        if let Some((_, until)) = self.stopping {
            if Instant::now() >= until {
                self.child.kill();
            }
            return;
        }
        let stop = renewing.stop.borrow().clone();
        if !self.claim.holds() {
            self.stop(Why::Lost, "the claim of this runner could not be renewed").await;
        } else if desk.stopping.get() {
            self.stop(Why::Ending, "the runner ends").await;
        } else if let Some(reason) = stop {
            self.stop(Why::Stopped, &reason).await;
        } else if !self.reporter.is_empty() {
            // What is not sent now is sent later: the process must not wait for it.
            let _ = tokio::time::timeout(seconds(2), self.reporter.send()).await;
        }
    }

    /// Says until when the claim holds. A runner that is paused says nothing, and the process stops by itself.
    pub(super) async fn lend(&mut self) {
        let until = self.claim.until();
        if self.held < until && self.claim.holds() {
            self.held = until;
            self.child.tell(&json!({"held": until})).await;
        }
    }

    async fn stop(&mut self, why: Why, reason: &str) {
        self.child.stop(reason).await;
        self.stopping = Some((why, Instant::now() + GRACE));
    }

    async fn note(&mut self, line: Line, desk: &Desk, renewing: &Renewing) {
        match line {
            Line::Event(event) => {
                let line = json!({"event": event});
                self.claim.or_lost(self.reporter.add(&line)).await;
            }
            Line::Journal { target, number } => self.keep(&target, number),
            Line::Ended { target, status } => self.ended(&target, &status).await,
            Line::Ask(target) => {
                let names = self.gather(target).await;
                self.answer(names, desk, renewing).await;
            }
            Line::Result { .. } | Line::Unknown => {}
        }
    }

    fn keep(&self, target: &str, number: u64) {
        let targets = self.prepared.order.share(self.share).map(|it| it.targets.as_slice());
        let at = targets.unwrap_or_default().iter().position(|it| it == target);
        let mut journal = self.claim.journal.borrow_mut();
        if let Some(last) = at.and_then(|at| journal.get_mut(at)) {
            if *last == 0 {
                self.claim.is_begun.notify_one();
            }
            *last = number;
        }
    }

    async fn ended(&mut self, target: &str, status: &str) {
        let mut line = json!({"ended": {"target": target, "status": status}});
        if is_failure(Some(status)) {
            self.failed |= bits(&self.prepared.order, self.share, &[target]);
            let (tally, share, failed) = (&self.prepared.tally, self.share, self.failed);
            let counted = answered(async || tally.fail(share, failed).await);
            if let Some(Ok(Some(version))) = self.claim.or_lost(counted).await {
                line["version"] = json!(version);
            }
        }
        self.claim.or_lost(self.reporter.add(&line)).await;
    }

    /// Those that ask at the same time.
    async fn gather(&mut self, first: String) -> Vec<String> {
        let mut names = vec![first];
        while let Ok(Some(line)) =
            tokio::time::timeout(Duration::from_millis(2), self.child.line()).await
        {
            match line {
                Line::Ask(name) => names.push(name),
                other => {
                    self.waiting = Some(other);
                    break;
                }
            }
        }
        names
    }

    /// Whether targets may start: the counter says so first, then everybody who follows hears it. Where this
    /// runner loses the share meanwhile there is no answer: the process is stopped.
    async fn answer(&mut self, names: Vec<String>, desk: &Desk, renewing: &Renewing) {
        let known = self.prepared.order.share(self.share);
        let is_known = |name: &String| known.is_some_and(|it| it.targets.contains(name));
        let (mine, foreign): (Vec<String>, Vec<String>) = names.into_iter().partition(is_known);
        for name in foreign {
            self.say_no(&name, "it is not in the share").await;
        }
        if mine.is_empty() {
            return;
        }
        let claim = Rc::clone(&self.claim);
        let asked = tokio::select! {
            answer = self.may_start(&mine, renewing) => answer,
            () = given_up(&claim, desk) => return,
        };
        let started = match asked {
            Ok(started) => started,
            Err(reason) => {
                self.is_past_end |= reason == ENDED;
                for name in mine {
                    self.say_no(&name, &reason).await;
                }
                return;
            }
        };
        let order = &self.prepared.order;
        let may = |name: &String| bits(order, self.share, &[name]) & started.targets != 0;
        let (mine, others): (Vec<String>, Vec<String>) = mine.into_iter().partition(may);
        let line = json!({"start": mine, "version": started.version});
        tokio::select! {
            () = self.say(&line) => {}
            () = given_up(&claim, desk) => return,
        }
        // It may have taken long.
        if !claim.holds() {
            return;
        }
        for name in mine {
            self.child.tell(&json!({"start": name, "go": true})).await;
        }
        for name in others {
            self.say_no(&name, Halt::Failures.words()).await;
        }
    }

    /// Adds a line and sends it.
    async fn say(&mut self, line: &Value) {
        self.reporter.add(line).await;
        self.reporter.send().await;
    }

    async fn say_no(&mut self, name: &str, reason: &str) {
        self.child.tell(&json!({"start": name, "go": false, "reason": reason})).await;
    }

    /// Which targets may start, or why none of them. It waits for a server that is away.
    async fn may_start(&self, names: &[String], renewing: &Renewing) -> Result<Started, String> {
        if self.stopping.is_some() {
            return Err("the run stops".to_owned());
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let targets = bits(&self.prepared.order, self.share, &names);
        let (tally, mut is_said) = (&self.prepared.tally, false);
        loop {
            if self.prepared.is_past_end() {
                return Err(ENDED.to_owned());
            }
            let asked = match tally.stopped(&self.prepared.signer).await {
                Ok(None) => tally.start(self.share, targets).await,
                Ok(Some(reason)) => {
                    renewing.stop.replace(Some(reason.clone()));
                    return Err(reason);
                }
                Err(_) => Err(Halt::Away),
            };
            match asked {
                Err(Halt::Away) => {}
                Err(halt) => return Err(halt.words().to_owned()),
                Ok(started) => return Ok(started),
            }
            if !is_said {
                is_said = true;
                let id = self.prepared.order.id;
                let share = self.share;
                say(&format!(
                    "opal runner: order {id}: share {share} waits: {}",
                    Halt::Away.words()
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
