//! `opal runs tail RUN --pool NAME`: everything that the runners of an order have said, and what is wrong with
//! it. The order must be signed by a key of this machine or by one that its policy trusts. It stops nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use opal_core::hash::Digest;
use opal_core::message::counted;
use opal_trust::keys::{Credentials, KeyKind, PublicKey, Runner};
use opal_trust::order::{MAX_BYTES, Order, OrderId};
use opal_trust::policy::Settings;
use opal_vault::root::Root;
use serde_json::{Value, json};

use crate::dispatch::reader;
use crate::dispatch::watch::words;
use crate::events::{Events, share_of};
use crate::follow::{Follow, Notice};
use crate::notice::{print, say};
use crate::options::Options;
use crate::pool::{self, Pool};
use crate::report;
use crate::runner::{ENDED, Ends, PAST_END, policy};
use crate::server::{Server, connect};
use crate::trouble::Trouble;

/// Digits of an order that are enough.
const MIN_DIGITS: usize = 8;

/// What sealing adds at most.
const SEAL: usize = 1 << 20;

/// How long the server may take for the next message of an order that is past its end.
const QUIET: Duration = Duration::from_secs(10);

/// The same while a runner may still work on a share that it began before the end.
const WORKING: Duration = Duration::from_secs(120);

pub(crate) async fn run(options: &Options) -> Result<u8, Trouble> {
    let root = options.root();
    let name = pool::named(options.text("pool"))?;
    let settings = Settings::load(root.path())?;
    let reader = reader(&root)?;
    let trusted = trusted(&root)?;
    let mut ends = Ends::new()?;
    let server = connect(options, &settings).await?;
    let id = find(&server, options.text("run").unwrap_or_default()).await?;
    let pool = Pool::open(server, &name).await?;
    let mut events = Events::of(&pool.server, format!("opal.events.{id}.*")).await?;
    let mut follow: Option<Follow> = None;
    while !follow.as_ref().is_some_and(Follow::is_over) {
        // Of an order that ended long ago, everything comes at once.
        let quiet = |it: &Follow| if it.is_at_work() { WORKING } else { QUIET };
        let left = follow.as_ref().map(|it| it.left().max(quiet(it)));
        let message = tokio::select! {
            message = events.next() => message,
            () = ends.asked() => return Ok(130),
            () = tokio::time::sleep(left.unwrap_or_default()), if left.is_some() => {
                say(ENDED);
                return Ok(PAST_END);
            }
        };
        let share = share_of(&message.subject).unwrap_or_default();
        let Some(said) = report::read(&message.payload, &reader, id, share) else {
            show(options, &json!({"share": share, "unsigned": true}), || {
                format!("share {share}: not signed, or not for this machine")
            });
            continue;
        };
        let Some(known) = &mut follow else {
            follow = Some(begin(&pool, &reader, id, &said, &trusted, options).await?);
            continue;
        };
        if share == 0 {
            continue;
        }
        let notices = known.take(&said);
        for notice in &notices {
            show(options, &json!({"share": share, "notice": words(notice, share)}), || {
                words(notice, share)
            });
        }
        if notices.iter().any(|it| matches!(it, Notice::Stranger(_) | Notice::Repeated)) {
            continue;
        }
        for line in &said.lines {
            let whole = json!({
                "share": share, "attempt": said.attempt, "number": said.number,
                "runner": said.by.to_string(), "said": line,
            });
            show(options, &whole, || human(share, &said.by, line));
        }
    }
    Ok(follow.map_or(1, |it| it.code()))
}

/// The order that some digits name.
async fn find(server: &Server, text: &str) -> Result<OrderId, Trouble> {
    if let Some(id) = OrderId::parse(text) {
        return Ok(id);
    }
    let unknown = || Trouble::UnknownRun(opal_core::view::visible::brief(text, 80));
    let is_part = text.len() >= MIN_DIGITS && text.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_part {
        return Err(unknown());
    }
    let events = Pool::events(server).await?;
    let subjects = events.info_with_subjects("opal.events.*.0").await;
    let mut subjects = subjects.map_err(|it| Trouble::server("looking for the order", it))?;
    let mut found = None;
    while let Some(Ok((subject, _))) = subjects.next().await {
        let id =
            subject.split('.').nth(2).filter(|it| it.starts_with(text)).and_then(OrderId::parse);
        match (id, found) {
            (Some(id), None) => found = Some(id),
            (Some(_), Some(_)) => return Err(unknown()),
            (None, _) => {}
        }
    }
    found.ok_or_else(unknown)
}

/// Whose orders are shown: those of this machine, and of whoever its policy trusts.
fn trusted(root: &Root) -> Result<BTreeSet<PublicKey>, Trouble> {
    let mut all = policy(root)?.dispatchers().cloned().unwrap_or_default();
    let own = Credentials::new(root).list()?.into_iter().filter_map(|it| it.found.ok());
    // The key of a runner signs events, never orders.
    let own = own.filter(|it| it.kind == KeyKind::Sign && it.name.as_str() != "queue");
    all.extend(own.filter_map(|it| it.public.parse::<PublicKey>().ok()));
    Ok(all)
}

/// The order, as its first message says: signed by whoever signed the order itself.
async fn begin(
    pool: &Pool,
    reader: &Runner,
    id: OrderId,
    said: &report::Said,
    trusted: &BTreeSet<PublicKey>,
    options: &Options,
) -> Result<Follow, Trouble> {
    let unknown = || Trouble::UnknownRun(id.to_string());
    let first = said.lines.first().map(|it| &it["dispatched"]).ok_or_else(unknown)?;
    let name = first["order"].as_str().and_then(Digest::parse).ok_or_else(unknown)?;
    let sealed = pool.load(name, MAX_BYTES + SEAL).await?.ok_or_else(unknown)?;
    let line = reader.unseal(&sealed, MAX_BYTES).map_err(|_| unknown())?;
    let (order, signer) = Order::signed_by(&line)?;
    if order.id != id || signer != said.by || said.share != 0 {
        return Err(unknown());
    }
    if !trusted.contains(&signer) {
        return Err(Trouble::ForeignOrder(signer.to_string()));
    }
    let tolerate = first["tolerate"].as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
    let targets = order.targets().count();
    show(
        options,
        &json!({"order": id.to_string(), "signer": signer.to_string(), "targets": targets}),
        || {
            let shares = counted(order.shares.len(), "share");
            format!("order {id} of `{signer}`: {} in {shares}", counted(targets, "target"))
        },
    );
    Ok(Follow::new(order, tolerate))
}

fn show(options: &Options, document: &Value, words: impl FnOnce() -> String) {
    match options.is("json") {
        true => print(&document.to_string()),
        false => print(&words()),
    }
}

fn human(share: u32, by: &PublicKey, line: &Value) -> String {
    let by: String = by.to_string().chars().skip(8).take(8).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let what = if let Some(started) = line["start"].as_array() {
        let names: Vec<String> = started.iter().map(text).collect();
        format!("may start: {}", names.join(" "))
    } else if line["ended"].is_object() {
        format!("{}: {}", text(&line["ended"]["target"]), text(&line["ended"]["status"]))
    } else if line["result"].is_object() {
        format!("ended with exit code {}", line["result"]["exit"])
    } else if line["refused"].is_object() || line["declined"].is_object() {
        let kind = if line["refused"].is_object() { "refused" } else { "declined" };
        format!("{kind}: {}", text(&line[kind]["message"]))
    } else if line["event"].is_object() {
        let event = &line["event"];
        let parts = [text(&event["target"]), text(&event["kind"]), text(&event["path"])];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
    } else {
        line.to_string()
    };
    format!("{share:>5}  {by}  {what}")
}
