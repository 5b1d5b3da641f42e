//! Sending an order: everything sealed for the pool, then its first shares. What cannot be sent completely is
//! stopped.

use opal_core::hash::Digest;
use opal_trust::keys::{SigningKey, seal_to};
use opal_trust::messages::{Kind, Message};
use opal_trust::order::Order;
use serde_json::json;
use tokio::time::{Duration, timeout};

use super::contract::Sent;
use crate::counter::stop_name;
use crate::notice::say;
use crate::patience::persist;
use crate::pool::Pool;
use crate::report::{Reporter, readers};
use crate::runner::ShareTicket;
use crate::trouble::Trouble;

/// How long the server may be away while something is sent.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// An order, and where it goes.
#[derive(Clone, Copy)]
pub(super) struct Parts<'p> {
    pub(super) pool: &'p Pool,
    pub(super) key: &'p SigningKey,
    pub(super) order: &'p Order,
    /// The order, signed.
    pub(super) line: &'p str,
}

impl Parts<'_> {
    pub(super) async fn send(&self, sent: &Sent, archive: &[u8]) -> Result<(), Trouble> {
        let stored = self.store(self.line.as_bytes()).await?;
        let contract = self.store(&sent.bytes).await?;
        let approvals = match &sent.approvals {
            Some(approvals) => Some(self.store(approvals).await?),
            None => None,
        };
        let bundle = self.store(archive).await?;
        let ticket = ShareTicket::write(stored, contract, approvals, bundle);
        self.announce(sent, stored).await?;
        for share in self.order.batch(1) {
            let send = async || self.pool.send_share(self.order.id, share, &ticket).await;
            persist(PATIENCE, send).await?;
        }
        Ok(())
    }

    async fn store(&self, bytes: &[u8]) -> Result<Digest, Trouble> {
        let sealed = seal_to(bytes, &readers(self.order))
            .ok_or_else(|| Trouble::server("sealing the order", "no reader"))?;
        persist(PATIENCE, async || self.pool.store(&sealed).await).await
    }

    /// The first event: where the order is, for whoever follows it from elsewhere.
    async fn announce(&self, sent: &Sent, stored: Digest) -> Result<(), Trouble> {
        let fleet = &sent.fleet;
        let line = json!({"order": stored.hex(), "path": fleet.path, "tolerate": fleet.tolerate});
        let mut reporter = Reporter::new(self.pool.clone(), self.key.clone(), self.order, 0, 1);
        reporter.add(&json!({"dispatched": line})).await;
        let sent = timeout(PATIENCE, reporter.send()).await;
        sent.map_err(|_| Trouble::server("sending the order", "no answer"))
    }

    /// Stops an order that was not sent completely, and says so.
    pub(super) async fn undo(&self) {
        let id = self.order.id;
        match stop(self.pool, self.order, self.key, "it was not sent completely").await {
            true => say(&format!("order {id} is stopped: none of its targets starts")),
            false => say(&not_stopped(self.order)),
        }
    }
}

/// Tells all runners that no further target may start. Whether the queue took it.
pub(super) async fn stop(pool: &Pool, order: &Order, key: &SigningKey, why: &str) -> bool {
    let content = why.as_bytes().to_vec();
    let message =
        Message { kind: Kind::Stop, order: order.id, share: 0, attempt: 0, number: 1, content };
    let bytes = message.sign(key);
    let put = async || pool.claims.put(stop_name(order), bytes.clone().into()).await;
    persist(PATIENCE, put).await.is_ok()
}

pub(super) fn not_stopped(order: &Order) -> String {
    format!(
        "warning: the queue did not take the stop of order {}: its runners may go on until its end",
        order.id
    )
}
