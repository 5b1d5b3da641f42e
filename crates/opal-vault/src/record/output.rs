//! What one step prints, on its way into the record.
//!
//! Little output is among the events. More than [`SHARED_BYTES`] gets a file of its own, with the
//! first and the last half of [`MOST_BYTES`] in it. While such a step runs, the last half is in a
//! [`Ring`] beside it, `output-3.tail`. So memory stays small and everything can be read after a
//! crash.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use opal_core::stream::Stream;

use super::line;
use super::ring::Ring;
use crate::root::RootError;

/// Up to here the output of a step is among the events.
const SHARED_BYTES: usize = 64 * 1024;

/// What is kept of the output of one step.
pub(super) const MOST_BYTES: u64 = 10 * 1024 * 1024;
pub(super) const HALF_BYTES: u64 = MOST_BYTES / 2;

#[derive(Debug)]
pub(super) struct Output {
    number: u64,
    pace: Pace,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    Small(Small),
    Large(Large),
}

impl Output {
    pub(super) fn new(number: u64) -> Self {
        Self { number, pace: Pace::default(), kept: Kept::Small(Small::default()) }
    }

    /// Lines for the events; none where what there is can wait.
    pub(super) fn take(
        &mut self,
        folder: &Path,
        stream: Stream,
        bytes: &[u8],
    ) -> Result<Vec<u8>, RootError> {
        match &mut self.kept {
            Kept::Small(small) if small.bytes.len() + bytes.len() <= SHARED_BYTES => {
                small.push(stream, bytes);
                let waiting = small.bytes.len() - small.reported;
                Ok(if self.pace.is_due(waiting) { small.tell(self.number, false) } else { vec![] })
            }
            Kept::Small(small) => {
                let mut large = Large::create(folder, self.number)?;
                large.write(&small.bytes)?;
                large.write(bytes)?;
                self.kept = Kept::Large(large);
                Ok(line::output_file(self.number, &file_name(self.number), 0))
            }
            Kept::Large(large) => {
                large.take(bytes, &mut self.pace)?;
                Ok(Vec::new())
            }
        }
    }

    /// Nothing more comes for now: lines for the events with what has waited.
    pub(super) fn flush(&mut self) -> Result<Vec<u8>, RootError> {
        match &mut self.kept {
            Kept::Small(small) => Ok(small.tell(self.number, false)),
            Kept::Large(large) => large.flush().map(|()| Vec::new()),
        }
    }

    /// The step has ended: the last lines for the events.
    pub(super) fn close(self) -> Result<Vec<u8>, RootError> {
        match self.kept {
            Kept::Small(mut small) => Ok(small.tell(self.number, true)),
            Kept::Large(large) => Ok(match large.close()? {
                0 => Vec::new(),
                left_out => line::output_file(self.number, &file_name(self.number), left_out),
            }),
        }
    }
}

/// How often something may be written: at once, unless there is a lot of it.
#[derive(Debug, Default)]
struct Pace {
    writes: u32,
    last: Option<Instant>,
}

impl Pace {
    /// A step that prints this often is not waited for.
    const EAGER_WRITES: u32 = 16;
    const PAUSE: Duration = Duration::from_millis(50);

    fn is_due(&mut self, waiting_bytes: usize) -> bool {
        let is_due = waiting_bytes >= SHARED_BYTES
            || self.writes < Self::EAGER_WRITES
            || self.last.is_none_or(|last| last.elapsed() >= Self::PAUSE);
        if is_due {
            self.writes = self.writes.saturating_add(1);
            self.last = Some(Instant::now());
        }
        is_due
    }
}

/// All output so far, in the order in which it came.
#[derive(Debug, Default)]
struct Small {
    bytes: Vec<u8>,
    /// Whose bytes they are, each up to where.
    streams: Vec<(Stream, usize)>,
    /// How many of them the events have.
    reported: usize,
}

impl Small {
    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        match self.streams.last_mut() {
            Some((last, to)) if *last == stream => *to = end,
            _ => self.streams.push((stream, end)),
        }
    }

    /// What the events do not have yet. A character that has only begun can wait for its rest.
    fn tell(&mut self, number: u64, is_end: bool) -> Vec<u8> {
        let mut lines = Vec::new();
        for &(stream, to) in &self.streams {
            let part = self.bytes.get(self.reported..to).unwrap_or_default();
            let is_last = to == self.bytes.len();
            let length = if is_last && !is_end { whole(part) } else { part.len() };
            if length > 0 {
                lines.extend(line::output(number, stream, &part[..length]));
                self.reported += length;
            }
        }
        lines
    }
}

/// How many bytes there are before a character that has only begun.
#[must_use]
pub fn whole(bytes: &[u8]) -> usize {
    let begins = bytes.len().saturating_sub(3);
    let start = (begins..bytes.len()).rev().find(|&at| bytes[at] & 0xc0 != 0x80);
    match start {
        Some(at) => match std::str::from_utf8(&bytes[at..]) {
            Err(error) if error.error_len().is_none() => at,
            _ => bytes.len(),
        },
        None => bytes.len(),
    }
}

/// A file of its own.
#[derive(Debug)]
struct Large {
    path: PathBuf,
    file: File,
    waiting: Vec<u8>,
    /// How much of the first half there is.
    head: u64,
    tail: Option<Ring>,
}

impl Large {
    fn create(folder: &Path, number: u64) -> Result<Self, RootError> {
        let path = folder.join(file_name(number));
        let file = create(&path)?;
        Ok(Self { path, file, waiting: Vec::new(), head: 0, tail: None })
    }

    fn take(&mut self, bytes: &[u8], pace: &mut Pace) -> Result<(), RootError> {
        if !pace.is_due(self.waiting.len() + bytes.len()) {
            self.waiting.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.write(bytes)
    }

    fn flush(&mut self) -> Result<(), RootError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.write(&waiting)?;
        waiting.clear();
        self.waiting = waiting;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RootError> {
        let room = usize::try_from(HALF_BYTES - self.head).unwrap_or(usize::MAX);
        let (first, rest) = bytes.split_at(bytes.len().min(room));
        self.file.write_all(first).map_err(|error| RootError::of(&self.path, error))?;
        self.head += first.len() as u64;
        if rest.is_empty() {
            return Ok(());
        }
        let tail = match &mut self.tail {
            Some(tail) => tail,
            none => none.insert(Ring::create(&self.path)?),
        };
        tail.write(rest).map_err(|error| RootError::of(&self.path, error))
    }

    /// Puts the halves together; how many bytes lie between them.
    fn close(mut self) -> Result<u64, RootError> {
        self.flush()?;
        let Some(tail) = self.tail.take() else { return Ok(0) };
        let left_out = tail.left_out();
        let joined = (|| {
            if left_out > 0 {
                self.file.write_all(marker(left_out).as_bytes())?;
            }
            tail.move_into(&mut self.file)
        })();
        joined.map_err(|error| RootError::of(&self.path, error))?;
        Ok(left_out)
    }
}

/// Opened for reading too: the tail is read back.
pub(super) fn create(path: &Path) -> Result<File, RootError> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true).mode(0o600);
    options.open(path).map_err(|error| RootError::of(path, error))
}

/// What the names of these files begin with.
const PREFIX: &str = "output-";

pub(super) fn file_name(number: u64) -> String {
    format!("{PREFIX}{number}.txt")
}

/// The step whose output a file has.
pub(super) fn number_of(path: &Path) -> Option<u64> {
    path.file_stem()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()
}

/// What outputs have left in the folder of a record, whatever its events say.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_output = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        if is_output && entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort_unstable();
    Ok(files)
}

pub(super) fn marker(left_out: u64) -> String {
    format!("\n[opal: {left_out} bytes omitted; a record keeps the first and the last 5 MiB]\n")
}
