//! `opal dispatch`: sends a contract to a pool, and follows it.
//!
//! | what | where |
//! |---|---|
//! | whether a contract can be sent at all | `contract` |
//! | the order | this file |
//! | sending it, with everything sealed in the queue | `send` |
//! | following it: events, progress, a stop, the table | `watch` |

mod contract;
mod send;
pub(crate) mod watch;

use std::collections::BTreeSet;
use std::path::Path;

use opal_core::duration::Duration;
use opal_core::hash::{Algorithm, Digest};
use opal_core::message::counted;
use opal_trust::keys::{Credentials, Runner, SigningKey};
use opal_trust::order::{MAX_SECONDS, Order, OrderId};
use opal_trust::policy::Settings;
use opal_vault::root::Root;
use serde_json::json;

use crate::bundle;
use crate::notice::{print, say};
use crate::options::Options;
use crate::pool::{self, Pool, unix_time};
use crate::runner::Ends;
use crate::server::connect;
use crate::trouble::Trouble;
use contract::Sent;

/// How long an order lasts unless `--end` says otherwise.
const END: &str = "24h";

pub(crate) async fn run(options: &Options) -> Result<u8, Trouble> {
    let root = options.root();
    let name = pool::named(options.text("pool"))?;
    let settings = Settings::load(root.path())?;
    let Some(runners) = settings.queue.pools.get(&name).cloned() else {
        let known = settings.queue.pools.into_keys().collect();
        return Err(Trouble::UnknownPool { pool: name, known });
    };
    let keys: BTreeSet<_> = runners.iter().map(|it| it.key).collect();
    if keys.len() != runners.len() {
        return Err(Trouble::DoubledRunner(name));
    }
    let file = options.path("file").unwrap_or_default();
    let sent = Sent::read(&file, unix_time())?;
    let end = ends(options.text("end").unwrap_or(END))?;
    let key = signing_key(&root, options.text("sign"))?;
    let reader = reader(&root)?;
    let (top, source) = bundle::project(&sent.source)?;
    let gathered = bundle::gather(&top, root.path())?;
    if !gathered.files.contains_key(&source) {
        return Err(bundle::BundleError::SourceLeftOut(source).into());
    }
    if let Some(words) = gathered.left_out() {
        say(&words);
    }
    let archive = bundle::write(&gathered.files);
    let now = unix_time();
    let order = Order {
        id: OrderId::draw(),
        contract: digest(&sent.bytes),
        approvals: sent.approvals.as_deref().map(digest),
        bundle: digest(&archive),
        source,
        pool: name.clone(),
        runners,
        dispatcher: reader.recipient(),
        made: now,
        end: now.saturating_add(end),
        once: sent.once,
        shares: sent.fleet.shares.clone(),
    };
    let line = order.sign(&key)?;
    let mut ends = Ends::new()?;
    let server = connect(options, &settings).await?;
    let pool = Pool::make(server, &name).await?;
    pool.check_clock(&order.id.to_string()).await?;
    // Whatever becomes of it, its name is known.
    announce(&order);
    let parts = send::Parts { pool: &pool, key: &key, order: &order, line: &line };
    let failed = tokio::select! {
        sent = parts.send(&sent, &archive) => sent.err(),
        () = ends.asked() => Some(Trouble::Interrupted),
    };
    if let Some(trouble) = failed {
        parts.undo().await;
        return Err(trouble);
    }
    if options.is("detach") {
        said(options, &order);
        return Ok(0);
    }
    watch::follow(options, &root, parts, &sent.fleet, &reader, ends).await
}

fn digest(bytes: &[u8]) -> Digest {
    Algorithm::Sha256.digest(&[bytes])
}

/// The key of this machine that events are sealed to.
pub(crate) fn reader(root: &Root) -> Result<Runner, Trouble> {
    let reader = Runner::of_machine(root)?;
    match reader.why_ephemeral() {
        Some(why) => Err(Trouble::NoLastingKey(why.to_owned())),
        None => Ok(reader),
    }
}

fn ends(text: &str) -> Result<i64, Trouble> {
    let wrong = || Trouble::End(text.to_owned());
    let time = Duration::parse(text).map_err(|_| wrong())?;
    let seconds = time.as_nanos() / 1_000_000_000;
    match (1..=MAX_SECONDS).contains(&seconds) {
        true => Ok(seconds),
        false => Err(wrong()),
    }
}

fn signing_key(root: &Root, named: Option<&str>) -> Result<SigningKey, Trouble> {
    let keys = Credentials::new(root);
    match named {
        Some(name) => Ok(keys.signing_key(name)?),
        None => keys.only_signing_key()?.ok_or(Trouble::NoSigningKey),
    }
}

fn announce(order: &Order) {
    let (id, pool) = (order.id, &order.pool);
    let targets = counted(order.targets().count(), "target");
    let shares = counted(order.shares.len(), "share");
    say(&format!(
        "order {id}: {targets} in {shares} to the pool `{pool}`\n  follow it anywhere: `opal runs tail {id} \
         --pool {pool}`"
    ));
}

fn said(options: &Options, order: &Order) {
    if options.is("json") {
        let (id, targets) = (order.id.to_string(), order.targets().count());
        print(&json!({"order": id, "pool": order.pool, "targets": targets}).to_string());
    }
}

/// The file beside a contract that has its approvals.
fn approvals(file: &Path) -> std::path::PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".approvals");
    name.into()
}
