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
    /// How many bytes are not kept, once the output has ended.
    left_out: Option<u64>,
}

impl Following {
    /// Whoever has seen its beginning goes on after that.
    pub fn open(path: &Path, passed: u64) -> Result<Self, Unreadable> {
        let file = regular::open(path).map_err(|error| Unreadable::io(path, error))?;
        Ok(Self { path: path.into(), file, passed, left_out: None })
    }

    /// The output has ended, without so many bytes in its middle.
    pub fn ended(&mut self, left_out: u64) {
        self.left_out = Some(left_out);
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
        match self.left_out {
            Some(left_out) => {
                let mut added = self.skip(left_out);
                let at = self.passed - left_out + marker(left_out).len() as u64;
                added.extend(self.piece(at, PIECE_BYTES)?);
                Ok(added)
            }
            None if self.file.metadata()?.len() <= MOST_BYTES => {
                self.piece(self.passed, PIECE_BYTES)
            }
            // The event that says how much it lacks is on its way.
            None => Ok(Vec::new()),
        }
    }

    /// Passes what is not kept before the last half, and says so.
    fn skip(&mut self, left_out: u64) -> Vec<u8> {
        let kept = HALF_BYTES + left_out;
        let skipped = kept.saturating_sub(self.passed);
        self.passed = self.passed.max(kept);
        if skipped > 0 { marker(skipped).into_bytes() } else { Vec::new() }
    }

    fn piece(&mut self, at: u64, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(most.min(PIECE_BYTES)).unwrap_or(0)];
        let length = self.file.read_at(&mut bytes, at)?;
        bytes.truncate(length);
        self.passed += length as u64;
        Ok(bytes)
    }
}
