//! What is only for a terminal, taken out of a stream: escape sequences, and the carriage return that a
//! terminal puts before a line end.

/// Where a stream is with regard to that; one for each stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Escapes {
    state: State,
    /// Whether an escape sequence was taken out so far.
    found: bool,
    /// A carriage return that may come before a line end.
    held: bool,
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

const ESC: u8 = 0x1b;

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
        for &byte in bytes {
            let (state, is_text) = self.state.after(byte);
            self.found |= !is_text;
            self.state = state;
            if is_text {
                kept.extend((self.held && byte != b'\n').then_some(b'\r'));
                self.held = byte == b'\r';
                kept.extend((!self.held).then_some(byte));
            }
        }
        kept
    }
}

impl State {
    /// The state after a byte, and whether that is text.
    fn after(self, byte: u8) -> (Self, bool) {
        match (self, byte) {
            (Self::Words, ESC) => (Self::Closing, false),
            (_, ESC) => (Self::Begun, false),
            (Self::Text, _) => (Self::Text, true),
            (Self::Begun, b'[') => (Self::Control, false),
            (Self::Begun, b']' | b'P' | b'X' | b'^' | b'_') => (Self::Words, false),
            (Self::Begun | Self::Intermediate, 0x20..=0x2f) => (Self::Intermediate, false),
            (Self::Begun | Self::Intermediate, 0x30..=0x7e) => (Self::Text, false),
            (Self::Control, 0x20..=0x3f) => (Self::Control, false),
            (Self::Control, 0x40..=0x7e) => (Self::Text, false),
            (Self::Words | Self::Closing, b'\n') => (Self::Text, true),
            (Self::Words, 0x07) | (Self::Closing, b'\\') => (Self::Text, false),
            (Self::Words | Self::Closing, _) => (Self::Words, false),
            // No sequence goes on like this: what follows is text again.
            (Self::Begun | Self::Intermediate | Self::Control, _) => (Self::Text, true),
        }
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
}
