//! Commands: lists, pipelines, and the shell's own compound commands in their usual forms.

use super::construct::{Construct, VALUE};
use super::letters::table;
use super::scan::{Position, Read, Reader, is_blank, is_name_byte};
use super::tree::{Command, CommandKind, List, Pipeline, Redirect, RedirectKind, Word};

/// Words that mean something where a command begins.
const KEYWORDS: &[&[u8]] = &[
    b"if",
    b"then",
    b"elif",
    b"else",
    b"fi",
    b"for",
    b"while",
    b"until",
    b"do",
    b"done",
    b"case",
    b"esac",
    b"select",
    b"function",
    b"time",
    b"coproc",
    b"{",
    b"}",
    b"!",
    b"[[",
    b"]]",
    b"in",
];

/// What they begin with.
static FIRST: [bool; 256] = table(b"!cdefistuw[]{}");

/// Commands whose words may assign.
const DECLARES: [&[u8]; 5] = [b"declare", b"typeset", b"local", b"readonly", b"export"];

impl Reader<'_> {
    /// The text of `$( … )` after its bracket.
    pub(super) fn inner(&mut self) -> Read<List> {
        let list = self.list(&[])?;
        match self.peek() {
            Some(b')') => {
                self.at += 1;
                Ok(list)
            }
            _ => self.lost(Construct::Syntax),
        }
    }

    /// Counts the values of a text that is passed over.
    pub(super) fn pass(&mut self, to: usize) {
        self.values += self.src[self.at..to].iter().filter(|byte| **byte == VALUE).count();
        self.at = to;
    }

    /// Blanks, lines that go on, and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(byte) if is_blank(byte) => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') && self.is_after_blank() => {
                    self.at += 2
                }
                Some(b'#') => {
                    let rest = &self.src[self.at..self.end];
                    let length = rest.iter().position(|byte| *byte == b'\n');
                    self.pass(self.at + length.unwrap_or(rest.len()));
                    return;
                }
                _ => return,
            }
        }
    }

    pub(super) fn is_after_blank(&self) -> bool {
        self.at == 0 || matches!(self.src[self.at - 1], b' ' | b'\t' | b'\n')
    }

    /// Those and ends of lines, with the heredocs after them.
    pub(super) fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            if self.heredocs.is_pending() {
                self.bodies()?;
            }
        }
    }

    /// The keyword at the position.
    pub(super) fn keyword(&self) -> Option<&'static [u8]> {
        let rest = &self.src[self.at..self.end];
        let ends = |byte: &u8| {
            matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
        };
        let length = rest.iter().take(10).position(ends).unwrap_or(rest.len());
        // Most words are longer, or begin with another letter.
        let first = rest.first().filter(|byte| length <= 8 && FIRST[**byte as usize])?;
        let is_it = |keyword: &&&[u8]| {
            keyword.len() == length && keyword[0] == *first && **keyword == &rest[..length]
        };
        KEYWORDS.iter().find(is_it).copied()
    }

    pub(super) fn expect(&mut self, keyword: &[u8]) -> Read<()> {
        self.skip_lines()?;
        match self.keyword() == Some(keyword) {
            true => {
                self.at += keyword.len();
                Ok(())
            }
            false => self.lost(Construct::Syntax),
        }
    }

    /// Up to one of these keywords, a `)`, a `;;`, or the end.
    pub(super) fn list(&mut self, stops: &[&[u8]]) -> Read<List> {
        let mut list = List::default();
        self.fill(stops, &mut list)?;
        Ok(list)
    }

    /// The same into a list that stays where the reader is lost.
    pub(super) fn fill(&mut self, stops: &[&[u8]], list: &mut List) -> Read<()> {
        loop {
            self.skip_lines()?;
            if self.is_outer() && !self.heredocs.is_pending() {
                self.settled = self.values;
            }
            match self.peek() {
                None | Some(b')') => return Ok(()),
                Some(b';') if matches!(self.ahead(1), Some(b';' | b'&')) => return Ok(()),
                _ => {}
            }
            if self.keyword().is_some_and(|keyword| stops.contains(&keyword)) {
                return Ok(());
            }
            let pipeline = self.nested(Self::pipeline)?;
            list.0.push(pipeline);
            self.skip_blanks();
            match (self.peek(), self.ahead(1)) {
                (Some(b';'), Some(b';' | b'&')) => return Ok(()),
                (Some(b'\n' | b')'), _) | (None, _) => {}
                (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => {
                    self.operator(2)?;
                    self.skip_lines()?;
                }
                (Some(b';' | b'&'), _) => self.operator(1)?,
                // `while (…) do`
                _ if self.keyword().is_some_and(|keyword| stops.contains(&keyword)) => {
                    return Ok(());
                }
                _ => return self.lost(Construct::Syntax),
            }
        }
    }

    /// An operator, which what follows on the next line does not extend.
    pub(super) fn operator(&mut self, width: usize) -> Read<()> {
        self.at += width;
        while self.starts_with(b"\\\n") {
            if self.ahead(2).is_some_and(|byte| b"&|;<>(-\\".contains(&byte)) {
                return self.lost(Construct::Continuation);
            }
            self.at += 2;
        }
        Ok(())
    }

    pub(super) fn pipeline(&mut self) -> Read<Pipeline> {
        // Most have one command.
        let mut pipeline = Pipeline(Vec::with_capacity(1));
        loop {
            match self.keyword() {
                Some(b"!") => self.at += 1,
                Some(b"time") => {
                    self.at += 4;
                    self.skip_blanks();
                    if self.starts_with(b"-p ") {
                        self.at += 2;
                    } else if self.peek() == Some(b'-') {
                        return self.lost(Construct::Syntax);
                    }
                }
                _ => break,
            }
            self.skip_blanks();
            if matches!(self.peek(), None | Some(b'\n' | b';' | b')')) {
                return Ok(pipeline);
            }
        }
        loop {
            pipeline.0.push(self.command()?);
            self.skip_blanks();
            match (self.peek(), self.ahead(1)) {
                (Some(b'|'), Some(b'|')) => return Ok(pipeline),
                (Some(b'|'), Some(b'&')) => {
                    if let Some(last) = pipeline.0.last_mut() {
                        last.is_loud = true;
                    }
                    self.operator(2)?;
                }
                (Some(b'|'), _) => self.operator(1)?,
                _ => return Ok(pipeline),
            }
            self.skip_lines()?;
        }
    }

    pub(super) fn command(&mut self) -> Read<Command> {
        let kind = match (self.keyword(), self.peek()) {
            (None, Some(b'(')) => {
                self.at += 1;
                match self.peek() {
                    Some(b'(') => {
                        self.at += 1;
                        self.sum_command()?
                    }
                    Some(b'\\') => return self.lost(Construct::Continuation),
                    _ => self.group(Self::inner)?,
                }
            }
            (None, _) => return self.simple(),
            (Some(keyword), _) => {
                self.at += keyword.len();
                match self.compound(keyword)? {
                    Some(kind) => kind,
                    None => return self.lost(Construct::Syntax),
                }
            }
        };
        let redirects = self.redirects()?;
        Ok(Command { kind, is_loud: false, redirects })
    }

    pub(super) fn simple(&mut self) -> Read<Command> {
        let (mut words, mut redirects) = (Vec::<Word>::new(), Vec::new());
        let (mut position, mut has_name) = (Position::Assignment, false);
        loop {
            self.skip_blanks();
            let is_both = self.peek() == Some(b'&');
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                self.skip_blanks();
                // dash ends the command at the `&` of `&>`, and begins another.
                let ends = matches!(
                    self.peek(),
                    None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>' | b'0'..=b'9')
                );
                if is_both && !ends {
                    return self.lost(Construct::Syntax);
                }
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') if words.len() == 1 && redirects.is_empty() && words[0].is_literal => {
                    return self.defined(words.remove(0));
                }
                Some(b'(') => return self.lost(Construct::Syntax),
                _ => {}
            }
            let word = self.word(position)?;
            let text = &self.src[word.at.clone()];
            // `{a[1]}>f`: a descriptor, in the element of an array.
            if text.starts_with(b"{") && matches!(self.peek(), Some(b'<' | b'>')) {
                return self.lost(Construct::Index);
            }
            // `if` at the end of a line that goes on is still a keyword.
            let bare = text.strip_suffix(b"\\\n").filter(|_| words.is_empty());
            if bare.is_some_and(|text| KEYWORDS.contains(&text)) {
                return self.lost(Construct::Continuation);
            }
            if has_name || word.assigned.is_none() {
                let declares = !has_name && DECLARES.contains(&text);
                if !has_name && !declares {
                    position = Position::Argument;
                }
                has_name = true;
            }
            words.push(word);
        }
        if words.is_empty() && redirects.is_empty() {
            return self.lost(Construct::Syntax);
        }
        Ok(Command { kind: CommandKind::Simple(words), is_loud: false, redirects })
    }

    /// `NAME() …`
    pub(super) fn defined(&mut self, name: Word) -> Read<Command> {
        self.at += 1;
        self.skip_blanks();
        if self.peek() != Some(b')') {
            return self.lost(Construct::Syntax);
        }
        self.at += 1;
        let kind = self.function(name.at)?;
        Ok(Command { kind, is_loud: false, redirects: Vec::new() })
    }

    pub(super) fn redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// A redirection, with the descriptor before it.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let rest = &self.src[self.at..self.end];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let named = match rest.first() {
            Some(b'{') => named_descriptor(rest),
            _ => 0,
        };
        let from = digits.max(named);
        let rest = &rest[from..];
        let (kind, width) = match rest {
            [b'<' | b'>', b'(', ..] => return Ok(None),
            [b'<', b'<', b'<', ..] => (RedirectKind::String, 3),
            [b'<', b'<', b'-', ..] => (RedirectKind::Heredoc(0), 3),
            [b'<', b'<', ..] => (RedirectKind::Heredoc(0), 2),
            [b'<' | b'>', b'&', ..] => (RedirectKind::Copy, 2),
            [b'&', b'>', b'>', ..] if from == 0 => (RedirectKind::Out, 3),
            [b'&', b'>', ..] if from == 0 => (RedirectKind::Out, 2),
            [b'<', b'>', ..] | [b'>', b'>' | b'|', ..] => (RedirectKind::Out, 2),
            [b'>', ..] => (RedirectKind::Out, 1),
            [b'<', ..] => (RedirectKind::In, 1),
            _ => return Ok(None),
        };
        let descriptor = (from > 0).then_some(self.at..self.at + from);
        let strips_tabs = rest[..width].ends_with(b"-");
        self.at += from;
        self.operator(width)?;
        self.skip_blanks();
        if let RedirectKind::Heredoc(_) = kind {
            let kind = RedirectKind::Heredoc(self.heredoc(strips_tabs)?);
            return Ok(Some(Redirect { kind, descriptor, word: Word::default() }));
        }
        let word = self.word(Position::Argument)?;
        Ok(Some(Redirect { kind, descriptor, word }))
    }
}

/// The length of `{NAME}` before a redirection.
fn named_descriptor(text: &[u8]) -> usize {
    let length = text[1..].iter().take_while(|byte| is_name_byte(**byte)).count();
    let is_it = length > 0
        && text.get(length + 1) == Some(&b'}')
        && matches!(text.get(length + 2), Some(b'<' | b'>'));
    if is_it { length + 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_and_no_other_word() {
        for keyword in KEYWORDS {
            assert_eq!(Reader::new(keyword).keyword(), Some(*keyword));
        }
        for word in ["", "iff", "docker", "functions", "x", "{a", "i"] {
            assert_eq!(Reader::new(word.as_bytes()).keyword(), None, "{word}");
        }
    }
}
