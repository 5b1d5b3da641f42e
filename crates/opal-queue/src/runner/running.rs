//! A share while its process runs: what the process says, and what it may do.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use opal_trust::keys::PublicKey;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Desk;
use super::child::{Child, GRACE, Line};
use super::claim::{Claim, RENEWAL};
use super::prepared::Prepared;
use super::share::is_failure;
use crate::report::Reporter;
use crate::time::seconds;

/// How often lines are sent that nobody waits for.
const FLUSH: Duration = Duration::from_millis(200);

/// What is running of a share.
pub(super) struct Running<'r> {
    pub(super) prepared: &'r Prepared,
    pub(super) share: u32,
    pub(super) claim: Rc<Claim>,
    pub(super) reporter: Reporter,
    pub(super) child: Child,
    pub(super) started: u64,
    pub(super) failed: u64,
    /// Lines that came while asks were gathered.
    pub(super) waiting: Option<Line>,
    /// Why it was asked to stop, and when it is killed.
    pub(super) stopping: Option<(Why, Instant)>,
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
            loop {
                tokio::time::sleep(seconds(RENEWAL)).await;
                claim.renew().await;
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

impl Running<'_> {
    /// Works on the lines of the process until it ends. Answers its result.
    pub(super) async fn follow(
        &mut self,
        desk: &Desk,
        renewing: &Renewing,
    ) -> Option<(i64, Vec<Value>)> {
        let mut result = None;
        let mut flush = tokio::time::interval(FLUSH);
        loop {
            let waiting = self.waiting.take();
            let line = match waiting {
                Some(line) => Some(line),
                None => tokio::select! {
                    line = self.child.line() => line,
                    _ = flush.tick() => {
                        self.watch(desk, renewing).await;
                        continue;
                    }
                },
            };
            match line {
                None => return result,
                Some(Line::Result { exit, targets }) => result = Some((exit, targets)),
                Some(line) => self.note(line, renewing).await,
            }
        }
    }

    /// What is due every moment: sending lines, and looking whether to go on.
    async fn watch(&mut self, desk: &Desk, renewing: &Renewing) {
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
            self.claim.or_lost(self.reporter.send()).await;
        }
    }

    async fn stop(&mut self, why: Why, reason: &str) {
        self.child.stop(reason).await;
        self.stopping = Some((why, Instant::now() + GRACE));
    }

    async fn note(&mut self, line: Line, renewing: &Renewing) {
        match line {
            Line::Event(event) => {
                let line = json!({"event": event});
                self.claim.or_lost(self.reporter.add(&line)).await;
            }
            Line::Journal { target, number } => self.keep(&target, number),
            Line::Ended { target, status } => self.ended(&target, &status).await,
            Line::Ask(target) => {
                let names = self.gather(target).await;
                self.answer(names, renewing).await;
            }
            Line::Result { .. } | Line::Unknown => {}
        }
    }

    fn keep(&self, target: &str, number: u64) {
        let targets = self.prepared.order.share(self.share).map(|it| it.targets.as_slice());
        let at = targets.unwrap_or_default().iter().position(|it| it == target);
        if let Some(place) =
            at.and_then(|at| self.claim.journal.borrow_mut().get_mut(at).map(|it| *it = number))
        {
            place
        }
    }

    async fn ended(&mut self, target: &str, status: &str) {
        let mut line = json!({"ended": {"target": target, "status": status}});
        if is_failure(Some(status)) {
            self.failed += 1;
            let counted = self.prepared.tally.fail(self.share, self.failed);
            if let Some(Ok(version)) = self.claim.or_lost(counted).await {
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

    /// Whether targets may start: the counter says so first, then everybody who follows hears it.
    async fn answer(&mut self, names: Vec<String>, renewing: &Renewing) {
        let known = self.prepared.order.share(self.share);
        let is_known = |name: &String| known.is_some_and(|it| it.targets.contains(name));
        let (mine, foreign): (Vec<String>, Vec<String>) = names.into_iter().partition(is_known);
        for name in foreign {
            self.say_no(&name, "it is not in the share").await;
        }
        if mine.is_empty() {
            return;
        }
        let lost = || Err("the claim of this runner could not be renewed".to_owned());
        let asked = self.may_start(mine.len(), &self.prepared.signer, renewing);
        let reason = match self.claim.or_lost(asked).await.unwrap_or_else(lost) {
            Ok(version) => {
                let line = json!({"start": mine, "version": version});
                let claim = Rc::clone(&self.claim);
                claim.or_lost(self.say(&line)).await;
                // It may have taken long.
                match self.claim.holds() && self.stopping.is_none() {
                    true => None,
                    false => Some("the claim of this runner could not be renewed".to_owned()),
                }
            }
            Err(reason) => Some(reason),
        };
        match reason {
            None => {
                self.started += mine.len() as u64;
                for name in mine {
                    self.child.tell(&json!({"start": name, "go": true})).await;
                }
            }
            Some(reason) => {
                for name in mine {
                    self.say_no(&name, &reason).await;
                }
            }
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

    async fn may_start(
        &self,
        count: usize,
        signer: &PublicKey,
        renewing: &Renewing,
    ) -> Result<u64, String> {
        if self.stopping.is_some() {
            return Err("the run stops".to_owned());
        }
        match self.prepared.tally.stopped(signer).await {
            Ok(None) => {}
            Ok(Some(reason)) => {
                renewing.stop.replace(Some(reason.clone()));
                return Err(reason);
            }
            Err(trouble) => return Err(trouble.to_string()),
        }
        let started = self.prepared.tally.start(self.share, self.started + count as u64).await;
        started.map_err(|halt| halt.words().to_owned())
    }
}
