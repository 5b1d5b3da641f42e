//! Other expressions in the place of names.

use super::{Cond, Expr, Piece, Step};

impl Expr {
    /// With other expressions in the place of names.
    #[must_use]
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Self>) -> Self {
        let boxed = |it: &Self| Box::new(it.with_names(other));
        let all = |all: &[Self]| all.iter().map(|it| it.with_names(other)).collect::<Vec<_>>();
        match self {
            Self::Name(name) => other(name).unwrap_or_else(|| self.clone()),
            Self::Output(pieces) => Self::Output(pieces_with_names(pieces, other)),
            Self::Env(name, default) => Self::Env(name.clone(), default.as_deref().map(boxed)),
            Self::Concat(parts) => Self::concat(all(parts)),
            Self::Apply(function, args) => Self::Apply(function, all(args)),
            Self::Quoted(inner) => Self::Quoted(boxed(inner)),
            Self::Fail(inner) => Self::Fail(boxed(inner)),
            Self::Choice(condition, then, otherwise) => {
                Self::Choice(Box::new(condition.with_names(other)), boxed(then), boxed(otherwise))
            }
            Self::Text(_) | Self::Fact(_) | Self::Unsupported(_) => self.clone(),
        }
    }
}

fn pieces_with_names(pieces: &[Piece], other: &dyn Fn(&str) -> Option<Expr>) -> Vec<Piece> {
    let one = |piece: &Piece| match piece {
        Piece::Value(value) => Piece::Value(value.with_names(other)),
        text @ Piece::Text(_) => text.clone(),
    };
    pieces.iter().map(one).collect()
}

impl Cond {
    fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        let all = |all: &[Self]| all.iter().map(|it| it.with_names(other)).collect();
        match self {
            Self::Equal(left, right) => {
                Self::Equal(left.with_names(other), right.with_names(other))
            }
            Self::NotEqual(left, right) => {
                Self::NotEqual(left.with_names(other), right.with_names(other))
            }
            Self::Matches(subject, regex) => {
                Self::Matches(subject.with_names(other), regex.clone())
            }
            Self::Exists(path) => Self::Exists(path.with_names(other)),
            Self::Not(inner) => Self::Not(Box::new(inner.with_names(other))),
            Self::All(conditions) => Self::All(all(conditions)),
            Self::Any(conditions) => Self::Any(all(conditions)),
        }
    }
}

impl Step {
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        match self {
            Self::Line { pieces, may_fail } => {
                Self::Line { pieces: pieces_with_names(pieces, other), may_fail: *may_fail }
            }
            Self::Call { call, may_fail } => {
                let mut call = call.clone();
                for arg in &mut call.args {
                    arg.value = arg.value.with_names(other);
                }
                Self::Call { call, may_fail: *may_fail }
            }
            step => step.clone(),
        }
    }
}
