//! The last lines that a step printed, in little memory.

use std::collections::VecDeque;

use super::words;

/// Bytes that are kept of a step.
const MAX_BYTES: usize = 4 * 1024;

/// Lines that are told again.
const MAX_LINES: usize = 10;

/// Holds scrubbed bytes only.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    is_cut: bool,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(MAX_BYTES)..];
        let over = (self.bytes.len() + kept.len()).saturating_sub(MAX_BYTES);
        self.is_cut |= over > 0 || kept.len() < bytes.len();
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend(kept);
    }

    /// The last lines, as plain words.
    pub(super) fn lines(&self) -> Vec<String> {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let mut from = 0;
        if self.is_cut {
            // What is left of a line, or of a character, is none.
            from = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        }
        let text = words::plain(&String::from_utf8_lossy(&bytes[from..]));
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let last = lines.len().saturating_sub(MAX_LINES);
        lines[last..].iter().map(|line| words::cut(line, 400).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_not_more() {
        let mut tail = Tail::default();
        for line in 0..100_000 {
            tail.push(format!("line {line}\n").as_bytes());
        }
        let lines = tail.lines();
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!((lines[0].as_str(), lines[9].as_str()), ("line 99990", "line 99999"));
        assert!(tail.bytes.len() <= MAX_BYTES);
    }

    #[test]
    fn one_large_chunk_is_as_good_as_many_small_ones() {
        let text: Vec<u8> = (0..5_000).flat_map(|n| format!("ä {n}\n").into_bytes()).collect();
        let (mut whole, mut pieces) = (Tail::default(), Tail::default());
        whole.push(&text);
        text.chunks(7).for_each(|chunk| pieces.push(chunk));
        assert_eq!(whole.lines(), pieces.lines());
    }

    #[test]
    fn a_line_without_end_is_cut() {
        let mut tail = Tail::default();
        tail.push(&[b'x'; 10_000]);
        assert_eq!(tail.lines(), [format!("{}…", "x".repeat(399))]);
        assert_eq!(Tail::default().lines(), Vec::<String>::new());
    }
}
