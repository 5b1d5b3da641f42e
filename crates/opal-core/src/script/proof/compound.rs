//! The shell's own compound commands, in their usual forms.

use std::ops::Range;

use super::construct::Construct;
use super::scan::{Position, Read, Reader, is_name_byte, is_name_start};
use super::tree::{CommandKind, List, Word};
use crate::script::cases::Case;

impl Reader<'_> {
    pub(super) fn group(
        &mut self,
        read: impl FnOnce(&mut Self) -> Read<List>,
    ) -> Read<CommandKind> {
        let list = self.nested(read)?;
        Ok(CommandKind::Group { lists: vec![list], words: Vec::new() })
    }

    /// `(( … ))` after its brackets.
    pub(super) fn sum_command(&mut self) -> Read<CommandKind> {
        let start = self.at;
        let mut word = Word::default();
        self.nested(|it| it.sum(&mut word, Case::SUM))?;
        word.at = start..self.at;
        Ok(CommandKind::Sum(Box::new(word)))
    }

    pub(super) fn compound(&mut self, keyword: &[u8]) -> Read<Option<CommandKind>> {
        let kind = match keyword {
            b"{" => {
                let kind = self.group(|it| it.list(&[b"}"]))?;
                self.expect(b"}")?;
                kind
            }
            b"if" => self.condition()?,
            b"while" | b"until" => {
                let head = self.nested(|it| it.list(&[b"do"]))?;
                let body = self.body()?;
                CommandKind::Group { lists: vec![head, body], words: Vec::new() }
            }
            b"for" | b"select" => self.counted()?,
            b"case" => self.case()?,
            b"[[" => self.test()?,
            b"function" => {
                self.skip_blanks();
                let name = self.at..self.at + self.name_of_function();
                self.at = name.end;
                self.skip_blanks();
                if self.starts_with(b"()") {
                    self.at += 2;
                }
                self.function(name)?
            }
            b"coproc" => return self.lost(Construct::Syntax),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    pub(super) fn condition(&mut self) -> Read<CommandKind> {
        let mut lists = vec![self.nested(|it| it.list(&[b"then"]))?];
        self.expect(b"then")?;
        loop {
            lists.push(self.nested(|it| it.list(&[b"elif", b"else", b"fi"]))?);
            match self.keyword() {
                Some(b"elif") => {
                    self.at += 4;
                    lists.push(self.nested(|it| it.list(&[b"then"]))?);
                    self.expect(b"then")?;
                }
                Some(b"else") => self.at += 4,
                _ => {
                    self.expect(b"fi")?;
                    return Ok(CommandKind::Group { lists, words: Vec::new() });
                }
            }
        }
    }

    /// `do … done`, or `{ … }`.
    pub(super) fn body(&mut self) -> Read<List> {
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.skip_lines()?;
        let (open, close): (&[u8], &[u8]) = match self.keyword() {
            Some(b"{") => (b"{", b"}"),
            _ => (b"do", b"done"),
        };
        self.expect(open)?;
        let body = self.nested(|it| it.list(&[close]))?;
        self.expect(close)?;
        Ok(body)
    }

    pub(super) fn counted(&mut self) -> Read<CommandKind> {
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            if self.ahead(1) != Some(b'(') {
                return self.lost(Construct::Continuation);
            }
            self.at += 2;
            let CommandKind::Sum(head) = self.sum_command()? else {
                return self.lost(Construct::Sum);
            };
            let body = self.body()?;
            return Ok(CommandKind::Group { lists: vec![body], words: vec![*head] });
        }
        if !self.peek().is_some_and(is_name_start) {
            return self.lost(Construct::Syntax);
        }
        let name = self.at..self.at + self.name()?;
        self.at = name.end;
        self.skip_lines()?;
        let mut words = Vec::new();
        if self.keyword() == Some(b"in") {
            self.at += 2;
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(b';' | b'\n') => break,
                    Some(b'<' | b'>') if self.ahead(1) == Some(b'(') => {}
                    Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')') | None => {
                        return self.lost(Construct::Syntax);
                    }
                    _ => {}
                }
                words.push(self.word(Position::Argument)?);
            }
        }
        let body = self.body()?;
        Ok(CommandKind::For { name, words, body })
    }

    pub(super) fn case(&mut self) -> Read<CommandKind> {
        self.skip_lines()?;
        let mut words = vec![self.word(Position::Argument)?];
        self.expect(b"in")?;
        let mut lists = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword() == Some(b"esac") {
                self.at += 4;
                return Ok(CommandKind::Group { lists, words });
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            }
            loop {
                self.skip_blanks();
                words.push(self.word(Position::Argument)?);
                self.skip_blanks();
                match self.peek() {
                    Some(b'|') => self.operator(1)?,
                    Some(b')') => break,
                    _ => return self.lost(Construct::Syntax),
                }
            }
            self.at += 1;
            lists.push(self.nested(|it| it.list(&[b"esac"]))?);
            if self.peek() == Some(b';') {
                let width = if self.starts_with(b";;&") { 3 } else { 2 };
                self.operator(width)?;
            }
        }
    }

    /// The words and operators of `[[ … ]]`.
    pub(super) fn test(&mut self) -> Read<CommandKind> {
        let mut words = Vec::new();
        let mut is_pattern = false;
        loop {
            self.skip_lines()?;
            let start = self.at;
            let Some(byte) = self.peek() else { return self.lost(Construct::Syntax) };
            if self.keyword() == Some(b"]]") {
                self.at += 2;
                return Ok(CommandKind::Test(words));
            }
            let position = if is_pattern { Position::Pattern } else { Position::Argument };
            is_pattern = false;
            match byte {
                b'(' | b')' if position == Position::Argument => self.at += 1,
                b'<' | b'>' if self.ahead(1) != Some(b'(') => self.operator(1)?,
                b'&' | b'|' if self.ahead(1) == Some(byte) => self.operator(2)?,
                b'&' | b'|' | b';' => return self.lost(Construct::Syntax),
                b'\\' if self.ahead(1) == Some(b'\n') => {
                    return self.lost(Construct::Continuation);
                }
                _ => {
                    let word = self.word(position)?;
                    is_pattern = &self.src[word.at.clone()] == b"=~";
                    words.push(word);
                    continue;
                }
            }
            words.push(Word { at: start..self.at, is_literal: true, ..Word::default() });
        }
    }

    pub(super) fn name_of_function(&self) -> usize {
        let usual = |byte: &&u8| is_name_byte(**byte) || b"-.:+".contains(byte);
        self.src[self.at..self.end].iter().take_while(usual).count()
    }

    pub(super) fn function(&mut self, name: Range<usize>) -> Read<CommandKind> {
        self.skip_lines()?;
        let is_compound = self.peek() == Some(b'(') || self.keyword().is_some();
        if name.is_empty() || !is_compound {
            return self.lost(Construct::Syntax);
        }
        let body = Box::new(self.nested(Self::command)?);
        Ok(CommandKind::Function { name, body })
    }
}
