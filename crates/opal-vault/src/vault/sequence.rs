//! Escape sequences and control characters: what a terminal takes in without printing it.
//!
//! A sequence may be of any length. It begins with an escape, or with one of the control characters
//! from U+0080 on; control characters inside of it do not end it, except those that cancel it.

pub(crate) const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// These cancel a sequence.
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// The first byte of U+0080 to U+009F in UTF-8.
const HIGH: u8 = 0xc2;
/// What ends a sequence of two bytes. After any other byte an escape was only a control character.
const SHORT: &[u8] = b"6789=>DEHMNOZc\\|}~no";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// Text after all.
    None,
    /// Nothing that could hold a value.
    Control,
    String,
}

/// A sequence whose end has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// Parameters, up to a letter.
    Control,
    /// A text, up to its terminator.
    String,
}

/// Whether this byte after an escape is the end of a sequence.
pub(crate) fn is_short(byte: u8) -> bool {
    SHORT.contains(&byte)
}

/// Whether this byte ends any sequence: before its own end, or as that of a text.
pub(crate) const fn cancels(byte: u8) -> bool {
    matches!(byte, CAN | SUB)
}

pub(crate) const fn ends_text(byte: u8, before: u8) -> bool {
    matches!(byte, BEL | CAN | SUB) || byte == 0x9c && before == HIGH
}

/// Whether a terminal prints nothing for it. Tabs and line feeds are text; a carriage return is
/// read together with what follows.
pub(super) const fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7f
}

/// Where something may begin that is not printed.
const BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let one = byte as u8;
        begins[byte] = is_control(one) || one == b'\r' || one == HIGH;
        byte += 1;
    }
    begins
};

/// The first byte that may not be printed. All output is searched, so eight bytes are one question.
pub(super) fn next(bytes: &[u8]) -> Option<usize> {
    let first = |bytes: &[u8]| bytes.iter().position(|byte| BEGINS[usize::from(*byte)]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if may_begin(u64::from_ne_bytes(*word))
            && let Some(found) = first(word)
        {
            return Some(at * 8 + found);
        }
    }
    first(rest).map(|found| words.len() * 8 + found)
}

/// Whether one of eight bytes is in [`BEGINS`], or is a tab or a line feed.
const fn may_begin(word: u64) -> bool {
    // The upper bit of each byte that is less than `limit`, and perhaps of those above one.
    const fn less(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(each(limit)) & !word & each(0x80)
    }
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    less(word, 0x20) | less(word ^ each(0x7f), 1) | less(word ^ each(HIGH), 1) != 0
}

impl Sequence {
    /// What begins at the start of `bytes`, where [`next`] has found something, and how long it is;
    /// nothing if its end is not there yet.
    pub(super) fn at(bytes: &[u8], is_last: bool) -> Option<(Self, usize)> {
        let found = match bytes {
            [b'\r', _, ..] => Some((Self::Control, 1)),
            [b'\r'] | [ESC] | [HIGH] => None,
            [ESC, 0x20..=0x2f, rest @ ..] => Self::short(rest),
            [ESC, next, ..] if is_short(*next) => Some((Self::Control, 2)),
            [HIGH, next, ..] if !(0x80..=0x9f).contains(next) => Some((Self::None, 1)),
            [ESC | HIGH, _, rest @ ..] => match Open::of(bytes) {
                Some(open) => open.end(rest).map(|end| (open.kind(), end + 2)),
                None if bytes[0] == HIGH => Some((Self::Control, 2)),
                None => Some((Self::Control, 1)),
            },
            _ => Some((Self::Control, 1)),
        };
        // An escape that nothing follows counts as a control character.
        found.or(is_last.then_some((if bytes[0] == ESC { Self::Control } else { Self::None }, 1)))
    }

    /// Intermediate bytes and the one that ends it, after an introducer of two bytes.
    fn short(rest: &[u8]) -> Option<(Self, usize)> {
        let end = rest.iter().position(|byte| !(0x20..=0x2f).contains(byte))?;
        match rest[end] {
            0x30..=0x7e => Some((Self::Control, end + 3)),
            // Only the introducer is lost on the way to a screen.
            _ => Some((Self::Control, 2)),
        }
    }
}

impl Open {
    /// The sequence that `bytes` begin, with an introducer of two bytes.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [ESC, b'[', ..] | [HIGH, 0x9b, ..] => Some(Self::Control),
            [ESC, b']' | b'P' | b'X' | b'^' | b'_', ..] => Some(Self::String),
            [HIGH, 0x90 | 0x98 | 0x9d | 0x9e | 0x9f, ..] => Some(Self::String),
            _ => None,
        }
    }

    const fn kind(self) -> Sequence {
        match self {
            Self::Control => Sequence::Control,
            Self::String => Sequence::String,
        }
    }

    /// How much of what follows the introducer belongs to it; nothing if its end is not there yet.
    fn end(self, rest: &[u8]) -> Option<usize> {
        let at = self.stops(None, rest)?;
        Some(match (self, &rest[at..]) {
            (_, [CAN | SUB, ..]) => at + 1,
            (Self::String, [ESC]) => return None,
            (Self::String, [ESC, b'\\', ..]) => at + 2,
            (_, [ESC, ..]) => at,
            (Self::String, _) => at + 1,
            (Self::Control, [0x40..=0x7e, ..]) => at + 1,
            // What a terminal makes of this is not known: only the introducer is lost.
            (Self::Control, _) => 0,
        })
    }

    /// The byte in `bytes` that ends it, or with which its end begins. `before` is the byte before.
    pub(super) fn stops(self, before: Option<u8>, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Control => bytes.iter().position(|byte| {
                matches!(*byte, CAN | SUB | ESC)
                    || !((0x20..=0x3f).contains(byte) || *byte < 0x20 || *byte == 0x7f)
            }),
            Self::String => {
                let mut before = before;
                bytes.iter().position(|byte| {
                    let ends = matches!((before, *byte), (_, BEL | CAN | SUB | ESC))
                        || (before, *byte) == (Some(HIGH), 0x9c);
                    before = Some(*byte);
                    ends
                })
            }
        }
    }
}

/// What a terminal must be given to end a sequence that something else has cut off.
pub(super) const fn closing(open: Open) -> &'static [u8] {
    match open {
        Open::Control => &[CAN],
        Open::String => &[ESC, b'\\'],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_may_not_be_printed_is_found_wherever_it_is() {
        for byte in 0..=u8::MAX {
            for length in 1..40 {
                for at in 0..length {
                    for around in [b'a', b'\n', 0xff, 0x80] {
                        let mut bytes = vec![around; length];
                        bytes[at] = byte;
                        let expected = BEGINS[usize::from(byte)].then_some(at);
                        assert_eq!(next(&bytes), expected, "{byte:#x} at {at} of {length}");
                    }
                }
            }
        }
    }
}
