//! The events of a run, one after the other.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek as _};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Unread, Unreadable};
use crate::record::EVENTS;
use opal_files::regular;

/// Bytes that a line may have.
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// How the writer begins a line with output that is text.
const OUTPUT_LINE: &[u8] = b"{\"kind\":\"output\",";

/// Reads events as far as they are written. A line that has only begun is none yet: asked again
/// later, this goes on where it was.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    file: BufReader<File>,
    begun: Vec<u8>,
    line: usize,
    /// Lines that were read before, up to this one.
    checked: usize,
}

impl Events {
    pub fn open(folder: &Path) -> Result<Self, Unreadable> {
        let path = folder.join(EVENTS);
        let file = regular::open(&path).map_err(|error| Unreadable::io(&path, error))?;
        Ok(Self { path, file: BufReader::new(file), begun: Vec::new(), line: 0, checked: 0 })
    }

    /// None where there is no further event now.
    pub fn next_event(&mut self) -> Result<Option<Value>, Unreadable> {
        if !self.read_line()? {
            return Ok(None);
        }
        self.line += 1;
        let event = serde_json::from_slice::<Value>(&self.begun).ok().filter(Value::is_object);
        self.begun.clear();
        event.map(Some).ok_or_else(|| self.malformed())
    }

    /// Begins again with the first event.
    pub(super) fn again(mut self) -> Result<Self, Unreadable> {
        self.file.rewind().map_err(|error| Unreadable::io(&self.path, error))?;
        self.begun.clear();
        self.checked = std::mem::take(&mut self.line);
        Ok(self)
    }

    /// The next event with this word somewhere.
    pub(super) fn next_with(&mut self, word: &Finder<'_>) -> Result<Option<Value>, Unreadable> {
        self.next_where(|line| word.find(line).is_some())
    }

    /// The next event that is not output, which most events are.
    pub(super) fn next_of_steps(&mut self) -> Result<Option<Value>, Unreadable> {
        self.next_where(|line| !line.starts_with(OUTPUT_LINE))
    }

    /// The next event whose line is meant. Of the others it is only checked that they are events.
    fn next_where(
        &mut self,
        is_meant: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Value>, Unreadable> {
        while self.read_line()? {
            self.line += 1;
            let is_meant = is_meant(&self.begun);
            let event = match is_meant {
                true => serde_json::from_slice::<Value>(&self.begun).ok().filter(Value::is_object),
                false => {
                    let is_event = self.line <= self.checked || is_object(&self.begun);
                    is_event.then_some(Value::Null)
                }
            };
            self.begun.clear();
            let event = event.ok_or_else(|| self.malformed())?;
            if is_meant {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn malformed(&self) -> Unreadable {
        Unreadable { path: self.path.clone(), why: Unread::Malformed { line: self.line } }
    }

    /// Whether there is a whole line now.
    fn read_line(&mut self) -> Result<bool, Unreadable> {
        loop {
            let available =
                self.file.fill_buf().map_err(|error| Unreadable::io(&self.path, error))?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', available);
            let length = end.map_or(available.len(), |end| end + 1);
            self.begun.extend_from_slice(&available[..length]);
            self.file.consume(length);
            if self.begun.len() > MAX_LINE_BYTES {
                return Err(Unreadable { path: self.path.clone(), why: Unread::TooLarge });
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// Whether a line is an object. To know that takes a fraction of the time of keeping it.
fn is_object(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

impl Iterator for Events {
    type Item = Result<Value, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}
