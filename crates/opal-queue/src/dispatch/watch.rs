//! Following an order: what its runners say, until all shares have ended, and the table.

use opal_trust::keys::{Runner, SigningKey};
use opal_trust::order::Order;
use opal_vault::root::Root;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Duration, Instant};

use super::send::{PATIENCE, Parts, not_stopped, stop};
use crate::events::{Events, share_of};
use crate::fleet::Fleet;
use crate::follow::{Follow, Notice};
use crate::notice::{print, say};
use crate::options::Options;
use crate::patience::persist;
use crate::pool::Pool;
use crate::report;
use crate::runner::{ENDED, Ends, PAST_END};
use crate::table::{reasons, table};
use crate::trouble::Trouble;

/// How long shares that run have to end after a stop.
const GRACE: Duration = Duration::from_secs(120);

/// An order that was stopped from here.
struct Stopping {
    /// The exit code.
    code: u8,
    /// When it is left.
    until: Instant,
    /// Whether the queue has taken the stop; unknown while it is sent.
    is_sent: Option<bool>,
    /// Whether shares may still say how they end.
    waits: bool,
    sending: JoinHandle<bool>,
}

impl Stopping {
    /// Sends a stop while the order is followed.
    fn begin(pool: &Pool, order: &Order, key: &SigningKey, code: u8, why: &str) -> Self {
        let (pool, order, key, why) = (pool.clone(), order.clone(), key.clone(), why.to_owned());
        let sending = async move { stop(&pool, &order, &key, &why).await };
        let sending = tokio::task::spawn_local(sending);
        Self { code, until: Instant::now() + GRACE, is_sent: None, waits: true, sending }
    }

    /// Whether nobody waits for it any more.
    fn is_over(&self) -> bool {
        Instant::now() >= self.until || !self.waits && self.is_sent.is_some()
    }

    /// Waits until the stop was sent, or could not be; for ever where that is known.
    async fn sent(&mut self) {
        match self.is_sent {
            None => self.is_sent = Some((&mut self.sending).await.unwrap_or_default()),
            Some(_) => std::future::pending().await,
        }
    }
}

pub(super) async fn follow(
    options: &Options,
    root: &Root,
    parts: Parts<'_>,
    fleet: &Fleet,
    reader: &Runner,
    mut ends: Ends,
) -> Result<u8, Trouble> {
    let Parts { pool, key, order, .. } = parts;
    let subject = format!("opal.events.{}.*", order.id);
    let mut events =
        persist(PATIENCE, async || Events::of(&pool.server, subject.clone()).await).await?;
    let mut follow = Follow::new(order.clone(), fleet.tolerate);
    let mut stopping: Option<Stopping> = None;
    let mut shown = (0, 0);
    while !follow.is_over() {
        let left = follow.left();
        tokio::select! {
            message = events.next() => {
                if let Some(why) = hear(&mut follow, reader, &message) && stopping.is_none() {
                    say("stopping the order");
                    stopping = Some(Stopping::begin(pool, order, key, 76, why));
                }
                if follow.progress() != shown {
                    shown = follow.progress();
                    say(&format!("{} of {} targets have ended", shown.0, shown.1));
                }
            }
            () = ends.asked() => {
                if stopping.is_some() {
                    break;
                }
                say(STOPPING);
                let why = "who sent the order has stopped it";
                stopping = Some(Stopping::begin(pool, order, key, 130, why));
            }
            () = tokio::time::sleep(left), if stopping.is_none() => {
                say(ENDED);
                let ended = Stopping::begin(pool, order, key, PAST_END, ENDED);
                stopping = Some(Stopping { waits: follow.is_at_work(), ..ended });
            }
            () = passing(stopping.as_mut()) => {
                if stopping.as_ref().is_some_and(Stopping::is_over) {
                    break;
                }
            }
        }
    }
    // What all runners have declined is still in the queue.
    if follow.is_declined() && stopping.is_none() {
        let why = "all runners of the pool have declined it";
        if !stop(pool, order, key, why).await {
            say(&not_stopped(order));
        }
    }
    if stopping.as_ref().is_some_and(|it| it.is_sent != Some(true)) && !follow.is_over() {
        say(&not_stopped(order));
    }
    finish(options, root, &follow, fleet, stopping.map(|it| it.code))
}

/// What Ctrl+C does.
const STOPPING: &str = "stopping: no further target starts, and what runs is stopped with its cleanup; \
                        Ctrl+C again does not wait for it";

/// Waits until something is known of a stop: that it was sent, or that it has taken too long.
async fn passing(stopping: Option<&mut Stopping>) {
    let Some(stopping) = stopping else { return std::future::pending().await };
    let until = stopping.until;
    tokio::select! {
        () = stopping.sent() => {}
        () = tokio::time::sleep_until(until) => {}
    }
}

/// Takes a message and says what is in it. Answers why the order has to be stopped, if it has.
fn hear(
    follow: &mut Follow,
    reader: &Runner,
    message: &async_nats::jetstream::Message,
) -> Option<&'static str> {
    let share = share_of(&message.subject).filter(|it| *it != 0)?;
    let Some(said) = report::read(&message.payload, reader, follow.order.id, share) else {
        say(&format!(
            "warning: share {share}: a message that is not signed by a runner counts for nothing"
        ));
        return None;
    };
    let mut out = None;
    for notice in follow.take(&said) {
        say(&words(&notice, share));
        match notice {
            Notice::OutOfOrder(why) => out = Some(why),
            Notice::Stranger(_) | Notice::Repeated => return out,
            Notice::Missing(..) | Notice::Late => {}
        }
    }
    tell(&said.lines);
    out
}

/// What a person should see of the lines of a message.
fn tell(lines: &[Value]) {
    for line in lines {
        if let Some(ended) = line.get("ended").filter(|it| it["status"] != "ok") {
            say(&format!(
                "{} │ {}",
                ended["target"].as_str().unwrap_or_default(),
                ended["status"].as_str().unwrap_or_default()
            ));
        }
        for kind in ["refused", "declined"] {
            if let Some(refused) = line.get(kind) {
                let message = refused["message"].as_str().unwrap_or_default();
                say(&format!("warning: a runner has {kind} a share: {message}"));
            }
        }
    }
}

pub(crate) fn words(notice: &Notice, share: u32) -> String {
    match notice {
        Notice::Stranger(key) => {
            format!(
                "warning: share {share}: signed by `{key}`, not a runner of the order; it counts for nothing"
            )
        }
        Notice::Missing(from, to) if from + 1 == *to => {
            format!("warning: share {share}: message {from} is missing")
        }
        Notice::Missing(from, to) => {
            format!("warning: share {share}: messages {from} to {} are missing", to - 1)
        }
        Notice::Repeated => format!("warning: share {share}: a message came twice; it counts once"),
        Notice::Late => {
            format!(
                "warning: share {share}: from a runner that has lost it; how it ended there counts for nothing"
            )
        }
        Notice::OutOfOrder(why) => format!("error: share {share}: {why}"),
    }
}

fn finish(
    options: &Options,
    root: &Root,
    follow: &Follow,
    fleet: &Fleet,
    stopped: Option<u8>,
) -> Result<u8, Trouble> {
    let rows = follow.rows();
    let document = json!({"fleets": [{"path": fleet.path, "targets": rows}], "version": 1});
    let folder = format!("logs/dispatch/{}", follow.order.id);
    let kept = root.replace(&folder, "targets.json", format!("{document}\n").as_bytes());
    if let Err(error) = kept {
        say(&format!("warning: `targets.json` is not kept: {error}"));
    }
    let code = stopped.unwrap_or_else(|| follow.code());
    if options.is("json") {
        let id = follow.order.id.to_string();
        print(&json!({"code": code, "fleets": document["fleets"], "order": id, "pool": follow.order.pool}).to_string());
        return Ok(code);
    }
    print(&table(&rows));
    if let Some(reasons) = reasons(&rows) {
        say(&reasons);
    }
    if let Some(failure) = follow.failure() {
        say(&failure);
    }
    Ok(code)
}
