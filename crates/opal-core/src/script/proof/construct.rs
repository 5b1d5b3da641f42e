//! What the strict reading of a text does not follow.

/// Stands for a value in the text; no source holds it.
pub(super) const VALUE: u8 = 0;
/// Stands for `@raw(…)`.
pub(super) const PASTED: u8 = 1;

/// What the reader does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Construct {
    Syntax = 1,
    Backtick,
    Coprocess,
    Expansion,
    Index,
    Sum,
    Process,
    Continuation,
    Heredoc,
    Quotes,
    Pattern,
    Setting,
    Name,
    Braces,
    Reading,
}

impl Construct {
    const ALL: [Self; 15] = [
        Self::Syntax,
        Self::Backtick,
        Self::Coprocess,
        Self::Expansion,
        Self::Index,
        Self::Sum,
        Self::Process,
        Self::Continuation,
        Self::Heredoc,
        Self::Quotes,
        Self::Pattern,
        Self::Setting,
        Self::Name,
        Self::Braces,
        Self::Reading,
    ];

    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    /// What it is, as the object of "opal does not follow".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "this form of a command",
            Self::Backtick => "a `\\` inside backticks",
            Self::Coprocess => "`coproc`",
            Self::Expansion => "this form of `${…}`",
            Self::Index => "this index of an array",
            Self::Sum => "this form of arithmetic",
            Self::Process => "`>(…)`",
            Self::Continuation => "a line that continues inside a name or an operator",
            Self::Heredoc => "this form of a heredoc",
            Self::Quotes => "this form of quotes",
            Self::Pattern => "this pattern",
            Self::Setting => "a command that changes how the shell reads the text",
            Self::Name => "a variable whose name only the shell knows",
            Self::Braces => "`{…,…}` in this command",
            Self::Reading => "this text in one way only",
        }
    }

    /// What to write in its place, where there is something.
    #[must_use]
    pub fn instead(self) -> Option<&'static str> {
        Some(match self {
            Self::Backtick => "write `$(…)` in place of backticks",
            Self::Continuation => "put the line break after a blank",
            Self::Sum => "write arithmetic as `$((…))`",
            Self::Coprocess | Self::Setting | Self::Process | Self::Name => {
                "move it to a step of its own"
            }
            Self::Expansion | Self::Index => "assign the inner part to a variable first",
            Self::Braces => "write the words one by one",
            Self::Quotes | Self::Pattern | Self::Heredoc | Self::Syntax | Self::Reading => {
                return None;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_construct_has_its_number() {
        for construct in Construct::ALL {
            assert_eq!(Construct::of_number(construct.number()), Some(construct));
            assert!(construct.number() < 16, "a place has four bits for it");
        }
    }
}
