//! Words of a command, matched with the table.

use std::collections::BTreeSet;

use super::assignments::is_declaring;
use super::calls::Words;
use super::construct::Construct;
use super::flow::Flow;
use super::held::{Beginning, Held};
use super::outline::is_array;
use super::scan::is_name_byte;
use super::tree::Values;
use crate::script::cases::{Case, Role};
use crate::script::programs::{ReadBy, Shape};
use crate::script::reading::{Mark, Reading, read};
use crate::script::words::{self, Kind};

impl<'t> Flow<'t> {
    /// Matches the words of a command with the table.
    pub(super) fn matched(&mut self, seen: &Words<'t>, input: Values) -> Reading {
        let mut reading = Reading::default();
        // What it reads decides whether a word that only the shell knows matters.
        if input.is_empty() {
            read(&seen.words, &mut reading);
        } else {
            let mut words = seen.words.clone();
            words.push(words::Word { kind: Kind::Input, ..words::Word::unknown() });
            read(&words, &mut reading);
        }
        self.marked(&reading, seen);
        self.spelled(seen);
        reading
    }

    fn marked(&mut self, reading: &Reading, seen: &Words<'t>) {
        let first = seen.words.iter().position(|word| word.kind == Kind::Plain).unwrap_or(0);
        let name = seen.words.get(first).map(|word| word.text.as_ref());
        let is_test = matches!(name, Some(b"[" | b"test"));
        let single = |it: &(usize, Mark)| if it.1 == Mark::Single { Some(it.0) } else { None };
        let singles: BTreeSet<usize> = reading.marks.iter().filter_map(single).collect();
        let is_single = |index: usize| singles.contains(&index);
        for (index, mark) in &reading.marks {
            let (Some(own), Some(held)) = (seen.own.get(*index).copied(), seen.held.get(*index))
            else {
                continue;
            };
            // What is in a variable or printed is not known by a place of its own.
            let inner = held.content.held.without(own);
            match mark {
                Mark::Case(case) => {
                    self.found.mark(own, case);
                    let is_printed = !held.printed.is_empty() && case.role != Role::Sum;
                    if case.role != Role::Warn {
                        self.mark(inner, if is_printed { Case::PRINTED } else { case });
                    } else if held.beginning != Beginning::Simple {
                        self.found.soften(held.content.held, Construct::Reading);
                    }
                }
                Mark::Process(case) => self.mark(held.processed, case),
                Mark::Program => {
                    self.found.programs.add(own);
                    self.mark(inner, Case::UNKNOWN);
                }
                Mark::Declared => {
                    self.found.declared.add(own);
                    let text = &seen.words[*index].text;
                    let end = text.iter().position(|byte| !is_name_byte(*byte));
                    if is_array(self.src, &text[..end.unwrap_or(text.len())]) {
                        self.mark(inner, Case::ELEMENTS);
                    }
                }
                Mark::ReadBy(reader) if !is_single(*index) => {
                    // A test sees an option only in its first word, and in no side of `=`.
                    let is_operator = |word: &words::Word<'_>| {
                        word.whole && matches!(word.text.as_ref(), b"=" | b"==" | b"!=")
                    };
                    let is_operand = is_test
                        && (*index > first + 1
                            || seen.words.get(index + 1).is_some_and(is_operator))
                        || self.is_optional(*reader, seen.words.get(index.wrapping_sub(1)));
                    self.read_by(*reader, held, own, is_operand);
                }
                Mark::ReadBy(_) | Mark::Single => {}
            }
        }
    }

    /// Whether a word follows an option, and the program starts no other: `git commit -m "$text"`.
    fn is_optional(&self, reader: ReadBy, before: Option<&words::Word<'_>>) -> bool {
        let is_starter = reader.called().is_some_and(|it| {
            matches!(it.program.shape, Shape::Wraps(_) | Shape::Shell | Shape::Remote)
        });
        !is_starter && before.is_some_and(|word| word.whole && word.text.starts_with(b"-"))
    }

    /// A program reads a word, and may see more than data in it.
    fn read_by(&mut self, reader: ReadBy, held: &Held, own: Values, is_operand: bool) {
        self.found.readers.push((own, reader));
        if reader == ReadBy::UNLISTED {
            return;
        }
        let begins = held.content.begins.known();
        self.found.begin(begins.without(own), reader);
        if !reader.has_rows() {
            return;
        }
        self.found.read.add(own);
        self.found.soften(held.split.known(), Construct::Split);
        if is_operand {
            return;
        }
        self.found.soften(begins.only(held.content.cut), Construct::Reading);
        let is_printed = reader.called().is_some_and(|it| it.program.shape == Shape::Prints);
        if held.beginning != Beginning::Simple && !is_printed {
            self.found.soften(held.content.held, Construct::Reading);
        }
        if held.beginning == Beginning::Pair && reader.joins() {
            self.found.mark(own, Case::JOINED);
        }
    }

    /// `declare 'a[n]=1'`, `unset a[n]`: an index in the name of a variable is computed.
    fn indexed(&mut self, seen: &Words<'t>) {
        let name = seen.words.iter().find(|word| word.kind == Kind::Plain);
        let Some(name) = name.map(|word| word.text.as_ref()) else { return };
        if !is_declaring(name) && name != b"unset" {
            return;
        }
        for piece in &seen.pieces {
            let text = piece.text(self.src);
            let text = &text[..text.iter().position(|byte| *byte == b'=').unwrap_or(text.len())];
            if let Some(open) = text.iter().position(|byte| *byte == b'[') {
                let named = self.variables.named(&text[open..]);
                self.mark(named, Case::INDEX);
            }
        }
    }

    /// Names that are written where the shell computes: `let m=n`, `test -v 'a[n]'`.
    fn spelled(&mut self, seen: &Words<'t>) {
        if self.variables.is_empty() {
            return;
        }
        let named: Vec<Values> = seen.held.iter().map(|held| held.content.spelled).collect();
        if named.iter().all(|named| named.is_empty()) {
            return;
        }
        self.indexed(seen);
        let mut words = seen.words.clone();
        for (word, named) in words.iter_mut().zip(&named) {
            word.has_references |= !named.is_empty();
        }
        let mut reading = Reading::default();
        read(&words, &mut reading);
        for (index, mark) in &reading.marks {
            if let (Mark::Case(case), Some(named)) = (mark, named.get(*index))
                && matches!(case.role, Role::Sum | Role::Name)
            {
                // The name of a variable is not computed, only the index after it.
                let text = &words[*index].text;
                let is_index = case.role == Role::Sum || text.contains(&b'[');
                if is_index {
                    self.mark(*named, case);
                }
            }
        }
    }
}
