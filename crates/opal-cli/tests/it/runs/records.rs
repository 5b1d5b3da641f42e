//! Records that no run of the binary leaves behind.

use std::path::Path;
use std::sync::LazyLock;

use opal_core::stream::Stream;
use opal_core::view::PlanView;
use opal_testing::records::{self, at};
use opal_testing::shown;
use opal_vault::Vault;
use opal_vault::event::{End, Event, Kind, Started};
use opal_vault::record::{Header, Writer};
use opal_vault::root::Root;
use opal_vault::witness::Recorder;

static VAULT: LazyLock<Vault> = LazyLock::new(Vault::new);

/// A run that goes on until it is dropped, and then has crashed.
pub(super) struct Kept<'a>(Writer<'a>);

/// Begins a run of `target`, this many seconds after noon.
pub(super) fn keep<'a>(root: &Path, target: &'a str, second: u64) -> Kept<'a> {
    let plan = records::plan(target);
    let header = Header { directory: None, place: None, ..records::header(target, second) };
    let view = PlanView::new(&plan, plan.source_hash);
    Kept(Writer::create(&Root::new(root), header, &view, &VAULT, false).unwrap())
}

impl Kept<'_> {
    pub(super) fn start(&self, number: u64, path: &str) {
        let text = shown(b"echo \x1b");
        let started = Started { text, ..records::started(number, path) };
        self.0
            .event(&Event {
                at: at(number),
                target: None,
                alike: None,
                kind: Kind::Started(started),
            })
            .unwrap();
    }

    /// A step that prints and succeeds.
    pub(super) fn step(&self, number: u64, path: &str, prints: &[u8]) {
        self.start(number, path);
        self.0.output(number, Stream::Stdout, &shown(prints)).unwrap();
        let finished = records::finished(number, path, End::Done, 0);
        self.0
            .event(&Event {
                at: at(number),
                target: None,
                alike: None,
                kind: Kind::Finished(finished),
            })
            .unwrap();
    }
}
