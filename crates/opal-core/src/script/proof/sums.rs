//! Text that the shell computes: arithmetic, and the indexes of arrays; and what is assigned.

use std::ops::Range;

use super::construct::{Construct, PASTED, VALUE};
use super::scan::{Position, Read, Reader, ends_word, is_name_byte, is_name_start};
use super::tree::{Inner, Sum, Values, Word};
use crate::script::cases::Case;

impl Reader<'_> {
    /// Up to the `))` of a sum.
    pub(super) fn sum(&mut self, word: &mut Word, case: &'static Case) -> Read<()> {
        let (start, from, mut open) = (self.at, self.values, 0u32);
        while let Some(byte) = self.peek() {
            match byte {
                b')' if open == 0 => {
                    if self.ahead(1) != Some(b')') {
                        return self.lost(Construct::Sum);
                    }
                    self.computed(word, start, from, case);
                    self.at += 2;
                    return Ok(());
                }
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            self.summand(word, case)?;
        }
        self.lost(Construct::Sum)
    }

    pub(super) fn computed(&self, word: &mut Word, start: usize, from: usize, case: &'static Case) {
        // What commands in it print is judged with them.
        let values = Values::range(from, self.values).only(word.values);
        word.sums.push(Sum { at: start..self.at, values, case });
    }

    /// Something in a text that the shell computes.
    pub(super) fn summand(&mut self, word: &mut Word, case: &'static Case) -> Read<()> {
        match self.src[self.at] {
            VALUE => self.value(word),
            b'"' | b'\'' | b'\\' | b'`' | PASTED | b';' if case != Case::SUM => {
                return self.lost(Construct::Index);
            }
            b'\'' | b'\\' | b'`' | PASTED => return self.lost(Construct::Sum),
            b'$' if self.ahead(1) == Some(b'(') && self.ahead(2) != Some(b'(') => {
                let start = self.at;
                self.at += 2;
                let (list, values) = self.substitution()?;
                word.all.add(values);
                word.commands.push(Inner { list, start, is_quoted: true, case: Some(case) });
            }
            b'$' if matches!(self.ahead(1), Some(b'\'' | b'"' | b'[')) => {
                return self.lost(Construct::Sum);
            }
            b'$' => self.dollar(word, true)?,
            _ => self.at += 1,
        }
        Ok(())
    }

    /// The index of an array, from after its `[` to after its `]`.
    pub(super) fn index(&mut self, word: &mut Word, case: &'static Case) -> Read<()> {
        let (start, from, mut open) = (self.at, self.values, 0u32);
        while let Some(byte) = self.peek() {
            match byte {
                b']' if open == 0 => {
                    let text = &self.src[start..self.at];
                    if !text.iter().all(|byte| byte.is_ascii_digit() || b"@*".contains(byte)) {
                        self.computed(word, start, from, case);
                    }
                    self.at += 1;
                    return Ok(());
                }
                b'"' => {
                    // `${map["key"]}`
                    let rest = &self.src[self.at + 1..self.end];
                    let usual =
                        |byte: u8| byte.is_ascii_alphanumeric() || b"_$ .:/-".contains(&byte);
                    let length = rest.iter().take_while(|byte| usual(**byte)).count();
                    if rest.get(length) != Some(&b'"') {
                        return self.lost(Construct::Index);
                    }
                    self.at += length + 2;
                    continue;
                }
                b'[' => open += 1,
                b']' => open -= 1,
                b'{' | b'}' | b'\n' | b'(' | b')' | b'<' | b'>' | b'&' | b'|' => {
                    return self.lost(Construct::Index);
                }
                _ => {}
            }
            self.summand(word, case)?;
        }
        self.lost(Construct::Index)
    }

    /// `NAME=`, `NAME+=`, `NAME[…]=`, and `[…]=` of an element.
    pub(super) fn assigned(&mut self, word: &mut Word, position: Position) -> Read<()> {
        let start = self.at;
        let rest = &self.src[self.at..self.end];
        let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
        if rest[length..].starts_with(b"\\\n") {
            // A word that goes on there may be a keyword or an assignment.
            let tail = &rest[length + 2..];
            let more = tail.iter().take_while(|byte| is_name_byte(**byte)).count();
            let is_more = matches!(tail.get(more), Some(b'=' | b'+' | b'[' | b'\\' | b'('));
            if is_more {
                return self.lost(Construct::Continuation);
            }
        }
        let is_name = length > 0 && is_name_start(rest[0]);
        if position == Position::Element && rest.first() == Some(&b'[') {
            self.at += 1;
            self.index(word, Case::KEY)?;
            return self.equals(word, None);
        }
        if !is_name || position == Position::Element {
            return Ok(());
        }
        let name = start..start + length;
        self.at = name.end;
        if self.peek() == Some(b'[') {
            self.at += 1;
            self.index(word, Case::INDEX)?;
            word.is_literal = false;
        }
        self.equals(word, Some(name))
    }

    pub(super) fn equals(&mut self, word: &mut Word, name: Option<Range<usize>>) -> Read<()> {
        let equals = match (self.peek(), self.ahead(1)) {
            (Some(b'='), _) => 1,
            (Some(b'+'), Some(b'=')) => 2,
            (Some(b'+'), Some(b'\\')) => return self.lost(Construct::Continuation),
            // A word like any other.
            _ => return Ok(()),
        };
        self.at += equals;
        let is_list = self.peek() == Some(b'(');
        let Some(name) = name else {
            return if is_list { self.lost(Construct::Syntax) } else { Ok(()) };
        };
        word.assigned = Some(name);
        if is_list {
            self.at += 1;
            self.elements(word)?;
        }
        Ok(())
    }

    /// The elements of `NAME=( … )`.
    pub(super) fn elements(&mut self, word: &mut Word) -> Read<()> {
        word.is_literal = false;
        loop {
            self.skip_lines()?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    // Nothing follows a list.
                    return match self.peek().is_none_or(ends_word) {
                        true => Ok(()),
                        false => self.lost(Construct::Syntax),
                    };
                }
                Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => {}
                Some(b'<' | b'>' | b'&' | b'|' | b';' | b'(') | None => {
                    return self.lost(Construct::Syntax);
                }
                Some(_) => {}
            }
            let element = self.nested(|it| it.word(Position::Element))?;
            word.values.add(element.values);
            word.all.add(element.all);
            word.has_braces |= element.has_braces && !element.all.is_empty();
            word.elements.push(element);
        }
    }
}
