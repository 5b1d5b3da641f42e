//! What steps printed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding as _};
use memchr::memmem::Finder;
use serde_json::Value;

use super::{Events, Unreadable};
use crate::record::output::{self, HALF_BYTES};
use crate::record::ring;
use opal_files::regular;

/// Something that a step printed, as an event tells of it.
#[derive(Debug)]
pub enum Printed {
    Bytes {
        number: u64,
        bytes: Vec<u8>,
    },
    /// The whole output of the step is in this file, what was reported before included.
    File {
        number: u64,
        path: PathBuf,
        /// How many bytes the file lacks in its middle. Known once the step has ended.
        left_out: Option<u64>,
    },
}

impl Printed {
    /// None where the event is another one.
    #[must_use]
    pub fn of(event: &Value, folder: &Path) -> Option<Self> {
        if event["kind"] != "output" {
            return None;
        }
        let number = event["number"].as_u64()?;
        if event["file"].is_string() {
            // By its number, not by what the line says: a record names no other file.
            let path = folder.join(output::file_name(number));
            return Some(Self::File { number, path, left_out: event["left_out"].as_u64() });
        }
        let bytes = match event["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => Base64::decode_vec(event["base64"].as_str()?).ok()?,
        };
        Some(Self::Bytes { number, bytes })
    }

    /// What it is, from the beginning.
    pub fn read(self) -> Result<Box<dyn Read>, Unreadable> {
        match self {
            Self::Bytes { bytes, .. } => Ok(Box::new(io::Cursor::new(bytes))),
            Self::File { path, .. } => open(&path).map_err(|error| Unreadable::io(&path, error)),
        }
    }

    #[must_use]
    pub const fn number(&self) -> u64 {
        match self {
            Self::Bytes { number, .. } | Self::File { number, .. } => *number,
        }
    }
}

/// Opens the output that has a file of its own. That of a step which is still running, or was
/// killed, is put together from its parts.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = regular::open(path)?;
    let Some(last) = ring::read(path, 0)? else { return Ok(Box::new(file)) };
    let first = file.take(HALF_BYTES);
    let last_bytes = io::Cursor::new(last.bytes);
    Ok(match last.left_out {
        0 => Box::new(first.chain(last_bytes)),
        left_out => {
            let marker = io::Cursor::new(output::marker(left_out));
            Box::new(first.chain(marker).chain(last_bytes))
        }
    })
}

/// What a run printed, in the order in which it came.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    events: Events,
    /// Of this step alone.
    number: Option<u64>,
    /// Steps whose output has a file, and whether it has been passed.
    own: BTreeMap<u64, bool>,
}

impl Outputs {
    /// Of one step where `number` says so.
    pub fn open(folder: &Path, number: Option<u64>) -> Result<Self, Unreadable> {
        let mut own = BTreeMap::new();
        let (mut events, file) = (Events::open(folder)?, Finder::new("\"file\""));
        while let Some(event) = events.next_with(&file)? {
            if let Some(Printed::File { number, .. }) = Printed::of(&event, folder) {
                own.insert(number, false);
            }
        }
        Ok(Self { folder: folder.into(), events: events.again()?, number, own })
    }

    /// What a file holds as well, or another step has printed, is omitted.
    fn is_meant(&mut self, printed: &Printed) -> bool {
        if self.number.is_some_and(|number| number != printed.number()) {
            return false;
        }
        match (printed, self.own.get_mut(&printed.number())) {
            (Printed::File { .. }, Some(passed)) => !std::mem::replace(passed, true),
            (_, own) => own.is_none(),
        }
    }
}

impl Iterator for Outputs {
    type Item = Result<Printed, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let output = Finder::new("\"output\"");
        loop {
            match self.events.next_with(&output).transpose()? {
                Err(error) => return Some(Err(error)),
                Ok(event) => match Printed::of(&event, &self.folder) {
                    Some(printed) if self.is_meant(&printed) => return Some(Ok(printed)),
                    _ => {}
                },
            }
        }
    }
}
