//! Quotes and brackets without an end.
//!
//! The text up to the end of the file cannot be what was meant, so the step is taken to end with its
//! first line and reading goes on behind it: the rest of the file still gets its own errors. What is
//! read twice is bounded, so that a file full of such lines stays linear.

use opal_core::{Code, Span};

use super::Lexer;
use super::frames::FrameKind;
use crate::kind::SyntaxKind;

impl Lexer<'_> {
    /// Reports the innermost open bracket of the step that began at token `tokens`, and recovers.
    pub(super) fn unfinished(&mut self, tokens: usize, errors: usize, quote: Option<usize>) {
        let frame = self.frames.last().map(|frame| (frame.kind, frame.open));
        let read = self.pos - self.tokens.start(tokens) as usize;
        if self.rescan >= read {
            self.rescan -= read;
            self.rewind(tokens, errors);
            self.skip_line();
        } else {
            self.pos = self.src.len();
            self.emit(SyntaxKind::ErrorText);
        }
        self.heredocs.clear();
        self.contexts.clear();
        let (kind, open) = match (quote, frame) {
            (Some(at), _) => (FrameKind::Quote, at as u32),
            (None, Some(frame)) => frame,
            (None, None) => return,
        };
        self.say_unfinished(kind, open);
    }

    fn say_unfinished(&mut self, kind: FrameKind, open: u32) {
        let width = if matches!(kind, FrameKind::Case | FrameKind::Loop | FrameKind::If) {
            self.src[open as usize..].iter().take_while(|b| b.is_ascii_alphabetic()).count() as u32
        } else {
            1
        };
        let span = Span::new(open, open + width);
        let opener = self.slice(span).to_owned();
        let closer = match (kind, opener.as_str()) {
            (FrameKind::Quote, "'") => "'",
            _ => kind.closer(),
        };
        let code = match kind {
            FrameKind::Quote => Code::UnterminatedQuote,
            FrameKind::Case | FrameKind::Loop | FrameKind::If => Code::UnterminatedCompound,
            _ => Code::UnterminatedBracket,
        };
        let error = self.error(code, span, format!("no `{closer}` ends this `{opener}`"));
        error.primary.text = "opened here".into();
        error.help.push(match code {
            Code::UnterminatedQuote => {
                format!("close it, or write `\\{opener}` for the character itself")
            }
            Code::UnterminatedCompound => format!("a step goes on until its `{closer}`"),
            _ => format!("close it, or quote it: `'{opener}'`"),
        });
    }
}
