//! Following an order: what its runners say, until all shares have ended, and the table.

use async_nats::jetstream::consumer::pull::OrderedConfig;
use futures_util::StreamExt as _;
use opal_trust::keys::{Runner, SigningKey};
use opal_trust::messages::{Kind, Message};
use opal_trust::order::Order;
use opal_vault::root::Root;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::counter::stop_name;
use crate::fleet::Fleet;
use crate::follow::{Follow, Notice};
use crate::notice::{print, say};
use crate::options::Options;
use crate::pool::{Pool, unix_time};
use crate::report;
use crate::runner::Ends;
use crate::server::Server;
use crate::table::table;
use crate::trouble::Trouble;

/// How long shares that run have to end after a stop.
const GRACE: Duration = Duration::from_secs(120);

/// The messages about an order, from its first.
pub(crate) async fn messages(
    server: &Server,
    filter: String,
) -> Result<impl futures_util::Stream<Item = async_nats::jetstream::Message> + Unpin, Trouble> {
    let failed = |why: String| Trouble::server("reading events", why);
    let events = Pool::events(server).await?;
    let how = OrderedConfig { filter_subject: filter, ..OrderedConfig::default() };
    let consumer = events.create_consumer(how).await.map_err(|it| failed(it.to_string()))?;
    let messages = consumer.messages().await.map_err(|it| failed(it.to_string()))?;
    // A server that is away for a moment comes back, and so do its messages.
    Ok(Box::pin(messages.filter_map(|it| std::future::ready(it.ok()))))
}

/// The share of a message's subject.
pub(crate) fn share_of(subject: &str) -> Option<u32> {
    subject.rsplit('.').next()?.parse().ok()
}

pub(super) async fn follow(
    options: &Options,
    root: &Root,
    pool: Pool,
    order: Order,
    fleet: &Fleet,
    reader: &Runner,
    key: &SigningKey,
) -> Result<u8, Trouble> {
    let mut ends = Ends::new()?;
    let mut events = messages(&pool.server, format!("opal.events.{}.*", order.id)).await?;
    let mut follow = Follow::new(order, fleet.tolerate);
    let mut stopped: Option<(u8, Instant)> = None;
    let mut shown = (0, 0);
    while !follow.is_over() {
        let left = u64::try_from(follow.order.end - unix_time()).unwrap_or(0) + 60;
        tokio::select! {
            message = events.next() => {
                let Some(message) = message else { return Err(Trouble::server("reading events", "no more come")) };
                let Some(share) = share_of(&message.subject).filter(|it| *it != 0) else { continue };
                let Some(said) = report::read(&message.payload, reader, follow.order.id, share) else {
                    say(&format!("warning: share {share}: a message that is not signed by a runner counts for nothing"));
                    continue;
                };
                for notice in follow.take(&said) {
                    say(&words(&notice, share));
                    if let (Notice::OutOfOrder(why), None) = (&notice, stopped) {
                        stop(&pool, &follow.order, key, why).await?;
                        stopped = Some((76, Instant::now() + GRACE));
                    }
                }
                tell(&said.lines);
                if follow.progress() != shown {
                    shown = follow.progress();
                    say(&format!("{} of {} targets have ended", shown.0, shown.1));
                }
            }
            () = ends.asked() => {
                if stopped.is_some() {
                    break;
                }
                say("stopping: targets that run come to their end, no other starts; again to leave at once");
                stop(&pool, &follow.order, key, "who sent the order has stopped it").await?;
                stopped = Some((130, Instant::now() + GRACE));
            }
            () = tokio::time::sleep(Duration::from_secs(left)) => {
                say("the order is past its end");
                stopped = Some((124, Instant::now()));
                break;
            }
            () = wait(stopped.map(|(_, until)| until)) => break,
        }
    }
    finish(options, root, &follow, fleet, stopped.map(|(code, _)| code))
}

async fn wait(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Tells all runners that no further target may start.
async fn stop(pool: &Pool, order: &Order, key: &SigningKey, why: &str) -> Result<(), Trouble> {
    let content = why.as_bytes().to_vec();
    let message =
        Message { kind: Kind::Stop, order: order.id, share: 0, attempt: 0, number: 1, content };
    let put = pool.claims.put(stop_name(order), message.sign(key).into()).await;
    put.map_err(|it| Trouble::server("sending a stop", it))?;
    Ok(())
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
        Notice::OutOfOrder(why) => format!("error: share {share}: {why}; the order is stopped"),
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
    if let Some(failure) = follow.failure() {
        say(&failure);
    }
    Ok(code)
}
