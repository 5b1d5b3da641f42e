//! The shell lane: one step, verbatim.
//!
//! A step is a logical line. It goes on inside quotes and brackets, after `\`, after a trailing
//! `&&`, `||` or `|`, through the bodies of heredocs and to the closing word of `case`, `until` and
//! their like. It ends before a comment, at a line feed, or at a `}` that it did not open. It also
//! stops where a decorator stands as a command or as the target of a redirection, because opal
//! runs that operator itself.

use super::command::{NONE, Word};
use super::frames::{Frame, FrameKind};
use super::{At, Lexer, is_blank, is_name_byte};
use crate::kind::SyntaxKind::*;

/// Why the shell lane stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The step is complete.
    End,
    /// The position is on an `@` where a command stands.
    Decorator,
    /// The position is on an `@` where the target of a redirection stands.
    Target,
    /// A bracket has no end; the step's first line was passed over.
    Broken,
}

/// Why a stretch of text ended.
pub(super) enum Scan {
    /// The frame on top changed.
    Frame,
    /// The end of the text, or of the part to be read.
    Limit,
    Stop(Stop),
    /// The quote at this place has no end.
    Quote(usize),
}

/// What a byte means where commands stand.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    Ordinary,
    Blank,
    Special,
}

const CLASS: [Class; 256] = {
    let mut table = [Class::Ordinary; 256];
    let special = b"\n\\'\"`$(){}<>;&|#/@=";
    let mut index = 0;
    while index < special.len() {
        table[special[index] as usize] = Class::Special;
        index += 1;
    }
    table[b' ' as usize] = Class::Blank;
    table[b'\t' as usize] = Class::Blank;
    table[b'\r' as usize] = Class::Blank;
    table
};

impl Lexer<'_> {
    /// Reads a step from the position on, or the next part of one that stopped at a decorator.
    /// `operand` is false directly behind a decorator, where an operator must follow.
    pub(crate) fn step(&mut self, operand: bool) -> Stop {
        let (tokens, errors) = (self.tokens.len(), self.errors.len());
        self.frames.clear();
        self.contexts.clear();
        self.positional = None;
        self.sets_positional = false;
        let mut frame = Frame::inside(&[], FrameKind::Step, self.pos);
        frame.command.at_command = operand;
        self.frames.push(frame);
        let stop = match self.scan(1, self.src.len()) {
            Scan::Stop(stop) => stop,
            Scan::Quote(at) => {
                self.unfinished(tokens, errors, Some(at));
                Stop::Broken
            }
            Scan::Limit | Scan::Frame if self.frames.len() > 1 => {
                self.unfinished(tokens, errors, None);
                Stop::Broken
            }
            Scan::Limit | Scan::Frame => {
                self.end_step();
                Stop::End
            }
        };
        self.say_positional();
        stop
    }

    /// Reads until the frame below `base` would be on top, or `limit`.
    pub(super) fn scan(&mut self, base: usize, limit: usize) -> Scan {
        debug_assert!(self.frames.len() >= base);
        loop {
            let Some(frame) = self.frames.last() else { return Scan::Frame };
            if self.frames.len() < base {
                return Scan::Frame;
            }
            let scan = match frame.kind {
                kind if kind.holds_commands() => self.scan_commands(limit),
                FrameKind::Heredoc => {
                    self.scan_heredoc(limit);
                    if self.pos >= limit { Scan::Limit } else { Scan::Frame }
                }
                FrameKind::Quote => self.scan_quote(limit),
                _ => self.scan_inner(limit),
            };
            match scan {
                Scan::Frame => {}
                other => return other,
            }
        }
    }

    pub(super) fn open(&mut self, kind: FrameKind, width: usize) {
        self.frames.push(Frame::inside(&self.frames, kind, self.pos));
        self.pos += width;
    }

    pub(super) fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn begin_word(&mut self) {
        let at = self.pos;
        let command = &mut self.top().command;
        if command.word == NONE {
            command.begin_word(at);
        }
    }

    /// Ends the word before the position; true where a frame opened or closed.
    pub(super) fn end_word(&mut self) -> bool {
        let (pos, src) = (self.pos, self.src);
        let frame = self.top();
        if frame.command.word == NONE {
            return false;
        }
        let start = frame.command.word as usize;
        let (kind, word) = (frame.kind, &src[start..pos]);
        match frame.command.end_word(word) {
            Word::Plain if kind == FrameKind::Case && word == b"in" => {
                self.top().command.next_command(false);
                false
            }
            Word::Plain => {
                if word == b"set" {
                    self.sets_positional = true;
                }
                false
            }
            Word::Opens(kind) => {
                let mut frame = Frame::inside(&self.frames, kind, start);
                frame.command.at_command = matches!(word, b"if" | b"while" | b"until");
                self.frames.push(frame);
                true
            }
            Word::Closes(closed) if closed == kind => {
                self.frames.pop();
                let command = &mut self.top().command;
                command.at_command = false;
                true
            }
            Word::Closes(_) => false,
        }
    }

    /// A stretch of commands, words and operators.
    fn scan_commands(&mut self, limit: usize) -> Scan {
        loop {
            if self.pos >= limit {
                return if self.end_word() { Scan::Frame } else { Scan::Limit };
            }
            let byte = self.src[self.pos];
            match CLASS[byte as usize] {
                Class::Ordinary => {
                    self.begin_word();
                    let run = self.src[self.pos..limit]
                        .iter()
                        .take_while(|byte| CLASS[**byte as usize] == Class::Ordinary);
                    self.pos += run.count();
                }
                Class::Blank => {
                    let changed = self.end_word();
                    while is_blank(self.byte(0)) {
                        self.pos += 1;
                    }
                    if changed {
                        return Scan::Frame;
                    }
                }
                Class::Special => {
                    if let Some(scan) = self.special(byte) {
                        return scan;
                    }
                }
            }
        }
    }

    fn special(&mut self, byte: u8) -> Option<Scan> {
        match byte {
            b'=' => self.equals(),
            b'\\' => {
                if !self.continuation() {
                    self.begin_word();
                }
                self.backslash();
            }
            b'\'' => {
                self.begin_word();
                let open = self.pos;
                match memchr::memchr(b'\'', &self.src[open + 1..]) {
                    Some(length) => self.pos += length + 2,
                    None => return Some(Scan::Quote(open)),
                }
            }
            b'"' => return self.open_word(FrameKind::Quote, 1),
            b'$' => {
                self.begin_word();
                return self.dollar().then_some(Scan::Frame);
            }
            b'`' => return Some(self.backtick()),
            b'@' => return self.command_at(),
            b'#' | b'/' => return self.maybe_comment(byte),
            b'(' => return Some(self.open_paren()),
            b')' => return self.close_paren(),
            b'{' => return self.open_brace(),
            b'}' => return self.close_brace(),
            b'<' | b'>' => return self.redirection(),
            b'\n' => return self.line_feed(),
            _ => return self.operator(byte),
        }
        None
    }

    pub(super) fn open_word(&mut self, kind: FrameKind, width: usize) -> Option<Scan> {
        self.begin_word();
        self.open(kind, width);
        Some(Scan::Frame)
    }

    fn backtick(&mut self) -> Scan {
        if self.top().kind == FrameKind::Backtick {
            if !self.end_word() {
                self.frames.pop();
                self.pos += 1;
            }
        } else {
            self.begin_word();
            self.open(FrameKind::Backtick, 1);
        }
        Scan::Frame
    }

    fn equals(&mut self) {
        self.begin_word();
        let (pos, src) = (self.pos, self.src);
        let command = &mut self.top().command;
        if command.may_assign() && !command.assigns {
            let name = &src[command.word as usize..pos];
            let name = name.strip_suffix(b"+").unwrap_or(name);
            let name = name.split(|byte| *byte == b'[').next().unwrap_or(name);
            command.assigns = !name.is_empty() && name.iter().all(|byte| is_name_byte(*byte));
        }
        self.pos += 1;
    }

    fn maybe_comment(&mut self, byte: u8) -> Option<Scan> {
        let before = self.pos.checked_sub(1).map_or(b'\n', |at| self.src[at]);
        let comment = if byte == b'#' {
            matches!(before, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')')
        } else {
            matches!(before, b' ' | b'\t' | b'\n' | b'\r')
                && self.byte(1) == b'/'
                && matches!(self.byte(2), 0 | b' ' | b'\t' | b'\r' | b'\n')
        };
        if !comment {
            self.begin_word();
            self.pos += 1;
            return None;
        }
        let step = self.frames.len() == 1 && !self.top().command.continues;
        if step {
            self.end_word();
            // A heredoc that was announced before the comment still follows it.
            if self.frames.len() == 1 && self.heredocs.is_empty() {
                self.end_step();
                return Some(Scan::Stop(Stop::End));
            }
        }
        self.flush_text();
        self.line_comment();
        None
    }

    fn line_feed(&mut self) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        let step = self.frames.len() == 1;
        if !self.heredocs.is_empty() {
            self.heredoc_bodies();
            if step && !self.top().command.continues {
                self.flush_text();
                return Some(Scan::Stop(Stop::End));
            }
            return None;
        }
        if step && !self.top().command.continues {
            self.end_step();
            return Some(Scan::Stop(Stop::End));
        }
        let continues = step;
        self.top().command.next_command(continues);
        self.pos += 1;
        None
    }

    fn operator(&mut self, byte: u8) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        let next = self.byte(1);
        let width = match (byte, next) {
            (b'&', b'>') => {
                self.pos += 1;
                return self.redirection();
            }
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
        self.top().command.next_command(continues);
        None
    }

    fn redirection(&mut self) -> Option<Scan> {
        let start = self.redirection_start();
        let first = self.byte(0);
        if self.byte(1) == b'(' {
            self.begin_word();
            self.open(FrameKind::Substitution, 2);
            return Some(Scan::Frame);
        }
        if first == b'<' && self.byte(1) == b'<' && self.byte(2) != b'<' {
            self.pos += 2;
            self.heredoc_operator();
            return None;
        }
        while matches!(self.byte(0), b'<' | b'>' | b'|' | b'&') {
            self.pos += 1;
        }
        let operator_end = self.pos;
        self.top().command.redirect = true;
        while is_blank(self.byte(0)) {
            self.pos += 1;
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

    /// Ends the word before `<` or `>`; a word of digits belongs to the operator.
    fn redirection_start(&mut self) -> usize {
        let (pos, src) = (self.pos, self.src);
        let command = &mut self.top().command;
        let start = if command.word == NONE { pos } else { command.word as usize };
        if start < pos && src[start..pos].iter().all(u8::is_ascii_digit) {
            command.word = NONE;
            return start;
        }
        self.end_word();
        pos
    }

    /// Ends the step at the last thing before the position that is no blank.
    pub(super) fn end_step(&mut self) {
        let start = self.tokens.end() as usize;
        let mut end = self.pos;
        while end > start && is_blank(self.src[end - 1]) {
            end -= 1;
        }
        if end > start && end < self.pos && self.src[end - 1] == b'\\' {
            end += 1;
        }
        self.pos = end;
        self.flush_text();
    }
}
