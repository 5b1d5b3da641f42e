//! `declare` and its relatives: attributes that make the shell read a value again.

use super::super::cases::{At, Case, Role};
use super::super::programs::Called;
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
