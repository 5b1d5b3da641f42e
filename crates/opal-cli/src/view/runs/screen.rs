//! The output of steps, printed once more.

use std::borrow::Cow;

use base64ct::{Base64, Encoding as _};
use opal_core::view::visible;
use opal_vault::record::whole;
use serde_json::{Value, json};

use super::super::print_bytes;
use crate::failure::{Exit, Failure};

/// Gathers much into few writes.
#[derive(Default)]
pub(crate) struct Page(Vec<u8>);

impl Page {
    const FULL_BYTES: usize = 64 * 1024;

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.0.extend_from_slice(bytes);
        if self.0.len() >= Self::FULL_BYTES {
            print_bytes(&self.0)?;
            self.0.clear();
        }
        Ok(())
    }

    /// One object on one line.
    pub(crate) fn json(&mut self, object: &Value) -> Result<(), Failure> {
        self.bytes(visible::json(&format!("{object}\n")).as_bytes())
    }

    pub(crate) fn end(self) -> Result<Exit, Failure> {
        print_bytes(&self.0)
    }
}

/// A part of what a step printed.
pub(crate) fn piece_json(number: u64, bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({"number": number, "text": text}),
        Err(_) => json!({"base64": Base64::encode_string(bytes), "number": number}),
    }
}

/// Where output goes. Into a file or a pipe it goes as it is. A terminal gets text, tabs and line
/// feeds, and colours where they are wanted; all else that would act on it is made visible.
pub(crate) struct Screen {
    terminal: bool,
    colour: bool,
    /// Bytes of a character that has only begun.
    begun: Vec<u8>,
    /// What may become a sequence that sets colours, or the end of a line.
    sequence: String,
}

impl Screen {
    /// Longer ones set no colours.
    const MOST_BYTES: usize = 64;

    pub(crate) fn new(terminal: bool, colour: bool) -> Self {
        Self { terminal, colour, begun: Vec::new(), sequence: String::new() }
    }

    pub(crate) fn shown<'b>(&mut self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if !self.terminal {
            return Cow::Borrowed(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let begun = self.begun.split_off(whole(&self.begun));
        let bytes = std::mem::replace(&mut self.begun, begun);
        let mut out = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|c| self.character(c, &mut out));
            if !chunk.invalid().is_empty() {
                self.character(char::REPLACEMENT_CHARACTER, &mut out);
            }
        }
        Cow::Owned(out.into_bytes())
    }

    fn character(&mut self, c: char, out: &mut String) {
        if self.sequence.is_empty() {
            match c {
                '\x1b' | '\r' => self.sequence.push(c),
                '\n' | '\t' => out.push(c),
                c => out.push(visible::character(c)),
            }
            return;
        }
        let so_far = self.sequence.as_str();
        let goes_on = match so_far {
            "\r" => false,
            "\x1b" => c == '[',
            _ => c.is_ascii_digit() || matches!(c, ';' | ':'),
        };
        if goes_on && so_far.len() < Self::MOST_BYTES {
            return self.sequence.push(c);
        }
        let sequence = std::mem::take(&mut self.sequence);
        match (sequence.as_str(), c) {
            ("\r", '\n') => out.push('\n'),
            (colours, 'm') if colours.starts_with("\x1b[") => {
                if self.colour {
                    out.push_str(colours);
                    out.push('m');
                }
            }
            (other, c) => {
                out.extend(other.chars().map(visible::character));
                self.character(c, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(colour: bool, chunks: &[&[u8]]) -> String {
        let mut screen = Screen::new(true, colour);
        let bytes: Vec<u8> =
            chunks.iter().flat_map(|chunk| screen.shown(chunk).into_owned()).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_pipe_gets_every_byte() {
        let mut screen = Screen::new(false, false);
        assert_eq!(*screen.shown(b"\x1b[2J\xff"), *b"\x1b[2J\xff");
    }

    #[test]
    fn colours_pass_where_they_are_wanted_and_nothing_else_acts() {
        let text: &[&[u8]] = &[b"\x1b[1;31mred\x1b[0m\r\n\ta\x1b]0;title\x07\x1b[2Jb\rc"];
        assert_eq!(shown(true, text), "\x1b[1;31mred\x1b[0m\n\ta␛]0;title␇␛[2Jb␍c");
        assert_eq!(shown(false, text), "red\n\ta␛]0;title␇␛[2Jb␍c");
    }

    #[test]
    fn a_sequence_or_a_character_in_two_chunks_is_one() {
        assert_eq!(shown(true, &[b"\x1b[3", b"2mx\r", b"\n"]), "\x1b[32mx\n");
        assert_eq!(shown(true, &["ü".as_bytes().split_at(1).0, "ü".as_bytes().split_at(1).1]), "ü");
        assert_eq!(shown(true, &[b"\xffx"]), "\u{fffd}x");
    }
}
