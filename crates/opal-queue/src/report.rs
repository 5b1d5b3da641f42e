//! What runners say about a share: JSON Lines, signed by the runner and sealed for those who may read them.
//!
//! | line | meaning |
//! |---|---|
//! | `{"dispatched": {"order", "path", "tolerate"}}` | the first line of an order, by who sent it |
//! | `{"taken": [NAMES]}` | a runner has the share |
//! | `{"start": [NAMES], "version": N}` | these targets may start; the counter has this version |
//! | `{"event": {…}}` | an event of the run's record |
//! | `{"ended": {"target", "status"}}` | a target has ended; with `version` where it failed |
//! | `{"result": {"exit", "targets"}}` | the share has ended: rows as in `targets.json` |
//! | `{"refused": {"code", "message"}}` | no runner can run the share |
//! | `{"declined": {"code", "message", "all"}}` | this runner cannot run the share, or any share of the order |
//! | `{"released": true}` | its runner has given the share back |

use async_nats::jetstream::message::PublishMessage;
use opal_core::hash::{Algorithm, Digest};
use opal_trust::keys::{PublicKey, Recipient, Runner, SigningKey, seal_to};
use opal_trust::messages::{Kind, MAX_BYTES, Message};
use opal_trust::order::{Order, OrderId};
use serde_json::{Value, json};

use crate::patience::PAUSE;
use crate::pool::{Pool, events};

/// Bytes of lines in one message: sealed, it must be smaller than what a server takes.
const MAX_LINES: usize = 512 * 1024;

/// Bytes of one line.
const MAX_LINE: usize = 900 * 1024;

/// What one runner says about one share.
pub(crate) struct Reporter {
    pool: Pool,
    key: SigningKey,
    recipients: Vec<Recipient>,
    order: OrderId,
    share: u32,
    attempt: u64,
    number: u64,
    lines: Vec<u8>,
    /// A message that the server may not have: its digest and its sealed bytes.
    unsent: Option<(Digest, Vec<u8>)>,
}

impl Reporter {
    pub(crate) fn new(
        pool: Pool,
        key: SigningKey,
        order: &Order,
        share: u32,
        attempt: u64,
    ) -> Self {
        let recipients = readers(order);
        Self {
            pool,
            key,
            recipients,
            order: order.id,
            share,
            attempt,
            number: 0,
            lines: Vec::new(),
            unsent: None,
        }
    }

    /// Adds a line, and sends what there is where it is enough.
    pub(crate) async fn add(&mut self, line: &Value) {
        let mut text = line.to_string();
        if text.len() > MAX_LINE {
            text = brief(line, text.len()).to_string();
        }
        if self.lines.len() + text.len() > MAX_LINES {
            self.send().await;
        }
        self.lines.extend(text.as_bytes());
        self.lines.push(b'\n');
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.unsent.is_none()
    }

    /// Sends what there is, and waits until the server has it, however long it is away. What is not waited for
    /// is sent the next time.
    pub(crate) async fn send(&mut self) {
        loop {
            if self.unsent.is_none() {
                self.seal();
            }
            let Some((digest, sealed)) = &self.unsent else { return };
            let message = PublishMessage::build()
                .payload(sealed.clone().into())
                // The server drops it where it was sent before, and only its answer was lost.
                .message_id(digest.hex());
            let stream = &self.pool.server.stream;
            let sent = stream.send_publish(events(self.order, self.share), message).await;
            if let Ok(acknowledged) = sent
                && acknowledged.await.is_ok()
            {
                self.unsent = None;
            } else {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Makes a message of the lines.
    fn seal(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        self.number += 1;
        let message = Message {
            kind: Kind::Event,
            order: self.order,
            share: self.share,
            attempt: self.attempt,
            number: self.number,
            content: std::mem::take(&mut self.lines),
        };
        let sealed = seal_to(&message.sign(&self.key), &self.recipients);
        self.unsent = sealed.map(|it| (Algorithm::Sha256.digest(&[&it]), it));
    }
}

/// What is sent in place of a line that is too long. How targets ended is never left out.
fn brief(line: &Value, length: usize) -> Value {
    let Some(rows) = line["result"]["targets"].as_array() else {
        return json!({ "omitted": length });
    };
    let row = |row: &Value| json!({"target": row["target"], "status": row["status"], "code": row["code"]});
    let rows: Vec<Value> = rows.iter().map(row).collect();
    json!({"result": {"exit": line["result"]["exit"], "targets": rows}})
}

/// Who may read what is said about an order.
pub(crate) fn readers(order: &Order) -> Vec<Recipient> {
    let mut all = vec![order.dispatcher.clone()];
    for runner in &order.runners {
        if !all.contains(&runner.recipient) {
            all.push(runner.recipient.clone());
        }
    }
    all
}

/// A message that was read.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) share: u32,
    pub(crate) attempt: u64,
    pub(crate) number: u64,
    pub(crate) by: PublicKey,
    pub(crate) lines: Vec<Value>,
}

/// Reads a message about an order; none where it is not signed, is about something else, or cannot be read.
pub(crate) fn read(sealed: &[u8], reader: &Runner, order: OrderId, share: u32) -> Option<Said> {
    let bytes = reader.unseal(sealed, MAX_BYTES).ok()?;
    let (message, by) = Message::open(&bytes, Kind::Event)?;
    if message.order != order || message.share != share {
        return None;
    }
    let text = String::from_utf8(message.content).ok()?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
    Some(Said { share, attempt: message.attempt, number: message.number, by, lines })
}
