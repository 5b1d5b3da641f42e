//! The words that a command may have, once variables that the step itself sets are expanded.
//!
//! `args=(-c "$text"); bash "${args[@]}"` is `bash -c "$text"`. A list may also be empty, and a slice of
//! it or what `shift` leaves any part of its end. What the step does not set is one word of data.

use std::ops::Range;

use super::constants::{Given, LONGEST, MOST, Piece, is_constant};
use super::flow::Flow;
use super::scan::is_name_byte;
use super::tree::{Command, CommandKind, Form, Pipeline, Variable, Word};
use super::variables::{NUMBERED, POSITIONAL, canonical};

const MAX_DEPTH: u32 = 4;

impl<'t> Flow<'t> {
    /// None where there are too many.
    pub(super) fn variants(&self, all: &'t [Word]) -> Option<Vec<Vec<Piece<'t>>>> {
        let pieces: Vec<Piece<'t>> = all.iter().map(|word| Piece::Word(word, 0)).collect();
        // Each is one word, as it is written.
        if all.iter().all(|word| word.variables.is_empty() && word.commands.is_empty()) {
            return Some(vec![pieces]);
        }
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
        if self.is_joined(variable) {
            return Some(as_it_is());
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
        let from = if let Piece::Word(_, from) = piece { from } else { 0 };
        let is_whole = self.is_whole(variable, from);
        match variable.form {
            Form::All | Form::Slice => {
                let is_positional = canonical(self.text(&variable.name)) == POSITIONAL;
                let most = match variable.form {
                    Form::Slice => usize::MAX,
                    _ if is_positional => self.constants.shifted,
                    _ => 0,
                };
                ways = self.lists(given, variable, piece, most, depth)?;
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

    /// Each list that a variable may hold, from each of the first words on that may be taken away.
    fn lists(
        &self,
        given: &Given<'t>,
        variable: &Variable,
        piece: Piece<'t>,
        most: usize,
        depth: u32,
    ) -> Option<Vec<Vec<Piece<'t>>>> {
        let mut ways = Vec::new();
        let longer = given.is_longer.then(|| given.lists.concat());
        for list in given.lists.iter().chain(&longer) {
            for first in 0..=most.min(list.len()) {
                let words = self.product(&list[first..], depth + 1)?;
                // `find $@`
                match variable.is_quoted {
                    true => ways.extend(words),
                    false => ways.extend(words.into_iter().map(|it| self.split_again(it, piece))),
                }
                if ways.len() > MOST {
                    return None;
                }
            }
        }
        Some(ways)
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

    /// `"$*"`, `"${NAME[*]}"`: one word of all.
    fn is_joined(&self, variable: &Variable) -> bool {
        let text = self.text(&variable.at);
        let is_star = self.text(&variable.name) == b"*" || text.windows(3).any(|it| it == b"[*]");
        is_star && variable.is_quoted
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
