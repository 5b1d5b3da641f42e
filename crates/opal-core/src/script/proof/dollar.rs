//! What begins with `$`, and commands inside of words.

use super::construct::{Construct, PASTED, VALUE};
use super::scan::{Read, Reader, is_name_start};
use super::tree::{Form, Inner, List, Values, Variable, Word};
use crate::script::cases::Case;

impl Reader<'_> {
    pub(super) fn dollar(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.ahead(1) == Some(b'(') => {
                self.at += 2;
                self.nested(|it| it.sum(word, Case::SUM))?;
            }
            Some(b'(') => {
                self.at += 1;
                let (list, values) = self.substitution()?;
                word.all.add(values);
                word.commands.push(Inner { list, start, is_quoted, case: None });
            }
            Some(b'{') => {
                self.at += 1;
                self.nested(|it| it.expansion(word, start, is_quoted))?;
            }
            Some(b'[') => return self.lost(Construct::Sum),
            Some(b'\'') if !is_quoted => {
                self.at += 1;
                self.escaped()?;
            }
            Some(b'"') if !is_quoted => return self.lost(Construct::Quotes),
            Some(b'\\') if self.ahead(1) == Some(b'\n') => {
                return self.lost(Construct::Continuation);
            }
            Some(byte) if is_name_start(byte) => {
                let name = self.at..self.at + self.name()?;
                self.at = name.end;
                let (at, form) = (start..self.at, Form::Plain);
                word.variables.push(Variable { at, name, is_quoted, form });
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                let name = self.at..self.at + 1;
                self.at += 1;
                let is_all = matches!(self.src[name.start], b'@' | b'*');
                let form = if is_all { Form::All } else { Form::Plain };
                word.variables.push(Variable { at: start..self.at, name, is_quoted, form });
            }
            // A `$` of its own.
            _ => {}
        }
        Ok(())
    }

    /// `$'…'`, up to its end.
    pub(super) fn escaped(&mut self) -> Read<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => {
                    self.at += 1;
                    return Ok(());
                }
                // dash, which does not know this form, ends the text here.
                b'\\' if self.ahead(1) == Some(b'\'') => return self.lost(Construct::Quotes),
                b'\\' => self.at += 2,
                VALUE | PASTED => return self.lost(Construct::Quotes),
                _ => self.at += 1,
            }
        }
        self.lost(Construct::Quotes)
    }

    /// The text of `$( … )`, and the values in it.
    pub(super) fn substitution(&mut self) -> Read<(List, Values)> {
        let from = self.values;
        let outer = self.heredocs.begin();
        let start = self.at;
        let list = self.nested(Self::inner)?;
        let spans_lines = self.src[start..self.at].contains(&b'\n');
        if !self.heredocs.finish(outer, spans_lines) {
            return self.lost(Construct::Heredoc);
        }
        Ok((list, Values::range(from, self.values)))
    }

    /// `<( … )`, `>( … )`
    pub(super) fn process(&mut self, word: &mut Word) -> Read<()> {
        let is_sink = self.peek() == Some(b'>');
        word.is_literal = false;
        self.at += 2;
        let (list, values) = self.substitution()?;
        word.all.add(values);
        if is_sink {
            word.sinks.push(list)
        } else {
            word.processes.push(list)
        }
        Ok(())
    }

    /// A backtick command: the next backtick ends it, whatever is open in it. A `\` in it means
    /// something else than elsewhere.
    pub(super) fn backtick(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        let rest = &self.src[self.at + 1..self.end];
        let Some(length) = rest.iter().position(|byte| *byte == b'`') else {
            return self.lost(Construct::Backtick);
        };
        if rest[..length].contains(&b'\\') {
            return self.lost(Construct::Backtick);
        }
        let from = self.values;
        let outer = self.heredocs.begin();
        let start = self.at;
        let end = std::mem::replace(&mut self.end, self.at + 1 + length);
        self.at += 1;
        let list = self.nested(|it| it.list(&[]))?;
        if self.at != self.end || !self.heredocs.finish(outer, false) {
            return self.lost(Construct::Backtick);
        }
        self.end = end;
        self.at += 1;
        word.all.add(Values::range(from, self.values));
        word.commands.push(Inner { list, start, is_quoted, case: None });
        Ok(())
    }
}
