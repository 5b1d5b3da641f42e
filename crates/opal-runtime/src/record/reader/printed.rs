//! What steps printed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding as _};
use serde_json::Value;

use super::{Events, Unreadable};
use crate::record::output::{self, HALF_BYTES};

/// Something that a step printed, as an event tells of it.
#[derive(Debug)]
pub enum Printed {
    Bytes {
        number: u64,
        bytes: Vec<u8>,
    },
    /// The whole output of the step is in this file, what was told before included.
    File {
        number: u64,
        path: PathBuf,
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
            return Some(Self::File { number, path: folder.join(output::file_name(number)) });
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
    let file = File::open(path)?;
    let turns = turns(path)?;
    let Some(&current) = turns.last() else { return Ok(Box::new(file)) };
    let newest = File::open(output::tail_path(path, current))?;
    let newest_bytes = newest.metadata()?.len();
    let left_out = (current * HALF_BYTES + newest_bytes).saturating_sub(HALF_BYTES);
    let mut whole: Box<dyn Read> = Box::new(file.take(HALF_BYTES));
    if left_out > 0 {
        whole = Box::new(whole.chain(io::Cursor::new(output::marker(left_out))));
    }
    if turns.len() > 1 {
        let mut older = File::open(output::tail_path(path, current - 1))?;
        older.seek(io::SeekFrom::Start(newest_bytes))?;
        whole = Box::new(whole.chain(older));
    }
    Ok(Box::new(whole.chain(newest)))
}

/// Which parts of the last half there are, in their order.
fn turns(path: &Path) -> io::Result<Vec<u64>> {
    let start = output::tail_path(path, 0).file_name().unwrap_or_default().to_owned();
    let start = start.to_string_lossy();
    let start = start.strip_suffix('0').unwrap_or(&start);
    let mut turns = Vec::new();
    for entry in fs::read_dir(path.parent().unwrap_or(path))? {
        let name = entry?.file_name();
        let turn = name.to_str().and_then(|name| name.strip_prefix(start)?.parse::<u64>().ok());
        turns.extend(turn);
    }
    turns.sort_unstable();
    Ok(turns)
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
        for event in Events::open(folder)? {
            if let Some(Printed::File { number, .. }) = Printed::of(&event?, folder) {
                own.insert(number, false);
            }
        }
        Ok(Self { folder: folder.into(), events: Events::open(folder)?, number, own })
    }

    /// What a file holds as well, or somebody else has printed, is left away.
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
        loop {
            match self.events.next()? {
                Err(error) => return Some(Err(error)),
                Ok(event) => match Printed::of(&event, &self.folder) {
                    Some(printed) if self.is_meant(&printed) => return Some(Ok(printed)),
                    _ => {}
                },
            }
        }
    }
}
