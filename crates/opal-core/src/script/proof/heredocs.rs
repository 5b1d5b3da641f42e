//! Heredocs: their bodies are read at the end of the line that names them.

use super::construct::{Construct, PASTED, VALUE};
use super::scan::{Read, Reader};
use super::tree::{Pending, Word};

impl Reader<'_> {
    /// The word after `<<`; gives the number of the body.
    pub(super) fn heredoc(&mut self, strips_tabs: bool) -> Read<usize> {
        let rest = &self.src[self.at..self.end];
        let (quote, from) = match rest.first() {
            Some(quote @ (b'\'' | b'"')) => (Some(*quote), 1),
            Some(b'\\') => (None, 1),
            _ => (None, 0),
        };
        let usual = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
        let length = rest[from..].iter().take_while(usual).count();
        let end = from + length;
        let after = rest.get(end).copied();
        let is_whole = |byte: Option<u8>| {
            byte.is_none_or(|byte| {
                matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b')')
            })
        };
        let width = match quote {
            Some(_) if after == quote && is_whole(rest.get(end + 1).copied()) => end + 1,
            None if is_whole(after) => end,
            _ => return self.lost(Construct::Heredoc),
        };
        if length == 0 {
            return self.lost(Construct::Heredoc);
        }
        let number = self.heredocs.bodies.len();
        self.heredocs.bodies.push(Word::default());
        self.heredocs.pending.push(Pending {
            delimiter: rest[from..end].to_vec(),
            strips_tabs,
            is_quoted: from == 1,
            number,
        });
        self.at += width;
        Ok(number)
    }

    /// The bodies that follow the line that has just ended.
    pub(super) fn bodies(&mut self) -> Read<()> {
        for pending in std::mem::take(&mut self.heredocs.pending) {
            let (end, next) = self.body_end(&pending)?;
            let mut body = Word { is_literal: pending.is_quoted, ..Word::default() };
            let start = self.at;
            if pending.is_quoted {
                if self.src[start..end].iter().any(|byte| matches!(*byte, VALUE | PASTED)) {
                    return self.lost(Construct::Heredoc);
                }
                self.at = end;
            }
            let outer = std::mem::replace(&mut self.end, end);
            while self.at < end {
                self.nested(|it| it.quoted(&mut body))?;
            }
            self.end = outer;
            body.at = start..end;
            self.at = next;
            self.heredocs.bodies[pending.number] = body;
        }
        Ok(())
    }

    /// Where the body ends, and where the text goes on after it.
    fn body_end(&self, pending: &Pending) -> Read<(usize, usize)> {
        let mut at = self.at;
        let mut is_continued = false;
        while at <= self.end {
            let rest = &self.src[at..self.end];
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let line = &rest[..length];
            let tabs = line.iter().take_while(|byte| **byte == b'\t').count();
            let line = &line[if pending.strips_tabs { tabs } else { 0 }..];
            if line == pending.delimiter {
                return match is_continued {
                    true => self.lost(Construct::Heredoc),
                    false => Ok((at, (at + length + 1).min(self.end))),
                };
            }
            let escapes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
            is_continued = !pending.is_quoted && escapes % 2 == 1;
            let joined = &line[..line.len() - usize::from(is_continued)];
            if is_continued && pending.delimiter.starts_with(joined) {
                return self.lost(Construct::Heredoc);
            }
            if at + length >= self.end {
                break;
            }
            at += length + 1;
        }
        self.lost(Construct::Heredoc)
    }
}
