//! The shell lane: one step, verbatim.
//!
//! A step is a logical line. It goes on inside quotes and brackets, after `\`, after a trailing
//! `&&`, `||` or `|`, through the bodies of heredocs and to the closing word of `case`, `until` and
//! their like. It ends before a comment, at a line feed, or at a `}` that it did not open. It also
//! stops where a decorator is used as a command or as the target of a redirection, because opal
//! runs that operator itself.

use opal_core::script::Kind;

use super::command::{NONE, Target, Word};
use super::frames::{Frame, FrameKind};
use super::{Lexer, index, is_blank};

/// Why the shell lane stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The step is complete.
    End,
    /// The position is on an `@` where a command is.
    Decorator,
    /// The position is on an `@` where the target of a redirection is.
    Target,
    /// A bracket has no end, or the like; the lines up to it were passed over.
    Broken,
}

/// Why a stretch of text ended.
pub(super) enum Scan {
    /// The frame on top changed.
    Frame,
    /// The end of the text, or of the part to be read.
    Limit,
    Stop(Stop),
}

/// What a byte means where commands are.
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
    /// `operand` is false directly after a decorator, where an operator must follow.
    pub(crate) fn step(&mut self, operand: bool) -> Stop {
        let (tokens, errors) = (self.tokens.len(), self.errors.len());
        self.carried = self.heredocs.len();
        let scan = self.within(self.window(), |lexer| lexer.fresh_scan(operand));
        match scan {
            Scan::Stop(stop) if self.broken.is_none() => {
                self.finish_step();
                self.say_positional();
                stop
            }
            _ if self.broken.is_some() || self.frames.len() > 1 => {
                self.unfinished(tokens, errors, operand);
                Stop::Broken
            }
            _ => {
                self.end_step();
                self.finish_step();
                self.say_positional();
                Stop::End
            }
        }
    }

    /// Ends the last command of the step, unless it ended before.
    fn finish_step(&mut self) {
        if !self.frames.is_empty() {
            self.finish_command(false);
        }
        self.judge_attributes();
    }

    /// Scans from the position on with nothing open.
    pub(super) fn fresh_scan(&mut self, operand: bool) -> Scan {
        self.frames.clear();
        self.contexts.clear();
        self.judged.clear(self.whole);
        self.tests.clear();
        self.positional = None;
        self.sets_positional = false;
        self.broken = None;
        let mut frame = Frame::inside(&[], FrameKind::Step, self.pos);
        frame.command.at_command = operand;
        frame.pipeline.1 = self.heredocs.len() as u32;
        self.push_frame(frame);
        self.scan(1)
    }

    /// Reads until the frame below `base` would be on top, or to the end of what may be read.
    pub(super) fn scan(&mut self, base: usize) -> Scan {
        loop {
            if self.frames.len() < base {
                return Scan::Frame;
            }
            let scan = match self.top().kind {
                kind if kind.holds_commands() => self.scan_commands(),
                FrameKind::Heredoc => self.scan_heredoc(),
                FrameKind::Quote => self.scan_quote(),
                FrameKind::Test => self.scan_test(),
                _ => self.scan_inner(),
            };
            match scan {
                Scan::Frame => {}
                other => return other,
            }
        }
    }

    pub(super) fn open(&mut self, kind: FrameKind, width: usize) {
        let open = self.pos;
        let mut frame = Frame::inside(&self.frames, kind, open);
        frame.begins = self.may_begin_word(open);
        self.push_frame(frame);
        self.pos += width;
        if !self.endless.is_empty() && self.is_endless(kind, open) {
            self.give_up(kind, open);
        }
    }

    pub(super) fn push_frame(&mut self, mut frame: Frame) {
        frame.references = self.contexts.len() as u32;
        frame.pipeline = (frame.references, self.heredocs.len() as u32);
        let is_command = frame.kind.holds_commands();
        self.frames.push(frame);
        if is_command {
            self.begin_command();
        }
    }

    /// Closes the frame on top, whose last byte is before the position.
    pub(super) fn pop_frame(&mut self) {
        if self.top().kind.holds_commands() {
            self.finish_command(false);
        }
        let Some(closed) = self.frames.pop() else { return };
        self.note_closed(&closed);
    }

    /// Stops reading the step: what `kind` began at `open` makes it pointless. The position goes to
    /// the end, where every loop stops; it is set back when the fault is reported.
    pub(super) fn give_up(&mut self, kind: FrameKind, open: usize) {
        self.broken.get_or_insert((kind, open as u32));
        self.pos = self.src.len();
    }

    #[inline]
    pub(super) fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    #[inline]
    pub(super) fn begin_word(&mut self) {
        let at = self.pos;
        let (first, references) = (self.byte(0), self.contexts.len());
        let command = &mut self.top().command;
        if command.word == NONE {
            command.begin_word(at, first, references);
        }
    }

    /// Ends the word before the position; true where a frame opened or closed.
    #[inline]
    pub(super) fn end_word(&mut self) -> bool {
        let (pos, src) = (self.pos, self.src);
        let start = match self.top().command.word {
            NONE => return false,
            start => start as usize,
        };
        let joined = self.joined(start);
        let frame = self.top();
        let word = joined.as_deref().unwrap_or(&src[start..pos]);
        match frame.command.end_word(word) {
            Word::Plain => {
                // The commands of a subshell were judged one by one.
                if word.first() != Some(&b'(') {
                    self.keep_word(start, Kind::Plain);
                }
                self.plain_word(word);
                false
            }
            Word::Assignment => {
                self.keep_word(start, Kind::Assignment);
                false
            }
            Word::Target(target) => {
                let kind = if target == Target::Here { Kind::Input } else { Kind::Target };
                self.keep_word(start, kind);
                false
            }
            Word::Keyword => {
                self.plain_word(word);
                false
            }
            changed => self.compound_word(start, word, changed),
        }
    }

    #[inline]
    fn plain_word(&mut self, word: &[u8]) {
        match word {
            b"in" if self.top().kind == FrameKind::Case && !self.top().command.patterns => {
                self.next_pattern();
            }
            b"set" | b"function" => self.sets_positional = true,
            _ => {}
        }
    }

    /// Between two commands: after `;`, `&&`, a line feed.
    pub(super) fn next_command(&mut self, continues: bool, piped: bool) {
        self.finish_command(piped);
        self.top().command.next_command(continues);
        self.begin_command();
    }

    /// In a `case`: after `in` and `;;`.
    pub(super) fn next_pattern(&mut self) {
        self.finish_command(false);
        self.top().command.next_pattern();
        self.begin_command();
    }

    /// A word that opens or closes a compound command ends at the position.
    fn compound_word(&mut self, start: usize, word: &[u8], change: Word) -> bool {
        match change {
            Word::Opens(kind) => {
                let mut frame = Frame::inside(&self.frames, kind, start);
                frame.command.at_command = matches!(word, b"if" | b"while" | b"until");
                if matches!(word, b"if" | b"for" | b"while") {
                    frame.command.construct = start as u32;
                }
                frame.is_head = matches!(word, b"for" | b"select" | b"case");
                self.top().command.at_command = false;
                if kind == FrameKind::Test {
                    self.begin_test();
                }
                self.push_frame(frame);
                if !self.endless.is_empty() && self.is_endless(kind, start) {
                    self.give_up(kind, start);
                }
                true
            }
            Word::Closes(closed) if closed == self.top().kind => {
                self.close_frame();
                true
            }
            _ => false,
        }
    }

    /// Closes the compound command on top; what follows it are redirections and operators.
    pub(super) fn close_frame(&mut self) {
        self.pop_frame();
        self.top().command.at_command = false;
    }

    /// A stretch of commands, words and operators.
    fn scan_commands(&mut self) -> Scan {
        let src = self.src;
        loop {
            let Some(&byte) = src.get(self.pos) else {
                return if self.end_word() { Scan::Frame } else { Scan::Limit };
            };
            match CLASS[byte as usize] {
                Class::Ordinary => {
                    self.begin_word();
                    let run = src[self.pos..]
                        .iter()
                        .take_while(|byte| CLASS[**byte as usize] == Class::Ordinary);
                    self.pos += run.count();
                }
                Class::Blank => {
                    if self.in_open_index() {
                        self.pos += 1;
                        continue;
                    }
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
                self.raw_quote();
            }
            b'"' => return self.open_word(FrameKind::Quote, 1),
            b'$' => {
                self.begin_word();
                return self.dollar().then_some(Scan::Frame);
            }
            b'`' => return Some(self.backtick()),
            b'@' => return self.command_at(),
            // What is an operator elsewhere is text in an index.
            b'#' | b'/' | b'(' | b')' | b'{' | b'}' | b'<' | b'>' | b'&' | b'|' | b';'
                if self.in_open_index() =>
            {
                self.pos += 1;
            }
            b'\n' if (self.whole || self.frames.len() > 1) && self.in_open_index() => self.pos += 1,
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

    fn equals(&mut self) {
        self.begin_word();
        let (pos, src) = (self.pos, self.src);
        let command = &mut self.top().command;
        if command.may_assign() && !command.assigns && !command.redirect {
            let name = &src[command.word as usize..pos];
            let name = name.strip_suffix(b"+").unwrap_or(name);
            let length = index::name_length(name);
            command.assigns = length > 0 && matches!(name.get(length), None | Some(b'['));
        }
        self.pos += 1;
    }

    /// Ends the step at the last thing before the position that is not a blank.
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
