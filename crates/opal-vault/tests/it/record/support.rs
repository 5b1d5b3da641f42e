//! A root of its own, and runs in it with the time held still.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opal_core::Value;
use opal_core::hash::Algorithm;
use opal_core::plan::{Mode, Plan, Target};
use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_testing::shown;
use opal_vault::Vault;
use opal_vault::event::{Counts, End, Event, Finished, Kind, Started, Status};
use opal_vault::record::reader::{self, Run};
use opal_vault::record::{Ending, Header, RunId, Writer};
use opal_vault::root::Root;
use opal_vault::witness::Recorder;
use tempfile::TempDir;

pub(crate) static NO_ARGUMENTS: BTreeMap<String, Value> = BTreeMap::new();

/// Knows nothing.
pub(crate) static VAULT: LazyLock<Vault> = LazyLock::new(Vault::new);

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) root: Root,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path().join("root"));
        Self { folder, root }
    }

    /// The run of `target` that started this many seconds after noon.
    pub(crate) fn writer<'a>(&self, target: &'a str, second: u64) -> Writer<'a> {
        self.writer_of(header(target, second))
    }

    pub(crate) fn writer_of<'a>(&self, header: Header<'a>) -> Writer<'a> {
        let plan = plan(header.target);
        let view = PlanView::new(&plan, plan.source_hash);
        Writer::create(&self.root, header, &view, &VAULT, false).unwrap()
    }

    pub(crate) fn target(&self, target: &str) -> PathBuf {
        self.root.path().join("logs/run").join(target)
    }

    /// The names of what is in the folder of a target, sorted.
    pub(crate) fn names(&self, target: &str) -> Vec<String> {
        names(&self.target(target))
    }

    /// The newest run.
    pub(crate) fn last(&self) -> Run {
        Run::load(&reader::list(&self.root).unwrap()[0]).unwrap()
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn at(second: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_794_744_000 + second)
}

pub(crate) fn header(target: &str, second: u64) -> Header<'_> {
    let digest = Algorithm::Sha256.digest(&[b"plan"]);
    Header {
        id: RunId::new(at(second), [0, 0, 0, 1]),
        at: at(second),
        target,
        arguments: &NO_ARGUMENTS,
        algorithm: Algorithm::Sha256,
        plan_hash: Some(digest),
        refusal: None,
        contract: None,
        drift: Vec::new(),
        directory: Some("/srv/shop".into()),
        place: Some(Algorithm::Sha256.digest(&[b"place"])),
        commit: Some("0123abc".into()),
        source: None,
        host: Some("host".into()),
        user: Some("user".into()),
        version: "0.1.0",
        pid: 7,
    }
}

pub(crate) fn plan(target: &str) -> Plan {
    Plan {
        target: Target { name: target.into(), arguments: BTreeMap::new() },
        mode: Mode::Resolved,
        algorithm: Algorithm::Sha256,
        source_hash: Algorithm::Sha256.digest(&[b"source"]),
        steps: Vec::new(),
        values: BTreeMap::new(),
        deferred: Vec::new(),
        reads: Vec::new(),
    }
}

pub(crate) fn ending(status: Status, code: i32) -> Ending<'static> {
    let took = Duration::from_millis(1500);
    Ending {
        at: at(60),
        took,
        status,
        code,
        counts: Counts::default(),
        failed: None,
        beside: Vec::new(),
        hidden: &[],
        resources: Vec::new(),
        modified: None,
    }
}

pub(crate) fn done() -> Ending<'static> {
    ending(Status::Executed, 0)
}

pub(crate) fn started(number: u64, path: &str) -> Event<'_> {
    let text = shown(b"make all");
    let step = Started {
        number,
        path,
        decorator: "@shell",
        attempt: 1,
        text,
        is_block: false,
        speaks: false,
        branch: None,
    };
    Event { at: at(number), kind: Kind::Started(step) }
}

pub(crate) fn finished(number: u64, path: &str, end: End, code: i32) -> Event<'_> {
    let step = Finished {
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
    };
    Event { at: at(number), kind: Kind::Finished(step) }
}

/// A step that prints and succeeds.
pub(crate) fn step(recorder: &dyn Recorder, number: u64, path: &str, prints: &[u8]) {
    recorder.event(&started(number, path)).unwrap();
    print(recorder, number, prints);
    recorder.event(&finished(number, path, End::Done, 0)).unwrap();
}

pub(crate) fn print(recorder: &dyn Recorder, number: u64, bytes: &[u8]) {
    if !bytes.is_empty() {
        recorder.output(number, Stream::Stdout, &shown(bytes)).unwrap();
    }
}

/// The events as JSON; a line that has only begun is none.
pub(crate) fn events(folder: &Path) -> Vec<serde_json::Value> {
    reader::Events::open(folder).unwrap().map(|event| event.unwrap()).collect()
}

/// Everything that the step with this number printed.
pub(crate) fn printed(folder: &Path, number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for printed in reader::Outputs::open(folder, Some(number)).unwrap() {
        printed.unwrap().read().unwrap().read_to_end(&mut bytes).unwrap();
    }
    bytes
}
