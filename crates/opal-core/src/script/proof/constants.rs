//! What the step itself gives to variables.

use std::collections::BTreeMap;

use super::letters::Letters;
use super::outline::{sets_unseen, shifted};
use super::scan::is_name_byte;
use super::tree::Word;
use super::variables::canonical;

/// A command with more is not followed.
pub(super) const MOST: usize = 24;
pub(super) const LONGEST: usize = 256;

/// A word as it is written somewhere in the step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'t> {
    /// From this byte of it on: after `NAME=`.
    Word(&'t Word, usize),
    /// The same, and the shell splits what is in it.
    Split(&'t Word, usize),
    /// A part of a text without quotes and expansions.
    Text(&'t [u8]),
}

impl<'t> Piece<'t> {
    pub(super) fn split(&mut self) {
        if let Self::Word(word, from) = *self {
            *self = Self::Split(word, from);
        }
    }

    /// As it is written.
    pub(super) fn text(&self, src: &'t [u8]) -> &'t [u8] {
        match self {
            Self::Word(word, from) | Self::Split(word, from) => {
                &src[word.at.start + from..word.at.end]
            }
            Self::Text(text) => text,
        }
    }

    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Word(word, _) | Self::Split(word, _) => is_constant(word),
            Self::Text(_) => true,
        }
    }

    fn place(&self) -> (usize, usize) {
        match self {
            Self::Word(word, from) | Self::Split(word, from) => {
                (word.at.start + from, word.at.len() - from)
            }
            Self::Text(text) => (text.as_ptr() as usize, text.len()),
        }
    }
}

/// Nothing in it is expanded, and no value is in it.
pub(super) fn is_constant(word: &Word) -> bool {
    word.all.is_empty()
        && word.variables.is_empty()
        && word.commands.is_empty()
        && word.processes.is_empty()
        && word.elements.is_empty()
}

/// What the step gives to a variable.
#[derive(Debug, Default)]
pub(super) struct Given<'t> {
    /// Each way in which it is set.
    pub(super) lists: Vec<Vec<Piece<'t>>>,
    /// Something else may be in it.
    pub(super) is_open: bool,
    /// `NAME+=`
    pub(super) is_longer: bool,
}

#[derive(Debug, Default)]
pub(super) struct Constants<'t> {
    pub(super) all: BTreeMap<Vec<u8>, Given<'t>>,
    /// How many positional parameters `shift` can take away.
    pub(super) shifted: usize,
    /// A command of the step may set variables in a way that is not followed.
    pub(super) is_unsettled: bool,
    /// The step says what splits words.
    pub(super) has_separators: bool,
}

impl<'t> Constants<'t> {
    pub(super) fn new(src: &[u8], letters: Letters) -> Self {
        Self {
            all: BTreeMap::new(),
            shifted: shifted(src, letters),
            is_unsettled: sets_unseen(src, letters),
            has_separators: letters.has_all(const { Letters::of(b"IFS=") })
                && src.windows(4).any(|it| it == b"IFS="),
        }
    }

    /// Whether that is new.
    pub(super) fn set(&mut self, name: &[u8], list: Vec<Piece<'t>>) -> bool {
        let given = self.all.entry(canonical(name).to_vec()).or_default();
        if given.lists.len() > MOST {
            return false;
        }
        let is_same = |known: &Vec<Piece<'t>>| {
            known.len() == list.len()
                && known.iter().zip(&list).all(|(one, other)| one.place() == other.place())
        };
        let is_new = !given.lists.iter().any(is_same);
        if is_new {
            given.is_open |= given.lists.len() >= MOST || list.len() > LONGEST;
            given.lists.push(list);
        }
        is_new
    }

    pub(super) fn lengthen(&mut self, name: &[u8]) {
        self.all.entry(canonical(name).to_vec()).or_default().is_longer = true;
    }

    /// Whether that is new.
    pub(super) fn open(&mut self, name: &[u8]) -> bool {
        let given = self.all.entry(canonical(name).to_vec()).or_default();
        !std::mem::replace(&mut given.is_open, true)
    }

    /// Whether a text names a variable which may hold what the step does not say.
    pub(super) fn names_open(&self, text: &[u8]) -> bool {
        let is_name = |byte: &u8| is_name_byte(*byte) || b"@*".contains(byte);
        let is_open = |given: &Given<'_>| {
            given.is_open || given.lists.iter().flatten().any(|piece| !piece.is_constant())
        };
        text.split(|byte| !is_name(byte))
            .any(|name| name == b"_" || self.all.get(canonical(name)).is_some_and(is_open))
    }

    /// Whether the step sets it to plain names only.
    pub(super) fn is_name(&self, src: &[u8], name: &[u8]) -> bool {
        let is_name = |piece: &Piece<'_>| {
            let text = match piece {
                Piece::Word(word, from) if is_constant(word) => {
                    &src[word.at.start + from..word.at.end]
                }
                Piece::Text(text) => text,
                Piece::Word(..) | Piece::Split(..) => return false,
            };
            let usual = |byte: &u8| is_name_byte(*byte) || b"\"'".contains(byte);
            text.first().is_some_and(|byte| !byte.is_ascii_digit()) && text.iter().all(usual)
        };
        self.all.get(canonical(name)).is_some_and(|given| {
            !given.is_open && !given.is_longer && given.lists.iter().flatten().all(is_name)
        })
    }
}
