//! Whether two sections are equal.
//!
//! The digest has, for each path in order: what opal says about the step, and each stream as a whole.
//! Times and numbers are not in it. Neither is the order between the two streams, which depends on the
//! moment at which two pipes are read.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use crate::event::Kind;
use opal_core::action::ObjectNews;
use opal_core::stream::Stream;

#[derive(Debug, Default)]
pub(super) struct Digests<'p> {
    steps: BTreeMap<&'p str, Step>,
    /// The paths of steps that have started, by their numbers.
    numbers: BTreeMap<u64, &'p str>,
}

#[derive(Debug, Default)]
struct Step {
    events: Sha256,
    streams: [Sha256; 2],
}

impl<'p> Digests<'p> {
    /// Whether it has a start of this step.
    pub(super) fn has(&self, path: &str) -> bool {
        self.numbers.values().any(|it| *it == path)
    }

    pub(super) fn event(&mut self, kind: &Kind<'p>) {
        if let Kind::Started(started) = kind {
            self.numbers.insert(started.number, started.path);
        }
        let events = &mut self.steps.entry(kind.path().unwrap_or_default()).or_default().events;
        let mut field = |bytes: &[u8]| {
            events.update((bytes.len() as u64).to_le_bytes());
            events.update(bytes);
        };
        match kind {
            Kind::Started(started) => {
                field(b"started");
                field(started.text.bytes());
            }
            Kind::Finished(finished) => {
                field(finished.end.name().as_bytes());
                field(&finished.code.to_le_bytes());
                field(finished.message.as_ref().map_or(b"", |message| message.bytes()));
            }
            Kind::Skipped { why, .. } => {
                field(b"skipped");
                field(why.as_ref().map_or(b"", |why| why.bytes()));
            }
            Kind::Retrying { attempt, of, code, .. } => {
                field(b"retrying");
                field(&attempt.to_le_bytes());
                field(&of.to_le_bytes());
                field(&code.to_le_bytes());
            }
            Kind::Caught { code, .. } => {
                field(b"caught");
                field(&code.to_le_bytes());
            }
            Kind::Log { level, message, .. } => {
                field(format!("{level:?}").as_bytes());
                field(message.bytes());
            }
            Kind::Verified { status, message, details, .. } => {
                field(status.name().as_bytes());
                field(message.bytes());
                field(details.as_ref().map(|it| it.text()).unwrap_or_default().as_bytes());
            }
            Kind::Undone { message, .. } => {
                field(b"undone");
                field(message.bytes());
            }
            Kind::Object { identity, news, .. } => {
                field(match news {
                    ObjectNews::Intended(_) => &b"intended"[..],
                    ObjectNews::Made => b"object",
                    ObjectNews::Adopted => b"adopted",
                });
                field(identity.as_ref().map(|it| it.text()).unwrap_or_default().as_bytes());
            }
            Kind::CleaningUp { .. }
            | Kind::Opened { .. }
            | Kind::Closed { .. }
            | Kind::Fleet { .. }
            | Kind::TargetEnded { .. }
            | Kind::Targets { .. }
            | Kind::Branches { .. } => field(b"other"),
        }
    }

    pub(super) fn output(&mut self, number: u64, stream: Stream, bytes: &[u8]) {
        let path = self.numbers.get(&number).copied().unwrap_or_default();
        let streams = &mut self.steps.entry(path).or_default().streams;
        streams[usize::from(stream == Stream::Stderr)].update(bytes);
    }

    pub(super) fn finish(self) -> [u8; 32] {
        let mut all = Sha256::new();
        for (path, Step { events, streams: [stdout, stderr] }) in self.steps {
            all.update((path.len() as u64).to_le_bytes());
            all.update(path);
            for part in [events, stdout, stderr] {
                all.update(part.finalize());
            }
        }
        all.finalize().into()
    }
}
