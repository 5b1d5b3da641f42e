//! `$` and what it begins.

use opal_core::{Code, Span};

use super::Lexer;
use super::frames::FrameKind;

impl Lexer<'_> {
    /// `$` and what it begins; true where a frame opened.
    pub(super) fn dollar(&mut self) -> bool {
        match self.byte(1) {
            b'(' if self.byte(2) == b'(' => {
                self.pos += 1;
                self.open(FrameKind::Arithmetic, 1);
                self.open(FrameKind::Arithmetic, 1);
                true
            }
            b'(' => {
                self.pos += 1;
                self.open(FrameKind::Substitution, 1);
                true
            }
            b'{' => {
                if matches!(self.byte(2), b'1'..=b'9' | b'@' | b'*')
                    && matches!(self.byte(3), b'}' | b':' | b'-' | b'+' | b'%' | b'#' | b'/')
                {
                    self.note_positional(3);
                }
                self.pos += 1;
                self.open(FrameKind::Expansion, 1);
                self.expansion_head();
                true
            }
            b'[' => {
                self.pos += 1;
                self.open(FrameKind::OldSum, 1);
                true
            }
            b'\'' if self.top().kind != FrameKind::Quote && !self.top().heredoc => {
                self.ansi_quote();
                false
            }
            b'1'..=b'9' | b'@' | b'*' | b'#' => {
                self.note_positional(2);
                self.pos += 2;
                false
            }
            _ => {
                self.pos += 1;
                false
            }
        }
    }

    /// `$' … '`, in which a backslash protects a quote.
    fn ansi_quote(&mut self) {
        let open = self.pos + 1;
        let mut at = open + 1;
        while let Some(length) = memchr::memchr2(b'\'', b'\\', self.src.get(at..).unwrap_or(&[])) {
            at += length;
            if self.src[at] == b'\'' {
                self.pos = at + 1;
                return;
            }
            at += 2;
        }
        self.give_up(FrameKind::RawQuote, open);
    }

    fn note_positional(&mut self, width: usize) {
        let span = Span::new(self.pos as u32, (self.pos + width) as u32);
        self.positional.get_or_insert(span);
    }

    pub(super) fn say_positional(&mut self) {
        let Some(span) = self.positional.take() else { return };
        if self.sets_positional {
            return;
        }
        let given = self.slice(span).trim_start_matches("${").to_owned();
        let given = if given.starts_with('$') { given } else { format!("${given}") };
        let message = format!("`{given}` is empty here: a step has no positional parameters");
        let error = self.error(Code::PositionalParameter, span, message);
        error.help.push(
            "read the arguments of a script with `@args` (`@args.0` is the first), and those of a \
             function with `@var.NAME`"
                .into(),
        );
    }
}
