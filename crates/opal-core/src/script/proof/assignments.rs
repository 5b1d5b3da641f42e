//! Variables and positional parameters that commands set.

use super::calls::Words;
use super::constants::Piece;
use super::construct::Construct;
use super::flow::{Flow, Function};
use super::scan::is_name_byte;
use super::tree::{Values, Word};
use super::variables::{Content, NUMBERED, POSITIONAL, keys_of};
use crate::script::words::{self, Kind};

impl<'t> Flow<'t> {
    pub(super) fn assign(&mut self, all: &'t [Word]) {
        for word in all {
            let Some(at) = &word.assigned else { continue };
            let name = match self.text(at) {
                b"BASH_ARGV0" => POSITIONAL,
                name => name,
            };
            if let Some(held) = self.words.get(word.at.start) {
                let content = held.content;
                self.variables.give(name, content);
            }
            self.interpreted(name);
            // `m[KEY]=…`, `declare -A m=(KEY …)`
            let has_keys = self.src[at.end..].starts_with(b"[")
                || !word.elements.is_empty() && self.src.windows(2).any(|it| it == b"-A");
            if has_keys && let Some(held) = self.words.get(word.at.start) {
                let content = held.content;
                self.variables.give(&keys_of(name), content);
            }
            let from = self.beginning_of_text(word) - word.at.start;
            let list = match word.elements.is_empty()
                && self.src.get(word.at.start + from) != Some(&b'(')
            {
                true => vec![Piece::Word(word, from)],
                false => word
                    .elements
                    .iter()
                    .map(|it| Piece::Word(it, key_length(self.text(&it.at))))
                    .collect(),
            };
            let is_new = self.constants.set(name, list);
            self.changed(is_new);
            if self.src[at.end..].starts_with(b"+=") || self.src[at.end..].starts_with(b"[") {
                self.constants.lengthen(name);
            }
        }
    }

    fn interpreted(&mut self, name: &[u8]) {
        if matches!(name, b"BASH_CMDS" | b"BASH_ALIASES" | b"POSIXLY_CORRECT") {
            self.found.setting = Some(Construct::Setting);
        }
    }

    /// `export "NAME=…"`
    pub(super) fn declare(&mut self, name: &[u8], seen: &Words<'t>, rest: usize) {
        if !is_declaring(name) {
            return;
        }
        let changes = |word: &words::Word<'_>| {
            let letters = word.text.iter().any(|it| matches!(it, b'c' | b'l' | b'u'));
            word.text.starts_with(b"-") && letters
        };
        // `declare -l S=EVAL`
        let is_changed = seen.words[rest..].iter().any(changes);
        for (word, held) in seen.words.iter().zip(&seen.held).skip(rest) {
            let is_option = word.text.starts_with(b"-");
            if is_changed && !is_option {
                let end = word.text.iter().position(|byte| !is_name_byte(*byte));
                let is_new = self.constants.open(&word.text[..end.unwrap_or(word.text.len())]);
                self.changed(is_new);
            }
            self.has_namerefs |= is_option && word.text.contains(&b'n') && name != b"export";
            let content = Content { begins: held.content.held, ..held.content };
            let Some(end) = word.text.iter().position(|byte| matches!(byte, b'=' | b'[' | b'+'))
            else {
                // Only the shell knows the name.
                if !word.whole && !is_option {
                    self.variables.give_any(content);
                }
                continue;
            };
            let name = &word.text[..end];
            self.variables.give(name, content);
            // Without a parser's help the shell splits what is assigned: it may be more than one.
            if word.kind == Kind::Plain {
                self.found.soften(held.split, Construct::Split);
                let is_new = self.constants.open(name);
                self.changed(is_new);
            }
            self.interpreted(name);
        }
    }

    /// A function of the step is called: its words are its positional parameters.
    pub(super) fn called_with(
        &mut self,
        name: &[u8],
        function: Function,
        seen: &Words<'t>,
        rest: usize,
        input: Values,
    ) {
        self.positional(seen, rest);
        let all = function.input.and(input);
        self.changed(all != function.input);
        self.functions.insert(name.to_vec(), Function { input: all, ..function });
    }

    pub(super) fn positional(&mut self, seen: &Words<'t>, from: usize) {
        for (at, held) in seen.held[from..].iter().enumerate() {
            self.variables.give(POSITIONAL, held.content);
            if let Some(name) = NUMBERED.get(at) {
                self.variables.give(name, held.content);
            }
        }
        let is_new = self.constants.set(POSITIONAL, seen.pieces[from..].to_vec());
        self.changed(is_new);
    }
}

/// The length of `[KEY]=` before an element.
fn key_length(text: &[u8]) -> usize {
    let end = text.windows(2).position(|pair| pair == b"]=");
    if text.starts_with(b"[") { end.map_or(0, |end| end + 2) } else { 0 }
}

pub(super) fn is_declaring(name: &[u8]) -> bool {
    matches!(name, b"declare" | b"typeset" | b"local" | b"readonly" | b"export")
}
