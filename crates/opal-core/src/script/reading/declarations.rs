//! `declare` and its relatives: attributes that make the shell read a value again.

use super::super::cases::{At, Case, Role};
use super::super::programs::Shape::Declares;
use super::super::programs::{Called, find};
use super::super::words::Kind;
use super::{Mark, Reader};

impl Reader<'_, '_> {
    pub(super) fn declares(&mut self, called: Called, rest: &[usize]) {
        let mut attribute = None;
        let mut is_unknown = false;
        for index in rest {
            let word = &self.words[*index];
            // `-{i,x}`, `-$flags`
            let is_unknown_option = word.text.as_ref() == b"-" && !word.whole;
            if (word.is_option() || is_unknown_option) && word.kind == Kind::Plain {
                let letters = word.text.iter().skip(1).filter(|_| word.text[0] == b'-');
                for found in letters.filter_map(|letter| called.case(At::Attribute(*letter))) {
                    // An array of integers is computed, whatever its brackets are.
                    if attribute.is_none_or(|it: &Case| it.role == Role::Code) {
                        attribute = Some(found);
                    }
                }
                is_unknown |= !word.whole;
                continue;
            }
            if attribute.is_some_and(|it| it.role != Role::Code) || is_unknown {
                let is_known = word.whole || word.text.contains(&b'=');
                self.attribute(if is_known { &word.text } else { b"" });
            }
            self.declared(called, *index, attribute, is_unknown);
        }
    }

    fn attribute(&mut self, text: &[u8]) {
        let end = text.iter().position(|byte| matches!(byte, b'=' | b'+' | b'['));
        let name = &text[..end.unwrap_or(text.len())];
        self.reading.attributed.push(if name.is_empty() { b"*".to_vec() } else { name.to_vec() });
    }

    /// What `eval` is given, as far as the text tells: `eval "declare -i n"` declares too.
    pub(super) fn evaluated(&mut self, rest: &[usize]) {
        let is_whole = rest.iter().all(|index| self.words[*index].whole);
        let words: Vec<&[u8]> = rest.iter().map(|index| self.words[*index].text.as_ref()).collect();
        let text = words.join(&b' ');
        for command in text.split(|byte| b";&|\n(){}`".contains(byte)) {
            let is_blank = |byte: &u8| byte.is_ascii_whitespace();
            let mut words = command.split(is_blank).filter(|word| !word.is_empty());
            let is_known = |word: &[u8]| find(word).is_some_and(|it| it.program.shape == Declares);
            if !words.by_ref().any(is_known) {
                continue;
            }
            let (options, names): (Vec<&[u8]>, Vec<&[u8]>) =
                words.partition(|word| word.starts_with(b"-"));
            let letters = |word: &&[u8]| word.iter().any(|byte| matches!(byte, b'i' | b'n'));
            if options.iter().any(letters) {
                names.iter().for_each(|name| self.attribute(name));
                if !is_whole {
                    self.reading.attributed.push(b"*".to_vec());
                }
            }
        }
    }

    fn declared(
        &mut self,
        called: Called,
        index: usize,
        attribute: Option<&'static Case>,
        is_unknown: bool,
    ) {
        let word = &self.words[index];
        let equals = word.text.iter().position(|byte| *byte == b'=');
        let Some(equals) = equals else {
            return if let Some(case) = called.case(At::From(0)) {
                self.mark(index, case)
            };
        };
        self.assignment(index);
        if !word.has_references {
            return;
        }
        if let Some(case) = attribute {
            // A list in the shell's own brackets is not read again.
            if !(case.role == Role::Code && word.is_list) {
                self.mark(index, case);
            }
        } else if is_unknown {
            self.mark(index, Case::INTEGER);
        } else if matches!(called.name, "export" | "readonly") {
            // They take a list only in the shell's own brackets, unless they are given `-a`.
        } else if word.text[equals + 1..].starts_with(b"(") && !word.is_list {
            self.mark(index, Case::ELEMENTS);
        } else if word.text.len() == equals + 1 && !word.is_list {
            self.reading.marks.push((index, Mark::Declared));
        }
    }
}
