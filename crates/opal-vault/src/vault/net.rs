//! The patterns of many values, to be found in one go.
//!
//! The patterns are in order, so that one search by halves gives the last that is not greater
//! than the output at a place. All patterns that the output has there begin that one, and each
//! knows the next shorter that begins it. Most places are passed over by the filter, so no
//! automaton is needed, which would take ten times the memory, and time to be made.

use super::filter::Filter;
use super::keep::{End, Hash, Kept, LEAD, Pattern, Rung};
use super::search::TELLING;

pub(super) struct Net {
    kept: Kept,
    /// For each pattern the longest other that begins it, or `NONE`.
    shorter: Vec<u32>,
    filter: Filter,
    /// Which patterns are so short that less than [`TELLING`] characters are half of them.
    short: Vec<u32>,
    /// A few bits for each end: most bytes are not an end, and these bits show it quickly.
    hints: Vec<u64>,
}

const NONE: u32 = u32::MAX;

/// The end of some bytes that may be the beginning of a pattern.
pub(super) struct Open {
    pub(super) from: usize,
    /// It would be half of a short one.
    pub(super) is_half: bool,
}

/// What a net is given for each pattern that it finds.
pub(super) trait Sink {
    /// `pattern` ends before `end`; of those that begin together the longest comes first.
    fn found(&mut self, pattern: &Pattern, end: usize);
}

impl Net {
    /// None if nothing is kept.
    pub(super) fn new(mut kept: Kept) -> Option<Self> {
        kept.sort();
        if kept.patterns.is_empty() {
            return None;
        }
        let filter = Filter::new(kept.patterns.iter().map(Pattern::text));
        let mut shorter = Vec::with_capacity(kept.patterns.len());
        let mut begun: Vec<u32> = Vec::new();
        for (index, pattern) in kept.patterns.iter().enumerate() {
            let begins =
                |shorter: u32| pattern.text().starts_with(kept.patterns[shorter as usize].text());
            while begun.pop_if(|shorter| !begins(*shorter)).is_some() {}
            shorter.push(begun.last().copied().unwrap_or(NONE));
            begun.push(u32::try_from(index).unwrap_or(NONE));
        }
        let mut hints = vec![0; (kept.ends.len() / 4).next_power_of_two().max(16)];
        for end in &kept.ends {
            let (word, bit) = hint(end.hash, hints.len());
            hints[word] |= bit;
        }
        let indexed = (0..).zip(kept.patterns.iter());
        let short = indexed.filter(|(_, pattern)| pattern.length() < 2 * TELLING - 1);
        let short = short.map(|(index, _)| index).collect();
        Some(Self { kept, shorter, filter, short, hints })
    }

    /// Tells `sink` of each pattern in `bytes`, and gives the end of `bytes` that may be the
    /// beginning of another.
    pub(super) fn scan(&self, bytes: &[u8], sink: &mut impl Sink) -> Option<Open> {
        let mut from = 0;
        while let Some(at) = self.filter.next(bytes, from) {
            self.look(&bytes[at..], at, sink);
            from = at + 1;
        }
        let last = bytes.len().saturating_sub(LEAD - 1);
        let from = (last..bytes.len()).find(|from| self.may_begin(&bytes[*from..]))?;
        let is_half = (from..bytes.len()).any(|from| self.is_half(&bytes[from..]));
        Some(Open { from, is_half })
    }

    /// Whether a short pattern begins with `bytes`, and half of it or more is there.
    fn is_half(&self, bytes: &[u8]) -> bool {
        let short = self.short.iter().map(|index| &self.kept.patterns[*index as usize]);
        let mut begun = short.filter(|pattern| pattern.text().starts_with(bytes));
        begun.any(|pattern| pattern.length() <= 2 * bytes.len())
    }

    /// For each pattern that `bytes` begin with, which are at `place`.
    fn look(&self, bytes: &[u8], place: usize, sink: &mut impl Sink) {
        let window = &bytes[..bytes.len().min(LEAD)];
        let key = key(window, 0);
        let mut index = self.kept.patterns.partition_point(|pattern| pattern.key() <= key);
        while let Some(pattern) = index.checked_sub(1).map(|last| &self.kept.patterns[last]) {
            if window.starts_with(pattern.text()) {
                sink.found(pattern, place + pattern.length());
            }
            let shorter = self.shorter[index - 1];
            index = if shorter == NONE { 0 } else { shorter as usize + 1 };
        }
    }

    /// Whether a pattern begins with `bytes` and goes on after them.
    fn may_begin(&self, bytes: &[u8]) -> bool {
        let (least, most) = (key(bytes, 0), key(bytes, 0xff));
        let first = self.kept.patterns.partition_point(|pattern| pattern.key() < least);
        let mut alike =
            self.kept.patterns[first..].iter().take_while(|pattern| pattern.key() <= most);
        alike.any(|pattern| pattern.length() > bytes.len())
    }

    /// The forms that have this hash at a rung.
    pub(super) fn rung(&self, hash: Hash) -> Option<&Rung> {
        let index = self.kept.rungs.binary_search_by_key(&hash, |rung| rung.hash).ok()?;
        Some(&self.kept.rungs[index])
    }

    /// Whether a whole form is likely to have this hash.
    pub(super) fn may_end(&self, hash: Hash) -> bool {
        let (word, bit) = hint(hash, self.hints.len());
        self.hints[word] & bit != 0
    }

    /// The whole form that has this hash.
    pub(super) fn end(&self, hash: Hash) -> Option<&End> {
        let index = self.kept.ends.binary_search_by_key(&hash, |end| end.hash).ok()?;
        Some(&self.kept.ends[index])
    }

    pub(super) fn kept(&self) -> &Kept {
        &self.kept
    }

    pub(super) fn memory(&self) -> usize {
        let indices = size_of_val(&*self.shorter) + size_of_val(&*self.short);
        self.kept.memory() + self.filter.memory() + indices + size_of_val(&*self.hints)
    }
}

/// As patterns are ordered, with `rest` for what is missing.
fn key(bytes: &[u8], rest: u8) -> u128 {
    let mut key = [rest; LEAD];
    key[..bytes.len()].copy_from_slice(bytes);
    u128::from_be_bytes(key)
}

/// The upper bits: the lower ones depend on few of the bytes.
fn hint(hash: Hash, words: usize) -> (usize, u64) {
    ((hash.0 >> 32) as usize & (words - 1), 1 << (hash.0 >> 26 & 63))
}
