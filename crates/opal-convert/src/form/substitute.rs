//! Other expressions in the place of names.

use super::{Call, Cond, Expr, Param, Piece, Step, Task};

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

impl Call {
    fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        let mut call = self.clone();
        for arg in &mut call.args {
            arg.value = arg.value.with_names(other);
        }
        call
    }
}

impl Step {
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        let all = |steps: &[Self], other: &dyn Fn(&str) -> Option<Expr>| {
            steps.iter().map(|it| it.with_names(other)).collect::<Vec<_>>()
        };
        match self {
            Self::Line { pieces, may_fail } => {
                Self::Line { pieces: pieces_with_names(pieces, other), may_fail: *may_fail }
            }
            Self::Script { program, text, args } => Self::Script {
                program: program.clone(),
                text: pieces_with_names(text, other),
                args: args.iter().map(|it| it.with_names(other)).collect(),
            },
            Self::Call { call, may_fail } => {
                Self::Call { call: call.with_names(other), may_fail: *may_fail }
            }
            Self::If { condition, then, otherwise } => Self::If {
                condition: condition.with_names(other),
                then: all(then, other),
                otherwise: all(otherwise, other),
            },
            Self::For { item, over, separator, body } => Self::For {
                item: item.clone(),
                over: over.with_names(other),
                separator: separator.clone(),
                // The item hides what has its name.
                body: all(body, &|name| other(name).filter(|_| name != item)),
            },
            Self::Fail(message) => Self::Fail(message.with_names(other)),
            Self::Comment(_) => self.clone(),
        }
    }
}

impl Task {
    /// With other expressions in the place of the variables of its file; parameters and variables of
    /// its own hide those.
    #[must_use]
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        let own = |name: &str| {
            self.params.iter().any(|it| it.name == name)
                || self.locals.iter().any(|(local, _)| local == name)
        };
        let outer = |name: &str| other(name).filter(|_| !own(name));
        let one = |it: &Expr| it.with_names(&outer);
        let pairs = |all: &[(String, Expr)]| {
            all.iter().map(|(name, value)| (name.clone(), one(value))).collect()
        };
        // A default knows the parameters before it.
        let params = self.params.iter().enumerate().map(|(index, it)| {
            let before = &self.params[..index];
            let outer =
                |name: &str| other(name).filter(|_| before.iter().all(|it| it.name != name));
            let default = it.default.as_ref().map(|it| it.with_names(&outer));
            Param { default, ..it.clone() }
        });
        let steps = |all: &[Step]| all.iter().map(|it| it.with_names(&outer)).collect();
        Self {
            name: self.name.clone(),
            line: self.line,
            file: self.file.clone(),
            source: self.source.clone(),
            docs: self.docs.clone(),
            params: params.collect(),
            needs: self.needs.iter().map(|it| it.with_names(&outer)).collect(),
            confirm: self.confirm.as_ref().map(one),
            directory: self.directory.as_ref().map(one),
            creates_directory: self.creates_directory,
            environment: pairs(&self.environment),
            cached: self.cached.clone(),
            body: steps(&self.body),
            finally: steps(&self.finally),
            locals: pairs(&self.locals),
            why: self.why.clone(),
            omitted: self.omitted.clone(),
        }
    }
}
