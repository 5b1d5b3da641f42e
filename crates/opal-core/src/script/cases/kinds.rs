//! Kinds of places. Most programs have rows of few of them, and only those are looked through.

use super::At;

/// Kinds of places, a bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::script) struct Kinds(u32);

impl Kinds {
    pub(in crate::script) const NONE: Self = Self(0);
    pub(in crate::script) const OPTION: Self = At::Option(&[]).kinds();
    pub(in crate::script) const ELSEWHERE: Self = At::Elsewhere(0).kinds();
    pub(in crate::script) const FILE: Self = At::File(&[]).kinds();
    pub(in crate::script) const FOLLOWING: Self = At::Following("", 0).kinds();
    pub(in crate::script) const OF: Self = At::Of("", &[]).kinds();
    pub(in crate::script) const PAST: Self = At::Past("").kinds();
    pub(in crate::script) const READS: Self = At::Reads("", 0).kinds();
    pub(in crate::script) const SCRIPT: Self = At::Script(0).kinds();
    /// What the word before decides about a word.
    pub(in crate::script) const AFTER: Self =
        At::After("").kinds().or(At::Setting.kinds()).or(Self::FOLLOWING);
    /// What is decided by the number of an operand, or by the operand itself.
    pub(in crate::script) const OPERAND: Self =
        At::From(0).kinds().or(At::Operand(0).kinds()).or(At::Begins("").kinds());
    /// A word can give the one after it a meaning, wherever they are.
    pub(in crate::script) const EVERYWHERE: Self =
        At::After("").kinds().or(Self::PAST).or(Self::FOLLOWING).or(Self::OF);

    pub(in crate::script) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::script) const fn has_any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }
}

impl At {
    /// Its own kind.
    pub(in crate::script) const fn kinds(self) -> Kinds {
        Kinds(match self {
            Self::Syntax => 1,
            Self::Option(_) => 1 << 1,
            Self::From(_) => 1 << 2,
            Self::Operand(_) => 1 << 3,
            Self::After(_) => 1 << 4,
            Self::Past(_) => 1 << 5,
            Self::Attribute(_) => 1 << 6,
            Self::Input => 1 << 7,
            Self::Script(_) => 1 << 8,
            Self::File(_) => 1 << 9,
            Self::Elsewhere(_) => 1 << 10,
            Self::Following(..) => 1 << 11,
            Self::Setting => 1 << 12,
            Self::Of(..) => 1 << 13,
            Self::Reads(..) => 1 << 14,
            Self::Begins(_) => 1 << 15,
            Self::Calls => 1 << 16,
        })
    }
}
