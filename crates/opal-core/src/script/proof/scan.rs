//! Words: quotes, expansions, and what is in them.
//!
//! Only forms are read whose end bash and dash agree on, whatever is around them. At any other the
//! reader is lost, and says where and why.

use super::construct::{Construct, PASTED, VALUE};
use super::letters::table;
use super::tree::{Heredocs, List, Values, Word};

/// Where the reader no longer knows what the shell would do, and because of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) at: usize,
    pub(super) construct: Construct,
}

pub(super) type Read<T> = Result<T, Lost>;

/// Nobody nests deeper, and each level takes some stack.
const MAX_DEPTH: u32 = 48;

#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub(super) src: &'t [u8],
    pub(super) at: usize,
    /// Where the text of a backtick command ends, or all of it.
    pub(super) end: usize,
    /// How many values are before `at`.
    pub(super) values: usize,
    depth: u32,
    /// How many values are in commands of the text itself that have ended.
    pub(super) settled: usize,
    pub(super) heredocs: Heredocs,
}

/// Where a word is, as far as it changes how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Before the name of a command, where `NAME=` assigns, or among the words of `declare`.
    Assignment,
    Argument,
    /// Inside `NAME=( … )`.
    Element,
    /// After `=~`.
    Pattern,
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

#[inline]
pub(super) fn is_name_byte(byte: u8) -> bool {
    NAME[byte as usize]
}

static NAME: [bool; 256] =
    table(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");

/// Bytes that mean themselves in every word, whatever is around them.
static ORDINARY: [bool; 256] =
    table(b"%+-/0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ^_abcdefghijklmnopqrstuvwxyz~@");

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl<'t> Reader<'t> {
    pub(super) fn new(src: &'t [u8]) -> Self {
        let heredocs = Heredocs::default();
        Self { src, at: 0, end: src.len(), values: 0, depth: 0, settled: 0, heredocs }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    #[inline]
    pub(super) fn ahead(&self, by: usize) -> Option<u8> {
        self.src[..self.end].get(self.at + by).copied()
    }

    pub(super) fn starts_with(&self, text: &[u8]) -> bool {
        self.src[self.at..self.end].starts_with(text)
    }

    pub(super) fn lost<T>(&self, construct: Construct) -> Read<T> {
        Err(Lost { at: self.at.min(self.src.len()), construct })
    }

    /// Reads something that can hold itself.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.lost(Construct::Syntax);
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// All of the text, as far as it is followed.
    pub(super) fn text(&mut self) -> (List, Option<Lost>) {
        let mut list = List::default();
        let result = self.fill(&[], &mut list).and_then(|()| match self.at == self.end {
            true => Ok(()),
            false => self.lost(Construct::Syntax),
        });
        (list, result.err())
    }

    /// Whether the position is in no command inside of another.
    pub(super) fn is_outer(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn value(&mut self, word: &mut Word) {
        let value = Values::one(self.values);
        word.values.add(value);
        word.all.add(value);
        self.values += 1;
        self.at += 1;
    }

    /// A word from its first byte on.
    pub(super) fn word(&mut self, position: Position) -> Read<Word> {
        let start = self.at;
        let mut word = Word { is_literal: true, ..Word::default() };
        if matches!(position, Position::Assignment | Position::Element) {
            self.assigned(&mut word, position)?;
        }
        let mut brace = false;
        loop {
            let rest = self.src.get(self.at..self.end).unwrap_or_default();
            self.at += rest.iter().take_while(|byte| ORDINARY[**byte as usize]).count();
            let Some(byte) = self.peek() else { break };
            match byte {
                b'<' | b'>' if self.ahead(1) == Some(b'(') => self.process(&mut word)?,
                b'(' | b'|' | b')' if position == Position::Pattern => self.pattern(byte)?,
                byte if ends_word(byte) => break,
                b'\\' if self.ahead(1) == Some(b'\n') => {
                    self.continued(start)?;
                    word.is_literal = false;
                    if self.at == start + 2 {
                        return self.lost(Construct::Continuation);
                    }
                }
                b'\\' => {
                    if matches!(self.ahead(1), None | Some(VALUE | PASTED | b'\r')) {
                        return self.lost(Construct::Quotes);
                    }
                    self.at += 2;
                    word.is_literal = false;
                }
                b'{' => {
                    brace = true;
                    self.at += 1;
                }
                b',' | b'.' if brace => {
                    word.has_braces |= byte == b',' || self.ahead(1) == Some(b'.');
                    self.at += 1;
                }
                _ => self.part(&mut word)?,
            }
        }
        word.at = start..self.at;
        match self.at == start {
            true => self.lost(Construct::Syntax),
            false => Ok(word),
        }
    }

    /// Something that means the same in every word.
    pub(super) fn part(&mut self, word: &mut Word) -> Read<()> {
        match self.src[self.at] {
            VALUE => {
                word.is_literal = false;
                self.value(word);
            }
            PASTED => {
                word.is_literal = false;
                self.at += 1;
            }
            b'\'' => {
                word.is_literal = false;
                self.at += 1;
                self.single()?;
            }
            b'"' => {
                word.is_literal = false;
                self.at += 1;
                self.double(word)?;
            }
            b'$' => {
                word.is_literal = false;
                self.dollar(word, false)?;
            }
            b'`' => {
                word.is_literal = false;
                self.backtick(word, false)?;
            }
            _ => self.at += 1,
        }
        Ok(())
    }

    /// `\` at the end of a line, which ends a word: the next line begins with a blank.
    pub(super) fn continued(&mut self, start: usize) -> Read<()> {
        let is_end = self.ahead(2).is_none_or(|byte| is_blank(byte) || byte == b'\n');
        let is_open = self.at > start && matches!(self.src[self.at - 1], b'$' | b'=' | b'+');
        if !is_end || is_open {
            return self.lost(Construct::Continuation);
        }
        self.at += 2;
        Ok(())
    }

    /// After `=~`: brackets of a regular expression.
    pub(super) fn pattern(&mut self, byte: u8) -> Read<()> {
        if byte == b'(' {
            // Blanks in brackets do not end the word.
            let rest = &self.src[self.at..self.end];
            let close = rest.iter().take(256).position(|byte| *byte == b')');
            let inside = &rest[..close.unwrap_or(0)];
            let unusual = |byte: &u8| {
                is_blank(*byte)
                    || matches!(byte, b'\n' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'&' | b';')
            };
            if close.is_none() || inside.iter().any(unusual) {
                return self.lost(Construct::Syntax);
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Up to the end of `'…'`.
    pub(super) fn single(&mut self) -> Read<()> {
        let rest = &self.src[self.at..self.end];
        match rest.iter().position(|byte| matches!(*byte, b'\'' | VALUE | PASTED)) {
            Some(length) if rest[length] == b'\'' => {
                self.at += length + 1;
                Ok(())
            }
            _ => self.lost(Construct::Quotes),
        }
    }

    /// Up to the end of `"…"`.
    pub(super) fn double(&mut self, word: &mut Word) -> Read<()> {
        loop {
            match self.peek() {
                None => return self.lost(Construct::Quotes),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.quoted(word)?,
            }
        }
    }

    /// Something inside double quotes, or in the body of a heredoc.
    pub(super) fn quoted(&mut self, word: &mut Word) -> Read<()> {
        match self.src[self.at] {
            VALUE => self.value(word),
            b'\\' => match self.ahead(1) {
                Some(VALUE | PASTED) | None => return self.lost(Construct::Quotes),
                Some(b'\n') if self.at > 0 && self.src[self.at - 1] == b'$' => {
                    return self.lost(Construct::Continuation);
                }
                Some(_) => self.at += 2,
            },
            b'$' => self.dollar(word, true)?,
            b'`' => self.backtick(word, true)?,
            _ => self.at += 1,
        }
        Ok(())
    }

    /// The length of a name at `at`, which no continued line extends.
    pub(super) fn name(&self) -> Read<usize> {
        let rest = &self.src[self.at..self.end];
        let length = rest.iter().take_while(|byte| is_name_byte(**byte)).count();
        match rest[length..].starts_with(b"\\\n") {
            true => self.lost(Construct::Continuation),
            false => Ok(length),
        }
    }
}
