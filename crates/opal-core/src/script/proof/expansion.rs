//! `${ … }`.

use std::ops::Range;

use super::construct::{Construct, PASTED, VALUE};
use super::scan::{Read, Reader, is_name_byte};
use super::tree::{Form, Sum, Values, Variable, Word};
use crate::script::cases::Case;

impl Reader<'_> {
    pub(super) fn expansion(&mut self, word: &mut Word, start: usize, is_quoted: bool) -> Read<()> {
        let (mut indirect, mut is_length) = (false, false);
        match (self.peek(), self.ahead(1)) {
            (Some(b'#'), Some(next)) if is_name_byte(next) || matches!(next, b'@' | b'*') => {
                is_length = true;
                self.at += 1;
            }
            (Some(b'!'), Some(next))
                if is_name_byte(next) || matches!(next, b'#' | b'@' | b'*') =>
            {
                indirect = true;
                self.at += 1;
            }
            _ => {}
        }
        let (from, begin) = (self.values, self.at);
        let name = match self.peek() {
            Some(byte) if is_name_byte(byte) => begin..begin + self.name()?,
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => begin..begin + 1,
            Some(VALUE) => {
                self.value(word);
                self.computed(word, begin, from, Case::PARAMETER);
                return self.lost(Construct::Expansion);
            }
            _ => return self.lost(Construct::Expansion),
        };
        self.at = name.end;
        let is_all = |it: &Self| matches!(it.peek(), Some(b'@' | b'*'));
        let is_positional = matches!(self.src[begin], b'@' | b'*');
        let mut is_list = is_positional;
        let mut is_element = false;
        if self.peek() == Some(b'[') {
            self.at += 1;
            is_list = is_all(self) && self.ahead(1) == Some(b']');
            is_element = !is_list;
            self.index(word, Case::INDEX)?;
        }
        // `${!PREFIX*}` expands to names.
        if indirect && is_all(self) && self.ahead(1) == Some(b'}') {
            return self.lost(Construct::Expansion);
        }
        if indirect && !is_list {
            let values = Values::NONE;
            word.sums.push(Sum { at: name.clone(), values, case: Case::PARAMETER });
        }
        // `${!NAME@P}` expands what another variable holds.
        if indirect && self.peek() == Some(b'@') {
            return self.lost(Construct::Expansion);
        }
        let form = match (self.peek(), self.ahead(1)) {
            _ if indirect && is_list && !is_positional => Form::Keys,
            _ if indirect => Form::Indirect,
            (Some(b'}' | b'+' | b'-'), _) | (Some(b':'), Some(b'+' | b'-')) if is_list => Form::All,
            _ if is_list => Form::Slice,
            (Some(b'}'), _) if is_element => Form::Element,
            (Some(b'}'), _) => Form::Plain,
            (Some(b':'), Some(b'-' | b'+' | b'?' | b'=')) => Form::Default,
            (Some(b'#' | b'/' | b':'), _) => Form::Cut,
            _ => Form::Default,
        };
        let index = word.variables.len();
        // A length is a number.
        if !is_length {
            let at = start..self.at;
            word.variables.push(Variable { at, name: name.clone(), is_quoted, form });
        }
        self.operation(word, name, is_quoted)?;
        if let Some(variable) = word.variables.get_mut(index).filter(|it| it.at.start == start) {
            variable.at.end = self.at;
        }
        Ok(())
    }

    /// What follows the name, up to `}`.
    pub(super) fn operation(
        &mut self,
        word: &mut Word,
        name: Range<usize>,
        is_quoted: bool,
    ) -> Read<()> {
        let Some(byte) = self.peek() else { return self.lost(Construct::Expansion) };
        let next = self.ahead(1);
        match (byte, next) {
            (b'}', _) => {
                self.at += 1;
                return Ok(());
            }
            (b'*' | b'@', Some(b'}')) => {
                self.at += 2;
                return Ok(());
            }
            (b':', Some(b'-' | b'+' | b'?' | b'=')) => {
                if next == Some(b'=') {
                    word.given.push(name);
                }
                self.at += 2;
            }
            (b':', _) => {
                self.at += 1;
                return self.offset(word);
            }
            (b'=', _) => {
                word.given.push(name);
                self.at += 1;
            }
            (b'-' | b'+' | b'?' | b'#' | b'%' | b'/' | b'^' | b',', _) => self.at += 1,
            // `${NAME@P}` expands what the variable holds, as a prompt.
            (b'@', Some(letter)) if letter.is_ascii_alphabetic() && self.ahead(2) == Some(b'}') => {
                if matches!(letter, b'P' | b'E') {
                    let values = Values::NONE;
                    word.sums.push(Sum { at: name, values, case: Case::PARAMETER });
                }
                self.at += 3;
                return Ok(());
            }
            _ => return self.lost(Construct::Expansion),
        }
        self.operand(word, is_quoted)
    }

    /// `${NAME:offset:length}`
    pub(super) fn offset(&mut self, word: &mut Word) -> Read<()> {
        let (start, from) = (self.at, self.values);
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.computed(word, start, from, Case::SUM);
                    self.at += 1;
                    return Ok(());
                }
                b'"' | b'{' | b'\n' => return self.lost(Construct::Expansion),
                b'$' if self.ahead(1) == Some(b'{') => return self.lost(Construct::Expansion),
                _ => self.summand(word, Case::SUM)?,
            }
        }
        self.lost(Construct::Expansion)
    }

    /// The word after an operator.
    pub(super) fn operand(&mut self, word: &mut Word, is_quoted: bool) -> Read<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b'"' => self.inner_quotes(word)?,
                // Whether it quotes or not, it ends at the same place.
                b'\'' => self.plain_quotes()?,
                b'`' | b'{' | PASTED => return self.lost(Construct::Expansion),
                b'\\' => match self.ahead(1) {
                    Some(next) if b"/.*?[]$#%&:-+ ()\\\"".contains(&next) => self.at += 2,
                    _ => return self.lost(Construct::Expansion),
                },
                b'$' if self.ahead(1) == Some(b'\'') => {
                    self.at += 1;
                    self.plain_quotes()?;
                }
                b'$' if self.ahead(1) == Some(b'"') => return self.lost(Construct::Expansion),
                b'$' => self.dollar(word, is_quoted)?,
                VALUE => self.value(word),
                _ => self.at += 1,
            }
        }
        self.lost(Construct::Expansion)
    }

    /// `'…'` of letters and a few other characters.
    fn plain_quotes(&mut self) -> Read<()> {
        let rest = &self.src[self.at + 1..self.end];
        let usual = |byte: &&u8| byte.is_ascii_alphanumeric() || b" _.,:;/-+=%@\\".contains(byte);
        let length = rest.iter().take_while(usual).count();
        if rest.get(length) != Some(&b'\'') || rest[..length].ends_with(b"\\") {
            return self.lost(Construct::Expansion);
        }
        self.at += length + 2;
        Ok(())
    }

    /// `"…"` inside `${…}`: bash and dash agree on its end only where it is plain.
    pub(super) fn inner_quotes(&mut self, word: &mut Word) -> Read<()> {
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'$' if self.ahead(1) == Some(b'{') => {
                    let rest = &self.src[self.at + 2..self.end];
                    let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
                    let all =
                        rest[length..].starts_with(b"[@]") || rest[length..].starts_with(b"[*]");
                    let end = length + if all { 3 } else { 0 };
                    if length == 0 || rest.get(end) != Some(&b'}') {
                        return self.lost(Construct::Expansion);
                    }
                    self.dollar(word, true)?;
                }
                b'$' if !matches!(self.ahead(1), Some(b'(' | b'[')) => self.dollar(word, true)?,
                VALUE => self.value(word),
                b'$' | b'{' | b'}' | b'\\' | b'`' | b'\'' | PASTED => {
                    return self.lost(Construct::Expansion);
                }
                _ => self.at += 1,
            }
        }
        self.lost(Construct::Expansion)
    }
}
