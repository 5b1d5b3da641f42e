//! Where the streams of a step lead.

use std::fmt;

use super::{Piece, Step};

#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    pub operator: RedirectOperator,
    pub target: RedirectTarget,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RedirectTarget {
    Step(Box<Step>),
    Shell(Vec<Piece>),
}

/// `>`, `2>>`: which descriptor, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectOperator {
    /// The number before the operator, where one is written.
    pub descriptor: Option<u32>,
    pub kind: RedirectKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// No operator: the target is shell text that has its own.
    InText,
    /// `<`.
    Read,
    /// `>`.
    Write,
    /// `>>`.
    Append,
    /// `>|`.
    Clobber,
    /// `<>`.
    ReadWrite,
    /// `<&`.
    DuplicateInput,
    /// `>&`.
    DuplicateOutput,
    /// `&>`.
    WriteBoth,
    /// `&>>`.
    AppendBoth,
}

/// The streams of a step that opal connects itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectStream {
    In,
    Out,
    Err,
    Both,
}

impl RedirectKind {
    pub const ALL: [Self; 10] = [
        Self::InText,
        Self::Read,
        Self::Write,
        Self::Append,
        Self::Clobber,
        Self::ReadWrite,
        Self::DuplicateInput,
        Self::DuplicateOutput,
        Self::WriteBoth,
        Self::AppendBoth,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InText => "",
            Self::Read => "<",
            Self::Write => ">",
            Self::Append => ">>",
            Self::Clobber => ">|",
            Self::ReadWrite => "<>",
            Self::DuplicateInput => "<&",
            Self::DuplicateOutput => ">&",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
        }
    }

    /// Whether the step reads what it leads to.
    #[must_use]
    pub const fn is_input(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite | Self::DuplicateInput)
    }
}

impl RedirectOperator {
    /// No operator: the target is shell text that has its own.
    pub const IN_TEXT: Self = Self { descriptor: None, kind: RedirectKind::InText };

    /// The operator that is written as `text`. A descriptor that no process can have is the largest
    /// number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, kind) = text.split_at(digits);
        let kind = RedirectKind::ALL.into_iter().find(|known| known.as_str() == kind)?;
        let descriptor = (digits > 0).then(|| number.parse().unwrap_or(u32::MAX));
        let has_place = !matches!(
            kind,
            RedirectKind::InText | RedirectKind::WriteBoth | RedirectKind::AppendBoth
        );
        (descriptor.is_none() || has_place).then_some(Self { descriptor, kind })
    }

    /// The stream of the step that it connects, and whether what is there stays; none where opal
    /// does not connect it.
    #[must_use]
    pub fn stream(self) -> Option<(RedirectStream, bool)> {
        use RedirectKind::{Append, AppendBoth, Clobber, Read, ReadWrite, Write, WriteBoth};
        Some(match (self.kind, self.descriptor) {
            (Read | ReadWrite, None | Some(0)) => (RedirectStream::In, false),
            (Write | Clobber, None | Some(1)) => (RedirectStream::Out, false),
            (Append, None | Some(1)) => (RedirectStream::Out, true),
            (Write | Clobber, Some(2)) => (RedirectStream::Err, false),
            (Append, Some(2)) => (RedirectStream::Err, true),
            (WriteBoth, _) => (RedirectStream::Both, false),
            (AppendBoth, _) => (RedirectStream::Both, true),
            _ => return None,
        })
    }
}

impl fmt::Display for RedirectOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(descriptor) = self.descriptor {
            write!(f, "{descriptor}")?;
        }
        f.write_str(self.kind.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_written_as_it_was_read() {
        for kind in RedirectKind::ALL {
            let text = kind.as_str();
            let operator = RedirectOperator::parse(text).unwrap();
            assert_eq!((operator.kind, operator.to_string().as_str()), (kind, text));
        }
        for text in ["0<", "1>", "2>>", "13>|", "4<&"] {
            assert_eq!(RedirectOperator::parse(text).unwrap().to_string(), text);
        }
        for text in ["2", "2&>", "a>", ">>>", "<<", "> ", "-1>"] {
            assert_eq!(RedirectOperator::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_three_streams_of_a_step_are_connected() {
        use RedirectStream::{Both, Err, In, Out};
        for (text, expected) in [
            ("<", Some((In, false))),
            ("0<", Some((In, false))),
            ("<>", Some((In, false))),
            (">", Some((Out, false))),
            ("1>>", Some((Out, true))),
            ("2>|", Some((Err, false))),
            ("2>>", Some((Err, true))),
            ("&>>", Some((Both, true))),
            ("0>", None),
            ("1<", None),
            ("3>", None),
            (">&", None),
            ("", None),
        ] {
            assert_eq!(RedirectOperator::parse(text).unwrap().stream(), expected, "{text}");
        }
    }
}
