//! From the events of a source text to a [`Unit`].
//!
//! Errors have been reported by then; what they left is passed over, so that a file with a syntax
//! error still gets its other errors.

mod comments;
mod expressions;
mod functions;
mod literals;
mod proofs;
mod statements;
mod steps;

use std::cell::OnceCell;

use opal_core::{Diagnostic, Registry, Span};
use opal_syntax::cursor::{Cursor, Item};
use opal_syntax::{Parse, SyntaxKind};

use crate::unit::{Function, Import, Links, Name, Piece, ShellText, Unit};
use crate::words::Words;

pub use literals::{Literal, string_literal};
pub use proofs::Proofs;

/// The functions without their bodies, and the script. Enough for a list of tasks.
#[must_use]
pub fn outline(parse: &Parse, text: &str, links: &Links) -> Unit {
    let mut lower = Lower::new(parse, text);
    lower.has_headings = true;
    let mut unit = lower.files();
    unit.link(links);
    unit
}

/// Everything.
#[must_use]
pub fn unit(parse: &Parse, text: &str) -> Unit {
    let mut lower = Lower::new(parse, text);
    lower.has_bodies = true;
    lower.files()
}

/// Everything, with the headings of groups, for an editor that reads a source after each edit. Texts of
/// steps that were read before are not read again.
#[must_use]
pub fn edited(parse: &Parse, text: &str, proofs: &mut Proofs) -> Unit {
    let mut lower = Lower::new(parse, text);
    (lower.has_bodies, lower.has_headings) = (true, true);
    lower.proofs = std::mem::take(proofs);
    let unit = lower.files();
    *proofs = lower.proofs.limited();
    unit
}

/// The imports of the source. They are at its top, so nothing else is read.
#[must_use]
pub fn imports(parse: &Parse, text: &str) -> Vec<Import> {
    Lower::new(parse, text).imports()
}

/// One function without its body: the first that is called so. A file of ten thousand functions
/// costs little more than its parse.
#[must_use]
pub fn find(parse: &Parse, text: &str, wanted: &dyn Fn(&str) -> bool) -> Option<Function> {
    Lower::new(parse, text).find(wanted)
}

/// The text of a command given as a string: compiled exactly like a shell step.
///
/// Places and errors are those of the source that `literal` came from.
#[must_use]
pub fn shell_literal(literal: &Literal, registry: &Registry) -> (ShellText, Vec<Diagnostic>) {
    let parse = opal_syntax::parse_shell(&literal.text, &Words(registry));
    let mut lower = Lower::new(&parse, &literal.text);
    lower.places = Some(literal);
    let text = lower.whole_shell_text();
    let mut errors = Vec::new();
    for mut error in parse.errors.iter().cloned() {
        error.primary.span = literal.place(error.primary.span);
        for label in &mut error.secondary {
            label.span = literal.place(label.span);
        }
        error.fix = None;
        errors.push(error);
    }
    (text, errors)
}

pub(crate) struct Lower<'p> {
    cursor: Cursor<'p>,
    parse: &'p Parse,
    text: &'p str,
    /// Where the text came from, if it is not a file of its own.
    places: Option<&'p Literal>,
    /// The end of the last token read.
    end: u32,
    /// Whether the bodies of functions are lowered too.
    has_bodies: bool,
    /// Whether the headings of groups are read.
    has_headings: bool,
    /// The heading of the group that functions are in.
    group: Option<String>,
    proofs: proofs::Proofs,
    /// Pieces of the texts that are being read: kept for its memory.
    pieces: Vec<Piece>,
    /// The text has carriage returns: known once a step is read.
    has_returns: OnceCell<bool>,
}

impl<'p> Lower<'p> {
    fn new(parse: &'p Parse, text: &'p str) -> Self {
        Self {
            cursor: parse.cursor(),
            parse,
            text,
            places: None,
            end: 0,
            has_bodies: false,
            has_headings: false,
            group: None,
            proofs: proofs::Proofs::default(),
            pieces: Vec::new(),
            has_returns: OnceCell::new(),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Item> {
        let item = self.cursor.next();
        if let Some(Item::Token { span, .. }) = item {
            self.end = span.end;
        }
        item
    }

    /// A place in the source that people see.
    fn place(&self, span: Span) -> Span {
        self.places.map_or(span, |literal| literal.place(span))
    }

    fn has_returns(&self) -> bool {
        *self.has_returns.get_or_init(|| self.text.contains('\r'))
    }

    #[inline]
    fn slice(&self, span: Span) -> &'p str {
        &self.text[span.range()]
    }

    fn name(&self, span: Span) -> Name {
        Name { text: self.slice(span).to_owned(), span: self.place(span) }
    }

    /// From `start` to the last token read.
    fn since(&self, start: u32) -> Span {
        self.place(Span::new(start, self.end.max(start)))
    }

    /// Where the next token begins.
    fn start(&self) -> u32 {
        self.cursor.token_start().unwrap_or(self.end)
    }

    /// Passes over the rest of the node that has begun.
    fn finish(&mut self) {
        let mut depth = 1usize;
        while depth > 0 {
            match self.next() {
                Some(Item::Start { .. }) => depth += 1,
                Some(Item::Finish) => depth -= 1,
                Some(Item::Token { .. }) => {}
                None => return,
            }
        }
    }

    /// The next child of the node that has begun; none at its end, which is then consumed.
    #[inline]
    fn child(&mut self) -> Option<Child> {
        match self.next()? {
            Item::Start { kind, data } => Some(Child::Node { kind, data }),
            Item::Token { kind, index, span } => Some(Child::Token { kind, index, span }),
            Item::Finish => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    Node { kind: SyntaxKind, data: u32 },
    Token { kind: SyntaxKind, index: usize, span: Span },
}
