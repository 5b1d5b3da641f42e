//! Quotes and brackets without an end.
//!
//! The text up to the end of the file cannot be what was meant, so the step is taken to end with the
//! line of the fault and reading goes on below it: the rest of the file still gets its own errors.
//! What is read in vain is bounded, so that a file full of such lines stays linear: brackets known
//! to have no end are remembered, and after too many failures steps are read through a window.

use opal_core::{Code, Span};

use super::Lexer;
use super::frames::{Frame, FrameKind};

type Opener = (FrameKind, u32);

impl Lexer<'_> {
    /// Reports what makes the step that began at token `tokens` unreadable, and recovers.
    pub(super) fn unfinished(&mut self, tokens: usize, errors: usize, operand: bool) {
        let start = self.tokens.start(tokens) as usize;
        self.remember_endless();
        self.patience = self.patience.saturating_sub(self.pos - start);
        self.heredocs.clear();
        let culprit = self.culprit(start, tokens, errors, operand);
        self.rewind(tokens, errors);
        self.frames.clear();
        self.contexts.clear();
        self.positional = None;
        if let Some((kind, open)) = culprit {
            let line = memchr::memrchr(b'\n', &self.src[start..open as usize]);
            self.pos = line.map_or(start, |at| start + at + 1);
            self.skip_line();
            if !kind.is_quote() {
                self.skip_deeper_lines(open as usize);
            }
            self.say_unfinished(kind, open);
        }
    }

    /// What the reader should see: something open on the step's first line, if anything is.
    fn culprit(
        &mut self,
        start: usize,
        tokens: usize,
        errors: usize,
        operand: bool,
    ) -> Option<Opener> {
        let first_line = self.line_end(start);
        let is_near = |opener: &Opener| (opener.1 as usize) < first_line;
        let broken = self.broken.take();
        let open = |frame: &Frame| (frame.kind, frame.open);
        let innermost = self.frames.get(1..).and_then(<[Frame]>::last).map(open);
        let near = self.frames.iter().skip(1).rev().map(open).find(is_near);
        if let Some(opener) = broken.filter(is_near).or(near) {
            return Some(opener);
        }
        let last = broken.or(innermost);
        if last.is_some_and(|(kind, _)| kind.is_quote()) {
            // The quote that is left over at the end is rarely the one that was forgotten: an
            // earlier one closed where another should have opened.
            self.rewind(tokens, errors);
            self.within(first_line, |lexer| lexer.fresh_scan(operand));
            self.heredocs.clear();
            let suspect = self.broken.take().or(self.frames.last().map(open));
            if let Some(suspect) = suspect.filter(|(kind, _)| kind.is_quote()) {
                return Some(suspect);
            }
        }
        last
    }

    /// Keeps what was open when a step ran to the end of the text.
    fn remember_endless(&mut self) {
        let complete = self.broken.is_none_or(|(kind, _)| kind == FrameKind::RawQuote);
        let Some(first) = self.frames.get(1) else { return };
        if !complete || self.patience == 0 {
            return;
        }
        let known = self.endless.partition_point(|(open, _)| *open < first.open);
        self.endless.truncate(known);
        self.endless.extend(self.frames.iter().skip(1).map(|frame| (frame.open, frame.kind)));
    }

    /// The same for arguments: their open brackets are those from `base` on.
    pub(super) fn remember_endless_arguments(&mut self, open: usize, base: usize) {
        let patience = self.patience;
        self.patience = patience.saturating_sub(self.pos - open);
        if self.src.len() < self.text.len() || patience == 0 {
            return;
        }
        let known = self.endless.partition_point(|(at, _)| (*at as usize) < open);
        self.endless.truncate(known);
        let parens = self.parens[base..].iter().filter(|at| self.src[**at as usize] == b'(');
        self.endless.extend(parens.map(|at| (*at, FrameKind::Arguments)));
    }

    pub(super) fn is_endless(&self, kind: FrameKind, open: usize) -> bool {
        let found = self.endless.binary_search_by_key(&(open as u32), |(at, _)| *at);
        found.is_ok_and(|index| self.endless[index].1 == kind)
    }

    pub(super) fn say_unfinished(&mut self, kind: FrameKind, open: u32) {
        let span = self.opener_span(kind, open as usize);
        let opener = self.slice(span).to_owned();
        let closer = kind.closer();
        let (code, help) = match kind {
            FrameKind::Construct => return self.say_construct(span, &opener),
            FrameKind::Arguments => (
                Code::UnterminatedBracket,
                "close the arguments, or write `\\@` for a plain `@`".to_owned(),
            ),
            kind if kind.is_quote() => (
                Code::UnterminatedQuote,
                format!("close it, or write `\\{opener}` for the character itself"),
            ),
            kind if kind.is_compound() => {
                (Code::UnterminatedCompound, format!("a step continues until its `{closer}`"))
            }
            FrameKind::Backtick => {
                (Code::UnterminatedBracket, "close it, or write `$( … )` instead".to_owned())
            }
            _ => (Code::UnterminatedBracket, format!("close it, or quote it: `'{opener}'`")),
        };
        let message = match kind {
            FrameKind::Backtick => "unterminated backtick".to_owned(),
            _ => format!("this `{opener}` has no closing `{closer}`"),
        };
        let error = self.error(code, span, message);
        error.primary.text = "opened here".into();
        error.help.push(help);
    }

    /// All of what opens at `open`: the word, or the bracket with the `$` before it.
    fn opener_span(&self, kind: FrameKind, open: usize) -> Span {
        let bytes = self.text.as_bytes();
        let is_before = |at: usize, byte: u8| at > 0 && bytes[at - 1] == byte;
        let (mut start, mut end) = (open, open + 1);
        match kind {
            FrameKind::Test => end += 1,
            FrameKind::Construct | FrameKind::Case | FrameKind::Loop | FrameKind::If => {
                let word = bytes[open..].iter().take_while(|byte| byte.is_ascii_alphabetic());
                end = open + word.count();
            }
            FrameKind::Substitution if bytes[open] != b'(' => end += 1,
            FrameKind::Arithmetic if is_before(open, b'(') => start -= 1,
            FrameKind::Arithmetic if bytes.get(end) == Some(&b'(') => end += 1,
            _ => {}
        }
        let dollar =
            matches!(kind, FrameKind::Substitution | FrameKind::Arithmetic | FrameKind::Expansion);
        start -= usize::from(dollar && is_before(start, b'$'));
        Span::new(start as u32, end as u32)
    }

    fn say_construct(&mut self, span: Span, keyword: &str) {
        let message = format!("`{keyword}` cannot be an operand of a step");
        let error = self.error(Code::ConstructAsOperand, span, message);
        error.help.push("put it on its own line: the steps of a block run in order".into());
        let form = match keyword {
            "if" => "if …; then …; fi",
            "for" => "for NAME in …; do …; done",
            "while" => "while …; do …; done",
            _ => return,
        };
        error.help.push(format!("for the shell's own `{keyword}`, write `{form}`"));
    }
}
