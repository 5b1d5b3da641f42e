//! What of an output passes where a terminal is not the program's own: text and colours (SGR).
//!
//! Everything else is dropped: what moves the cursor, sets the clipboard (OSC 52) or the title, and
//! what a terminal answers as if it had been typed. The rule says what passes, so a sequence that
//! nobody here knows does not.

use opal_vault::{Piece, Sequences};

/// Bytes of a sequence that sets colours.
const MAX_SEQUENCE: usize = 64;

/// Shown in place of a control character of eight bits. Without it, the text around it could join to a
/// value that nobody has hidden.
const REPLACEMENT: [u8; 3] = [0xef, 0xbf, 0xbd];

/// The first byte of U+0080 to U+00BF.
const LATIN: u8 = 0xc2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'p> {
    /// Of a line, its end, a tab, or a carriage return.
    Text(u8),
    /// The numbers between `ESC [` and `m`.
    Colour(&'p [u8]),
}

/// One stream of one step.
#[derive(Debug, Default)]
pub(super) struct Plain {
    sequences: Sequences,
    characters: Characters,
}

/// Where in a character the text is.
#[derive(Debug, Default)]
struct Characters {
    /// Bytes that are still to come.
    left: u8,
    /// `LATIN` was the last byte, and is held back.
    is_latin: bool,
}

impl Plain {
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Part<'_>)) {
        let Self { sequences, characters } = self;
        for &byte in bytes {
            sequences.push(byte, &mut |piece| match piece {
                Piece::Text(byte) => characters.push(byte, &mut |byte| each(Part::Text(byte))),
                Piece::Control(numbers, b'm') if is_colour(numbers) => each(Part::Colour(numbers)),
                Piece::Control(..) | Piece::Other => {}
            });
        }
    }
}

impl Characters {
    fn push(&mut self, byte: u8, each: &mut impl FnMut(u8)) {
        if std::mem::take(&mut self.is_latin) {
            match byte {
                0x80..=0x9f => return REPLACEMENT.into_iter().for_each(each),
                0xa0..=0xbf => return [LATIN, byte].into_iter().for_each(each),
                _ => each(LATIN),
            }
        }
        let before = std::mem::take(&mut self.left);
        match byte {
            b'\n' | b'\r' | b'\t' | b' '..=0x7e => each(byte),
            0x80..=0xbf if before > 0 => {
                self.left = before - 1;
                each(byte);
            }
            0x80..=0x9f => REPLACEMENT.into_iter().for_each(each),
            LATIN => self.is_latin = true,
            0xa0.. => {
                self.left = match byte {
                    0xc3..=0xdf => 1,
                    0xe0..=0xef => 2,
                    0xf0..=0xf4 => 3,
                    _ => 0,
                };
                each(byte);
            }
            _ => {}
        }
    }
}

fn is_colour(numbers: &[u8]) -> bool {
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b';' | b':');
    numbers.len() < MAX_SEQUENCE && numbers.iter().all(is_number)
}

/// Whether all colours end with it.
pub(super) fn is_reset(numbers: &[u8]) -> bool {
    matches!(numbers, b"" | b"0" | b"00")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(chunks: &[&[u8]]) -> Vec<u8> {
        let (mut plain, mut out) = (Plain::default(), Vec::new());
        for chunk in chunks {
            plain.push(chunk, |part| match part {
                Part::Text(byte) => out.push(byte),
                Part::Colour(numbers) => out.extend([b"\x1b[", numbers, b"m"].concat()),
            });
        }
        out
    }

    #[test]
    fn only_text_and_colours_pass() {
        let table: &[(&[u8], &[u8])] = &[
            (b"a\tb\r\nc\n", b"a\tb\r\nc\n"),
            (b"10%\r20%", b"10%\r20%"),
            ("🔒 ä €\u{a0}".as_bytes(), "🔒 ä €\u{a0}".as_bytes()),
            (b"\x1b[1;31mred\x1b[0m\x1b[m", b"\x1b[1;31mred\x1b[0m\x1b[m"),
            (b"\x1b[38:2::1:2:3mx", b"\x1b[38:2::1:2:3mx"),
            // The clipboard and the title, with both ends.
            (b"a\x1b]52;c;aGk=\x07b\x1b]52;c;aGk=\x1b\\c", b"abc"),
            (b"a\x1b]0;title\x07b\x1b]2;title\x1b\\c", b"abc"),
            // What a terminal answers: its state, cursor, kind, and what it has stored.
            (b"a\x1b[5n\x1b[6n\x1b[c\x1b[>c\x1b[?1$p\x1b[18tb\x05", b"ab"),
            (b"a\x1bP$qm\x1b\\b\x1b]11;?\x07c\x1bZ", b"abc"),
            // What moves, erases, or changes modes and character sets.
            (b"\x1b[2J\x1b[Ha\x1b[1A\x1b[K\x1b[?1049h\x1b7\x1b(0b\x1bc", b"ab"),
            // Not a colour, though it ends as one.
            (b"\x1b[>4;1ma\x1b[?1mb", b"ab"),
            (b"a\x08\x07\x0b\x0c\x0e\x00\x7fb", b"ab"),
            // Control characters of eight bits, in UTF-8 and alone.
            ("a\u{9d}52;c;aGk=\u{9c}b".as_bytes(), "a\u{fffd}52;c;aGk=\u{fffd}b".as_bytes()),
            (b"a\x9d52;c;aGk=\x9cb", "a\u{fffd}52;c;aGk=\u{fffd}b".as_bytes()),
            (b"\xc2\xc2\x9bm", b"\xc2\xef\xbf\xbdm"),
            (b"\xe2\x82", b"\xe2\x82"),
        ];
        for (bytes, wanted) in table {
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(&passed(&[bytes]), wanted, "{text:?}");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(&passed(&single), wanted, "{text:?} byte by byte");
        }
        let long = format!("\x1b[{}ma", "1".repeat(1000));
        assert_eq!(passed(&[long.as_bytes()]), b"a");
    }
}
