//! Bytes of a terminal as keys.

use std::time::Duration;

/// How long the rest of a sequence may take; after that the key was Escape.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// The most bytes of one sequence.
const LONGEST: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character that is written.
    Text(char),
    Enter,
    Back,
    /// The whole line, or its last word.
    Clear,
    ClearWord,
    Up,
    Down,
    /// Ctrl+C, Ctrl+D, Ctrl+G or Escape.
    Interrupt,
    /// Of no use here.
    Other,
}

/// Puts keys together out of what comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The beginning of a character or of a sequence.
    begun: Vec<u8>,
}

impl Reader {
    /// Whether a sequence has begun that may be the key Escape.
    pub(crate) fn is_open(&self) -> bool {
        self.begun.first() == Some(&0x1b)
    }

    /// Nothing came for a while.
    pub(crate) fn pause(&mut self) -> Option<Key> {
        let is_escape = self.begun == [0x1b];
        self.begun.clear();
        is_escape.then_some(Key::Interrupt)
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        bytes.iter().filter_map(|byte| self.byte(*byte)).collect()
    }

    fn byte(&mut self, byte: u8) -> Option<Key> {
        self.begun.push(byte);
        let key = match self.begun.as_slice() {
            [0x1b] | [0x1b, b'[' | b'O'] => return None,
            [0x1b, b'[' | b'O', middle @ .., last] => match last {
                0x40..=0x7e => sequence(middle, *last),
                _ if self.begun.len() < LONGEST => return None,
                _ => Key::Other,
            },
            [0x1b, ..] => Key::Other,
            [one] if one.is_ascii() => control(*one),
            several => match std::str::from_utf8(several) {
                Ok(text) => text.chars().next().map_or(Key::Other, printed),
                Err(error) if error.error_len().is_none() => return None,
                Err(_) => Key::Other,
            },
        };
        self.begun.clear();
        Some(key)
    }
}

fn control(byte: u8) -> Key {
    match byte {
        b'\r' | b'\n' => Key::Enter,
        0x7f | 0x08 => Key::Back,
        0x03 | 0x04 | 0x07 => Key::Interrupt,
        0x15 => Key::Clear,
        0x17 => Key::ClearWord,
        0x10 => Key::Up,
        0x0e | b'\t' => Key::Down,
        _ => printed(char::from(byte)),
    }
}

/// A character that does something to a terminal is never text.
fn printed(c: char) -> Key {
    if c.is_control() { Key::Other } else { Key::Text(c) }
}

fn sequence(middle: &[u8], last: u8) -> Key {
    match (middle, last) {
        ([], b'A') => Key::Up,
        ([], b'B') => Key::Down,
        ([], b'Z') => Key::Up,
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_whole_wherever_their_bytes_are_cut() {
        let bytes = "aé\x1b[A\x1b[1;5B\x1bOB漢\r\x7f\x03".as_bytes();
        let expected = [
            Key::Text('a'),
            Key::Text('é'),
            Key::Up,
            Key::Other,
            Key::Down,
            Key::Text('漢'),
            Key::Enter,
            Key::Back,
            Key::Interrupt,
        ];
        for size in 1..=bytes.len() {
            let mut reader = Reader::default();
            let keys: Vec<Key> = bytes.chunks(size).flat_map(|part| reader.feed(part)).collect();
            assert_eq!(keys, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn escape_alone_is_a_key_after_a_pause_and_no_sequence_is_endless() {
        let mut reader = Reader::default();
        assert_eq!(reader.feed(b"\x1b"), []);
        assert!(reader.is_open());
        assert_eq!(reader.pause(), Some(Key::Interrupt));
        assert_eq!(reader.feed(b"x"), [Key::Text('x')]);
        let endless: Vec<u8> = [b"\x1b[".as_slice(), &[b'1'; 100]].concat();
        assert!(reader.feed(&endless).contains(&Key::Other));
        assert_eq!(reader.feed(&[0xff, b'y']), [Key::Other, Key::Text('y')]);
    }
}
