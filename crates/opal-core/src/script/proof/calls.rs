//! Simple commands: their words are matched with the table, and what they print and set is noted.

use super::constants::Piece;
use super::construct::{Construct, VALUE};
use super::flow::{Flow, Redirected};
use super::held::Held;
use super::inner;
use super::printing;
use super::tree::{Redirect, Values, Word};
use super::variables::Content;
use crate::script::cases::{Case, Role};
use crate::script::names::interpreted;
use crate::script::programs::{self, Shape, find};
use crate::script::words::{self, Kind, Spare, dequote};

/// The words of a command, and what they hold.
#[derive(Debug, Default)]
pub(super) struct Words<'t> {
    pub(super) words: Vec<words::Word<'t>>,
    pub(super) held: Vec<Held>,
    pub(super) pieces: Vec<Piece<'t>>,
    /// The values that are written in each of them, where the command is.
    pub(super) own: Vec<Values>,
}

impl Words<'_> {
    /// All values in them.
    fn all(&self) -> Values {
        self.held.iter().fold(Values::NONE, |all, held| all.and(held.content.held))
    }
}

impl<'t> Flow<'t> {
    pub(super) fn simple(
        &mut self,
        all: &'t [Word],
        redirects: &'t [Redirect],
        input: Values,
        redirected: &Redirected,
    ) -> Values {
        // `$(< FILE)`
        if all.is_empty() && redirected.is_only_input {
            return input;
        }
        for word in all {
            self.word(word, input);
        }
        self.assign(all);
        self.keep_written(all, redirects);
        let as_written = || all.iter().map(|word| Piece::Word(word, 0)).collect();
        let variants = self.variants(all).unwrap_or_else(|| {
            let values = self.read_by_program(all);
            self.found.soften(values, Construct::Split);
            vec![as_written()]
        });
        let mut printed = Values::NONE;
        if self.is_loud {
            let own = all.iter().fold(Values::NONE, |own, word| own.and(word.all));
            printed.add(own.doubted());
        }
        let mut is_resolved = true;
        for pieces in variants {
            let words = self.seen(pieces, all);
            let name = words.words.iter().find(|word| word.kind == Kind::Plain);
            is_resolved &= name.is_none_or(|word| word.whole);
            printed.add(self.run(&words, redirects, input, redirected));
        }
        if is_resolved {
            let own = all.iter().fold(Values::NONE, |own, word| own.and(word.values));
            self.found.resolved.add(own);
        }
        let sinks = redirects.iter().flat_map(|it| &it.word.sinks);
        for sink in sinks.chain(all.iter().flat_map(|it| &it.sinks)) {
            let own = all.iter().fold(printed, |own, word| own.and(word.all));
            self.list(sink, own);
        }
        printed
    }

    /// The values in the words of a command which is not followed, where a program may see more than
    /// data in them.
    fn read_by_program(&self, all: &'t [Word]) -> Values {
        let held = |word: &Word| self.words.get(word.at.start).map(|it| it.content.held);
        let first = all.iter().find(|word| word.assigned.is_none());
        let name = first.map(|word| self.text(&word.at)).unwrap_or_default();
        let is_data = find(name).map_or(first.is_some_and(|it| it.is_literal), |called| {
            called.program.shape == Shape::Prints || !called.reader.has_rows()
        });
        match is_data {
            true => Values::NONE,
            false => all.iter().filter_map(held).fold(Values::NONE, Values::and),
        }
    }

    fn seen(&self, pieces: Vec<Piece<'t>>, all: &'t [Word]) -> Words<'t> {
        let mut seen = Words {
            words: Vec::with_capacity(pieces.len()),
            held: Vec::with_capacity(pieces.len()),
            pieces: Vec::new(),
            own: Vec::with_capacity(pieces.len()),
        };
        let mut spare = Spare::default();
        for piece in &pieces {
            let (held, own, word) = match piece {
                Piece::Text(text) => {
                    let word = dequote(text, None, Kind::Plain, &mut spare);
                    (Held::default(), Values::NONE, word)
                }
                Piece::Word(word, from) | Piece::Split(word, from) => {
                    let mut held = self.words.get(word.at.start).cloned().unwrap_or_default();
                    if matches!(piece, Piece::Split(..)) {
                        held.split = held.content.held;
                    }
                    let is_own = all.as_ptr_range().contains(&std::ptr::from_ref::<Word>(word));
                    let own = if is_own { word.values } else { Values::NONE };
                    let is_assignment = *from == 0 && word.assigned.is_some();
                    let kind = if is_assignment { Kind::Assignment } else { Kind::Plain };
                    let mut dequoted = self.dequoted(word, *from, &held, kind, &mut spare);
                    // What is assigned is not split, and the variable is in quotes.
                    dequoted.splits &= *from == 0 || matches!(piece, Piece::Split(..));
                    (held, own, dequoted)
                }
            };
            seen.held.push(held);
            seen.own.push(own);
            seen.words.push(word);
        }
        seen.pieces = pieces;
        seen
    }

    fn dequoted(
        &self,
        word: &Word,
        from: usize,
        held: &Held,
        kind: Kind,
        spare: &mut Spare,
    ) -> words::Word<'t> {
        let src: &'t [u8] = self.src;
        let start = word.at.start + from;
        let raw = &src[start..word.at.end];
        let value = raw.iter().position(|byte| *byte == VALUE).map(|at| at..at + 1);
        let variable = held.first.as_ref().filter(|at| at.start >= start);
        let variable = variable.map(|at| at.start - start..at.end - start);
        let first = match (value, variable) {
            (Some(value), Some(variable)) if variable.start < value.start => Some(variable),
            (value, variable) => value.or(variable),
        };
        // A value in a command inside of the word counts where it is printed.
        let inner = || {
            let at = raw.iter().position(|byte| matches!(byte, b'$' | b'`' | b'<'))?;
            Some(at..at + 1)
        };
        let is_held = !held.content.held.is_empty();
        dequote(raw, if is_held { first.or_else(inner) } else { None }, kind, spare)
    }

    /// One way in which the words of a command can be.
    fn run(
        &mut self,
        seen: &Words<'t>,
        redirects: &'t [Redirect],
        input: Values,
        redirected: &Redirected,
    ) -> Values {
        let reading = self.matched(seen, input);
        self.attributed.extend(reading.attributed.iter().cloned());
        let own = seen.all();
        self.keep_texts(&reading, seen, input);
        self.set_for_program(seen);
        if let Some(case) = reading.input.filter(|case| case.role != Role::Warn) {
            // What `exec` has opened is read by a name too, and `xargs -a` reads a file.
            let files = seen.held.iter().fold(self.standing, |all, held| all.and(held.processed));
            let input = input.and(files);
            self.mark(input, if redirected.is_text { case } else { Case::PRINTED });
        }
        let words = &seen.words;
        let Some(first) = words.iter().position(|word| word.kind == Kind::Plain) else {
            return input;
        };
        let called = called(&words[first..]);
        let rest = (first + called.passed + 1).min(words.len());
        let name = called.name;
        self.declare(name, seen, rest);
        if name == b"exec" && words.len() <= rest {
            self.changed(self.standing.and(input) != self.standing);
            self.standing.add(input);
            // All that is printed from now on goes there.
            for sink in redirects.iter().flat_map(|it| &it.word.sinks) {
                self.list(sink, Values::ALL);
            }
        }
        if reading.stores {
            self.stored(name, &words[rest..], own, input);
        }
        self.settings(name, seen, rest);
        self.set_by_shell(name, own);
        // `$flag`: its words are a command.
        let head = &seen.held[first];
        self.found.soften(head.split, Construct::Split);
        self.found.soften(head.content.held.without(seen.own[first]), Construct::Reading);
        self.split(first, seen);
        if name == b"eval" && seen.pieces[rest..].iter().any(|it| self.is_expanded_twice(*it)) {
            self.soften_named(Construct::Output);
        }
        let mut printed = input;
        if let Some(function) = self.functions.get(name).copied() {
            printed.add(own.and(function.printed));
            self.called_with(name, function, seen, rest, input);
        } else if reading.prints {
            printed.add(own);
        } else if matches!(name, b"pwd" | b"dirs") {
            printed.add(own.and(self.variables.of(b"PWD").held));
        } else if printing::is_number(name, &words[rest..]) && !self.is_loud {
            return Values::NONE;
        } else {
            let of_words = printing::own(name, &words[rest..], own, &self.variables);
            let of_words = if self.is_loud { of_words.and(own) } else { of_words };
            printed.add(of_words.doubted());
        }
        printed
    }

    /// `env NAME=VALUE bash -c f`: a function of the step, or a text, may use the variable there.
    fn set_for_program(&mut self, seen: &Words<'t>) {
        for (name, held) in inner::settings(seen, seen.words.len()) {
            // In the text of another program it is only a text.
            if !std::str::from_utf8(&name).is_ok_and(|name| interpreted(name).is_some()) {
                self.variables.give(&name, Content::parts(held));
            }
        }
    }

    /// `eval "x=\$y"`
    fn is_expanded_twice(&self, piece: Piece<'t>) -> bool {
        let (Piece::Word(word, _) | Piece::Split(word, _)) = piece else { return false };
        let text = self.text(&word.at);
        text.windows(2).any(|it| it == b"\\$") || text.contains(&b'\'') && text.contains(&b'$')
    }

    /// Expansions without quotes can be several words, and so options or a command.
    fn split(&mut self, first: usize, seen: &Words<'t>) {
        let name = seen.words[first].name().unwrap_or_default();
        let may_run = |called: programs::Called| {
            called.program.shape != Shape::Prints && called.reader.has_rows()
        };
        if !find(name).is_some_and(may_run) {
            return;
        }
        for (held, piece) in seen.held[first..].iter().zip(&seen.pieces[first..]) {
            self.found.soften(held.split.known(), Construct::Split);
            let Piece::Word(word, 0) = piece else { continue };
            // `{-c,…}` is more than one word, and an option.
            let text = self.text(&word.at);
            let has_option = text.starts_with(b"-")
                || text.windows(2).any(|it| matches!(it, [b'{' | b',', b'-']));
            if word.has_braces && (has_option || !held.content.held.is_empty()) {
                self.found.hide(seen.all(), Construct::Braces);
            }
        }
    }
}

/// The command that is called, once those that only call another are passed.
pub(super) struct Called<'w> {
    pub(super) name: &'w [u8],
    /// How many words are before it.
    passed: usize,
}

fn called<'w>(words: &'w [words::Word<'_>]) -> Called<'w> {
    let mut passed = 0;
    while let Some(word) = words.get(passed) {
        let is_passed =
            word.whole && matches!(word.text.as_ref(), b"command" | b"builtin" | b"exec");
        let has_more = words.len() > passed + 1;
        let is_option = passed > 0 && word.whole && word.text.starts_with(b"-");
        if !(is_passed || is_option) || !has_more {
            break;
        }
        passed += 1;
    }
    let name = words.get(passed).filter(|word| word.whole).map(|word| word.text.as_ref());
    let name = name.unwrap_or_default();
    Called { name, passed }
}
