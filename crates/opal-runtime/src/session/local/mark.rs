//! The end of a command's output on a pseudo-terminal.
//!
//! What is written to a terminal takes its time to come out at the other side, so its end cannot be
//! known from the end of the command. The shell writes a mark after it, which is taken out here.

/// Looks for a mark in output that comes in pieces.
#[derive(Debug)]
pub(super) struct Mark {
    mark: Vec<u8>,
    /// What may turn out to be the beginning of the mark.
    held: Vec<u8>,
    pub(super) is_found: bool,
}

impl Mark {
    pub(super) fn new(mark: Vec<u8>) -> Self {
        Self { mark, held: Vec::new(), is_found: false }
    }

    /// What of it is output.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let mut all = std::mem::take(&mut self.held);
        if self.is_found {
            return all;
        }
        let mark = self.mark.as_slice();
        if let Some(at) = all.windows(mark.len()).position(|window| window == mark) {
            self.is_found = true;
            all.drain(at..at + mark.len());
            return all;
        }
        let longest = mark.len().saturating_sub(1).min(all.len());
        let begun = (1..=longest).rev().find(|count| all.ends_with(&mark[..*count])).unwrap_or(0);
        self.held = all.split_off(all.len() - begun);
        all
    }

    /// What was held back for nothing.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_taken_out_however_it_is_cut() {
        let all = b"ab\x01\x01op<\x01opal\x02>c";
        for size in 1..all.len() {
            let mut mark = Mark::new(b"\x01opal\x02".to_vec());
            let mut out: Vec<u8> = all.chunks(size).flat_map(|piece| mark.pass(piece)).collect();
            out.extend(mark.rest());
            assert!(mark.is_found);
            assert_eq!(out, b"ab\x01\x01op<>c", "{size}");
        }
    }

    #[test]
    fn what_only_begins_like_a_mark_is_output() {
        let mut mark = Mark::new(b"\x01opal\x02".to_vec());
        assert_eq!(mark.pass(b"x\x01op"), b"x");
        assert_eq!(mark.rest(), b"\x01op");
        assert!(!mark.is_found);
    }
}
