//! Commands that a text repeats. What the table says about the words of a command is looked up once.

use opal_core::script::{Case, Kind, Mark, Reading};

use super::kept::{Kept, Spot};

/// Longer commands, and those with more words or marks, are not kept.
const LONGEST: usize = 120;
const MOST_WORDS: usize = 10;
const MOST_MARKS: usize = 4;

/// How many commands are kept: each has one place, and the last one with that place counts.
const SLOTS: usize = 16;

/// A word, by its place in the text of its command. With that text it is all that its reading
/// depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    start: u32,
    end: u32,
    /// The first reference in it.
    reference: Option<(u32, u32)>,
    kind: Kind,
}

impl Word {
    const NONE: Self = Self { start: 0, end: 0, reference: None, kind: Kind::Plain };
}

/// A command that is about to be read.
pub(super) struct Asked<'s> {
    text: &'s [u8],
    words: [Word; MOST_WORDS],
    count: usize,
    slot: usize,
}

impl<'s> Asked<'s> {
    /// None where such a command is not kept.
    pub(super) fn new(src: &'s [u8], kept: &[Kept], spots: &[Spot]) -> Option<Self> {
        let (base, end) = (kept.first()?.start, kept.last()?.end);
        let text = src.get(base as usize..end as usize)?;
        if text.len() > LONGEST || kept.len() > MOST_WORDS {
            return None;
        }
        let mut words = [Word::NONE; MOST_WORDS];
        for (word, it) in words.iter_mut().zip(kept) {
            let reference = match it.references {
                (from, to) if to > from => {
                    let spot = spots.get(from as usize)?;
                    Some((spot.at.checked_sub(base)?, spot.end.min(it.end).checked_sub(base)?))
                }
                _ => None,
            };
            let start = it.start.checked_sub(base)?;
            *word = Word { start, end: it.end.checked_sub(base)?, reference, kind: it.kind };
        }
        Some(Self { text, words, count: kept.len(), slot: slot(text) })
    }
}

/// Where a text is kept.
fn slot(text: &[u8]) -> usize {
    let (chunks, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mixed = chunks.iter().chain([&last]).fold(text.len() as u64, |mixed, chunk| {
        (mixed.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    (mixed >> 32) as usize % SLOTS
}

/// A command that was read.
#[derive(Clone, Debug)]
struct Known {
    text: [u8; LONGEST],
    length: usize,
    words: [Word; MOST_WORDS],
    count: usize,
    marks: [(usize, Mark); MOST_MARKS],
    mark_count: usize,
    input: Option<&'static Case>,
    prints: bool,
    stores: bool,
}

impl Known {
    const NONE: Self = Self {
        text: [0; LONGEST],
        length: 0,
        words: [Word::NONE; MOST_WORDS],
        count: 0,
        marks: [(0, Mark::Single); MOST_MARKS],
        mark_count: 0,
        input: None,
        prints: false,
        stores: false,
    };
}

/// The commands that were read last.
#[derive(Debug, Default)]
pub(super) struct Repeats(Vec<Known>);

impl Repeats {
    /// Gives what was read before; false where it was not.
    pub(super) fn recall(&self, asked: &Asked<'_>, reading: &mut Reading) -> bool {
        let is_it = |known: &&Known| {
            known.count == asked.count
                && known.text[..known.length] == *asked.text
                && known.words[..known.count] == asked.words[..asked.count]
        };
        let Some(known) = self.0.get(asked.slot).filter(is_it) else { return false };
        reading.marks.clear();
        reading.marks.extend_from_slice(&known.marks[..known.mark_count]);
        (reading.input, reading.prints, reading.stores) = (known.input, known.prints, known.stores);
        reading.texts.clear();
        reading.attributed.clear();
        true
    }

    pub(super) fn keep(&mut self, asked: &Asked<'_>, reading: &Reading) {
        let is_small = reading.marks.len() <= MOST_MARKS
            && reading.texts.is_empty()
            && reading.attributed.is_empty();
        if !is_small {
            return;
        }
        if self.0.is_empty() {
            self.0 = vec![Known::NONE; SLOTS];
        }
        let known = &mut self.0[asked.slot];
        known.text[..asked.text.len()].copy_from_slice(asked.text);
        (known.length, known.count) = (asked.text.len(), asked.count);
        known.words = asked.words;
        known.marks[..reading.marks.len()].copy_from_slice(&reading.marks);
        known.mark_count = reading.marks.len();
        (known.input, known.prints, known.stores) = (reading.input, reading.prints, reading.stores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'s>(text: &'s [u8], reference: (u32, u32), kind: Kind) -> Asked<'s> {
        let end = text.len() as u32;
        let spot = Spot { at: reference.0, end: reference.1, owner: 0, is_printed: false };
        let kept = Kept { start: 0, end, references: (0, 1), kind };
        Asked::new(text, &[kept], &[spot]).unwrap()
    }

    #[test]
    fn only_the_same_command_is_recalled() {
        let mut repeats = Repeats::default();
        let mut reading = Reading::default();
        reading.prints = true;
        reading.marks.push((0, Mark::Program));
        let known = asked(b"a@x", (1, 3), Kind::Plain);
        repeats.keep(&known, &reading);
        let mut found = Reading::default();
        found.stores = true;
        assert!(repeats.recall(&known, &mut found));
        assert_eq!(
            (found.marks.as_slice(), found.prints, found.stores),
            (&[(0, Mark::Program)][..], true, false)
        );
        for other in [
            asked(b"b@x", (1, 3), Kind::Plain),
            asked(b"a@x", (1, 2), Kind::Plain),
            asked(b"a@x", (1, 3), Kind::Target),
            asked(b"a@x ", (1, 3), Kind::Plain),
        ] {
            let other = Asked { slot: known.slot, ..other };
            assert!(!repeats.recall(&other, &mut found));
        }
        let long = [b'a'; LONGEST + 1];
        let kept = Kept { start: 0, end: long.len() as u32, references: (0, 0), kind: Kind::Plain };
        assert!(Asked::new(&long, &[kept], &[]).is_none());
    }
}
