//! A root of its own, and runs in it with the time held still.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use opal_core::stream::Stream;
use opal_core::view::PlanView;
pub(crate) use opal_testing::records::{at, ending, header, plan};
use opal_testing::{records, shown};
use opal_vault::Vault;
use opal_vault::event::{End, Event, Kind, Status};
use opal_vault::record::reader::{self, Run};
use opal_vault::record::{Ending, Header, Writer};
use opal_vault::root::Root;
use opal_vault::witness::Recorder;
use tempfile::TempDir;

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

pub(crate) fn done() -> Ending<'static> {
    ending(Status::Executed, 0)
}

pub(crate) fn started(number: u64, path: &str) -> Event<'_> {
    Event {
        at: at(number),
        target: None,
        alike: None,
        kind: Kind::Started(records::started(number, path)),
    }
}

pub(crate) fn finished(number: u64, path: &str, end: End, code: i32) -> Event<'_> {
    Event {
        at: at(number),
        target: None,
        alike: None,
        kind: Kind::Finished(records::finished(number, path, end, code)),
    }
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
