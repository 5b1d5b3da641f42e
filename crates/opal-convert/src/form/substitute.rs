//! Other expressions in the place of some.

use super::{Call, Cond, Expr, HERE, MAIN, Param, Piece, Sheet, Step, Task};

impl Sheet {
    /// With other expressions in the place of some; the directory of the file stays.
    pub(crate) fn rewrite(&mut self, other: &dyn Fn(&Expr) -> Option<Expr>) {
        for variable in self.variables.iter_mut().filter(|it| it.name != HERE) {
            variable.value = variable.value.rewritten(other);
        }
        for task in &mut self.tasks {
            *task = task.rewritten(other);
        }
        for (_, value) in &mut self.environment {
            *value = value.rewritten(other);
        }
    }

    /// Where the file is that was converted.
    pub(crate) fn name_the_file(&mut self, name: &str) {
        let is_main = |it: &Expr| matches!(it, Expr::Name(name) if name == MAIN);
        self.rewrite(&|it| is_main(it).then(|| Expr::below_here(name)));
    }
}

impl Expr {
    /// With other expressions in the place of some; what is inside is replaced first.
    #[must_use]
    pub(crate) fn rewritten(&self, other: &dyn Fn(&Self) -> Option<Self>) -> Self {
        let boxed = |it: &Self| Box::new(it.rewritten(other));
        let all = |all: &[Self]| all.iter().map(|it| it.rewritten(other)).collect::<Vec<_>>();
        let inside = match self {
            Self::Output(pieces) => Self::Output(rewritten_pieces(pieces, other)),
            Self::Env(name, default) => Self::Env(name.clone(), default.as_deref().map(boxed)),
            Self::Concat(parts) => Self::concat(all(parts)),
            Self::Apply(function, args) => Self::Apply(function, all(args)),
            Self::Quoted(inner) => Self::Quoted(boxed(inner)),
            Self::FirstWord(inner) => Self::FirstWord(boxed(inner)),
            Self::Fail(inner) => Self::Fail(boxed(inner)),
            Self::Choice(condition, then, otherwise) => {
                Self::Choice(Box::new(condition.rewritten(other)), boxed(then), boxed(otherwise))
            }
            Self::Name(_) | Self::Text(_) | Self::Fact(_) | Self::Unsupported(_) => self.clone(),
        };
        other(&inside).unwrap_or(inside)
    }

    /// With other expressions in the place of names.
    #[must_use]
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Self>) -> Self {
        self.rewritten(&named(other))
    }

    /// With all its commands run in another directory.
    #[must_use]
    pub(crate) fn run_in(&self, directory: &Self) -> Self {
        self.rewritten(&|it| match it {
            Self::Output(pieces) => Some(Self::Output(in_directory(pieces, directory))),
            _ => None,
        })
    }
}

/// A command that runs in another directory.
pub(super) fn in_directory(pieces: &[Piece], directory: &Expr) -> Vec<Piece> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let change = match directory {
        Expr::Text(path) if path.chars().all(is_plain) && !path.starts_with('-') => {
            vec![Piece::Text(format!("cd {path} && "))]
        }
        path => vec![
            Piece::Text("cd ".to_owned()),
            Piece::Value(Expr::Quoted(Box::new(path.clone()))),
            Piece::Text(" && ".to_owned()),
        ],
    };
    change.into_iter().chain(pieces.iter().cloned()).collect()
}

fn named(other: &dyn Fn(&str) -> Option<Expr>) -> impl Fn(&Expr) -> Option<Expr> {
    move |it| match it {
        Expr::Name(name) => other(name),
        _ => None,
    }
}

fn rewritten_pieces(pieces: &[Piece], other: &dyn Fn(&Expr) -> Option<Expr>) -> Vec<Piece> {
    let one = |piece: &Piece| match piece {
        Piece::Value(value) => Piece::Value(value.rewritten(other)),
        text @ Piece::Text(_) => text.clone(),
    };
    pieces.iter().map(one).collect()
}

impl Cond {
    fn rewritten(&self, other: &dyn Fn(&Expr) -> Option<Expr>) -> Self {
        let all = |all: &[Self]| all.iter().map(|it| it.rewritten(other)).collect();
        match self {
            Self::Equal(left, right) => Self::Equal(left.rewritten(other), right.rewritten(other)),
            Self::NotEqual(left, right) => {
                Self::NotEqual(left.rewritten(other), right.rewritten(other))
            }
            Self::Matches(subject, regex) => Self::Matches(subject.rewritten(other), regex.clone()),
            Self::Exists(path) => Self::Exists(path.rewritten(other)),
            Self::Not(inner) => Self::Not(Box::new(inner.rewritten(other))),
            Self::All(conditions) => Self::All(all(conditions)),
            Self::Any(conditions) => Self::Any(all(conditions)),
        }
    }
}

impl Call {
    fn rewritten(&self, other: &dyn Fn(&Expr) -> Option<Expr>) -> Self {
        let mut call = self.clone();
        for arg in &mut call.args {
            arg.value = arg.value.rewritten(other);
        }
        call
    }
}

impl Step {
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        self.rewritten(&named(other))
    }

    fn rewritten(&self, other: &dyn Fn(&Expr) -> Option<Expr>) -> Self {
        let all = |steps: &[Self], other: &dyn Fn(&Expr) -> Option<Expr>| {
            steps.iter().map(|it| it.rewritten(other)).collect::<Vec<_>>()
        };
        match self {
            Self::Line { pieces, may_fail } => {
                Self::Line { pieces: rewritten_pieces(pieces, other), may_fail: *may_fail }
            }
            Self::Script { program, text, args } => Self::Script {
                program: program.clone(),
                text: rewritten_pieces(text, other),
                args: args.iter().map(|it| it.rewritten(other)).collect(),
            },
            Self::Call { call, may_fail } => {
                Self::Call { call: call.rewritten(other), may_fail: *may_fail }
            }
            Self::If { condition, then, otherwise } => Self::If {
                condition: condition.rewritten(other),
                then: all(then, other),
                otherwise: all(otherwise, other),
            },
            Self::For { item, over, separator, body } => Self::For {
                item: item.clone(),
                over: over.rewritten(other),
                separator: separator.clone(),
                // The item hides what has its name.
                body: all(body, &|it| {
                    let is_item = matches!(it, Expr::Name(name) if name == item);
                    other(it).filter(|_| !is_item)
                }),
            },
            Self::Fail(message) => Self::Fail(message.rewritten(other)),
            Self::Comment(_) => self.clone(),
        }
    }
}

impl Task {
    /// With other expressions in the place of some.
    #[must_use]
    pub(crate) fn rewritten(&self, other: &dyn Fn(&Expr) -> Option<Expr>) -> Self {
        self.with(other, &|_, default| default.rewritten(other))
    }

    /// With other expressions in the place of the variables of its file; parameters and variables of
    /// its own hide those.
    #[must_use]
    pub(crate) fn with_names(&self, other: &dyn Fn(&str) -> Option<Expr>) -> Self {
        let own = |name: &str| {
            self.params.iter().any(|it| it.name == name)
                || self.locals.iter().any(|(local, _)| local == name)
        };
        let outer = |name: &str| other(name).filter(|_| !own(name));
        // A default knows the parameters before it.
        let default = |index: usize, value: &Expr| {
            let before = &self.params[..index];
            value
                .with_names(&|name| other(name).filter(|_| before.iter().all(|it| it.name != name)))
        };
        self.with(&named(&outer), &default)
    }

    fn with(
        &self,
        other: &dyn Fn(&Expr) -> Option<Expr>,
        of_default: &dyn Fn(usize, &Expr) -> Expr,
    ) -> Self {
        let one = |it: &Expr| it.rewritten(other);
        let pairs = |all: &[(String, Expr)]| {
            all.iter().map(|(name, value)| (name.clone(), one(value))).collect()
        };
        let params = self.params.iter().enumerate().map(|(index, it)| {
            let default = it.default.as_ref().map(|it| of_default(index, it));
            Param { default, ..it.clone() }
        });
        let steps = |all: &[Step]| all.iter().map(|it| it.rewritten(other)).collect();
        Self {
            name: self.name.clone(),
            is_private: self.is_private,
            runs_once: self.runs_once,
            line: self.line,
            file: self.file.clone(),
            source: self.source.clone(),
            docs: self.docs.clone(),
            group: self.group.clone(),
            params: params.collect(),
            needs: self.needs.iter().map(|it| it.rewritten(other)).collect(),
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
