//! What a step printed: the first and the last lines.

use opal_vault::Vault;

/// Lines and bytes that are kept of each end.
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 32 << 10;

/// Scrubbed bytes, cut between lines only: no part of a value is left at a cut.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    first: Vec<u8>,
    /// Nothing is added to the first lines any more.
    is_full: bool,
    last: Vec<u8>,
    /// Lines between them that are not kept.
    left_out: usize,
}

impl Printed {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_full {
            self.last.extend_from_slice(bytes);
        } else {
            self.first.extend_from_slice(bytes);
            self.fill();
        }
        if self.last.len() > 4 * MAX_BYTES {
            self.trim();
        }
    }

    /// Moves what is more than the first lines.
    fn fill(&mut self) {
        let ends = self.first.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let nth = ends.map(|(at, _)| at + 1).nth(MAX_LINES - 1);
        let end = nth.filter(|end| *end <= MAX_BYTES).unwrap_or(MAX_BYTES);
        if self.first.len() <= end {
            return;
        }
        let whole = self.first[..end].iter().rposition(|byte| *byte == b'\n');
        self.last = self.first.split_off(whole.map_or(0, |at| at + 1));
        self.is_full = true;
    }

    /// Keeps the last lines only.
    fn trim(&mut self) {
        let ends = self.last.iter().enumerate().rev().skip(1).filter(|(_, byte)| **byte == b'\n');
        let nth = ends.map(|(at, _)| at + 1).nth(MAX_LINES - 1).unwrap_or(0);
        let start = nth.max(self.last.len().saturating_sub(MAX_BYTES));
        if start == 0 {
            return;
        }
        // Not in the middle of a line.
        let is_start = self.last[start - 1] == b'\n';
        let next = self.last[start..].iter().position(|byte| *byte == b'\n');
        let start =
            if is_start { start } else { start + next.map_or(self.last.len(), |at| at + 1) };
        let start = start.min(self.last.len());
        let ends = self.last[..start].iter().filter(|byte| **byte == b'\n').count();
        self.left_out += ends.max(1);
        self.last.drain(..start);
    }

    /// What may be seen of it: values that became known later are hidden too.
    pub(crate) fn finish(mut self, vault: &Vault) -> Self {
        self.trim();
        let first = vault.scrub_bytes(&self.first).bytes().to_vec();
        let last = vault.scrub_bytes(&self.last).bytes().to_vec();
        Self { first, last, ..self }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.last.len()
    }

    /// Only that there was something.
    pub(crate) fn forget(&mut self) {
        let lines = self.parts().map(|part| part.iter().filter(|byte| **byte == b'\n').count());
        let left_out = self.left_out + lines.iter().sum::<usize>();
        *self = Self { left_out: left_out.max(1), ..Self::default() };
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.left_out == 0
    }

    /// The first lines and the last.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [&self.first, &self.last]
    }

    /// Lines between them.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(chunks: impl Iterator<Item = Vec<u8>>) -> Printed {
        let mut printed = Printed::default();
        chunks.for_each(|chunk| printed.push(&chunk));
        printed.finish(&Vault::new())
    }

    #[test]
    fn the_first_and_the_last_lines_are_kept_and_the_others_counted() {
        let whole = printed((0..100_000).map(|n| format!("line {n}\n").into_bytes()));
        let [first, last] = whole.parts().map(|part| String::from_utf8_lossy(part).into_owned());
        assert!(first.starts_with("line 0\n") && first.ends_with("line 199\n"));
        assert!(last.starts_with("line 99800\n") && last.ends_with("line 99999\n"));
        assert_eq!(whole.left_out(), 100_000 - 400);
        let short = printed((0..300).map(|n| format!("line {n}\n").into_bytes()));
        assert_eq!(short.parts().concat().iter().filter(|b| **b == b'\n').count(), 300);
        assert_eq!(short.left_out(), 0);
    }

    #[test]
    fn no_line_is_cut_and_memory_is_bounded() {
        let lines = (0..1_000).map(|n| format!("{n}:{}\n", "x".repeat(5_000)).into_bytes());
        let long = printed(lines);
        for part in long.parts() {
            assert!(part.len() <= MAX_BYTES);
            for line in part.split_inclusive(|byte| *byte == b'\n') {
                assert_eq!(line.split(|byte| *byte == b':').nth(1).unwrap().len(), 5_001);
            }
        }
        let endless = printed((0..100).map(|_| vec![b'x'; 10_000]));
        assert!(endless.len() <= MAX_BYTES && !endless.is_empty());
    }
}
