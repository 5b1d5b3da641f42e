//! Why bytes are not a contract, or why a plan cannot become one.

use std::fmt;

/// A part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Header,
    Target,
    Envelope,
    Steps,
    Values,
    Provenance,
    Signature,
}

impl Section {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "HEADER",
            Self::Target => "TARGET",
            Self::Envelope => "ENVELOPE",
            Self::Steps => "STEPS",
            Self::Values => "VALUES",
            Self::Provenance => "PROVENANCE",
            Self::Signature => "SIGNATURE",
        }
    }
}

/// What sort of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatErrorKind {
    /// It breaks a rule of the format.
    Invalid,
    /// Another major version of the format wrote it.
    OtherVersion,
    /// The plan has more in it than a contract takes.
    TooLarge,
}

/// Shown as `STEPS at offset 136: the keys of an object are not sorted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    pub kind: FormatErrorKind,
    pub section: Section,
    /// From the start of the file; none where a plan is written.
    pub offset: Option<usize>,
    /// The offset counts from the start of the section, unpacked.
    pub unpacked: bool,
    /// Lower case, without a full stop.
    pub reason: String,
}

impl FormatError {
    pub(super) fn at(section: Section, offset: usize, reason: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::unwritable(section, reason) }
    }

    /// A plan that cannot be written.
    pub(super) fn unwritable(section: Section, reason: impl Into<String>) -> Self {
        let (kind, reason) = (FormatErrorKind::Invalid, reason.into());
        Self { kind, section, offset: None, unpacked: false, reason }
    }

    /// A plan with too much in it.
    pub(super) fn too_large() -> Self {
        let kind = FormatErrorKind::TooLarge;
        Self { kind, ..Self::unwritable(Section::Steps, super::limits::TOO_LARGE) }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.section.name())?;
        if self.unpacked {
            f.write_str(", unpacked,")?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at offset {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for FormatError {}
