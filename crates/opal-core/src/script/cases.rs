//! The table: places where bash, dash or a program that they start reads a word a second time.
//!
//! Taken from the manuals and sources of bash 5.2 and dash 0.5.12, section by section, and from the
//! manuals of the programs named. Each row has an example, which the tests check and, where it can be
//! run, run in both shells with values that would be code.

mod groups;
mod kinds;
mod rows;

pub(super) use groups::{REMOTES, SHELLS};
pub(super) use kinds::Kinds;
pub(super) use rows::ROWS;

/// What happens to a value in the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It would run, or be expanded once more. Nothing is allowed.
    Code,
    /// It would be the name of a variable, whose index the shell evaluates. Nothing is allowed.
    Name,
    /// It would be computed. Only an Int is allowed.
    Sum,
    /// A program that is not a shell may run it. Allowed, with a warning.
    Warn,
}

/// Where in a command the place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// In the shell's own syntax.
    Syntax,
    /// The value of one of these options: `c` for `-c`, or a long one with its dashes.
    Option(&'static [&'static str]),
    /// The words from this operand on.
    From(u8),
    /// One operand.
    Operand(u8),
    /// The word after this one.
    After(&'static str),
    /// All words after this one.
    Past(&'static str),
    /// What is assigned, where this letter is among the options.
    Attribute(u8),
    /// What the command reads: a heredoc, a here-string, a pipe.
    Input,
    /// What it reads where no option gives it a text, and at most so many operands are there.
    Script(u8),
    /// What it reads where one of these options is given `-` for a file.
    File(&'static [&'static str]),
    /// A path on another machine, where this letter is among the options.
    Elsewhere(u8),
    /// The words after this one, from this operand on.
    Following(&'static str, u8),
    /// The value of a setting of git that is a command.
    Setting,
    /// The value of one of these options, wherever it is after this word.
    Of(&'static str, &'static [&'static str]),
    /// What it reads where this word is there, at most so many operands follow, and no text for a
    /// shell.
    Reads(&'static str, u8),
    /// A word that begins with this text.
    Begins(&'static str),
    /// Any word, and what it reads, where the program's own text starts a shell.
    Calls,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    number: u8,
    /// The programs; none in the shell's own syntax.
    pub programs: &'static [&'static str],
    pub at: At,
    pub role: Role,
    /// What reads the value again, as the end of a sentence about it.
    pub why: &'static str,
    /// A command in which the reference `@var.x` is in this place.
    pub example: &'static str,
}

/// The rows with their numbers, from one on.
pub static CASES: [Case; ROWS.len()] = {
    let mut cases = [ROWS[0]; ROWS.len()];
    let mut index = 0;
    while index < ROWS.len() {
        cases[index] = ROWS[index];
        cases[index].number = index as u8 + 1;
        index += 1;
    }
    cases
};

impl Case {
    pub const DUPLICATED: &'static Self = &CASES[0];
    pub const INDEX: &'static Self = &CASES[1];
    pub const KEY: &'static Self = &CASES[2];
    pub const DESCRIPTOR: &'static Self = &CASES[3];
    pub const SUM: &'static Self = &CASES[4];
    pub const PARAMETER: &'static Self = &CASES[5];
    pub const TEST_NAME: &'static Self = &CASES[6];
    pub const TEST_SUM: &'static Self = &CASES[7];
    pub const SPLIT: &'static Self = &CASES[8];
    pub const INTERPRETED: &'static Self = &CASES[9];
    pub const INTEGER: &'static Self = &CASES[10];
    pub const UNKNOWN: &'static Self = &CASES[11];
    pub const ASSEMBLED: &'static Self = &CASES[12];
    pub const PRINTED: &'static Self = &CASES[13];
    pub const ELEMENTS: &'static Self = &CASES[14];
    pub const RUN_BY_PROGRAM: &'static Self = &CASES[15];
    pub const JOINED: &'static Self = &CASES[16];

    /// Whether a value is refused there, and not only warned about.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.role != Role::Warn
    }

    /// From one on.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number as u32
    }

    #[must_use]
    pub fn of_number(number: u32) -> std::option::Option<&'static Self> {
        CASES.get((number as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_number() {
        for (index, case) in CASES.iter().enumerate() {
            assert_eq!(case.number() as usize, index + 1);
            assert_eq!(Case::of_number(case.number()), Some(case));
        }
        assert!(Case::of_number(0).is_none());
        assert!(CASES.len() < 256, "a place has eight bits for its row");
        assert_eq!(Case::ELEMENTS.programs.len(), 0);
        assert_eq!(CASES.iter().filter(|case| case.at == At::Syntax).count(), 17);
    }
}
