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
    Expansion,
    Index,
    Sum,
    Continuation,
    Heredoc,
    Quotes,
    Setting,
    Name,
    Braces,
    Reading,
    Split,
    Output,
    Text,
}

impl Construct {
    const ALL: [Self; 15] = [
        Self::Syntax,
        Self::Backtick,
        Self::Expansion,
        Self::Index,
        Self::Sum,
        Self::Continuation,
        Self::Heredoc,
        Self::Quotes,
        Self::Setting,
        Self::Name,
        Self::Braces,
        Self::Reading,
        Self::Split,
        Self::Output,
        Self::Text,
    ];

    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    /// Why a value could become code, as the end of a sentence about it.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Syntax => "opal does not follow this form of a command",
            Self::Backtick => "opal does not follow a `\\` inside backticks",
            Self::Expansion => "opal does not follow this form of `${…}`",
            Self::Index => "opal does not follow this index of an array",
            Self::Sum => "opal does not follow this form of arithmetic",
            Self::Continuation => {
                "opal does not follow a line that continues inside a name or an operator"
            }
            Self::Heredoc => "opal does not follow this form of a heredoc",
            Self::Quotes => "opal does not follow this form of quotes",
            Self::Setting => "a command of this step changes how the shell reads the text",
            Self::Name => "only the shell knows the name of the variable that it is stored in",
            Self::Braces => "`{…,…}` makes several words, and they could be options",
            Self::Reading => "it can be a command or an option here",
            Self::Split => {
                "the shell splits a variable without quotes into words, and they could be options \
                 or a command"
            }
            Self::Output => "the step runs or computes what this program prints",
            Self::Text => "the step has a text in quotes that evaluates what is in a variable",
        }
    }

    /// What to write in its place, where there is something.
    #[must_use]
    pub fn instead(self) -> Option<&'static str> {
        Some(match self {
            Self::Backtick => "write `$(…)` in place of backticks",
            Self::Continuation => "put the line break after a blank",
            Self::Sum => "write arithmetic as `$((…))`",
            Self::Setting | Self::Name => "move it to a step of its own",
            Self::Expansion | Self::Index => "assign the inner part to a variable first",
            Self::Split => "put the variable in double quotes",
            Self::Braces => "write the words one by one",
            Self::Text => {
                "let that text only use its variables, in double quotes: `bash -c 'tool \"$1\"' _ \
                 @var.x`"
            }
            Self::Output => "use a value of letters, digits and `_ . / : @ % + , -` only",
            Self::Reading => {
                "put text before it, such as `./`, or use a value of letters, digits and `_ . / : @ % \
                 + , -` only"
            }
            Self::Quotes | Self::Heredoc | Self::Syntax => return None,
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
