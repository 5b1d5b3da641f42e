//! What is before a word among the words of a program.

use super::super::cases::Case;

/// What is before a word, as far as it matters.
#[derive(Default)]
pub(super) struct Before {
    pub(super) word: Option<usize>,
    /// The last that is not an option.
    pub(super) operand: Option<usize>,
    pub(super) has_ssh: bool,
    pub(super) has_config: bool,
    /// The row for words further on, and how many operands were there since.
    pub(super) following: Option<(&'static Case, u8)>,
    /// The row for what the program reads.
    pub(super) reads: Option<Reads>,
    /// The row for all words from here on.
    pub(super) past: Option<&'static Case>,
    /// The row for paths on other machines.
    pub(super) elsewhere: Option<&'static Case>,
    /// One of the words further on is there.
    pub(super) is_within: bool,
}

impl Before {
    /// The row for a program that starts a shell on a machine.
    pub(super) fn machine(&self) -> Option<&'static Case> {
        self.reads.filter(|reads| reads.operands <= reads.most).map(|reads| reads.case)
    }
}

/// A program that starts a shell on a machine.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    pub(super) case: &'static Case,
    pub(super) most: u8,
    /// How many operands follow the word that says so.
    pub(super) operands: u8,
}
