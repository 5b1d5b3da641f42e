//! The end of a command's output on a pseudo-terminal.
//!
//! What is written to a terminal takes its time to come out at the other side, so its end cannot be
//! known from the end of the command. The shell writes a mark after it, which is taken out here: any
//! mark of any shell, whole or not, since one may come late, or be cut by an interrupt.

use std::process;

const END: u8 = 2;

/// Numbers and what is between them: more would be no mark.
const MAX_NUMBERS_BYTES: usize = 64;

/// What every mark of this process begins with.
fn beginning() -> Vec<u8> {
    format!("\u{1}opal:{}.", process::id()).into_bytes()
}

/// What a shell runs to print its mark.
pub(super) fn printing(shell: usize) -> String {
    format!("printf '\\001opal:{}.{shell}:%s\\002' \"$__opal_turn\"", process::id())
}

/// Looks for a mark in output that comes in pieces.
#[derive(Debug)]
pub(super) struct Mark {
    beginning: Vec<u8>,
    /// What follows the beginning, in the mark of this turn.
    numbers: Vec<u8>,
    /// What may turn out to be a mark.
    held: Vec<u8>,
    pub(super) is_found: bool,
}

impl Mark {
    pub(super) fn new(shell: usize, turn: u64) -> Self {
        let numbers = format!("{shell}:{turn}").into_bytes();
        Self { beginning: beginning(), numbers, held: Vec::new(), is_found: false }
    }

    /// What of it is output.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.held);
        let mut output = Vec::with_capacity(all.len());
        let mut rest = all.as_slice();
        while let Some(at) = self.position(rest) {
            output.extend_from_slice(&rest[..at]);
            let following = &rest[at + self.beginning.len()..];
            let is_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b':';
            let count = following.iter().take(MAX_NUMBERS_BYTES).take_while(is_number).count();
            if count == following.len() && count < MAX_NUMBERS_BYTES {
                self.held = rest[at..].to_vec();
                return output;
            }
            let is_whole = following.get(count) == Some(&END);
            self.is_found |= is_whole && following[..count] == self.numbers;
            rest = &following[count + usize::from(is_whole)..];
        }
        let longest = (self.beginning.len() - 1).min(rest.len());
        let is_begun = |count: &usize| rest.ends_with(&self.beginning[..*count]);
        let begun = (1..=longest).rev().find(is_begun).unwrap_or(0);
        let (passed, held) = rest.split_at(rest.len() - begun);
        output.extend_from_slice(passed);
        self.held = held.to_vec();
        output
    }

    fn position(&self, bytes: &[u8]) -> Option<usize> {
        let size = self.beginning.len();
        let mut from = 0;
        loop {
            from += bytes[from..].iter().position(|byte| *byte == self.beginning[0])?;
            if bytes[from..].get(..size)? == self.beginning {
                return Some(from);
            }
            from += 1;
        }
    }

    /// Whether a part of a mark may still be on its way.
    pub(super) fn is_cut(&self) -> bool {
        !self.is_found && !self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<` and `>` for the marks of shell 1, turn 2.
    fn marked(text: &str) -> Vec<u8> {
        let mark = format!("\u{1}opal:{}.1:", process::id());
        text.replace('<', &mark).replace('>', "\u{2}").into_bytes()
    }

    fn passed(all: &[u8], size: usize) -> (Mark, Vec<u8>) {
        let mut mark = Mark::new(1, 2);
        let output = all.chunks(size).flat_map(|piece| mark.pass(piece)).collect();
        (mark, output)
    }

    #[test]
    fn a_mark_is_taken_out_however_it_is_cut() {
        let all = marked("ab\u{1}\u{1}op(<2>)c\u{1}opal:1:1\u{2}.");
        for size in 1..all.len() {
            let (mark, output) = passed(&all, size);
            assert!(mark.is_found && !mark.is_cut());
            assert_eq!(output, b"ab\x01\x01op()c\x01opal:1:1\x02.", "{size}");
        }
    }

    #[test]
    fn marks_that_are_late_broken_or_of_another_shell_are_not_shown_and_not_taken_for_this_one() {
        let own = process::id();
        for all in [
            marked("a<1>b"),
            marked("a<2b"),
            marked("a<b"),
            marked("a<22>b"),
            format!("a\u{1}opal:{own}.7:2\u{2}b").into_bytes(),
            format!("a\u{1}opal:{own}.b").into_bytes(),
        ] {
            for size in 1..all.len() {
                let (mark, output) = passed(&all, size);
                assert!(!mark.is_found);
                assert_eq!(output, b"ab", "{all:?} {size}");
            }
        }
    }

    #[test]
    fn what_only_begins_like_a_mark_is_output_as_soon_as_that_is_known() {
        let mut mark = Mark::new(1, 2);
        assert_eq!(mark.pass(b"x\x01op"), b"x");
        assert!(mark.is_cut());
        assert_eq!(mark.pass(b"us"), b"\x01opus");
        assert!(!mark.is_cut());
    }

    #[test]
    fn numbers_without_an_end_are_not_held_for_ever() {
        let mut mark = Mark::new(1, 2);
        let all = marked(&format!("<{}x", "1".repeat(1_000)));
        assert_eq!(mark.pass(&all).len(), 1_000 + 1 - MAX_NUMBERS_BYTES + 2);
    }
}
