//! The events of a run for another program: `--events FILE|-`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Shown;
use crate::event::{Event, Kind};
use opal_core::stream::Stream;

use super::header::{Ending, Header};
use super::{line, output};
use crate::vault::Vault;
use crate::witness::{Recorder, Unrecorded};

/// JSON Lines, the same objects as in a record, whole outputs included. Each line is one write.
///
/// A reader that has gone away does not end a run; a disk that is full does.
#[derive(Debug)]
pub struct Lines<W> {
    state: Mutex<State<W>>,
    trouble: OnceLock<io::Error>,
}

#[derive(Debug)]
struct State<W> {
    /// None where nobody reads any more.
    out: Option<W>,
    /// Characters whose rest has not been printed yet.
    begun: BTreeMap<(u64, Stream), Vec<u8>>,
}

impl<W: Write + Send> Lines<W> {
    pub fn new(out: W) -> Self {
        let state = State { out: Some(out), begun: BTreeMap::new() };
        Self { state: Mutex::new(state), trouble: OnceLock::new() }
    }

    pub fn start(&self, header: &Header<'_>, vault: &Vault) -> Result<(), Unrecorded> {
        self.write(|_| header.started(vault))
    }

    pub fn finish(&self, ending: &Ending<'_>) -> Result<(), Unrecorded> {
        self.write(|_| ending.finished())
    }

    /// Why it cannot be written.
    pub fn trouble(&self) -> Option<&io::Error> {
        self.trouble.get()
    }

    fn write(&self, lines: impl FnOnce(&mut State<W>) -> Vec<u8>) -> Result<(), Unrecorded> {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.trouble.get().is_some() {
            return Err(Unrecorded);
        }
        let lines = lines(state);
        let Some(out) = state.out.as_mut().filter(|_| !lines.is_empty()) else { return Ok(()) };
        match out.write_all(&lines).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                state.out = None;
                Ok(())
            }
            Err(error) => {
                let _ = self.trouble.set(error);
                Err(Unrecorded)
            }
        }
    }
}

impl<W: Write + Send> Recorder for Lines<W> {
    fn event(&self, event: &Event<'_>) -> Result<(), Unrecorded> {
        self.write(|state| {
            let mut lines = Vec::new();
            if let Kind::Finished(step) = &event.kind {
                for stream in [Stream::Stdout, Stream::Stderr] {
                    if let Some(rest) = state.begun.remove(&(step.number, stream)) {
                        lines.extend(line::output(step.number, stream, &rest));
                    }
                }
            }
            lines.extend(line::event(event));
            lines
        })
    }

    fn output(&self, number: u64, stream: Stream, bytes: &Shown<'_>) -> Result<(), Unrecorded> {
        self.write(|state| {
            let mut bytes = Cow::Borrowed(bytes.bytes());
            if let Some(mut begun) = state.begun.remove(&(number, stream)) {
                begun.extend_from_slice(&bytes);
                bytes = Cow::Owned(begun);
            }
            let (whole, begun) = bytes.split_at(output::whole(&bytes));
            if !begun.is_empty() {
                state.begun.insert((number, stream), begun.to_vec());
            }
            if whole.is_empty() { Vec::new() } else { line::output(number, stream, whole) }
        })
    }
}
