//! Parentheses and braces where commands stand.

use super::Lexer;
use super::command::NONE;
use super::frames::FrameKind;
use super::shell::{Scan, Stop};

impl Lexer<'_> {
    pub(super) fn open_paren(&mut self) -> Scan {
        let command = self.top().command;
        let definition = command.word != NONE && !command.assigns && self.byte(1) == b')';
        if command.at_command && command.word == NONE && self.byte(1) == b'(' {
            self.begin_word();
            self.open(FrameKind::Arithmetic, 1);
            self.open(FrameKind::Arithmetic, 1);
            return Scan::Frame;
        }
        if definition {
            // `name()`: a function of the step's own, with positional parameters of its own.
            self.sets_positional = true;
            self.end_word();
            self.pos += 2;
            self.top().command.next_command(false);
            return Scan::Frame;
        }
        let list = command.assigns;
        self.begin_word();
        self.open(FrameKind::Paren, 1);
        self.top().command.at_command = !list;
        Scan::Frame
    }

    pub(super) fn close_paren(&mut self) -> Option<Scan> {
        if self.end_word() {
            return Some(Scan::Frame);
        }
        match self.top().kind {
            FrameKind::Paren | FrameKind::Substitution => {
                self.frames.pop();
                self.pos += 1;
                let frame = self.top();
                if frame.kind == FrameKind::Case {
                    frame.command.next_command(false);
                }
                Some(Scan::Frame)
            }
            FrameKind::Case => {
                self.top().command.next_command(false);
                self.pos += 1;
                None
            }
            _ => {
                self.pos += 1;
                None
            }
        }
    }

    pub(super) fn open_brace(&mut self) -> Option<Scan> {
        let group = self.top().command.at_command
            && self.top().command.word == NONE
            && matches!(self.byte(1), b' ' | b'\t' | b'\r' | b'\n');
        if group {
            self.open(FrameKind::Group, 1);
            return Some(Scan::Frame);
        }
        self.open_word(FrameKind::Brace, 1)
    }

    pub(super) fn close_brace(&mut self) -> Option<Scan> {
        let changed = self.end_word();
        if changed {
            return Some(Scan::Frame);
        }
        if self.frames.len() == 1 {
            self.end_step();
            return Some(Scan::Stop(Stop::End));
        }
        if self.top().kind == FrameKind::Group {
            self.frames.pop();
            self.top().command.at_command = false;
            self.pos += 1;
            return Some(Scan::Frame);
        }
        self.begin_word();
        self.pos += 1;
        None
    }
}
