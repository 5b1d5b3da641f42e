//! The output of parallel branches side by side: whole lines, each after the name of its branch.
//!
//! A program in a branch has pipes, and shares the terminal with others. So only text and colours
//! pass; what moves the cursor does not. Of a line that is written over, as progress bars are, the
//! last state is shown. A colour ends with its line and begins again with the next.

use super::plain::{Part, Plain, is_reset};

/// Bytes of a line that are held back; what is longer is shown in pieces.
const MAX_LINE: usize = 64 * 1024;

/// Bytes of a character after its first one.
const MAX_MORE: usize = 3;

/// Bytes of the colours that hold for the next line.
const MAX_STYLE: usize = 256;

/// One stream of one step.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line so far, with the colours that hold at its beginning.
    line: Vec<u8>,
    /// Whether there is text in it.
    has_text: bool,
    /// Sequences since the last reset.
    style: Vec<u8>,
    plain: Plain,
    /// The cursor is at the beginning of the line, and what comes next writes over it.
    is_returned: bool,
}

const ESCAPE: u8 = 0x1b;
const RESET: &[u8] = b"\x1b[0m";

impl Lines {
    /// Adds what was printed; whole lines go to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], prefix: &str, out: &mut Vec<u8>) {
        let mut plain = std::mem::take(&mut self.plain);
        plain.push(bytes, |part| match part {
            Part::Text(byte) => self.text(byte, prefix, out),
            Part::Colour(numbers) => self.colour(numbers),
        });
        self.plain = plain;
    }

    /// The step has ended: what is left of its last line goes to `out`.
    pub(super) fn finish(&mut self, prefix: &str, out: &mut Vec<u8>) {
        if self.has_text {
            self.end_line(prefix, out);
        }
        *self = Self::default();
    }

    fn text(&mut self, byte: u8, prefix: &str, out: &mut Vec<u8>) {
        match byte {
            b'\n' => self.end_line(prefix, out),
            b'\r' => self.is_returned = true,
            _ => {
                if self.is_returned {
                    self.begin_line();
                }
                // Never inside of a character, which has three more bytes at most.
                let is_inside =
                    (0x80..0xc0).contains(&byte) && self.line.len() < MAX_LINE + MAX_MORE;
                if self.line.len() >= MAX_LINE && !is_inside {
                    self.end_line(prefix, out);
                }
                self.line.push(byte);
                self.has_text = true;
            }
        }
    }

    fn colour(&mut self, numbers: &[u8]) {
        let whole = [b"\x1b[", numbers, b"m"].concat();
        if is_reset(numbers) || numbers.starts_with(b"0;") {
            self.style.clear();
        }
        if !is_reset(numbers) {
            if self.style.len() + whole.len() > MAX_STYLE {
                self.style.clear();
            }
            self.style.extend(&whole);
        }
        if self.line.len() < MAX_LINE {
            self.line.extend(&whole);
        }
    }

    fn begin_line(&mut self) {
        self.line.clear();
        self.line.extend(&self.style);
        self.has_text = false;
        self.is_returned = false;
    }

    fn end_line(&mut self, prefix: &str, out: &mut Vec<u8>) {
        if self.has_text {
            out.extend(prefix.as_bytes());
            out.extend(&self.line);
            if self.line.contains(&ESCAPE) {
                out.extend(RESET);
            }
        } else {
            out.extend(prefix.trim_end().as_bytes());
        }
        out.push(b'\n');
        self.begin_line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of chunks, with `|` for the prefix.
    fn shown(chunks: &[&[u8]]) -> String {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        chunks.iter().for_each(|chunk| lines.push(chunk, "| ", &mut out));
        lines.finish("| ", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        for (text, wanted) in [
            ("a\nb\n", "| a\n| b\n"),
            ("a", "| a\n"),
            ("", ""),
            ("\n\na\n", "|\n|\n| a\n"),
            ("a\r\nb\r\n", "| a\n| b\n"),
            ("10%\r50%\r100%\n", "| 100%\n"),
            ("10%\r50%", "| 50%\n"),
            ("done\r", "| done\n"),
            ("\ta\u{8}\u{7}b\n", "| \tab\n"),
            ("\u{1b}[31mred\u{1b}[0m\n", "| \u{1b}[31mred\u{1b}[0m\u{1b}[0m\n"),
            // A colour ends with its line, and goes on with the next.
            (
                "\u{1b}[1mA\nB\u{1b}[m\nC\n",
                "| \u{1b}[1mA\u{1b}[0m\n| \u{1b}[1mB\u{1b}[m\u{1b}[0m\n| C\n",
            ),
            ("\u{1b}[32m10%\r20%\n", "| \u{1b}[32m20%\u{1b}[0m\n"),
            // What moves the cursor, sets a title or changes the character set does not pass.
            ("\u{1b}[2J\u{1b}[Ha\u{1b}[1Ab\u{1b}[K\n", "| ab\n"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b\u{1b}(0c\u{1b}7\n", "| abc\n"),
            ("\u{1b}[?25l\u{1b}[>4;1ma\n", "| a\n"),
            ("🔒 ä\n", "| 🔒 ä\n"),
            // Everything else is text.
            ("a\u{1b}1b\u{1b}kc\u{1b}[3\u{e9}md\n", "| a1bkc3émd\n"),
            ("a\u{1b}[\u{18}b\u{1b}]x\u{1b}[1Ac\n", "| abc\n"),
        ] {
            let bytes = text.as_bytes();
            assert_eq!(shown(&[bytes]), wanted, "{text:?}");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(shown(&single), wanted, "{text:?} byte by byte");
        }
    }

    #[test]
    fn a_line_without_end_is_shown_in_pieces_and_never_inside_of_a_character() {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        for _ in 0..100_000 {
            lines.push("äöü€".as_bytes(), "| ", &mut out);
            assert!(lines.line.capacity() <= 4 * MAX_LINE);
        }
        lines.finish("| ", &mut out);
        let text = String::from_utf8(out).unwrap();
        let pieces: String = text.lines().map(|line| line.strip_prefix("| ").unwrap()).collect();
        assert_eq!(pieces, "äöü€".repeat(100_000));
        assert!(text.lines().count() > 5);
    }

    #[test]
    fn bytes_that_never_begin_a_character_are_shown_in_pieces_too() {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        for _ in 0..10 {
            lines.push(&[0xa0; MAX_LINE], "| ", &mut out);
            assert!(lines.line.len() <= MAX_LINE + MAX_MORE);
        }
        lines.finish("| ", &mut out);
        assert_eq!(out.iter().filter(|byte| **byte == 0xa0).count(), 10 * MAX_LINE);
        assert!(out.iter().filter(|byte| **byte == b'\n').count() >= 9);
    }

    #[test]
    fn colours_without_end_stay_small() {
        let (mut lines, mut out) = (Lines::default(), Vec::new());
        for colour in 0..100_000 {
            lines.push(format!("\x1b[38;5;{}m", colour % 256).as_bytes(), "| ", &mut out);
        }
        lines.push(format!("\x1b[{}m", "1".repeat(100_000)).as_bytes(), "| ", &mut out);
        assert!(lines.style.len() <= MAX_STYLE && lines.line.len() <= 2 * MAX_LINE);
    }
}
