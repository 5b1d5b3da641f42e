//! Where a key is in its line, and so which of the lines below it are its own: those further in,
//! each after a time or a name of the same shape if the key is.

use super::values::{is_blank, is_quote};

/// What precedes a key and is longer is not compared.
pub(super) const LONGEST: usize = 256;

#[derive(Clone, Debug)]
pub(super) struct Margin {
    /// What precedes the key that is not an indentation, letter by letter.
    lead: Vec<u8>,
    column: usize,
}

impl Margin {
    /// Of a key that begins at `at`.
    pub(super) fn of(text: &[u8], at: usize) -> Self {
        let quotes = text[..at].iter().rev().take_while(|byte| is_quote(**byte)).take(1).count();
        let dashes = text[at..].iter().take_while(|byte| **byte == b'-').count();
        let within = |byte: &&u8| is_blank(**byte) || is_quote(**byte) || b"+-~[{(".contains(byte);
        let lead = at - text[..at].iter().rev().take_while(within).count();
        let lead = if lead <= LONGEST { &text[..lead] } else { &[] };
        Self { lead: lead.iter().map(shape).collect(), column: at + dashes - quotes }
    }

    /// Whether another key is not indented further.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        other.column <= self.column
    }

    /// Whether the key follows something that `text` does not begin with.
    pub(super) fn misses(&self, text: &[u8]) -> bool {
        let begin = text.get(..self.lead.len());
        !begin.is_some_and(|begin| begin.iter().map(shape).eq(self.lead.iter().copied()))
    }

    /// Where a line says something, after what the key follows.
    pub(super) fn inside(&self, text: &[u8]) -> usize {
        let from = if self.misses(text) { 0 } else { self.lead.len() };
        from + text[from..].iter().take_while(|byte| is_blank(**byte)).count()
    }

    /// Where a line goes on that is further in than the key, or as far where `or_beside`.
    pub(super) fn below(&self, text: &[u8], or_beside: bool) -> Option<usize> {
        let misses = self.misses(text);
        let (from, column) = match misses {
            false => (self.lead.len(), self.column),
            // The lines of one message, which begins after a time.
            true => (0, indentation(&self.lead)),
        };
        let at = from + indentation(&text[from..]);
        (at > column || or_beside && !misses && at == column).then_some(at)
    }
}

/// A digit is like any other, and so is a letter: times and names change.
pub(super) fn shape(byte: &u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' | b'A'..=b'Z' => b'a',
        _ => *byte,
    }
}

/// The blanks that a line begins with, and the signs of lists and differences among them.
fn indentation(text: &[u8]) -> usize {
    let is_sign = |at: usize| {
        b"+-~".contains(&text[at])
            && (at == 0 || text.get(at + 1).is_none_or(|next| is_blank(*next)))
    };
    (0..text.len()).take_while(|at| is_blank(text[*at]) || is_sign(*at)).count()
}
