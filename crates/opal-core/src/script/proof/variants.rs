//! The words that a command may have, once variables that the step itself sets are expanded.
//!
//! `args=(-c "$text"); bash "${args[@]}"` is `bash -c "$text"`. A list may also be empty, and a slice of
//! it or what `shift` leaves any part of its end. What the step does not set is one word of data.

use std::collections::BTreeMap;
use std::ops::Range;

use super::flow::Flow;
use super::outline::{sets_unseen, shifted};
use super::scan::is_name_byte;
use super::tree::{Command, CommandKind, Form, Pipeline, Variable, Word};
use super::variables::{NUMBERED, POSITIONAL, canonical};

/// A command with more is not followed.
const MOST: usize = 24;
const LONGEST: usize = 256;
const MAX_DEPTH: u32 = 4;

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
    fn split(&mut self) {
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

    fn is_constant(&self) -> bool {
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

/// What the step gives to a variable.
#[derive(Debug, Default)]
struct Given<'t> {
    /// Each way in which it is set.
    lists: Vec<Vec<Piece<'t>>>,
    /// Something else may be in it.
    is_open: bool,
    /// `NAME+=`
    is_longer: bool,
}

#[derive(Debug, Default)]
pub(super) struct Constants<'t> {
    all: BTreeMap<Vec<u8>, Given<'t>>,
    /// How many positional parameters `shift` can take away.
    shifted: usize,
    /// A command of the step may set variables in a way that is not followed.
    is_unsettled: bool,
    /// The step says what splits words.
    has_separators: bool,
}

impl<'t> Constants<'t> {
    pub(super) fn new(src: &[u8]) -> Self {
        Self {
            all: BTreeMap::new(),
            shifted: shifted(src),
            is_unsettled: sets_unseen(src),
            has_separators: src.windows(4).any(|it| it == b"IFS="),
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

/// Nothing in it is expanded, and no value is in it.
fn is_constant(word: &Word) -> bool {
    word.all.is_empty()
        && word.variables.is_empty()
        && word.commands.is_empty()
        && word.processes.is_empty()
        && word.elements.is_empty()
}

impl<'t> Flow<'t> {
    /// None where there are too many.
    pub(super) fn variants(&self, all: &'t [Word]) -> Option<Vec<Vec<Piece<'t>>>> {
        let pieces: Vec<Piece<'t>> = all.iter().map(|word| Piece::Word(word, 0)).collect();
        self.product(&pieces, 0)
    }

    fn product(&self, pieces: &[Piece<'t>], depth: u32) -> Option<Vec<Vec<Piece<'t>>>> {
        let mut all: Vec<Vec<Piece<'t>>> = vec![Vec::with_capacity(pieces.len())];
        for piece in pieces {
            let ways = self.alternatives(*piece, depth)?;
            if let [only] = ways.as_slice() {
                all.iter_mut().for_each(|words| words.extend_from_slice(only));
                continue;
            }
            let with = |words: &Vec<Piece<'t>>, way: &[Piece<'t>]| [words.as_slice(), way].concat();
            all = all
                .iter()
                .flat_map(|words| ways.iter().map(move |way| with(words, way)))
                .take(MOST + 1)
                .collect();
            if all.len() > MOST || all.iter().any(|words| words.len() > LONGEST) {
                return None;
            }
        }
        Some(all)
    }

    /// What a word can be: several words, or none.
    fn alternatives(&self, piece: Piece<'t>, depth: u32) -> Option<Vec<Vec<Piece<'t>>>> {
        let as_it_is = || vec![vec![piece]];
        let Piece::Word(word, from) = piece else { return Some(as_it_is()) };
        if let Some(names) = self.looked_up(word, from) {
            return Some(names.into_iter().map(|name| vec![Piece::Text(name)]).collect());
        }
        let Some(variable) = self.only_variable(word, from) else { return Some(as_it_is()) };
        if depth > MAX_DEPTH {
            return None;
        }
        let given = self.constants.all.get(canonical(self.text(&variable.name)));
        let is_list = matches!(variable.form, Form::All | Form::Slice | Form::Keys);
        let mut ways = match given {
            None => as_it_is(),
            Some(given) => self.given(given, variable, piece, depth)?,
        };
        // `${NAME:--c}`
        if variable.form == Form::Default
            && let Some(text) = self.default_text(variable)
        {
            ways.push(text.split(u8::is_ascii_whitespace).map(Piece::Text).collect());
        }
        if given.is_some() && self.constants.is_unsettled {
            ways.push(vec![piece]);
        }
        // What the step does not set may be empty.
        let is_open = given.is_none_or(|given| given.is_open);
        if is_open && (is_list || !self.is_whole(variable, from)) {
            ways.push(Vec::new());
        }
        (ways.len() <= MOST).then_some(ways)
    }

    fn given(
        &self,
        given: &Given<'t>,
        variable: &Variable,
        piece: Piece<'t>,
        depth: u32,
    ) -> Option<Vec<Vec<Piece<'t>>>> {
        let mut ways: Vec<Vec<Piece<'t>>> = Vec::new();
        let is_positional = canonical(self.text(&variable.name)) == POSITIONAL;
        let from = if let Piece::Word(_, from) = piece { from } else { 0 };
        let is_whole = self.is_whole(variable, from);
        match variable.form {
            Form::All | Form::Slice => {
                let mut lists = given.lists.clone();
                if given.is_longer {
                    lists.push(given.lists.concat());
                }
                let most = match variable.form {
                    Form::Slice => usize::MAX,
                    _ if is_positional => self.constants.shifted,
                    _ => 0,
                };
                for list in lists {
                    for first in 0..=most.min(list.len()) {
                        ways.extend(self.product(&list[first..], depth + 1)?);
                        if ways.len() > MOST {
                            return None;
                        }
                    }
                }
            }
            Form::Plain | Form::Element => {
                let name = self.positional_name(variable);
                let index = NUMBERED.iter().position(|it| *it == name);
                let parts = given.lists.iter().flat_map(|list| match index {
                    Some(index) => list.get(index..index + 1).unwrap_or_default(),
                    None => list.as_slice(),
                });
                for part in parts {
                    let text = self.plain_text(*part);
                    let is_split = !is_whole && part.is_constant();
                    // `S=sh\\ -c; $S …`: the shell splits what the quotes have kept together.
                    if is_split && (text.is_none() || self.constants.has_separators) {
                        ways.push(vec![piece]);
                        continue;
                    }
                    match (is_whole, text) {
                        (false, Some(text)) => {
                            let words = text.split(u8::is_ascii_whitespace);
                            let words = words.filter(|word| !word.is_empty());
                            ways.push(words.map(Piece::Text).collect());
                        }
                        (is_whole, _) => {
                            let inner = self.alternatives(*part, depth + 1)?;
                            let split = |words| self.split_again(words, piece);
                            match is_whole {
                                true => ways.extend(inner),
                                false => ways.extend(inner.into_iter().map(split)),
                            }
                        }
                    }
                }
                if given.is_longer {
                    ways.push(vec![piece]);
                }
            }
            Form::Keys | Form::Cut | Form::Default | Form::Indirect => ways.push(vec![piece]),
        }
        if given.is_open || ways.is_empty() {
            ways.push(vec![piece]);
        }
        (ways.len() <= MOST).then_some(ways)
    }

    /// What the shell makes of words that it splits: `b='sh -c'; S=$b; $S …`.
    fn split_again(&self, words: Vec<Piece<'t>>, piece: Piece<'t>) -> Vec<Piece<'t>> {
        let mut all = Vec::with_capacity(words.len());
        for mut word in words {
            match (word, self.plain_text(word)) {
                (Piece::Word(..), Some(text)) if !self.constants.has_separators => {
                    let parts = text.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
                    all.extend(parts.map(Piece::Text));
                }
                (Piece::Word(..), _) if word.is_constant() => return vec![piece],
                _ => {
                    word.split();
                    all.push(word);
                }
            }
        }
        all
    }

    /// Whether the shell does not split it: it is in quotes, or what is assigned.
    fn is_whole(&self, variable: &Variable, from: usize) -> bool {
        let is_list = matches!(variable.form, Form::All | Form::Slice | Form::Keys);
        variable.is_quoted || from > 0 && !is_list
    }

    /// The names of `$(command -v NAME || which NAME)`, which prints the path of a program.
    fn looked_up(&self, word: &'t Word, from: usize) -> Option<Vec<&'t [u8]>> {
        let [inner] = word.commands.as_slice() else { return None };
        let text = &self.src[word.at.start + from..word.at.end];
        let text = text.strip_prefix(b"\"").unwrap_or(text);
        let text = text.strip_suffix(b"\"").unwrap_or(text);
        if !text.starts_with(b"$(") || !text.ends_with(b")") || !word.variables.is_empty() {
            return None;
        }
        let name = |pipeline: &'t Pipeline| {
            let [Command { kind: CommandKind::Simple(words), .. }] = pipeline.0.as_slice() else {
                return None;
            };
            let words: Vec<&[u8]> = words.iter().map(|word| self.text(&word.at)).collect();
            let ([b"command", b"-v", name] | [b"which", name] | [b"type", b"-p", name]) =
                words.as_slice()
            else {
                return None;
            };
            let usual = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
            (!name.starts_with(b"-") && name.iter().all(usual)).then_some(*name)
        };
        let names: Option<Vec<_>> = inner.list.0.iter().map(name).collect();
        names.filter(|names| !names.is_empty())
    }

    /// The expansion that a word is, with nothing around it but quotes.
    fn only_variable(&self, word: &'t Word, from: usize) -> Option<&'t Variable> {
        let variable = word.variables.first()?;
        let text = &self.src[word.at.start + from..word.at.end];
        let Range { start, end } = variable.at;
        let before = start.checked_sub(word.at.start + from)?;
        let after = word.at.end - end;
        let is_quoted = text.starts_with(b"\"") && text.ends_with(b"\"");
        let width = usize::from(is_quoted && variable.is_quoted);
        (before == width && after == width).then_some(variable)
    }

    /// The value of a variable that is not set, where it is a plain text.
    fn default_text(&self, variable: &Variable) -> Option<&'t [u8]> {
        let text = &self.src[variable.name.end..variable.at.end];
        let text = text.strip_suffix(b"}")?;
        let text = text.strip_prefix(b":").unwrap_or(text).get(1..)?;
        let usual = |byte: &u8| is_name_byte(*byte) || b"-./: ".contains(byte);
        (!text.is_empty() && text.iter().all(usual)).then_some(text)
    }

    /// A text without expansions and values, as the shell sees it.
    fn plain_text(&self, piece: Piece<'t>) -> Option<&'t [u8]> {
        let Piece::Word(word, from) = piece else { return None };
        if !is_constant(word) {
            return None;
        }
        let text = &self.src[word.at.start + from..word.at.end];
        let inner = match text {
            [quote @ (b'"' | b'\''), inner @ .., last] if quote == last => inner,
            text => text,
        };
        (!inner.iter().any(|byte| b"\"'\\".contains(byte))).then_some(inner)
    }
}
