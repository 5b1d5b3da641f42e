//! Heredocs: announced on one line, read after it.

use std::collections::BTreeMap;

use opal_core::script::{Case, Kind};
use opal_core::{Code, Span};

use super::frames::{Frame, FrameKind};
use super::shell::Scan;
use super::{Lexer, is_blank};
use crate::kind::SyntaxKind;

/// A heredoc whose body has not been read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// Where its delimiter is.
    delimiter: Span,
    /// A quoted delimiter makes the body literal.
    literal: bool,
    /// `<<-`: leading tabs do not count.
    tabs: bool,
    /// It is the input of a shell, which runs it.
    pub(super) evaluated: Option<&'static Case>,
    /// The command that reads it.
    pub(super) command: u32,
}

/// Where each line occurs last, without its blanks around it. Once a heredoc had no end, the next
/// ones can be reported without reading to the end of the text again.
#[derive(Debug, Default)]
pub(super) struct LastLines<'s>(BTreeMap<&'s str, Last>);

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    exact: usize,
    tabbed: usize,
    indented: usize,
}

impl<'s> LastLines<'s> {
    fn of(text: &'s str) -> Self {
        let mut lines = Self::default();
        let mut start = 0;
        for line in text.split('\n') {
            let key = line.trim();
            let last = lines.0.entry(key).or_default();
            last.indented = start;
            let content = line.trim_end_matches('\r');
            if content.len() == key.len() {
                last.exact = start;
            }
            if content.trim_start_matches('\t').len() == key.len() {
                last.tabbed = start;
            }
            start += line.len() + 1;
        }
        lines
    }
}

/// Where a body ends: the start and the end of its last line.
enum End {
    At(usize, usize),
    /// Nowhere, but this line would do if it were not indented.
    Indented(usize, usize),
    Nowhere,
}

impl Lexer<'_> {
    /// Reads `<<WORD`; the position is after the `<<`.
    pub(super) fn heredoc_operator(&mut self) {
        let operator = self.pos - 2;
        let tabs = self.byte(0) == b'-';
        self.pos += usize::from(tabs);
        while is_blank(self.byte(0)) {
            self.pos += 1;
        }
        let start = self.pos;
        let line = self.line_end(start);
        while self.pos < line {
            match self.src[self.pos] {
                b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`' => break,
                quote @ (b'\'' | b'"') => {
                    let close = memchr::memchr(quote, &self.src[self.pos + 1..line]);
                    self.pos += close.map_or(1, |length| length + 2);
                }
                b'\\' => self.pos += 2,
                _ => self.pos += 1,
            }
        }
        self.pos = self.pos.min(line);
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        if self.pos == start {
            let span = Span::new(operator as u32, operator as u32 + 2);
            self.error(Code::UnterminatedHeredoc, span, "missing word after `<<`")
                .help
                .push("write a heredoc as `<<EOF`, its lines, and a line `EOF`".into());
            return;
        }
        let delimiter = Span::new(start as u32, self.pos as u32);
        let literal = self.slice(delimiter).contains(['\'', '"', '\\']);
        let command = self.top().command.id;
        self.heredocs.push_back(Pending { delimiter, literal, tabs, evaluated: None, command });
        // Its command has a word, and is judged with it.
        let kept = self.top().command.word_references;
        self.top().command.word_references = self.contexts.len() as u32;
        self.keep_word(start, Kind::Target);
        self.top().command.word_references = kept;
    }

    /// Reads the bodies that were announced; the position is on the line feed before the first.
    pub(super) fn heredoc_bodies(&mut self) {
        for pending in std::mem::take(&mut self.heredocs) {
            self.heredoc_body(pending);
        }
    }

    /// Whether bodies follow this line that an operand before a decorator announced.
    pub(crate) fn owes_heredocs(&self) -> bool {
        !self.heredocs.is_empty()
    }

    /// Reads the next of those bodies, with the place of its delimiter; the position is at the end
    /// of the line before it.
    pub(crate) fn owed_heredoc(&mut self) -> Option<u32> {
        let pending = self.heredocs.pop_front()?;
        self.frames.clear();
        self.contexts.clear();
        self.judged.clear(self.whole);
        self.broken = None;
        let frame = Frame::inside(&[], FrameKind::Step, self.pos);
        self.push_frame(frame);
        // What is left of the line, and the line feed: the body is a token of its own.
        self.blanks();
        self.line_comment();
        let feed = memchr::memchr(b'\n', &self.src[self.pos..]);
        self.pos += feed.map_or(self.src.len() - self.pos, |at| at + 1);
        self.emit(SyntaxKind::Blank);
        self.pos -= usize::from(feed.is_some());
        self.heredoc_body(pending);
        self.flush_text();
        Some(pending.delimiter.start)
    }

    /// Says that heredocs were announced and no lines follow.
    pub(super) fn say_no_heredocs(&mut self) {
        let block = self.byte(0) == b'}' || is_blank(self.byte(0));
        for pending in std::mem::take(&mut self.heredocs) {
            let given = self.slice(pending.delimiter).to_owned();
            let message = format!("no lines follow this heredoc `{given}`");
            let error = self.error(Code::UnterminatedHeredoc, pending.delimiter, message);
            error.help.push(if block {
                "its lines follow the line of the `<<`: put the `}` below them".into()
            } else {
                "write a heredoc as `<<EOF`, its lines, and a line `EOF`".into()
            });
        }
    }

    fn heredoc_body(&mut self, pending: Pending) {
        let given = self.slice(pending.delimiter);
        let delimiter = dequoted(given);
        let body = (self.pos + 1).min(self.src.len());
        let (line, end) = match self.heredoc_end(pending, &delimiter, body) {
            End::At(line, end) => (line, end),
            End::Indented(line, end) => {
                self.unterminated_heredoc(pending, &delimiter, Some((line, end)));
                (line, end)
            }
            End::Nowhere => {
                self.unterminated_heredoc(pending, &delimiter, None);
                let end = self.probable_end(pending, body);
                (end, end)
            }
        };
        self.heredoc_text(pending, body.min(line), line);
        self.pos = end;
    }

    fn heredoc_end(&mut self, pending: Pending, delimiter: &str, body: usize) -> End {
        let known = self.last_lines.as_ref().map(|lines| lines.0.get(delimiter).copied());
        if let Some(last) = known {
            let last = last.unwrap_or_default();
            if last.indented < body {
                return End::Nowhere;
            }
            if (if pending.tabs { last.tabbed } else { last.exact }) < body {
                return self.indented_end(delimiter, body);
            }
        }
        let mut line = body;
        let window = self.window();
        while line < window {
            let end = self.line_end(line);
            let text = &self.text[line..end];
            let stripped = if pending.tabs { text.trim_start_matches('\t') } else { text };
            if stripped == delimiter {
                return End::At(line, end);
            }
            line = self.next_line(end);
        }
        self.patience = self.patience.saturating_sub(line - body);
        if self.src.len() == self.text.len() && self.last_lines.is_none() {
            self.last_lines = Some(LastLines::of(self.text));
        }
        self.indented_end(delimiter, body)
    }

    /// The first line that is the delimiter but for its indentation.
    fn indented_end(&self, delimiter: &str, body: usize) -> End {
        let mut line = body;
        while line < self.src.len() {
            let end = self.line_end(line);
            if self.text[line..end].trim() == delimiter {
                return End::Indented(line, end);
            }
            line = self.next_line(end);
        }
        End::Nowhere
    }

    /// Where a body without its last line is likely to end: before a line that is indented less
    /// than the one that announced it, or that begins with `fun` or `var`; else with the text.
    fn probable_end(&self, pending: Pending, body: usize) -> usize {
        let indentation = self.indentation(pending.delimiter.start as usize);
        let mut line = body;
        while line < self.src.len() {
            let text = &self.src[line..];
            let first = text.iter().take_while(|byte| is_blank(**byte)).count();
            let outside = first < indentation && text.get(first).is_some_and(|byte| *byte != b'\n');
            if outside || text.starts_with(b"fun ") || text.starts_with(b"var ") {
                return line - 1;
            }
            line = self.next_line(line);
        }
        self.src.len()
    }

    fn next_line(&self, end: usize) -> usize {
        memchr::memchr(b'\n', &self.src[end..]).map_or(self.src.len(), |at| end + at + 1)
    }

    fn unterminated_heredoc(
        &mut self,
        pending: Pending,
        delimiter: &str,
        indented: Option<(usize, usize)>,
    ) {
        let message = format!("no line `{delimiter}` ends this heredoc");
        let error = self.error(Code::UnterminatedHeredoc, pending.delimiter, message);
        if let Some((start, end)) = indented {
            let line = Span::new(start as u32, end as u32);
            *error = error.clone().also(line, "this line has blanks around it");
            error.help.push(format!(
                "put the closing `{delimiter}` at the very start of its line; `<<-{delimiter}` \
                 also accepts one that is indented with tabs"
            ));
        } else {
            error.help.push(format!("add a line that is just `{delimiter}`"));
        }
    }

    /// Reads a body for references, unless it is literal.
    fn heredoc_text(&mut self, pending: Pending, start: usize, end: usize) {
        self.pos = start;
        if pending.literal {
            return;
        }
        if self.depth >= super::MAX_TEXT_DEPTH {
            self.error(Code::TooDeep, pending.delimiter, "heredocs are nested too deeply")
                .help
                .push("give the inner text a name with `var` first".into());
            return;
        }
        let depth = self.frames.len();
        let heredocs = std::mem::take(&mut self.heredocs);
        let broken = self.broken.take();
        self.depth += 1;
        let frame = Frame::inside(&self.frames, FrameKind::Heredoc, start);
        self.push_frame(frame);
        let from = self.contexts.len() as u32;
        self.within(end, |lexer| lexer.scan(depth + 1));
        self.depth -= 1;
        let references = (from, self.contexts.len() as u32);
        self.note_body(pending.command, references);
        if let Some(case) = pending.evaluated {
            let owner = self.frames.get(depth).map_or(0, |frame| frame.commands);
            self.set(references, owner, case);
        }
        // What the body opens it must close; the step around it is sound all the same.
        let open = self.frames.get(depth + 1..).and_then(<[Frame]>::last);
        let open = open.map(|frame| (frame.kind, frame.open));
        if let Some((kind, open)) = self.broken.take().or(open) {
            self.say_unfinished(kind, open);
        }
        self.frames.truncate(depth);
        self.heredocs = heredocs;
        self.broken = broken;
    }

    /// One stretch of a heredoc's body.
    pub(super) fn scan_heredoc(&mut self) -> Scan {
        while let Some(&byte) = self.src.get(self.pos) {
            if self.expands(byte) {
                return Scan::Frame;
            }
        }
        Scan::Limit
    }

    pub(super) fn flush_text(&mut self) {
        self.emit(SyntaxKind::ShellText);
    }
}

/// The delimiter that a word is: without its quotes and backslashes, and nothing else is special.
fn dequoted(word: &str) -> String {
    let (mut text, mut quote) = (String::with_capacity(word.len()), None);
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => text.extend(chars.next()),
            (Some('"'), '\\') => {
                let escaped = chars.next_if(|it| matches!(it, '"' | '\\' | '$' | '`'));
                text.push(escaped.unwrap_or(c));
            }
            _ => text.push(c),
        }
    }
    text
}
