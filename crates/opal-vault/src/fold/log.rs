//! Output in one row: the end of it in memory, the rest in a file without a name.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;

use crate::Shown;
use crate::event::Event;
use crate::hold::{CUT, Item, MAX_MEMORY, MAX_UNSPILLED, frame, frames, nameless};
use opal_core::stream::Stream;

#[derive(Debug, Default)]
pub(super) struct Log {
    file: Option<File>,
    /// How much of it is in the file.
    spilled: u64,
    memory: Vec<u8>,
    has_no_file: bool,
}

impl Log {
    #[cfg(test)]
    pub(super) fn without_a_file() -> Self {
        Self { has_no_file: true, ..Self::default() }
    }

    pub(super) fn end(&self) -> u64 {
        self.spilled + self.memory.len() as u64
    }

    /// False where it cannot be stored.
    #[must_use]
    pub(super) fn push(&mut self, number: u64, stream: Stream, bytes: &[u8]) -> bool {
        let length = self.memory.len() + bytes.len();
        if length > MAX_MEMORY && !self.has_no_file {
            self.has_no_file = self.spill().is_err();
        }
        if self.has_no_file && length > MAX_UNSPILLED {
            return false;
        }
        frame(&mut self.memory, number, stream, bytes);
        true
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(nameless()?),
        };
        file.write_all_at(&self.memory, self.spilled)?;
        self.spilled += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    /// What comes after it is equal to something before.
    pub(super) fn forget_from(&mut self, at: u64) {
        match at.checked_sub(self.spilled) {
            Some(kept) => self.memory.truncate(usize::try_from(kept).unwrap_or(usize::MAX)),
            None => {
                self.memory.clear();
                self.spilled = at;
            }
        }
    }

    /// Tells a part of it, with the events between.
    pub(super) fn replay<'p>(
        &self,
        from: u64,
        to: u64,
        events: &mut VecDeque<(u64, Event<'p>)>,
        tell: &mut impl FnMut(Item<'_, 'p>),
    ) {
        let part = BufReader::new(Part { log: self, at: from, to });
        let mut last = 0;
        let mut reported = |item: Item<'_, 'p>| {
            if let Item::Output(number, ..) = &item {
                last = *number;
            }
            tell(item);
        };
        if frames(part, from, events, &mut reported) < to {
            tell(Item::Output(last, Stream::Stderr, Shown::vouch(CUT)));
        }
    }
}

struct Part<'l> {
    log: &'l Log,
    at: u64,
    to: u64,
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.to - self.at).unwrap_or(usize::MAX);
        let most = left.min(into.len());
        let into = &mut into[..most];
        let count = match (self.at.checked_sub(self.log.spilled), &self.log.file) {
            (Some(start), _) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                self.log.memory.get(start..).unwrap_or_default().read(into)?
            }
            (None, Some(file)) => {
                let in_file = usize::try_from(self.log.spilled - self.at).unwrap_or(usize::MAX);
                let most = in_file.min(into.len());
                file.read_at(&mut into[..most], self.at)?
            }
            (None, None) => 0,
        };
        self.at += count as u64;
        Ok(count)
    }
}
