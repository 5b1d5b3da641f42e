//! The record of a contract that this runner refuses before it starts `opal run`, which keeps its own. Whose order
//! nobody trusts leaves none: whoever owns the queue could fill the disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use opal_core::hash::Algorithm;
use opal_trust::order::Order;
use opal_vault::event::{Counts, Status};
use opal_vault::record::{self, Contract, Ending, Header, Reason, RunId};
use opal_vault::root::Root;

use crate::notice::say;

/// Why a contract was not run.
pub(super) struct Why<'w> {
    pub(super) code: u8,
    pub(super) reason: Reason,
    pub(super) message: &'w str,
}

/// Keeps it. That it cannot be kept changes nothing.
pub(super) fn record(root: &Root, order: &Order, why: &Why<'_>) {
    let at = SystemTime::from(jiff::Timestamp::now());
    let arguments = BTreeMap::new();
    let source = Path::new(&order.source).file_name().and_then(|it| it.to_str());
    let header = Header {
        id: RunId::new(at, opal_trust::keys::name()),
        at,
        target: source.unwrap_or("contract"),
        arguments: &arguments,
        algorithm: Algorithm::Sha256,
        plan_hash: None,
        limit: None,
        contract: Some(Contract::new(order.contract, format!("order {}", order.id))),
        drift: Vec::new(),
        refusal: Some(record::Refusal { reason: why.reason, message: why.message.to_owned() }),
        directory: None,
        place: None,
        commit: None,
        source: None,
        host: None,
        user: None,
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        trace_parent: None,
        is_round: false,
    };
    let ending = Ending {
        at,
        took: Duration::ZERO,
        status: Status::Refused,
        code: i32::from(why.code),
        counts: Counts::default(),
        failed: None,
        beside: Vec::new(),
        hidden: &[],
        resources: Vec::new(),
        fleets: &[],
        modified: None,
    };
    if let Err(unwritten) = record::refused(root, header, &ending) {
        say(&format!("opal runner: {unwritten}"));
    }
}
