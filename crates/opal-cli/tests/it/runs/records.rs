//! Records that no run of the binary leaves behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opal_core::Value;
use opal_core::hash::Algorithm;
use opal_core::plan::{Mode, Plan, Target};
use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_testing::shown;
use opal_vault::Vault;
use opal_vault::event::{End, Event, Finished, Kind, Started};
use opal_vault::record::{Header, RunId, Writer};
use opal_vault::root::Root;
use opal_vault::witness::Recorder;

static NO_ARGUMENTS: BTreeMap<String, Value> = BTreeMap::new();
static VAULT: LazyLock<Vault> = LazyLock::new(Vault::new);

/// A run that goes on until it is dropped, and then has crashed.
pub(super) struct Kept<'a>(Writer<'a>);

/// Begins a run of `target`, this many seconds after noon.
pub(super) fn keep<'a>(root: &Path, target: &'a str, second: u64) -> Kept<'a> {
    let plan_hash = Algorithm::Sha256.digest(&[]);
    let plan = Plan {
        target: Target { name: target.into(), arguments: BTreeMap::new() },
        mode: Mode::Resolved,
        algorithm: Algorithm::Sha256,
        source_hash: plan_hash,
        steps: Vec::new(),
        values: BTreeMap::new(),
        deferred: Vec::new(),
        reads: Vec::new(),
    };
    let header = Header {
        id: RunId::new(at(second), [0; 4]),
        at: at(second),
        target,
        arguments: &NO_ARGUMENTS,
        algorithm: Algorithm::Sha256,
        plan_hash: Some(plan_hash),
        refusal: None,
        contract: None,
        drift: Vec::new(),
        directory: None,
        place: None,
        commit: None,
        source: None,
        host: None,
        user: None,
        version: "0.1.0",
        pid: 1,
    };
    let view = PlanView::new(&plan, plan_hash);
    Kept(Writer::create(&Root::new(root), header, &view, &VAULT, false).unwrap())
}

fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_744_000 + second)
}

impl Kept<'_> {
    pub(super) fn start(&self, number: u64, path: &str) {
        let text = shown(b"echo \x1b");
        let started = Started {
            number,
            path,
            decorator: "@shell",
            attempt: 1,
            text,
            is_block: false,
            speaks: false,
            branch: None,
        };
        self.0.event(&Event { at: at(number), kind: Kind::Started(started) }).unwrap();
    }

    /// A step that prints and succeeds.
    pub(super) fn step(&self, number: u64, path: &str, prints: &[u8]) {
        self.start(number, path);
        self.0.output(number, Stream::Stdout, &shown(prints)).unwrap();
        let finished = Finished {
            number,
            path,
            decorator: "@shell",
            attempt: 1,
            took: Duration::from_millis(2),
            code: 0,
            end: End::Done,
            is_block: false,
            passes_on: false,
            is_own_limit: false,
            late: None,
            message: None,
        };
        self.0.event(&Event { at: at(number), kind: Kind::Finished(finished) }).unwrap();
    }
}
