//! Reading events in order, without building anything.

use opal_core::Span;

use crate::event::{MAX_DATA, Unpacked};
use crate::kind::SyntaxKind;
use crate::parse::Parse;

/// One thing that the cursor meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A node begins. `data` is the context of a reference in shell text, for the heredoc of a chain
    /// the place of its delimiter, and else 0.
    Start {
        kind: SyntaxKind,
        data: u32,
    },
    Token {
        kind: SyntaxKind,
        index: usize,
        span: Span,
    },
    Finish,
}

/// A place in the row of events that moves forward; links to parents are followed unseen.
#[derive(Clone, Debug)]
pub struct Cursor<'p> {
    parse: &'p Parse,
    at: usize,
    /// Parents of the node at `at` that begin before it, the next one last.
    parents: Vec<SyntaxKind>,
    /// The node at `at` had its parents taken out.
    unfolded: bool,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(parse: &'p Parse) -> Self {
        Self { parse, at: 0, parents: Vec::new(), unfolded: false }
    }

    /// Where in the row the cursor is, for [`Cursor::jump`].
    #[must_use]
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Goes to a mark that was taken directly before a block.
    pub fn jump(&mut self, mark: usize) {
        self.at = mark;
        self.parents.clear();
        self.unfolded = false;
    }

    /// Where the next token begins.
    #[must_use]
    pub fn token_start(&self) -> Option<u32> {
        self.parse.events.get(self.at..)?.iter().find_map(|event| match event.unpack() {
            Unpacked::Token(index) => Some(self.parse.tokens.start(index as usize)),
            _ => None,
        })
    }

    /// Passes over the node that begins here: in one go where it is a block.
    pub fn skip_node(&mut self) {
        let block = match self.parse.events.get(self.at).map(|event| event.unpack()) {
            Some(Unpacked::Start { kind: SyntaxKind::Block, data, .. }) if data < MAX_DATA => data,
            _ => 0,
        };
        if block > 0 && self.parents.is_empty() {
            self.jump(self.at + block as usize + 1);
            return;
        }
        let mut depth = 0usize;
        for item in self.by_ref() {
            match item {
                Item::Start { .. } => depth += 1,
                Item::Finish => depth -= 1,
                Item::Token { .. } => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Collects the parents that begin where the node at `at` begins.
    fn unfold(&mut self) {
        let mut at = self.at;
        self.unfolded = true;
        while let Some(Unpacked::Start { kind, data, .. }) =
            self.parse.events.get(at).map(|event| event.unpack())
        {
            self.parents.push(kind);
            if data == 0 || !links(kind) {
                return;
            }
            at += data as usize;
        }
    }
}

/// Whether the number beside a node of this kind leads to its parent.
pub(crate) fn links(kind: SyntaxKind) -> bool {
    kind != SyntaxKind::Block && !carries_data(kind)
}

/// Whether the number beside a node of this kind is for the reader.
fn carries_data(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::TextRef | SyntaxKind::Heredoc)
}

impl Iterator for Cursor<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let event = *self.parse.events.get(self.at)?;
            match event.unpack() {
                Unpacked::Start { taken: true, .. } if !self.unfolded => self.at += 1,
                // Nothing begins before it.
                Unpacked::Start { kind, data, .. }
                    if !self.unfolded && (data == 0 || !links(kind)) =>
                {
                    self.at += 1;
                    let data = if carries_data(kind) { data } else { 0 };
                    return Some(Item::Start { kind, data });
                }
                Unpacked::Start { kind, data, .. } => {
                    if !self.unfolded {
                        self.unfold();
                    }
                    let next = self.parents.pop().unwrap_or(kind);
                    if self.parents.is_empty() {
                        self.unfolded = false;
                        self.at += 1;
                    }
                    let data = if carries_data(kind) { data } else { 0 };
                    return Some(Item::Start { kind: next, data });
                }
                Unpacked::Token(index) => {
                    self.at += 1;
                    let index = index as usize;
                    let tokens = &self.parse.tokens;
                    return Some(Item::Token {
                        kind: tokens.kind(index),
                        index,
                        span: tokens.span(index),
                    });
                }
                Unpacked::Finish => {
                    self.at += 1;
                    return Some(Item::Finish);
                }
                Unpacked::Dropped => self.at += 1,
            }
        }
    }
}
