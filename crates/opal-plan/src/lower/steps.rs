//! Shell steps, calls, and chains of both.

use std::borrow::Cow;

use opal_core::Span;
use opal_core::plan::{ChainOperator, RedirectOperator};
use opal_syntax::SyntaxKind::{self, *};
use opal_syntax::context::Context;

use super::{Child, Lower};
use crate::unit::{
    Access, BlockText, Call, Name, Operand, Piece, Rare, Redirect, ShellText, Step, Target, Work,
};

impl Lower<'_> {
    /// The step whose node of `kind` has just begun.
    pub(super) fn step(&mut self, kind: SyntaxKind) -> Option<Step> {
        match kind {
            ShellStep => {
                let mut text = self.shell_text();
                self.prove(&mut text);
                Some(single(Work::Shell(text)))
            }
            SyntaxKind::Call => Some(single(Work::Call(Box::new(self.call(&mut Vec::new()))))),
            _ => self.chain(),
        }
    }

    fn chain(&mut self) -> Option<Step> {
        let mut operands: Vec<(ChainOperator, Operand)> = Vec::new();
        let mut operator = ChainOperator::Then;
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: ShellOp, span, .. } => {
                    // A line end is an operator too.
                    operator =
                        ChainOperator::parse(self.slice(span)).unwrap_or(ChainOperator::Then);
                }
                Child::Token { .. } => {}
                Child::Node { kind: SyntaxKind::Redirect, .. } => {
                    let redirect = self.redirect();
                    if let Some((_, operand)) = operands.last_mut() {
                        operand.redirects.extend(redirect);
                    }
                }
                Child::Node { kind: Heredoc, data } => {
                    let body = self.pieces();
                    append_heredoc(&mut operands, data, body);
                }
                Child::Node { kind: ShellStep, .. } => {
                    let work = Work::Shell(self.shell_text());
                    operands.push((operator, Operand { work, redirects: Rare::default() }));
                }
                Child::Node { kind: SyntaxKind::Call, .. } => {
                    let work = Work::Call(Box::new(self.call(&mut Vec::new())));
                    operands.push((operator, Operand { work, redirects: Rare::default() }));
                }
                Child::Node { .. } => self.finish(),
            }
        }
        for (_, operand) in &mut operands {
            if let Work::Shell(text) = &mut operand.work {
                self.prove(text);
            }
        }
        let mut operands = operands.into_iter();
        let (_, first) = operands.next()?;
        Some(Step { first, rest: operands.collect() })
    }

    fn redirect(&mut self) -> Option<Redirect> {
        let start = self.start();
        let mut operator = RedirectOperator::IN_TEXT;
        let mut target = None;
        let mut text = ShellText { pieces: Vec::new(), span: Span::at(start) };
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: RedirOp, span, .. } => {
                    // The lexer gives no other word this kind.
                    operator = RedirectOperator::parse(self.slice(span)).unwrap_or(operator);
                }
                Child::Token { kind, span, .. } => self.piece(kind, span, &mut text.pieces),
                Child::Node { kind: SyntaxKind::Call, .. } => {
                    target = Some(Target::Decorator(self.call(&mut Vec::new())));
                }
                Child::Node { data, .. } => {
                    let reference = Box::new(self.reference());
                    text.pieces.push(Piece::Reference(reference, Context::from_bits(data)));
                }
            }
        }
        text.span = self.since(start);
        self.prove(&mut text);
        let target = target.unwrap_or(Target::Text(text));
        Some(Redirect { operator, target, span: self.since(start) })
    }

    /// The text of the step whose node has just begun.
    pub(super) fn shell_text(&mut self) -> ShellText {
        let start = self.start();
        let mut pieces = self.pieces();
        // Around an operator; the blanks of a whole step the lexer has left out already.
        if let Some(Piece::Text(first)) = pieces.first_mut()
            && first.starts_with([' ', '\t', '\n'])
        {
            let blanks = first.len() - first.trim_start_matches([' ', '\t', '\n']).len();
            first.drain(..blanks);
        }
        if let Some(Piece::Text(last)) = pieces.last_mut()
            && last.ends_with([' ', '\t', '\r'])
        {
            let kept = last.trim_end_matches([' ', '\t', '\r']);
            let escapes = kept.len() - kept.trim_end_matches('\\').len();
            let kept = (kept.len() + escapes % 2).min(last.len());
            last.truncate(kept);
        }
        ShellText { pieces, span: self.since(start) }
    }

    /// The pieces of the node that has just begun, byte for byte.
    fn pieces(&mut self) -> Vec<Piece> {
        // Only as much memory as they need: a file has many steps.
        let mut pieces = std::mem::take(&mut self.pieces);
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind, span, .. } => self.piece(kind, span, &mut pieces),
                Child::Node { kind: TextRef, data } => {
                    let reference = Box::new(self.reference());
                    pieces.push(Piece::Reference(reference, Context::from_bits(data)));
                }
                Child::Node { .. } => self.finish(),
            }
        }
        let mut found = Vec::with_capacity(pieces.len());
        found.append(&mut pieces);
        self.pieces = pieces;
        found
    }

    /// All steps of a text that is one command.
    pub(super) fn whole_shell_text(&mut self) -> ShellText {
        let mut pieces = Vec::new();
        self.next();
        while let Some(child) = self.child() {
            match child {
                Child::Node { kind: ShellStep, .. } => {
                    if !pieces.is_empty() {
                        pieces.push(Piece::Text("\n".into()));
                    }
                    pieces.extend(self.shell_text().pieces);
                }
                Child::Node { .. } => self.finish(),
                Child::Token { .. } => {}
            }
        }
        let mut text = ShellText { pieces, span: self.since(0) };
        self.prove(&mut text);
        text
    }

    fn piece(&self, kind: SyntaxKind, span: Span, pieces: &mut Vec<Piece>) {
        let text: Cow<'_, str> = match kind {
            AtWord => {
                let name = self.name(Span::new(span.start + 1, span.end));
                pieces.push(Piece::AtWord(name));
                return;
            }
            ShellEscape => "@".into(),
            _ => match self.slice(span) {
                text if self.has_returns() && text.contains('\r') => {
                    text.replace("\r\n", "\n").into()
                }
                text => text.into(),
            },
        };
        match pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(&text),
            _ => pieces.push(Piece::Text(text.into_owned())),
        }
    }

    /// The call whose node has just begun; fields after it go into `access`.
    pub(super) fn call(&mut self, access: &mut Vec<Access>) -> Call {
        let start = self.start();
        let mut call = Call {
            path: Name { text: String::new(), span: Span::at(start) },
            args: Vec::new(),
            block: None,
            text: None,
            span: Span::at(start),
        };
        loop {
            let here = self.start();
            let Some(child) = self.child() else { break };
            match child {
                Child::Token { kind: RefPath, span, .. } => {
                    call.path = self.name(Span::new(span.start + 1, span.end));
                    call.span = self.since(start);
                }
                Child::Token { .. } => {}
                Child::Node { kind: ArgList, .. } => {
                    call.args = self.arguments();
                    call.span = self.since(start);
                }
                Child::Node { kind: kind @ (Field | Index), .. } => {
                    access.extend(self.access(kind))
                }
                Child::Node { kind: SyntaxKind::Block, .. } => call.block = Some(self.block(here)),
                Child::Node { kind: TextBlock, .. } => call.text = Some(self.block_text()),
                Child::Node { .. } => self.finish(),
            }
        }
        call
    }
}

impl Lower<'_> {
    /// The text whose node has just begun.
    fn block_text(&mut self) -> BlockText {
        let open = self.start();
        let (mut text, mut raw) = (String::new(), Span::new(open, open));
        while let Some(child) = self.child() {
            match child {
                Child::Token { kind: SyntaxKind::BlockText, span, .. } => {
                    raw = span;
                    for line in opal_syntax::block_lines(self.slice(span)) {
                        text.push_str(line);
                        text.push('\n');
                    }
                }
                Child::Token { .. } => {}
                Child::Node { .. } => self.finish(),
            }
        }
        BlockText { text, span: self.place(Span::new(open, open + 1)), raw: self.place(raw) }
    }
}

/// Puts the body of a heredoc after the operand that announced it at `delimiter`.
fn append_heredoc(operands: &mut [(ChainOperator, Operand)], delimiter: u32, body: Vec<Piece>) {
    let announces = |text: &ShellText| (text.span.start..text.span.end).contains(&delimiter);
    for (_, operand) in operands {
        let redirected =
            operand.redirects.iter_mut().filter_map(|redirect| match &mut redirect.target {
                Target::Text(text) => Some(text),
                Target::Decorator(_) => None,
            });
        let own = match &mut operand.work {
            Work::Shell(text) => Some(text),
            Work::Call(_) => None,
        };
        if let Some(text) = own.into_iter().chain(redirected).find(|text| announces(text)) {
            text.pieces.push(Piece::Text("\n".into()));
            text.pieces.extend(body);
            return;
        }
    }
}

fn single(work: Work) -> Step {
    Step { first: Operand { work, redirects: Rare::default() }, rest: Rare::default() }
}
