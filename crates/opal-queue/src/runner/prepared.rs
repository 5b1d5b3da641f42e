//! An order that this runner accepts, with its contract and sources. Everything is checked before anything is
//! unpacked or planned, because planning may run programs of the sources.

use std::sync::Arc;

use opal_core::contract::{self, Contract, Frame};
use opal_core::hash::{Algorithm, Digest};
use opal_trust::contracts::{self, Unopened};
use opal_trust::keys::{OpenError, PublicKey};
use opal_trust::order::{MAX_BYTES as MAX_ORDER, Opened, Order, OrderId};
use opal_trust::policy::{Facts, Refusal as PolicyRefusal, Signature};
use opal_vault::record::Reason;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::desk::Desk;
use super::outcome::PAST_END;
use super::refusal::{Reach, Refusal};
use super::seen;
use crate::bundle::{self, Files, MAX_PACKED};
use crate::counter::Tally;
use crate::fleet::Fleet;
use crate::pool::unix_time;

/// What sealing adds at most: a stanza for each reader, and a tag for each 64 KiB.
const SEAL: usize = 1 << 20;

/// Bytes of approvals.
const MAX_APPROVALS: usize = 16 << 20;

/// An order with everything that its shares need.
pub(crate) struct Prepared {
    pub(crate) order: Order,
    pub(crate) signer: PublicKey,
    pub(crate) parts: Arc<Parts>,
    /// What the message of each of its shares says.
    pub(crate) ticket: Vec<u8>,
    pub(crate) tally: Tally,
}

/// What is in the directory of each share.
pub(crate) struct Parts {
    /// The order, signed.
    pub(crate) line: Vec<u8>,
    pub(crate) contract: Vec<u8>,
    pub(crate) approvals: Option<Vec<u8>>,
    pub(crate) files: Files,
}

impl Prepared {
    /// Why a share of this order is not run. Who sent the order hears it.
    pub(crate) fn refuse(&self, message: &str) -> Refusal {
        Refusal::damaged(message).about(&self.order).recorded()
    }

    /// Whether no further target may start.
    pub(crate) fn is_past_end(&self) -> bool {
        unix_time() >= self.order.end
    }
}

/// Where the parts of an order are: what a share's message says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    order: Digest,
    contract: Digest,
    approvals: Option<Digest>,
    bundle: Digest,
}

impl Ticket {
    pub(crate) fn write(
        order: Digest,
        contract: Digest,
        approvals: Option<Digest>,
        bundle: Digest,
    ) -> String {
        let approvals = approvals.map(|it| it.hex());
        json!({"approvals": approvals, "bundle": bundle.hex(), "contract": contract.hex(), "order": order.hex()})
            .to_string()
    }

    fn payload(&self) -> Vec<u8> {
        Self::write(self.order, self.contract, self.approvals, self.bundle).into_bytes()
    }

    pub(crate) fn read(payload: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(payload).ok()?;
        let digest = |name: &str| value[name].as_str().and_then(Digest::parse);
        let approvals = match &value["approvals"] {
            Value::Null => None,
            _ => Some(digest("approvals")?),
        };
        Some(Self {
            order: digest("order")?,
            contract: digest("contract")?,
            approvals,
            bundle: digest("bundle")?,
        })
    }
}

/// The order that a share's message names.
pub(crate) async fn prepare(
    desk: &Desk,
    id: OrderId,
    ticket: &Ticket,
) -> Result<Prepared, Refusal> {
    let line = fetch(desk, ticket.order, MAX_ORDER, "the order").await?;
    let opened = Order::open(&line, &desk.dispatchers, unix_time());
    let opened = opened.map_err(|refused| {
        use opal_trust::order::Refused::{Ended, InTheFuture, NotAllowed};
        let reach = match refused {
            NotAllowed(_) | InTheFuture { .. } => Reach::ThisRunner,
            _ => Reach::Everybody,
        };
        let code = match refused {
            Ended { .. } => PAST_END,
            _ if refused.is_trust() => 77,
            _ => 76,
        };
        // Who has signed it hears why, whoever that is.
        let order = Order::signed_by(&line).ok().filter(|(it, _)| it.id == id);
        let order = order.map(|(order, _)| order.into());
        Refusal { code, reach, order, ..Refusal::damaged(refused.to_string()) }
    })?;
    let known = opened.order.clone();
    let parts = parts(desk, id, ticket, opened, line).await;
    parts.map_err(|refusal| refusal.about(&known).recorded())
}

/// The contract and the sources of an order whose signature holds.
async fn parts(
    desk: &Desk,
    id: OrderId,
    ticket: &Ticket,
    opened: Opened,
    line: Vec<u8>,
) -> Result<Prepared, Refusal> {
    let order = opened.order;
    if order.id != id || order.pool != desk.pool.name {
        return Err(Refusal::damaged(
            "the share is of another order or pool than its message says",
        ));
    }
    let (key, recipient) = (desk.key.public(), desk.runner.recipient());
    if !order.runners.iter().any(|it| it.key == key && it.recipient == recipient) {
        return Err(Refusal::not_here(76, "the order is for other runners of the pool"));
    }
    let contract = fetch(desk, ticket.contract, contract::MAX_BYTES, "the contract").await?;
    same(&contract, order.contract, "the contract")?;
    let fleet = accepted(desk, &order, &contract)?;
    let approvals = match (ticket.approvals, order.approvals) {
        (Some(name), Some(digest)) => {
            let bytes = fetch(desk, name, MAX_APPROVALS, "the approvals").await?;
            same(&bytes, digest, "the approvals")?;
            Some(bytes)
        }
        (None, None) => None,
        _ => return Err(Refusal::damaged("the approvals are not those of the order")),
    };
    let archive = fetch(desk, ticket.bundle, MAX_PACKED, "the sources").await?;
    same(&archive, order.bundle, "the sources")?;
    // The claims of other shares are renewed meanwhile.
    let files = spawn_blocking(move || bundle::read(&archive)).await;
    let files = files.map_err(|error| Refusal::not_here(70, error.to_string()))?;
    let files = files.map_err(|error| Refusal::damaged(error.to_string()))?;
    if !files.contains_key(&order.source) {
        return Err(Refusal::damaged("the source of the contract is not among its files"));
    }
    if order.once {
        seen::check(&desk.root, order.contract, order.id)?;
    }
    let tally = Tally::new(desk.pool.clone(), desk.key.clone(), order.clone(), fleet.tolerate);
    let ticket = ticket.payload();
    let parts = Arc::new(Parts { line, contract, approvals, files });
    Ok(Prepared { signer: opened.signer, parts, ticket, tally, order })
}

/// Sealed bytes of the queue, opened. They must be the ones that the message names.
async fn fetch(desk: &Desk, name: Digest, most: usize, what: &str) -> Result<Vec<u8>, Refusal> {
    let sealed = desk.pool.load(name, most + SEAL).await.map_err(|it| Refusal::away(&it))?;
    let sealed =
        sealed.ok_or_else(|| Refusal::damaged(format!("{what} in the queue is damaged")))?;
    match desk.runner.unseal(&sealed, most) {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(OpenError::NotARecipient) => {
            let refusal = Refusal::not_here(76, format!("{what} is not sealed to this runner"));
            Err(refusal.because(Reason::NotSealed))
        }
        Err(_) => Err(Refusal::damaged(format!("{what} in the queue is damaged"))),
    }
}

fn same(bytes: &[u8], digest: Digest, what: &str) -> Result<(), Refusal> {
    match Algorithm::Sha256.digest(&[bytes]) == digest {
        true => Ok(()),
        false => Err(Refusal::damaged(format!("{what} is not what the order names"))),
    }
}

/// The fleet of a contract that is sealed to this runner, signed as its policy demands, and divided as the
/// order says.
fn accepted(desk: &Desk, order: &Order, bytes: &[u8]) -> Result<Fleet, Refusal> {
    let opened = contracts::open(bytes, &desk.runner).map_err(|why| match why {
        Unopened::Envelope(OpenError::NotARecipient) => {
            Refusal::not_here(76, "the contract is not sealed to this runner")
                .because(Reason::NotSealed)
        }
        Unopened::Signature(_) => Refusal {
            code: 77,
            ..Refusal::damaged("the signature of the contract does not match it")
        },
        _ => Refusal::damaged("the contract is damaged"),
    })?;
    judge(desk, bytes, &opened.contract)?;
    let made = opened.contract.provenance();
    if made.expires.is_some_and(|end| unix_time() >= end) {
        return Err(Refusal::damaged("the contract has expired").because(Reason::Expired));
    }
    if made.once != order.once {
        return Err(Refusal::damaged("contract and order differ in whether it runs once"));
    }
    let fleet = Fleet::of(&opened.contract).map_err(|error| Refusal::damaged(error.to_string()))?;
    match fleet.shares == order.shares {
        true => Ok(fleet),
        false => {
            Err(Refusal::damaged("the shares of the order are not the targets of the contract"))
        }
    }
}

/// What the policy of this machine says about who made it.
fn judge(desk: &Desk, bytes: &[u8], contract: &Contract) -> Result<(), Refusal> {
    let frame = Frame::read(bytes).map_err(|_| Refusal::damaged("the contract is damaged"))?;
    let by = contract.provenance().signer.map(PublicKey::from_bytes);
    let signature = frame.ed25519().map(|(bytes, signed)| Signature { bytes, signed, by });
    let expires = contract.provenance().expires.is_some();
    let facts = Facts { signature, made: contract.created(), expires };
    desk.policy.judge(&facts, unix_time()).map_err(|all| {
        let is_trust = all.iter().any(|it| {
            use PolicyRefusal::{BadSignature, NotSigned, NotTrusted};
            matches!(it, NotSigned | BadSignature | NotTrusted { .. })
        });
        let message = all.first().map(ToString::to_string).unwrap_or_default();
        Refusal::not_here(if is_trust { 77 } else { 76 }, message).because(Reason::NotTrusted)
    })
}
