//! What a stream says, apart from how it is dressed: the bytes that are searched for patterns, and
//! where each came from.
//!
//! Three views are taken of a stretch of output. The *text* is what a terminal would print: without
//! escape sequences and control characters, and with `\n` for `\r\n`. The *bodies* are what such
//! sequences carry (a title, a link, a clipboard), where a value may appear too. The *loose* view
//! of either is without blanks, line ends and colons: encodings are looked for in it, however they
//! are wrapped or grouped.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::sequence::{self, Sequence};

/// Bytes, and where each of them was in the output.
pub(super) trait Track {
    fn bytes(&self) -> &[u8];

    /// Where the byte at `index` was.
    fn origin(&self, index: usize) -> usize;

    /// The first byte here that was at `origin` or later.
    fn index(&self, origin: usize) -> usize;
}

/// Bytes that were taken out of others.
#[derive(Default)]
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where runs begin: here, and in what the view is taken of. None: they are the same.
    runs: Vec<(usize, usize)>,
}

pub(super) struct Views<'a> {
    pub(super) text: View<'a>,
    pub(super) bodies: View<'a>,
    /// Where an escape sequence begins whose end is not there yet.
    pub(super) unfinished: Option<usize>,
}

impl Track for View<'_> {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn origin(&self, index: usize) -> usize {
        match self.runs.partition_point(|(here, _)| *here <= index).checked_sub(1) {
            Some(run) => index - self.runs[run].0 + self.runs[run].1,
            None => index,
        }
    }

    fn index(&self, origin: usize) -> usize {
        let after = self.runs.partition_point(|(_, there)| *there <= origin);
        let end = self.runs.get(after).map_or(self.bytes.len(), |(here, _)| *here);
        match after.checked_sub(1) {
            Some(run) => (origin - self.runs[run].1 + self.runs[run].0).min(end),
            None if self.runs.is_empty() => origin.min(end),
            None => 0,
        }
    }
}

impl<'a> View<'a> {
    pub(super) fn into_bytes(self) -> Cow<'a, [u8]> {
        self.bytes
    }

    /// All but control characters.
    fn take_visible(&mut self, raw: &'a [u8], mut from: usize, to: usize) {
        for (at, byte) in raw.iter().enumerate().take(to).skip(from) {
            if sequence::is_control(*byte) {
                self.take(raw, from, at);
                from = at + 1;
            }
        }
        self.take(raw, from, to);
    }

    fn take(&mut self, raw: &'a [u8], from: usize, to: usize) {
        if from < to {
            self.runs.push((self.bytes.len(), from));
            self.bytes.to_mut().extend_from_slice(&raw[from..to]);
        }
    }
}

impl<'a> Views<'a> {
    /// `is_last`: nothing follows that could finish a sequence.
    pub(super) fn of(raw: &'a [u8], is_last: bool) -> Self {
        let mut views = Self { text: View::default(), bodies: View::default(), unfinished: None };
        let Some(first) = sequence::next(raw) else {
            views.text.bytes = Cow::Borrowed(raw);
            return views;
        };
        views.text.bytes = Cow::Owned(Vec::with_capacity(raw.len()));
        let mut from = 0;
        let mut at = first;
        loop {
            let Some((kind, length)) = Sequence::at(&raw[at..], is_last) else {
                views.text.take(raw, from, at);
                from = raw.len();
                // A return at the end belongs to nothing that must wait for it.
                views.unfinished = (raw[at] != b'\r').then_some(at);
                break;
            };
            let after = at + length;
            if kind != Sequence::None {
                views.text.take(raw, from, at);
                if kind == Sequence::String {
                    views.bodies.take_visible(raw, at, after);
                }
                from = after;
            }
            match sequence::next(&raw[after..]) {
                Some(next) => at = after + next,
                None => break,
            }
        }
        views.text.take(raw, from, raw.len());
        views
    }

    /// What is known to be inside of a sequence: nothing begins there.
    pub(super) fn inside(raw: &'a [u8]) -> Self {
        let mut views = Self { text: View::default(), bodies: View::default(), unfinished: None };
        views.text.take_visible(raw, 0, raw.len());
        views
    }
}

/// A view without blanks, line ends and colons, and with `+` and `/` for `-` and `_`: base64 is
/// written with either.
pub(super) struct Loose<'a> {
    bytes: Vec<u8>,
    of: &'a View<'a>,
    /// How many bytes were kept before each block of the view.
    kept: Vec<usize>,
}

const BLOCK: usize = 64;

/// What is kept of each byte, if it is not NUL.
const LOOSE: [u8; 256] = {
    let mut loose = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        loose[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' | b':' => 0,
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        byte += 1;
    }
    loose
};

/// A text as the loose view shows it.
pub(super) fn loosened(text: &[u8]) -> Vec<u8> {
    let ascii = |byte: u8| if byte.is_ascii() { byte } else { 0x7f };
    let kept = text.iter().map(|byte| LOOSE[usize::from(ascii(*byte))]);
    kept.filter(|byte| *byte != 0).collect()
}

fn is_kept(byte: u8) -> bool {
    LOOSE[usize::from(byte)] != 0
}

impl<'a> Loose<'a> {
    pub(super) fn of(view: &'a View<'a>) -> Self {
        let mut bytes = vec![0; view.bytes.len() + BLOCK + 1];
        let mut kept = Vec::with_capacity(view.bytes.len() / BLOCK + 1);
        let mut length = 0;
        let (blocks, rest) = view.bytes.as_chunks::<BLOCK>();
        let mut last = [b' '; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(&last);
        for block in blocks.iter().chain(last) {
            kept.push(length);
            if let Some(out) = bytes[length..].first_chunk_mut() {
                length += loosen(block, out);
            }
        }
        bytes.truncate(length);
        Self { bytes, of: view, kept }
    }
}

/// Two bytes at a time, without a branch: in text, the place of the next blank cannot be predicted.
fn loosen(block: &[u8; BLOCK], out: &mut [u8; BLOCK + 1]) -> usize {
    let table: &[Pair; 1 << 14] = &PAIRS;
    let mut length = 0;
    for eight in block.as_chunks().0 {
        let pairs = pairs(u64::from_le_bytes(*eight));
        for shift in [0, 16, 32, 48] {
            let Pair { bytes, count } = table[(pairs >> shift) as usize % table.len()];
            let at = length % BLOCK;
            [out[at], out[at + 1]] = bytes;
            length += usize::from(count);
        }
    }
    length
}

/// What is kept of two bytes, and how many that are.
#[derive(Clone, Copy)]
struct Pair {
    bytes: [u8; 2],
    count: u16,
}

/// For each two bytes of seven bits, the second of which is the upper one. Made at first need: in the
/// program it would be 64 KB.
static PAIRS: LazyLock<Box<[Pair; 1 << 14]>> = LazyLock::new(|| {
    let mut pairs = Box::new([Pair { bytes: [0; 2], count: 0 }; 1 << 14]);
    for (index, pair) in pairs.iter_mut().enumerate() {
        let (first, second) = (LOOSE[index & 0x7f], LOOSE[index >> 7]);
        let bytes = if first == 0 { [second, 0] } else { [first, second] };
        *pair = Pair { bytes, count: u16::from(first != 0) + u16::from(second != 0) };
    }
    pairs
});

/// In each lane of sixteen bits, where a pair of bytes is in the table. No encoding has a byte that
/// is not ASCII, so that DEL, which none has either, does for all of them.
const fn pairs(eight: u64) -> u64 {
    let high = eight & 0x8080_8080_8080_8080;
    let ascii = eight | (high - (high >> 7));
    ascii & 0x007f_007f_007f_007f | (ascii & 0x7f00_7f00_7f00_7f00) >> 1
}

impl Track for Loose<'_> {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn origin(&self, index: usize) -> usize {
        let block = self.kept.partition_point(|kept| *kept <= index).saturating_sub(1);
        let from = block * BLOCK;
        let mut places = (from..self.of.bytes.len()).filter(|at| is_kept(self.of.bytes[*at]));
        let before = self.kept.get(block).copied().unwrap_or_default();
        self.of.origin(places.nth(index - before).unwrap_or(self.of.bytes.len()))
    }

    fn index(&self, origin: usize) -> usize {
        let at = self.of.index(origin);
        let Some(before) = self.kept.get(at / BLOCK) else { return self.bytes.len() };
        let block = &self.of.bytes[at / BLOCK * BLOCK..at];
        before + block.iter().filter(|byte| is_kept(**byte)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_bytes_are_loosened_as_each_alone_would_be() {
        let some = [0, b'\n', b' ', b':', b'-', b'_', b'a', 0x7f, 0x80, 0xff];
        for (first, second) in (0..=255).flat_map(|first| some.map(|second| (first, second))) {
            let raw = [b'a', first, second, b':', first, b'z', b'y'].repeat(11);
            let view = View { bytes: Cow::Borrowed(&raw), runs: Vec::new() };
            let loose = Loose::of(&view);
            let ascii = |byte: u8| if byte.is_ascii() { byte } else { 0x7f };
            let kept = raw.iter().filter(|byte| is_kept(**byte)).copied();
            let expected: Vec<u8> = kept.map(|byte| LOOSE[usize::from(ascii(byte))]).collect();
            assert_eq!(loose.bytes, expected, "{first} {second}");
            let places = (0..raw.len()).filter(|at| is_kept(raw[*at]));
            assert!(places.eq((0..expected.len()).map(|index| loose.origin(index))));
        }
    }
}
