//! Parentheses and braces where commands are.

use super::Lexer;
use super::command::{Before, NONE};
use super::frames::FrameKind;
use super::shell::{Scan, Stop};

/// How far ahead of a construct's `{` the shell's `then` or `do` is looked for.
const HEAD_BYTES: usize = 512;

impl Lexer<'_> {
    pub(super) fn open_paren(&mut self) -> Scan {
        let frame = *self.top();
        let command = frame.command;
        if command.patterns && command.word == NONE {
            // `case x in (a) …`
            self.pos += 1;
            return Scan::Frame;
        }
        let new_word = command.word == NONE;
        let counted = frame.kind == FrameKind::Loop && command.construct != NONE;
        if (command.at_command || counted) && new_word && self.byte(1) == b'(' {
            self.begin_word();
            self.top().command.at_command = false;
            self.open(FrameKind::Arithmetic, 1);
            self.open(FrameKind::Arithmetic, 1);
            return Scan::Frame;
        }
        if !new_word && !command.assigns && self.byte(1) == b')' {
            // `name()`: a function of the step's own, with positional parameters of its own.
            self.sets_positional = true;
            if self.end_word() {
                return Scan::Frame;
            }
            self.pos += 2;
            self.next_command(false, false);
            return Scan::Frame;
        }
        self.begin_word();
        let kind = if command.assigns { FrameKind::List } else { FrameKind::Paren };
        self.open(kind, 1);
        self.top().command.at_command = !command.assigns;
        Scan::Frame
    }

    pub(super) fn close_paren(&mut self) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        match self.top().kind {
            FrameKind::Paren | FrameKind::List | FrameKind::Substitution => {
                self.pos += 1;
                self.pop_frame();
                return Some(Scan::Frame);
            }
            FrameKind::Case => self.next_command(false, false),
            FrameKind::Step => self.stray_paren(),
            _ => {}
        }
        self.pos += 1;
        None
    }

    pub(super) fn open_brace(&mut self) -> Option<Scan> {
        let command = self.top().command;
        let alone =
            command.word == NONE && matches!(self.byte(1), 0 | b' ' | b'\t' | b'\r' | b'\n');
        if alone && command.construct != NONE && self.opens_construct() {
            self.give_up(FrameKind::Construct, command.construct as usize);
            return Some(Scan::Limit);
        }
        let coprocess = command.before == Before::Coprocess || self.is_named_coprocess();
        if alone && (command.at_command || coprocess) {
            if !command.at_command && command.is_coprocess {
                self.judge_coprocess();
            }
            self.top().command.continues = false;
            self.open(FrameKind::Group, 1);
            return Some(Scan::Frame);
        }
        self.open_word(FrameKind::Brace, 1)
    }

    /// `coproc NAME {`.
    fn is_named_coprocess(&mut self) -> bool {
        let command = self.top().command;
        command.is_coprocess && self.judged.words.len() as u32 == command.first + 1
    }

    /// Whether the `{` at the position opens the block of a construct: in the shell's spelling
    /// `then` or `do` would follow on the line.
    fn opens_construct(&self) -> bool {
        let end = self.line_end(self.pos).min(self.pos + HEAD_BYTES);
        let mut words = self.src[self.pos..end].split(|byte| matches!(byte, b' ' | b'\t' | b';'));
        !words.any(|word| matches!(word, b"then" | b"do"))
    }

    pub(super) fn close_brace(&mut self) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        if self.frames.len() == 1 && !self.whole {
            self.end_step();
            return Some(Scan::Stop(Stop::End));
        }
        if self.top().kind == FrameKind::Group {
            self.pos += 1;
            self.close_frame();
            return Some(Scan::Frame);
        }
        self.begin_word();
        self.pos += 1;
        None
    }
}
