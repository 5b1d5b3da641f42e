//! How a share ends: who hears of it, and what becomes of its claim.

use opal_trust::order::OrderId;
use serde_json::{Value, json};
use tokio::time::Duration;

use super::claim::Claim;
use super::desk::Desk;
use super::outcome::{Outcome, is_failure};
use super::prepared::Prepared;
use super::refusal::{LATER, Reach, Refusal};
use super::refusing::refused;
use super::running::{Why, bits};
use crate::counter::{Halt, answered};
use crate::notice::say;
use crate::report::Reporter;
use crate::time::seconds;

/// How often a share is tried whose process ends without a result.
const ATTEMPTS: u64 = 5;

/// How a share's process ended.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) result: Option<(i64, Vec<Value>)>,
    /// None where a signal ended it, or where it still waits.
    pub(super) code: Option<i32>,
    pub(super) said: String,
    pub(super) why: Option<Why>,
}

/// The share that has ended.
pub(super) struct Ending<'e> {
    pub(super) desk: &'e Desk,
    pub(super) prepared: &'e Prepared,
    pub(super) share: u32,
    pub(super) claim: &'e Claim,
    pub(super) reporter: Reporter,
}

impl Ending<'_> {
    pub(super) async fn settle(self, ended: Ended) -> Outcome {
        let (id, share, claim) = (self.prepared.order.id, self.share, self.claim);
        if ended.why != Some(Why::Lost)
            && let Some(outcome) = claim.or_lost(self.conclude(ended)).await
        {
            return outcome;
        }
        say(&format!(
            "opal runner: order {id}: share {share} was given up: its claim could not be renewed"
        ));
        Outcome::Leave
    }

    /// Says how a share has ended, to who sent it and to the other runners.
    async fn conclude(mut self, ended: Ended) -> Outcome {
        match (ended.result, ended.why) {
            (_, Some(Why::Ending)) => {
                self.reporter.add(&json!({"released": true})).await;
                self.reporter.send().await;
                self.again(Duration::ZERO).await
            }
            (Some((exit, targets)), _) => self.finish(exit, targets).await,
            (None, _) => {
                let code = ended.code.and_then(|it| u8::try_from(it).ok());
                match code.filter(|it| (1..=125).contains(it)) {
                    Some(code) => {
                        let refusal = Refusal::of_process(code, said_last(&ended.said));
                        self.refuse(refusal).await
                    }
                    None if self.claim.attempt < ATTEMPTS => self.again(seconds(LATER)).await,
                    None => self.refuse(Refusal::not_here(70, said_last(&ended.said))).await,
                }
            }
        }
    }

    async fn finish(mut self, exit: i64, targets: Vec<Value>) -> Outcome {
        let (order, share) = (&self.prepared.order, self.share);
        let failed = targets.iter().filter(|row| is_failure(row["status"].as_str()));
        let failed: Vec<&str> = failed.filter_map(|row| row["target"].as_str()).collect();
        let (count, all) = (failed.len(), targets.len());
        let failed = bits(order, share, &failed);
        say(&format!(
            "opal runner: order {}: share {share} ended: {count} of {all} failed",
            order.id
        ));
        self.reporter.add(&json!({"result": {"exit": exit, "targets": targets}})).await;
        self.reporter.send().await;
        let tally = &self.prepared.tally;
        let next = match answered(async || tally.fail(share, failed).await).await {
            Ok(_) => begin_next(self.desk, self.prepared, share).await,
            Err(halt) => Err(halt),
        };
        match next {
            Ok(()) if self.claim.finish().await => Outcome::Done,
            Ok(()) => Outcome::Leave,
            Err(Halt::Reset) => self.refuse(Refusal::damaged(Halt::Reset.words())).await,
            Err(_) => self.again(seconds(LATER)).await,
        }
    }

    async fn again(&self, after: Duration) -> Outcome {
        self.claim.release().await;
        Outcome::Again(after)
    }

    async fn refuse(mut self, refusal: Refusal) -> Outcome {
        self.reporter.send().await;
        let (id, share) = (self.prepared.order.id, self.share);
        let is_final = refusal.reach == Reach::Everybody;
        let refusal = refusal.about(&self.prepared.order);
        let outcome = refused(self.desk, id, share, Some(share), refusal).await;
        let is_settled =
            if is_final { self.claim.finish().await } else { self.claim.release().await };
        if is_settled { outcome } else { Outcome::Leave }
    }
}

/// Sends the shares of the next batch where a share was the last of its own.
pub(super) async fn begin_next(desk: &Desk, prepared: &Prepared, share: u32) -> Result<(), Halt> {
    let Some(batch) = answered(async || prepared.tally.done(share).await).await? else {
        return Ok(());
    };
    let ticket = String::from_utf8_lossy(&prepared.ticket);
    let order: OrderId = prepared.order.id;
    for number in prepared.order.batch(batch) {
        let send = async || desk.pool.send_share(order, number, &ticket).await;
        answered(async || send().await.map_err(|_| Halt::Away)).await?;
    }
    Ok(())
}

/// The error among what a process said.
fn said_last(said: &str) -> String {
    let error = said.lines().rev().find(|line| line.starts_with("error"));
    let line = error.or(said.lines().last()).unwrap_or("it ended without a result");
    line.chars().take(1_000).collect()
}
