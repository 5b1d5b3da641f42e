//! Whether a value could be the first thing of its word.
//!
//! `rm "$X"@var.y` gives `rm` an option where `X` is empty and the value begins with `-`. So the
//! text before a reference counts only if it cannot be empty: quotes without text, expansions and
//! other references do not hide what follows them. Each stretch of text is read once.

use opal_core::script::{Case, Role};

use super::frames::{Frame, FrameKind, Operator};
use super::judging::stricter;
use super::{Lexer, is_name_byte};

impl Lexer<'_> {
    /// Whether what is at `at`, in the frame on top, could begin its word.
    pub(super) fn may_begin_word(&mut self, at: usize) -> bool {
        let Some(index) = self.frames.len().checked_sub(1) else { return false };
        let frame = self.frames[index];
        if frame.kind.holds_commands() {
            let command = frame.command;
            if command.word == super::command::NONE {
                return true;
            }
            let solid = command.solid || self.is_solid(command.seen, at, frame);
            let command = &mut self.frames[index].command;
            (command.solid, command.seen) = (solid, at as u32);
            return !solid;
        }
        if !frame.begins || frame.arithmetic || frame.heredoc {
            return false;
        }
        let solid = match frame.kind {
            // An alternative begins where the one before it ended.
            FrameKind::Brace => self.is_solid(self.alternative(frame, at), at, frame),
            _ => frame.solid || self.is_solid(frame.seen, at, frame),
        };
        let frame = &mut self.frames[index];
        (frame.solid, frame.seen) = (solid, at as u32);
        !solid
    }

    /// Where the alternative of `{a,b}` that `at` is in begins.
    fn alternative(&self, frame: Frame, at: usize) -> u32 {
        let seen = (frame.seen as usize).min(at);
        let comma = memchr::memrchr(b',', &self.src[seen..at]);
        match comma {
            Some(comma) => (seen + comma + 1) as u32,
            // What was solid before is still before it.
            None if frame.solid => frame.open,
            None => frame.seen,
        }
    }

    /// Whether there is text between `from` and `at` that cannot be empty.
    fn is_solid(&self, from: u32, at: usize, frame: Frame) -> bool {
        let mut pos = from as usize;
        while pos < at {
            let next = self.src.get(pos + 1).copied().unwrap_or(0);
            match self.src[pos] {
                b'\\' if next == b'\n' => pos += 2,
                b'\'' if next == b'\'' && frame.kind != FrameKind::Quote => pos += 2,
                b'$' if next == b'\'' && self.src.get(pos + 2) == Some(&b'\'') => pos += 3,
                b'$' if is_name_byte(next) && !next.is_ascii_digit() => {
                    let name = self.src[pos + 1..at].iter().take_while(|byte| is_name_byte(**byte));
                    pos += 1 + name.count();
                }
                b'$' if next.is_ascii_digit() || b"@*#?-!$".contains(&next) => pos += 2,
                // The bracket or quote that opens after it is a frame of its own.
                b'$' => pos += 1,
                _ => return true,
            }
        }
        false
    }

    /// A frame was closed before the position: what it leaves for the word around it.
    pub(super) fn note_closed(&mut self, closed: &Frame) {
        let has_references = self.contexts.len() as u32 > closed.references;
        let is_substitution = closed.kind.holds_commands() && closed.substitution;
        if is_substitution && has_references && self.is_computed() {
            self.compute_printed(closed.references);
        }
        let end = self.pos as u32;
        let is_solid = match closed.kind {
            FrameKind::Quote => closed.solid || self.is_solid(closed.seen, self.pos - 1, *closed),
            FrameKind::Arithmetic | FrameKind::OldSum | FrameKind::Paren | FrameKind::List => true,
            _ => false,
        };
        let is_output = closed.kind == FrameKind::Substitution
            && self.src.get(closed.open as usize) == Some(&b'>');
        let Some(top) = self.frames.last_mut() else { return };
        if let Some(case) = closed.runs_input.filter(|_| is_output) {
            let printed = if case.role == Role::Warn { case } else { Case::PRINTED };
            top.command.feeds = stricter(top.command.feeds, Some(printed));
            top.command.inner = stricter(top.command.inner, Some(printed));
        }
        if closed.kind.is_compound()
            || closed.kind == FrameKind::Group
            || closed.kind == FrameKind::Paren
        {
            top.command.inner = stricter(top.command.inner, closed.runs_input);
            top.runs_input = stricter(top.runs_input, closed.runs_input);
        }
        if top.kind.holds_commands() {
            top.command.solid |= is_solid;
            top.command.seen = end;
        } else if top.kind != FrameKind::Brace {
            top.solid |= is_solid;
            top.seen = end;
        } else if is_solid {
            top.solid = true;
        }
    }

    /// Whether the shell computes what is in the frame on top.
    fn is_computed(&self) -> bool {
        self.frames.last().is_some_and(|top| {
            let command = &top.command;
            top.arithmetic
                || matches!(top.operator, Operator::Index | Operator::Substring)
                || top.kind.holds_commands()
                    && command.may_assign()
                    && self.in_subscript(command.word, self.pos)
        })
    }

    /// Reads what follows the `${` before the position: the name, and what is done with it.
    pub(super) fn expansion_head(&mut self) {
        let mut at = self.pos;
        at += usize::from(matches!(self.src.get(at), Some(b'!' | b'#')));
        let name = self.src.get(at..).unwrap_or_default();
        let length = name.iter().take_while(|byte| is_name_byte(**byte)).count();
        // `${@}`, `${*}` and their like have a name of one character.
        let special = length == 0
            && matches!(
                name,
                [
                    b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!',
                    b':' | b'}' | b'-' | b'+' | b'/' | b'%' | b'#',
                    ..
                ]
            );
        self.set_operator(at + length + usize::from(special));
    }

    fn set_operator(&mut self, at: usize) {
        let rest = self.src.get(at..).unwrap_or_default();
        let (operator, width) = match rest {
            [b':', b'-' | b'+' | b'?', ..] => (Operator::Default, 2),
            [b':', b'=', ..] => (Operator::Assign, 2),
            [b'-' | b'+' | b'?', ..] => (Operator::Default, 1),
            [b'=', ..] => (Operator::Assign, 1),
            [b':', ..] => (Operator::Substring, 1),
            [b'[', ..] => (Operator::Index, 1),
            [b'/', b'/' | b'#' | b'%', ..] => (Operator::Pattern, 2),
            [b'/', ..] => (Operator::Pattern, 1),
            [b'#' | b'%' | b'^' | b',', ..] => (Operator::Trim, 1),
            _ => (Operator::None, 0),
        };
        let frame = self.top();
        frame.operator = operator;
        frame.seen = (at + width) as u32;
        frame.solid = !matches!(operator, Operator::Default | Operator::Assign);
        // The slash of the operator itself is not the end of a pattern.
        if operator == Operator::Pattern {
            self.pos = at + width;
        }
    }

    /// A `]` in `${NAME[ … ]…}`.
    pub(super) fn after_index(&mut self) {
        self.pos += 1;
        let frame = self.top();
        frame.brackets = frame.brackets.saturating_sub(1);
        if frame.operator == Operator::Index && frame.brackets == 0 {
            self.set_operator(self.pos);
        }
    }

    /// A `/` in `${NAME/ … / … }`.
    pub(super) fn after_pattern(&mut self) {
        self.pos += 1;
        let seen = self.pos as u32;
        let frame = self.top();
        if frame.operator == Operator::Pattern {
            frame.operator = Operator::Replacement;
            (frame.solid, frame.seen) = (false, seen);
        }
    }
}
