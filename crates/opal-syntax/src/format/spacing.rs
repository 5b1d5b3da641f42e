//! Which blanks the language has between two tokens.

use super::piece::Space::{self, Blank, Line, Tight};
use crate::kind::SyntaxKind::{self, *};

/// What precedes the first token of a `kind` inside a `parent`, where that decides.
pub(super) fn before_node(parent: SyntaxKind, kind: SyntaxKind) -> Option<Space> {
    Some(match (parent, kind) {
        (File | Block, Fun | Label) => Space::Function,
        (File | Block, _) | (When, Arm) | (VarGroup, VarBinding) => Line,
        (_, ElseClause | CatchClause | FinallyClause) => Space::Clause,
        (Chain | Redirect, _) => Space::Exact,
        (_, ArgList | ParamList | Field | Index) => Tight,
        (_, Block | TextBlock) => Blank,
        _ => return None,
    })
}

/// What precedes a token of a `parent`, where the token decides and not the one before it.
pub(super) fn before_token(parent: SyntaxKind, kind: SyntaxKind) -> Option<Space> {
    Some(match (parent, kind) {
        (Chain | Redirect, _) => Space::Exact,
        (VarGroup, RParen) | (Block | When | TextBlock, RBrace) | (TextBlock, BlockText) => Line,
        (Arg, Eq) => Tight,
        (_, Eq) => Blank,
        (TypeExpr, LBracket) => Tight,
        (_, RParen | RBracket | RBrace | Comma | Colon | Ellipsis) => Tight,
        (_, Dot | DotStar | PlusPlus | MinusMinus) => Tight,
        _ => return None,
    })
}

/// What follows a token of a `parent`, where the next one does not decide.
pub(super) fn after_token(parent: SyntaxKind, kind: SyntaxKind) -> Space {
    match (parent, kind) {
        (Arg, Eq) | (Unary, _) => Tight,
        (_, LParen | LBracket | LBrace | Dot | Ellipsis) => Tight,
        _ => Blank,
    }
}
