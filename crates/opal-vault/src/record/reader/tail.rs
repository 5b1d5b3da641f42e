//! An output that has a file of its own, while it grows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Unreadable;
use crate::record::output::{HALF_BYTES, MOST_BYTES, marker};
use crate::record::ring;
use opal_files::regular;

/// So much is read at once.
const PIECE_BYTES: u64 = 64 * 1024;

/// How far a reader has got in an output.
#[derive(Debug)]
pub struct Following {
    path: PathBuf,
    file: File,
    /// How many bytes of the output have been passed, those that are not kept included.
    passed: u64,
}

impl Following {
    /// Whoever has seen its beginning goes on after that.
    pub fn open(path: &Path, passed: u64) -> Result<Self, Unreadable> {
        let file = regular::open(path).map_err(|error| Unreadable::io(path, error))?;
        Ok(Self { path: path.into(), file, passed })
    }

    /// What has been added, in pieces; nothing where all has been passed for now. What was
    /// overwritten before it was read is reported in its place.
    pub fn more(&mut self) -> Result<Vec<u8>, Unreadable> {
        let added = if self.passed < HALF_BYTES {
            self.piece(self.passed, HALF_BYTES - self.passed)
        } else {
            self.last_half()
        };
        added.map_err(|error| Unreadable::io(&self.path, error))
    }

    fn last_half(&mut self) -> io::Result<Vec<u8>> {
        if let Some(kept) = ring::read(&self.path, self.passed - HALF_BYTES)? {
            let mut added = self.skip(kept.left_out);
            self.passed += kept.bytes.len() as u64;
            added.extend(kept.bytes);
            return Ok(added);
        }
        // It has ended, or has not come so far: only what lacks something is longer than all of it.
        match self.file.metadata()?.len().checked_sub(MOST_BYTES) {
            None | Some(0) => self.piece(self.passed, PIECE_BYTES),
            Some(marker) => {
                let left_out = self.left_out(marker)?;
                let mut added = self.skip(left_out);
                let at = self.passed - left_out + marker;
                added.extend(self.piece(at, PIECE_BYTES)?);
                Ok(added)
            }
        }
    }

    /// Passes what is not kept before the last half, and says so.
    fn skip(&mut self, left_out: u64) -> Vec<u8> {
        let kept = HALF_BYTES + left_out;
        let skipped = kept.saturating_sub(self.passed);
        self.passed = self.passed.max(kept);
        if skipped > 0 { marker(skipped).into_bytes() } else { Vec::new() }
    }

    /// What the marker between the halves says, which is so long.
    fn left_out(&self, length: u64) -> io::Result<u64> {
        let mut text = vec![0; usize::try_from(length.min(PIECE_BYTES)).unwrap_or(0)];
        self.file.read_exact_at(&mut text, HALF_BYTES)?;
        let number = text.split(|byte| !byte.is_ascii_digit()).find(|digits| !digits.is_empty());
        let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        number.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn piece(&mut self, at: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(most.min(PIECE_BYTES)).unwrap_or(0)];
        let length = self.file.read_at(&mut bytes, at)?;
        bytes.truncate(length);
        self.passed += length as u64;
        Ok(bytes)
    }
}
