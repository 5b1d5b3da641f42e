//! A run that is acted: events go in, bytes come out.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opal_core::stream::Stream;
use opal_testing::{records, shown};
use opal_vault::event::{Branch, Counts, End, Event, Finished, Kind, Started, Status};
use opal_vault::witness::Audience;

use crate::view::ink::Ink;
use crate::view::run::screen::{Screen, Terminal};
use crate::view::run::{Failed, Live, Report, Style, Talk};

/// What was written, in order: `>` before what went to standard output.
#[derive(Clone, Debug, Default)]
pub(super) struct Paper(pub(super) Arc<Mutex<Vec<u8>>>);

pub(super) struct Pen(Paper, &'static str);

impl Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut paper = self.0.0.lock().unwrap();
        paper.extend(self.1.as_bytes());
        paper.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    pub(super) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap())).unwrap()
    }
}

pub(super) const PLAIN: Style = Style {
    talk: Talk::Usual,
    timings: false,
    ink: Ink::new(false),
    stdout_is_json: false,
    stdout_is_terminal: false,
    stderr_is_terminal: false,
    github: false,
    counts_branches: true,
};
pub(super) const VERBOSE: Style = Style { talk: Talk::Verbose, ..PLAIN };
pub(super) const QUIET: Style = Style { talk: Talk::Quiet, ..PLAIN };
pub(super) const TERMINAL: Style =
    Style { stdout_is_terminal: true, stderr_is_terminal: true, ..PLAIN };

/// A run that is acted, not run.
pub(super) struct Play {
    pub(super) live: Live,
    pub(super) paper: Paper,
    pub(super) number: u64,
    pub(super) is_raw: Arc<AtomicBool>,
    pub(super) branch: Option<Branch>,
}

/// A terminal of 20 columns.
pub(super) struct Narrow(Arc<AtomicBool>);

impl Terminal for Narrow {
    fn columns(&self) -> usize {
        20
    }

    fn is_raw(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Play {
    pub(super) fn new(style: Style) -> Self {
        let paper = Paper::default();
        let out = Box::new(Pen(paper.clone(), ">"));
        let err = Box::new(Pen(paper.clone(), ""));
        let is_raw = Arc::new(AtomicBool::new(false));
        let terminal = || Box::new(Narrow(is_raw.clone())) as Box<dyn Terminal>;
        let terminal = style.stderr_is_terminal.then(terminal);
        let shared = style.stdout_is_terminal && style.stderr_is_terminal;
        let live = Live::on(style, Screen::new(out, err, terminal, shared));
        Self { live, paper, number: 0, is_raw, branch: None }
    }

    pub(super) fn tell(&self, kind: Kind<'_>) {
        self.live.event(&Event { at: crate::clock::now(), target: None, alike: None, kind });
    }

    pub(super) fn start_as(
        &mut self,
        decorator: &str,
        path: &str,
        text: &str,
        is_block: bool,
    ) -> u64 {
        self.number += 1;
        let number = self.number;
        let branch = self.branch.clone();
        self.tell(Kind::Started(Started {
            decorator,
            text: shown(text),
            is_block,
            speaks: decorator == "@log",
            branch,
            ..records::started(number, path)
        }));
        number
    }

    pub(super) fn start(&mut self, path: &str, text: &str) -> u64 {
        self.start_as("@shell", path, text, false)
    }

    pub(super) fn print(&self, number: u64, stream: Stream, text: &str) {
        self.live.output(number, stream, &shown(text)).unwrap();
    }

    pub(super) fn end(&self, number: u64, path: &str, code: i32, message: Option<&str>) {
        let end = if code == 0 { End::Done } else { End::Failed };
        self.tell(Kind::Finished(Finished {
            took: Duration::from_millis(number * 1_200),
            message: message.map(shown),
            ..records::finished(number, path, end, code)
        }));
    }

    pub(super) fn finish(&self, status: Status, failed: Option<Failed<'_>>) -> String {
        self.live.finish(&Report {
            status,
            code: failed.as_ref().map_or(0, |failed| failed.code),
            took: Duration::from_millis(2_345),
            steps: Counts { done: 4, failed: failed.iter().count() as u64, ..Counts::default() },
            resumption: None,
            fleets: &[],
            resume: failed.is_some().then_some("opal deploy --resume"),
            is_resume_hidden: false,
            failed,
            beside: Vec::new(),
            hidden: &[],
            more: 0,
            late: &[],
            record: Some(Path::new("/r/run-1")),
        });
        self.paper.take()
    }
}

pub(super) fn failed(number: u64, path: &str, code: i32) -> Failed<'_> {
    Failed {
        number: Some(number),
        id: None,
        path,
        decorator: "@shell",
        code,
        text: "npm test --token 🔒 opal:v:abc\n  --all".to_owned(),
        message: None,
        help: Vec::new(),
        place: Some(("a,b:c.opl".to_owned(), 7)),
    }
}
