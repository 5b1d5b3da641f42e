//! Heredocs: announced on one line, read after it.

use opal_core::{Code, Span};

use super::frames::{Frame, FrameKind};
use super::{Lexer, is_blank};
use crate::kind::SyntaxKind;

/// A heredoc whose body has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// Where its delimiter stands.
    delimiter: Span,
    /// A quoted delimiter makes the body literal.
    literal: bool,
    /// `<<-`: leading tabs do not count.
    tabs: bool,
}

impl Lexer<'_> {
    /// Reads `<<WORD`; the position is behind the `<<`.
    pub(super) fn heredoc_operator(&mut self) {
        let tabs = self.byte(0) == b'-';
        self.pos += usize::from(tabs);
        while is_blank(self.byte(0)) {
            self.pos += 1;
        }
        let start = self.pos;
        while let Some(byte) = self.src.get(self.pos) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => {
                    break;
                }
                b'\\' => self.pos += 2,
                _ => self.pos += 1,
            }
        }
        self.pos = self.pos.min(self.src.len());
        while !self.text.is_char_boundary(self.pos) {
            self.pos += 1;
        }
        let delimiter = Span::new(start as u32, self.pos as u32);
        let literal = self.slice(delimiter).contains(['\'', '"', '\\']);
        self.heredocs.push(Pending { delimiter, literal, tabs });
    }

    /// Reads the bodies that were announced; the position is on the line feed before the first.
    pub(super) fn heredoc_bodies(&mut self) {
        for pending in std::mem::take(&mut self.heredocs) {
            self.heredoc_body(&pending);
        }
    }

    fn heredoc_body(&mut self, pending: &Pending) {
        let given = self.slice(pending.delimiter);
        let delimiter: String = given.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let mut line = (self.pos + 1).min(self.src.len());
        let body = line;
        let mut indented = None;
        while line < self.src.len() {
            let end = self.line_end(line);
            let text = &self.text[line..end];
            let stripped = if pending.tabs { text.trim_start_matches('\t') } else { text };
            if stripped == delimiter {
                self.heredoc_text(pending, body, line);
                self.pos = end;
                return;
            }
            if indented.is_none() && text.trim() == delimiter {
                indented = Some((line, end));
            }
            line = self.next_line(end);
        }
        self.unterminated_heredoc(pending, &delimiter, indented);
        let (line, end) = indented.unwrap_or((self.src.len(), self.src.len()));
        self.heredoc_text(pending, body.min(line), line);
        self.pos = end;
    }

    fn next_line(&self, end: usize) -> usize {
        memchr::memchr(b'\n', &self.src[end..]).map_or(self.src.len(), |at| end + at + 1)
    }

    fn unterminated_heredoc(
        &mut self,
        pending: &Pending,
        delimiter: &str,
        indented: Option<(usize, usize)>,
    ) {
        let message = format!("no line `{delimiter}` ends this heredoc");
        let error = self.error(Code::UnterminatedHeredoc, pending.delimiter, message);
        if let Some((start, end)) = indented {
            *error =
                error.clone().also(Span::new(start as u32, end as u32), "this line is indented");
            error.help.push(format!(
                "the closing `{delimiter}` stands at the very start of its line; \
                 `<<-{delimiter}` also takes one that is indented with tabs"
            ));
        } else {
            error.help.push(format!("add a line that is just `{delimiter}`"));
        }
    }

    /// Reads a body for references, unless it is literal.
    fn heredoc_text(&mut self, pending: &Pending, start: usize, end: usize) {
        self.pos = start;
        if pending.literal {
            self.pos = end;
            return;
        }
        let depth = self.frames.len();
        self.frames.push(Frame::inside(&self.frames, FrameKind::Heredoc, start));
        self.scan(depth + 1, end);
        self.frames.truncate(depth);
        // Arguments of a reference may have run past the end of the body.
        self.pos = end.max(self.tokens.end() as usize);
    }

    /// One stretch of a heredoc's body.
    pub(super) fn scan_heredoc(&mut self, limit: usize) {
        while self.pos < limit {
            match self.src[self.pos] {
                b'\\' => self.backslash(),
                b'@' => self.shell_at(),
                b'$' => {
                    if self.dollar() {
                        return;
                    }
                }
                b'`' => {
                    self.open(FrameKind::Backtick, 1);
                    return;
                }
                _ => self.pos += 1,
            }
        }
    }

    pub(super) fn flush_text(&mut self) {
        self.emit(SyntaxKind::ShellText);
    }
}
