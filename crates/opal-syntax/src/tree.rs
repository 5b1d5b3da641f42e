//! The lossless tree, for tools only: its text is the source, byte for byte.

use std::fmt::Write as _;

use crate::cursor::Item;
use crate::kind::SyntaxKind;
use crate::parse::Parse;

/// Ties our kinds to the tree library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opal {}

impl rowan::Language for Opal {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        SyntaxKind::ALL[usize::from(raw.0)]
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

pub type Node = rowan::SyntaxNode<Opal>;
pub type Token = rowan::SyntaxToken<Opal>;
pub type Element = rowan::SyntaxElement<Opal>;

/// Builds the tree of `parse`, which was made from `text`.
#[must_use]
pub fn build(text: &str, parse: &Parse) -> Node {
    let tokens = parse.tokens();
    let mut builder = rowan::GreenNodeBuilder::new();
    let mut next = 0;
    let mut depth = 0usize;
    let leaf = |builder: &mut rowan::GreenNodeBuilder<'_>, index: usize| {
        let raw = rowan::SyntaxKind(tokens.kind(index) as u16);
        builder.token(raw, &text[tokens.span(index).range()]);
    };
    for item in parse.cursor() {
        match item {
            Item::Start { kind, .. } => {
                // Trivia before a node belong to its parent; the root has none.
                while depth > 0 && next < tokens.len() && tokens.kind(next).is_trivia() {
                    leaf(&mut builder, next);
                    next += 1;
                }
                builder.start_node(rowan::SyntaxKind(kind as u16));
                depth += 1;
            }
            Item::Token { index, .. } => {
                while next <= index {
                    leaf(&mut builder, next);
                    next += 1;
                }
            }
            Item::Finish => {
                depth -= 1;
                while depth == 0 && next < tokens.len() {
                    leaf(&mut builder, next);
                    next += 1;
                }
                builder.finish_node();
            }
        }
    }
    Node::new_root(builder.finish())
}

/// The tree as an indented outline, for tests and for people who debug the grammar.
#[must_use]
pub fn outline(node: &Node) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for event in node.preorder_with_tokens() {
        match event {
            rowan::WalkEvent::Enter(rowan::NodeOrToken::Node(node)) => {
                let _ = writeln!(out, "{:indent$}{:?}", "", node.kind(), indent = depth * 2);
                depth += 1;
            }
            rowan::WalkEvent::Enter(rowan::NodeOrToken::Token(token)) => {
                if token.kind() != SyntaxKind::Blank && token.kind() != SyntaxKind::Newline {
                    let indent = depth * 2;
                    let _ = writeln!(out, "{:indent$}{:?} {:?}", "", token.kind(), token.text());
                }
            }
            rowan::WalkEvent::Leave(rowan::NodeOrToken::Node(_)) => depth -= 1,
            rowan::WalkEvent::Leave(rowan::NodeOrToken::Token(_)) => {}
        }
    }
    out
}
