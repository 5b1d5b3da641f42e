//! What is only for a terminal, taken out of a stream: escape sequences, and the carriage return that a
//! terminal puts before a line end.
//!
//! All that shows output without its sequences reads it here, by the rules of the scrubber
//! (`vault::sequence`): if more were taken out, what is left could be a value that the scrubber has
//! not seen.

use crate::vault::sequence::{self, ESC, Open};

/// Bytes of a sequence that are kept until its end.
const MAX_KEPT: usize = 64;

/// One byte of what is left, or a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'p> {
    Text(u8),
    /// `ESC [`, these bytes, and the last one. Of a long one the beginning.
    Control(&'p [u8], u8),
    /// Any other sequence.
    Other,
}

/// The sequences of one stream.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    state: State,
    /// What came after the introducer.
    kept: Vec<u8>,
    /// The last byte of words.
    before: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Begun,
    /// After ESC and bytes such as `(`, until a final byte.
    Intermediate,
    /// After `ESC [`, until a final byte.
    Control,
    /// After `ESC ]` and the like, until BEL or `ESC \`. A line end ends it too, so that a sequence that
    /// is never closed swallows no more than its line.
    Words,
    /// After ESC within words.
    Closing,
}

impl Sequences {
    /// Takes a byte of the stream and tells what is known with it.
    pub fn push(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        match self.state {
            State::Text if byte == ESC => self.state = State::Begun,
            State::Text => each(Piece::Text(byte)),
            State::Begun => self.begun(byte, each),
            State::Intermediate => match byte {
                0x20..=0x2f => self.keep(byte),
                0x30..=0x7e => self.end(Piece::Other, each),
                _ => self.was_text(byte, each),
            },
            State::Control => match byte {
                ESC => self.begin_again(each),
                _ if sequence::cancels(byte) => self.end(Piece::Other, each),
                0x40..=0x7e => {
                    each(Piece::Control(&self.kept, byte));
                    self.state = State::Text;
                }
                0x00..=0x3f | 0x7f => self.keep(byte),
                0x80.. => self.was_text(byte, each),
            },
            State::Words => match byte {
                ESC => self.state = State::Closing,
                b'\n' => {
                    self.end(Piece::Other, each);
                    each(Piece::Text(byte));
                }
                _ if sequence::ends_text(byte, self.before) => self.end(Piece::Other, each),
                _ => self.before = byte,
            },
            State::Closing if byte == b'\\' => self.end(Piece::Other, each),
            State::Closing => {
                self.begin_again(each);
                self.begun(byte, each);
            }
        }
    }

    fn begun(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        self.kept.clear();
        self.before = 0;
        match Open::of(&[ESC, byte]) {
            Some(Open::Control) => self.state = State::Control,
            Some(Open::String) => self.state = State::Words,
            None if byte == ESC => self.begin_again(each),
            None if (0x20..=0x2f).contains(&byte) => self.state = State::Intermediate,
            None if sequence::is_short(byte) => self.end(Piece::Other, each),
            // The escape was only a control character.
            None => self.was_text(byte, each),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.kept.len() < MAX_KEPT {
            self.kept.push(byte);
        }
    }

    fn end(&mut self, piece: Piece<'_>, each: &mut impl FnMut(Piece<'_>)) {
        self.state = State::Text;
        each(piece);
    }

    /// An escape within a sequence begins another one.
    fn begin_again(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        each(Piece::Other);
        self.state = State::Begun;
    }

    /// No sequence goes on like this: only its introducer is not printed.
    fn was_text(&mut self, byte: u8, each: &mut impl FnMut(Piece<'_>)) {
        self.end(Piece::Other, each);
        self.kept.iter().for_each(|byte| each(Piece::Text(*byte)));
        match byte {
            ESC => self.state = State::Begun,
            _ => each(Piece::Text(byte)),
        }
    }
}

/// Where a stream is with regard to that; one for each stream.
#[derive(Clone, Debug, Default)]
pub struct Escapes {
    sequences: Sequences,
    /// Whether an escape sequence was taken out so far.
    found: bool,
    /// A carriage return that may come before a line end.
    held: bool,
}

impl Escapes {
    /// Whether an escape sequence was taken out so far.
    #[must_use]
    pub fn found(&self) -> bool {
        self.found
    }

    /// The bytes without escape sequences; one that is cut off here goes on with the next bytes.
    #[must_use]
    pub fn strip(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(bytes.len());
        let Self { sequences, found, held } = self;
        for &byte in bytes {
            *found |= byte == ESC;
            sequences.push(byte, &mut |piece| {
                let Piece::Text(byte) = piece else { return };
                kept.extend((*held && byte != b'\n').then_some(b'\r'));
                *held = byte == b'\r';
                kept.extend((!*held).then_some(byte));
            });
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays_however_it_is_cut() {
        for (given, kept) in [
            ("plain\r\nnext\n", "plain\nnext\n"),
            ("10%\r20%\r\x1b[K\r\n", "10%\r20%\r\n"),
            ("end\r", "end"),
            ("\x1b[1;31mred\x1b[0m.", "red."),
            ("\x1b[38;2;1;2;3ma\x1b[?25lb", "ab"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
            ("\x1b(Ba\x1b7b\x1b=", "ab"),
            ("\x1bP1$r\x1b\\a", "a"),
            ("\x1b]never closed\nnext", "\nnext"),
            ("\x1b[\u{e4}", "\u{e4}"),
            ("\x1b\x1b[1mb", "b"),
            ("\x1b", ""),
        ] {
            let whole = Escapes::default().strip(given.as_bytes());
            assert_eq!(String::from_utf8_lossy(&whole), kept, "{given:?}");
            let mut escapes = Escapes::default();
            let single: Vec<u8> =
                given.as_bytes().chunks(1).flat_map(|byte| escapes.strip(byte)).collect();
            assert_eq!(single, whole, "{given:?}");
            assert_eq!(escapes.found(), given.contains('\x1b'));
        }
    }

    /// All short streams of bytes that matter to one of the two.
    #[test]
    fn what_is_left_is_what_the_scrubber_has_read() {
        let bytes = b"\x1b[]P(;1mclk\\\x07\x18\xc3\xa9";
        let mut stream = Vec::new();
        for number in 0..bytes.len().pow(4) {
            stream.clear();
            stream.extend(b"\x1b");
            let digits = (0..4).scan(number, |rest, _| {
                let digit = *rest % bytes.len();
                *rest /= bytes.len();
                Some(bytes[digit])
            });
            stream.extend(digits);
            // Ends any sequence, so that neither waits for more.
            stream.extend(b"\x18.");
            let left = Escapes::default().strip(&stream);
            // A control character is not a sequence.
            let left: Vec<u8> = left.into_iter().filter(|byte| *byte >= 0x20).collect();
            assert_eq!(
                left,
                crate::vault::text_of(&stream),
                "{:?}",
                stream.escape_ascii().to_string()
            );
        }
    }

    #[test]
    fn a_value_with_any_sequence_in_it_is_not_shown_whole() {
        use crate::Vault;
        use opal_core::Data;

        let vault = Vault::new();
        vault.register(&Data::text("canary-7f3a"), "<value>");
        for first in 0..=255_u8 {
            for rest in [&b""[..], b"1", b"m", b"\xc3\xa9m", b"\x18x", b"\x1bcx", b"x\x1b\\"] {
                let printed = [b"canary\x1b", &[first][..], rest, b"-7f3a\n"].concat();
                let shown = vault.scrub_bytes(&printed).without(&mut Escapes::default());
                let text: String = shown
                    .text()
                    .chars()
                    .filter(|c| !c.is_control() || "\t\n".contains(*c))
                    .collect();
                assert!(!text.contains("canary-7f3a"), "{:?}", printed.escape_ascii().to_string());
            }
        }
    }
}
