//! `opal dispatch`: sends a contract to a pool, and follows it.
//!
//! | what | where |
//! |---|---|
//! | whether a contract can be sent at all | `contract` |
//! | the order, and everything sealed in the queue | this file |
//! | following it: events, progress, a stop, the table | `watch` |

mod contract;
pub(crate) mod watch;

use std::path::Path;

use opal_core::duration::Duration;
use opal_core::hash::{Algorithm, Digest};
use opal_trust::keys::{Credentials, Runner, SigningKey, seal_to};
use opal_trust::order::{MAX_SECONDS, Order, OrderId};
use opal_trust::policy::Settings;
use opal_vault::root::Root;
use serde_json::json;

use crate::bundle;
use crate::notice::{print, say};
use crate::options::Options;
use crate::pool::{self, Pool, unix_time};
use crate::report::{Reporter, readers};
use crate::runner::ShareTicket;
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
    let file = options.path("file").unwrap_or_default();
    let sent = Sent::read(&file, unix_time())?;
    let end = ends(options.text("end").unwrap_or(END))?;
    let key = signing_key(&root, options.text("sign"))?;
    let reader = reader(&root)?;
    let (top, source) = bundle::project(&sent.source)?;
    let archive = bundle::write(&bundle::gather(&top)?);
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
    let server = connect(options, &settings).await?;
    let pool = Pool::make(server, &name).await?;
    pool.check_clock(&order.id.to_string()).await?;
    let (ticket, stored) = store(&pool, &order, &sent, &line, &archive).await?;
    announce(&pool, &key, &order, &sent, stored).await;
    for share in order.batch(1) {
        pool.send_share(order.id, share, &ticket).await?;
    }
    said(options, &order);
    if options.is("detach") {
        return Ok(0);
    }
    watch::follow(options, &root, pool, order, &sent.fleet, &reader, &key).await
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

/// Seals everything for the pool and stores it. Answers what a share's message says, and where the order is.
async fn store(
    pool: &Pool,
    order: &Order,
    sent: &Sent,
    line: &str,
    archive: &[u8],
) -> Result<(String, Digest), Trouble> {
    let readers = readers(order);
    let sealed = async |bytes: &[u8]| {
        let sealed = seal_to(bytes, &readers)
            .ok_or_else(|| Trouble::server("sealing the order", "no reader"))?;
        pool.store(&sealed).await
    };
    let stored = sealed(line.as_bytes()).await?;
    let contract = sealed(&sent.bytes).await?;
    let approvals = match &sent.approvals {
        Some(approvals) => Some(sealed(approvals).await?),
        None => None,
    };
    let bundle = sealed(archive).await?;
    Ok((ShareTicket::write(stored, contract, approvals, bundle), stored))
}

/// The first event: where the order is, for whoever follows it from elsewhere.
async fn announce(pool: &Pool, key: &SigningKey, order: &Order, sent: &Sent, stored: Digest) {
    let mut reporter = Reporter::new(pool.clone(), key.clone(), order, 0, 1);
    let fleet = &sent.fleet;
    reporter
        .add(&json!({"dispatched": {"order": stored.hex(), "path": fleet.path, "tolerate": fleet.tolerate}}))
        .await;
    reporter.send().await;
}

fn said(options: &Options, order: &Order) {
    let (id, pool) = (order.id, &order.pool);
    let targets = order.targets().count();
    if options.is("json") {
        if options.is("detach") {
            print(&json!({"order": id.to_string(), "pool": pool, "targets": targets}).to_string());
        }
        return;
    }
    say(&format!(
        "order {id}: {targets} targets in {} shares to the pool `{pool}`\n  follow it anywhere: `opal runs tail {id} \
         --pool {pool}`",
        order.shares.len()
    ));
}

/// The file beside a contract that has its approvals.
fn approvals(file: &Path) -> std::path::PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".approvals");
    name.into()
}
