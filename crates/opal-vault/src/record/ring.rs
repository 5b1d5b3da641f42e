//! The last half of an output, as long as nobody knows where it begins: a file that is written
//! round and round, and says after its last byte how far it has come.
//!
//! It has more room than it keeps. A write never touches what is kept, so a crash amid one leaves
//! the last half of what was written before, whole and in its order. Nothing of it is in memory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::output::HALF_BYTES;
use crate::root::RootError;

/// The most that is written at once.
const SPARE_BYTES: u64 = 256 * 1024;
const EXTENSION: &str = "tail";
const ROOM_BYTES: u64 = HALF_BYTES + SPARE_BYTES;

#[derive(Debug)]
pub(super) struct Ring {
    path: PathBuf,
    file: File,
    /// How many bytes have come, those that are gone again included.
    end: u64,
}

impl Ring {
    /// For the output that has this file.
    pub(super) fn create(of: &Path) -> Result<Self, RootError> {
        let path = path(of);
        let file = super::output::create(&path)?;
        Ok(Self { path, file, end: 0 })
    }

    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let at = self.end % ROOM_BYTES;
            let room = usize::try_from(SPARE_BYTES.min(ROOM_BYTES - at)).unwrap_or(usize::MAX);
            let (now, rest) = bytes.split_at(bytes.len().min(room));
            self.file.write_all_at(now, at)?;
            self.end += now.len() as u64;
            self.file.write_all_at(&self.end.to_le_bytes(), ROOM_BYTES)?;
            bytes = rest;
        }
        Ok(())
    }

    pub(super) const fn left_out(&self) -> u64 {
        self.end.saturating_sub(HALF_BYTES)
    }

    /// What is kept, in its order, to the end of a file.
    pub(super) fn move_into(self, file: &mut File) -> io::Result<()> {
        io::Write::write_all(file, &between(&self.file, self.left_out(), self.end)?)?;
        fs::remove_file(self.path)
    }
}

/// What is kept after the first `passed` bytes of an output that has not ended, or never will; none
/// where it is short.
pub(super) fn read(of: &Path, passed: u64) -> io::Result<Option<Read>> {
    let file = match File::open(path(of)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let end = end(&file)?;
    let begin = end.saturating_sub(HALF_BYTES).max(passed.min(end));
    let mut bytes = between(&file, begin, end)?;
    // The file may have been written to meanwhile: what is older than this may be something newer.
    let left_out = self::end(&file)?.saturating_sub(HALF_BYTES).clamp(begin, end);
    bytes.drain(..usize::try_from(left_out - begin).unwrap_or(usize::MAX));
    Ok(Some(Read { left_out, bytes }))
}

#[derive(Debug)]
pub(super) struct Read {
    pub(super) left_out: u64,
    pub(super) bytes: Vec<u8>,
}

/// A file in which nothing was written yet says nothing.
fn end(file: &File) -> io::Result<u64> {
    let mut end = [0; 8];
    match file.read_exact_at(&mut end, ROOM_BYTES) {
        Ok(()) => Ok(u64::from_le_bytes(end)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        Err(error) => Err(error),
    }
}

fn between(file: &File, begin: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = end.checked_sub(begin).filter(|length| *length <= HALF_BYTES);
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    let at = begin % ROOM_BYTES;
    let first = usize::try_from(length.min(ROOM_BYTES - at)).map_err(io::Error::other)?;
    let (first, second) = bytes.split_at_mut(first);
    file.read_exact_at(first, at)?;
    file.read_exact_at(second, 0)?;
    Ok(bytes)
}

fn path(of: &Path) -> PathBuf {
    of.with_extension(EXTENSION)
}

/// Whether this is the file of a ring.
pub(super) fn is_one(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == EXTENSION)
}
