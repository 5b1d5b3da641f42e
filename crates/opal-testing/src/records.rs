//! Records of runs, with the time held still.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opal_core::Value;
use opal_core::hash::Algorithm;
use opal_core::plan::Plan;
use opal_vault::event::{Counts, End, Finished, Started, Status};
use opal_vault::record::{Ending, Header, RunId};

use crate::shown;

static NO_ARGUMENTS: BTreeMap<String, Value> = BTreeMap::new();

/// So many seconds after noon.
#[must_use]
pub fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_744_000 + second)
}

/// A plan without steps.
#[must_use]
pub fn plan(target: &str) -> Plan {
    let source_hash = Algorithm::Sha256.digest(&[b"source"]);
    Plan::empty(target, Algorithm::Sha256, source_hash)
}

/// The run of `target` in `/srv/shop` that started in this second.
#[must_use]
pub fn header(target: &str, second: u64) -> Header<'_> {
    Header {
        id: RunId::new(at(second), [0, 0, 0, 1]),
        at: at(second),
        target,
        arguments: &NO_ARGUMENTS,
        algorithm: Algorithm::Sha256,
        plan_hash: Some(Algorithm::Sha256.digest(&[b"plan"])),
        refusal: None,
        contract: None,
        limit: None,
        drift: Vec::new(),
        directory: Some("/srv/shop".into()),
        place: Some(Algorithm::Sha256.digest(&[b"place"])),
        commit: Some("0123abc".into()),
        source: None,
        host: Some("host".into()),
        user: Some("user".into()),
        version: "0.1.0",
        pid: 7,
        trace_parent: None,
        is_round: false,
    }
}

/// A minute after noon.
#[must_use]
pub fn ending(status: Status, code: i32) -> Ending<'static> {
    Ending {
        at: at(60),
        took: Duration::from_millis(1500),
        status,
        code,
        counts: Counts::default(),
        failed: None,
        beside: Vec::new(),
        hidden: &[],
        resources: Vec::new(),
        fleets: &[],
        modified: None,
    }
}

/// A step `make all`.
#[must_use]
pub fn started(number: u64, path: &str) -> Started<'_> {
    Started {
        number,
        path,
        decorator: "@shell",
        attempt: 1,
        text: shown(b"make all"),
        is_block: false,
        speaks: false,
        branch: None,
    }
}

#[must_use]
pub fn finished(number: u64, path: &str, end: End, code: i32) -> Finished<'_> {
    Finished {
        number,
        path,
        decorator: "@shell",
        attempt: 1,
        took: Duration::from_micros(1234),
        code,
        end,
        is_block: false,
        passes_on: false,
        is_own_limit: false,
        late: None,
        message: None,
    }
}
