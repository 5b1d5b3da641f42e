//! Every expression and every call, wherever it is.

use super::{Call, Cond, Expr, Piece, Step, Task};

impl Expr {
    /// How often it reads a variable.
    pub(crate) fn mentions(&self, name: &str) -> usize {
        let mut count = 0;
        self.visit(&mut |it| {
            count += usize::from(matches!(it, Self::Name(other) if other == name))
        });
        count
    }

    /// How much it is: a few lines can make up a mountain.
    pub(crate) fn weight(&self) -> usize {
        let mut weight = 0_usize;
        self.visit(&mut |it| {
            weight += match it {
                Self::Text(text) => 1 + text.len(),
                Self::Output(pieces) => 1 + pieces.len(),
                _ => 1,
            };
        });
        weight
    }

    /// Every expression in it, itself included.
    pub(crate) fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        match self {
            Self::Text(_) | Self::Name(_) | Self::Fact(_) | Self::Unsupported(_) => {}
            Self::Output(pieces) => visit_pieces(pieces, visit),
            Self::Env(_, default) => {
                if let Some(default) = default {
                    default.visit(visit);
                }
            }
            Self::Concat(parts) | Self::Apply(_, parts) => {
                parts.iter().for_each(|part| part.visit(visit));
            }
            Self::Quoted(inner) | Self::Fail(inner) | Self::FirstWord(inner) => inner.visit(visit),
            Self::Choice(condition, then, otherwise) => {
                condition.visit(visit);
                then.visit(visit);
                otherwise.visit(visit);
            }
        }
    }
}

impl Cond {
    pub(crate) fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Equal(left, right) | Self::NotEqual(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Self::Matches(subject, _) | Self::Exists(subject) => subject.visit(visit),
            Self::Not(inner) => inner.visit(visit),
            Self::All(all) | Self::Any(all) => all.iter().for_each(|it| it.visit(visit)),
        }
    }
}

pub(crate) fn visit_pieces<'e>(pieces: &'e [Piece], visit: &mut dyn FnMut(&'e Expr)) {
    for piece in pieces {
        if let Piece::Value(value) = piece {
            value.visit(visit);
        }
    }
}

impl Step {
    pub(crate) fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Line { pieces, .. } => visit_pieces(pieces, visit),
            Self::Script { text, args, .. } => {
                visit_pieces(text, visit);
                args.iter().for_each(|it| it.visit(visit));
            }
            Self::For { over, body, .. } => {
                over.visit(visit);
                body.iter().for_each(|step| step.visit(visit));
            }
            Self::Fail(message) => message.visit(visit),
            Self::Call { call, .. } => call.args.iter().for_each(|it| it.value.visit(visit)),
            Self::If { condition, then, otherwise } => {
                condition.visit(visit);
                then.iter().chain(otherwise).for_each(|step| step.visit(visit));
            }
            Self::Comment(_) => {}
        }
    }

    fn calls_mut(&mut self, visit: &mut dyn FnMut(&mut Call)) {
        match self {
            Self::Call { call, .. } => visit(call),
            Self::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|step| step.calls_mut(visit));
            }
            Self::For { body, .. } => body.iter_mut().for_each(|step| step.calls_mut(visit)),
            _ => {}
        }
    }

    /// Every call in it.
    pub(crate) fn calls<'e>(&'e self, visit: &mut dyn FnMut(&'e Call)) {
        match self {
            Self::Call { call, .. } => visit(call),
            Self::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).for_each(|step| step.calls(visit));
            }
            Self::For { body, .. } => body.iter().for_each(|step| step.calls(visit)),
            _ => {}
        }
    }
}

impl Task {
    /// Every expression of the task.
    pub(crate) fn visit<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        self.params.iter().filter_map(|it| it.default.as_ref()).for_each(|it| it.visit(visit));
        self.needs.iter().flat_map(|it| &it.args).for_each(|it| it.value.visit(visit));
        self.confirm.iter().chain(&self.directory).for_each(|it| it.visit(visit));
        self.environment.iter().for_each(|(_, it)| it.visit(visit));
        self.locals.iter().for_each(|(_, it)| it.visit(visit));
        self.body.iter().chain(&self.finally).for_each(|step| step.visit(visit));
    }

    pub(crate) fn calls_mut(&mut self, visit: &mut dyn FnMut(&mut Call)) {
        self.needs.iter_mut().for_each(&mut *visit);
        self.body.iter_mut().chain(&mut self.finally).for_each(|step| step.calls_mut(visit));
    }

    pub(crate) fn calls<'e>(&'e self, visit: &mut dyn FnMut(&'e Call)) {
        self.needs.iter().for_each(&mut *visit);
        self.body.iter().chain(&self.finally).for_each(|step| step.calls(visit));
    }
}
