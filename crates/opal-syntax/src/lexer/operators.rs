//! What is between commands: operators, redirections, line feeds, comments.

use opal_core::script::Case;
use opal_core::{Code, Span};

use super::command::{NONE, Target};
use super::frames::FrameKind;
use super::shell::{Scan, Stop};
use super::{At, Lexer, is_blank};
use crate::kind::SyntaxKind::*;

impl Lexer<'_> {
    pub(super) fn maybe_comment(&mut self, byte: u8) -> Option<Scan> {
        let before = self.pos.checked_sub(1).map_or(b'\n', |at| self.src[at]);
        // A blank may be escaped, and then the word goes on.
        let new_word = self.top().command.word == NONE;
        let comment = if byte == b'#' {
            // After `(…)` a new word begins, after `$(…)` the word goes on.
            new_word
                && matches!(before, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')')
        } else {
            new_word
                && matches!(before, b' ' | b'\t' | b'\n' | b'\r')
                && self.byte(1) == b'/'
                && matches!(self.byte(2), 0 | b' ' | b'\t' | b'\r' | b'\n')
        };
        if !comment {
            self.begin_word();
            self.pos += 1;
            return None;
        }
        if self.end_word() {
            return Some(Scan::Frame);
        }
        // A heredoc that was announced before the comment still follows it.
        let last = self.frames.len() == 1 && !self.top().command.continues;
        if last && self.heredocs.is_empty() {
            self.end_step();
            return Some(Scan::Stop(Stop::End));
        }
        self.flush_text();
        if self.top().kind == FrameKind::Backtick {
            // The shell looks for the closing backtick first.
            let end = self.line_end(self.pos);
            let close = memchr::memchr(b'`', &self.src[self.pos..end]);
            self.pos = close.map_or(end, |at| self.pos + at);
            self.emit(Comment);
        } else {
            self.line_comment();
        }
        None
    }

    pub(super) fn line_feed(&mut self) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        let step = self.frames.len() == 1;
        let ends = step && !self.top().command.continues;
        if !self.heredocs.is_empty() {
            // What the command does with a body must be known before the body is read.
            self.finish_line();
            if ends && self.carried > 0 {
                // An operand before a decorator announced them: they are not part of this one.
                self.end_step();
                return Some(Scan::Stop(Stop::End));
            }
            self.heredoc_bodies();
            if ends {
                self.flush_text();
                return Some(Scan::Stop(Stop::End));
            }
            return None;
        }
        if ends {
            self.end_step();
            return Some(Scan::Stop(Stop::End));
        }
        if self.top().command.patterns {
            self.pos += 1;
            return None;
        }
        let piped = self.top().command.continues && self.top().is_piped;
        self.next_command(step, piped);
        let frame = self.top();
        frame.command.at_command = frame.kind != FrameKind::List;
        self.pos += 1;
        None
    }

    /// Ends the command of this line, whose heredocs follow. A line that ends in an operator has
    /// none.
    fn finish_line(&mut self) {
        if self.top().command.continues || self.top().command.patterns {
            return;
        }
        self.finish_command(false);
    }

    pub(super) fn operator(&mut self, byte: u8) -> Option<Scan> {
        if byte == b'&' && self.byte(1) == b'>' {
            return self.redirection();
        }
        if self.end_word() {
            return Some(Scan::Frame);
        }
        let next = self.byte(1);
        let width = match (byte, next) {
            (b';', b';') if self.byte(2) == b'&' => 3,
            (b'&', b'&') | (b'|', b'|' | b'&') | (b';', b';' | b'&') => 2,
            _ => 1,
        };
        let continues = byte == b'|' || (byte == b'&' && next == b'&');
        if self.frames.len() == 1 {
            self.flush_text();
            self.advance(width, ShellOp);
        } else {
            self.pos += width;
        }
        let frame = self.top();
        if frame.kind == FrameKind::Case && (frame.command.patterns || (byte == b';' && width > 1))
        {
            self.next_pattern();
        } else {
            self.next_command(continues, byte == b'|' && next != b'|');
        }
        None
    }

    pub(super) fn redirection(&mut self) -> Option<Scan> {
        let start = self.redirection_start();
        if self.byte(1) == b'(' {
            self.begin_word();
            self.open(FrameKind::Substitution, 2);
            return Some(Scan::Frame);
        }
        let rest = &self.src[self.pos..];
        if rest.starts_with(b"<<") && !rest.starts_with(b"<<<") {
            self.pos += 2;
            self.heredoc_operator();
            return None;
        }
        let here_string = rest.starts_with(b"<<<");
        let target = match rest {
            _ if here_string => Target::Here,
            [b'<' | b'>', b'&', ..] => Target::Descriptor,
            _ => Target::File,
        };
        self.pos += match rest {
            [b'&', b'>', b'>', ..] | [b'<', b'<', b'<', ..] => 3,
            [b'&', b'>', ..] | [b'<', b'>' | b'&', ..] | [b'>', b'>' | b'|' | b'&', ..] => 2,
            _ => 1,
        };
        let operator_end = self.pos;
        let command = &mut self.top().command;
        command.redirect = true;
        command.target = target;
        while is_blank(self.byte(0)) {
            self.pos += 1;
        }
        if here_string {
            return None;
        }
        if self.frames.len() == 1
            && self.byte(0) == b'@'
            && let At::Path { kind: Some(kind), .. } = self.at(self.pos, true)
            && (kind.endpoint || !kind.value)
        {
            self.pos = start;
            self.flush_text();
            self.pos = operator_end;
            self.emit(RedirOp);
            self.blanks();
            return Some(Scan::Stop(Stop::Target));
        }
        None
    }

    /// Ends the word before `<` or `>`; a word of digits, or `{name}`, belongs to the operator.
    fn redirection_start(&mut self) -> usize {
        let (pos, src) = (self.pos, self.src);
        let command = &mut self.top().command;
        let start = if command.word == NONE { pos } else { command.word as usize };
        if start < pos && src[start..pos].iter().all(u8::is_ascii_digit) {
            command.word = NONE;
            return start;
        }
        if start < pos && src[start] == b'{' && src[pos - 1] == b'}' {
            // `{NAME[…]}>`: a variable for the descriptor.
            let references = (command.word_references, self.contexts.len() as u32);
            let owner = self.frames.len() as u32 - 1;
            self.set(references, owner, Case::DESCRIPTOR);
        }
        self.end_word();
        pos
    }

    /// Forgets the operand before a decorator that ends the line.
    pub(crate) fn end_line(&mut self) {
        self.frames.clear();
    }

    /// Says what is missing at the end of a step that was read.
    pub(crate) fn check_end(&mut self) {
        if self.frames.first().is_some_and(|frame| frame.command.continues) {
            self.say_dangling();
        }
        if !self.heredocs.is_empty() {
            self.say_no_heredocs();
        }
    }

    /// Says that nothing follows the `&&`, `||` or `|` before the position.
    fn say_dangling(&mut self) {
        let operator = (0..self.tokens.len()).rev().find(|i| self.tokens.kind(*i) == ShellOp);
        let Some(span) = operator.map(|index| self.tokens.span(index)) else { return };
        let operator = self.slice(span).to_owned();
        self.error(Code::Syntax, span, format!("missing command after `{operator}`"))
            .help
            .push(format!("add one, or delete the `{operator}`"));
    }

    pub(super) fn stray_paren(&mut self) {
        let span = Span::new(self.pos as u32, self.pos as u32 + 1);
        self.error(Code::Syntax, span, "unmatched `)`")
            .help
            .push("delete it, or quote it if it is text: `')'`".into());
    }
}
