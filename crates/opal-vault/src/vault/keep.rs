//! What is kept of a form, however long it is: enough to know it when it is printed.
//!
//! A form of up to 16 bytes is kept as it is. Of a longer one only its first 16 bytes are, as a
//! *lead*, and hashes: of all of it, its *end*, and of its beginnings of certain lengths, its
//! *rungs*. Where a lead is found, the output is hashed on from there. An end says that a whole
//! form was printed. From 256 bytes on each rung says that what was printed so far is not an
//! accident: of a long value that is cut off, all but a little is hidden.

use opal_core::wiped::{Wipe, Wiped};

/// How much of a form is kept as it is.
pub(super) const LEAD: usize = 16;
/// From this length on the beginning of a form is hidden even if the rest does not follow.
pub(super) const SURE: usize = 256;
/// Between rungs output waits. Further apart they would delay it, closer they would cost more.
const CLOSEST: usize = 128;
const FURTHEST: usize = 2048;

/// The length of the rung after `length`, which is one. The lead is the first.
pub(super) fn next_rung(length: usize) -> usize {
    if length < SURE {
        return 2 * length;
    }
    length + (length / 64).next_multiple_of(CLOSEST).clamp(CLOSEST, FURTHEST)
}

/// A polynomial: quick for a byte at a time, and quicker for many. Who could make two texts
/// collide would hide too much.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hash(pub(super) u64);

const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

const POWERS: [u64; 9] = {
    let mut powers = [1_u64; 9];
    let mut index = 1;
    while index < 9 {
        powers[index] = powers[index - 1].wrapping_mul(BASE);
        index += 1;
    }
    powers
};

impl Hash {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) fn with(self, byte: u8) -> Self {
        Self(self.0.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1))
    }

    pub(super) fn over(self, bytes: &[u8]) -> Self {
        let (eights, rest) = bytes.as_chunks::<8>();
        // The products do not wait for each other, as they would byte for byte.
        let hash = eights.iter().fold(self.0, |hash, eight| {
            let term = |sum: u64, index: usize| {
                sum.wrapping_add((u64::from(eight[index]) + 1).wrapping_mul(POWERS[7 - index]))
            };
            (0..8).fold(hash.wrapping_mul(POWERS[8]), term)
        });
        rest.iter().fold(Self(hash), |hash, byte| hash.with(*byte))
    }
}

/// A form, or the lead of longer ones.
#[derive(Clone, Copy)]
pub(super) struct Pattern {
    text: [u8; LEAD],
    /// The index of the value among those that are kept together.
    pub(super) owner: u32,
    /// How long the longest form is that it leads to; 0 if to none.
    pub(super) leads_to: u32,
    length: u8,
    /// A form ends here.
    pub(super) whole: bool,
    /// If so, hidden only where no letter, digit or `_` touches it.
    pub(super) alone: bool,
}

impl Pattern {
    pub(super) fn text(&self) -> &[u8] {
        &self.text[..self.length()]
    }

    /// Ordered as texts are, but for shorter ones that only lack NULs.
    pub(super) fn key(&self) -> u128 {
        u128::from_be_bytes(self.text)
    }

    pub(super) fn length(&self) -> usize {
        usize::from(self.length)
    }

    /// Takes the part of another of the same text that was registered later.
    fn take(&mut self, later: &Self) {
        self.leads_to = self.leads_to.max(later.leads_to);
        if later.whole && !self.whole {
            *self = Self { leads_to: self.leads_to, ..*later };
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Rung {
    pub(super) hash: Hash,
    /// How long the longest form is that has it.
    pub(super) longest: u32,
    pub(super) owner: u32,
}

#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) hash: Hash,
    pub(super) owner: u32,
}

/// What is kept of all forms of one kind.
#[derive(Clone, Default)]
pub(super) struct Kept {
    pub(super) patterns: Vec<Pattern>,
    pub(super) rungs: Vec<Rung>,
    pub(super) ends: Vec<End>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.patterns.iter_mut().for_each(|pattern| pattern.text.wipe());
    }
}

impl Kept {
    /// A form that is there at once.
    pub(super) fn keep(&mut self, form: &[u8], alone: bool) {
        let mut spool = Spool::new(self);
        spool.push(form, self);
        spool.finish(alone, self);
    }

    /// Adds what was kept of others, whose owners count from `owners` on.
    pub(super) fn append(&mut self, other: &Self, owners: u32) {
        let shifted = |owner: u32| owner + owners;
        let patterns = other.patterns.iter();
        self.patterns.extend(patterns.map(|kept| Pattern { owner: shifted(kept.owner), ..*kept }));
        self.rungs
            .extend(other.rungs.iter().map(|rung| Rung { owner: shifted(rung.owner), ..*rung }));
        self.ends.extend(other.ends.iter().map(|end| End { owner: shifted(end.owner), ..*end }));
    }

    /// Everything once and in order: for equal texts and ends the first owner stays.
    pub(super) fn sort(&mut self) {
        self.patterns.sort_by_key(|pattern| (pattern.key(), pattern.length));
        self.patterns.dedup_by(|later, first| {
            let same = later.text() == first.text();
            if same {
                first.take(later);
            }
            same
        });
        self.rungs.sort_unstable_by_key(|rung| (rung.hash, u32::MAX - rung.longest, rung.owner));
        self.rungs.dedup_by_key(|rung| rung.hash);
        self.ends.sort_unstable_by_key(|end| (end.hash, end.owner));
        self.ends.dedup_by_key(|end| end.hash);
        self.patterns.shrink_to_fit();
        self.rungs.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.patterns) + size_of_val(&*self.rungs) + size_of_val(&*self.ends)
    }
}

/// A form on its way to be kept, piece by piece: it may be many times as large as its value.
#[derive(Clone)]
pub(super) struct Spool {
    lead: Wiped<[u8; LEAD]>,
    length: usize,
    hash: Hash,
    rung: usize,
    /// Where its rungs begin.
    first: usize,
}

impl Spool {
    pub(super) fn new(kept: &Kept) -> Self {
        let first = kept.rungs.len();
        Self { lead: Wiped::default(), length: 0, hash: Hash::EMPTY, rung: 2 * LEAD, first }
    }

    pub(super) fn push(&mut self, mut piece: &[u8], kept: &mut Kept) {
        if self.length < LEAD {
            let length = piece.len().min(LEAD - self.length);
            self.lead[self.length..self.length + length].copy_from_slice(&piece[..length]);
        }
        // What ends at a rung is known by its end.
        while self.length + piece.len() > self.rung {
            let (before, after) = piece.split_at(self.rung - self.length);
            self.hash = self.hash.over(before);
            self.length = self.rung;
            kept.rungs.push(Rung { hash: self.hash, longest: 0, owner: 0 });
            self.rung = next_rung(self.rung);
            piece = after;
        }
        self.hash = self.hash.over(piece);
        self.length += piece.len();
    }

    /// A copy of a spool may be finished too, in another way.
    pub(super) fn finish(self, alone: bool, kept: &mut Kept) {
        // Forms of the largest value there can be are far from as long.
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        let whole = self.length <= LEAD;
        for rung in &mut kept.rungs[self.first..] {
            rung.longest = rung.longest.max(length);
        }
        if !whole {
            kept.ends.push(End { hash: self.hash, owner: 0 });
        }
        kept.patterns.push(Pattern {
            text: *self.lead,
            owner: 0,
            leads_to: if whole { 0 } else { length },
            length: u8::try_from(self.length.min(LEAD)).unwrap_or(0),
            whole,
            alone: alone && whole,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_does_not_depend_on_the_pieces() {
        let bytes: Vec<u8> = (0..=255).collect();
        let whole = bytes.iter().fold(Hash::EMPTY, |hash, byte| hash.with(*byte));
        for cut in [0, 1, 7, 8, 9, 100, 256] {
            assert!(Hash::EMPTY.over(&bytes[..cut]).over(&bytes[cut..]) == whole);
        }
    }

    #[test]
    fn a_form_is_kept_alike_however_it_comes() {
        let form: Vec<u8> = (0..3000_usize).map(|index| (index * index % 251) as u8).collect();
        let mut whole = Kept::default();
        whole.keep(&form, false);
        for size in [1, 15, 16, 17, 256, 1000] {
            let mut kept = Kept::default();
            let mut spool = Spool::new(&kept);
            form.chunks(size).for_each(|piece| spool.push(piece, &mut kept));
            spool.finish(false, &mut kept);
            assert!(kept.patterns[0].text() == &form[..LEAD]);
            assert!(kept.ends[0].hash == whole.ends[0].hash);
            let hashes = |kept: &Kept| kept.rungs.iter().map(|rung| rung.hash).collect::<Vec<_>>();
            assert!(hashes(&kept) == hashes(&whole));
        }
    }
}
