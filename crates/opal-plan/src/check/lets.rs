//! `let`: every rule that can be seen in the text.
//!
//! A binding is made once, unconditionally, and is read after it in its block and the blocks inside.
//! It never shapes the plan: not as a condition, a list, a default, nor an argument of a value.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::checker::Checker;
use super::observer::{Definition, DefinitionKind, Observer, Use};
use crate::unit::{Block, Name, StatementKind};
use opal_core::gather::Gather as _;

#[derive(Debug, Default)]
pub(super) struct Lets {
    bindings: Vec<Binding>,
    scopes: Vec<Scope>,
    /// Enclosing constructs that may not run: their word and place.
    conditional: Vec<(&'static str, Span)>,
    /// What each name is bound to in the open scopes.
    visible: BTreeMap<String, Vec<usize>>,
    /// The first binding of each name of the function being walked, for messages.
    all: BTreeMap<String, Span>,
    /// Bindings that are read where they cannot be.
    misread: BTreeSet<Span>,
}

#[derive(Debug)]
struct Binding {
    name: String,
    span: Span,
    ty: Type,
    used: bool,
}

#[derive(Debug, Default)]
struct Scope {
    bound: Vec<usize>,
    /// Names that this block binds, later than here or not.
    binds: BTreeMap<String, Span>,
    /// Each statement of the block is a branch of its own.
    parallel: bool,
}

/// Where an expression is: it decides whether a run-time value is allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    Condition,
    LoopSource,
    WhenSubject,
    Pattern,
    Default,
    Var,
    ValueArgument,
    /// What is asked before the first step.
    Question,
    /// An argument of a function that runs before the first step.
    Dependency,
    /// An operand, or an argument of a function: computed before anything runs.
    Computed,
    /// An argument of something that runs, or shell text: the one place for run-time values.
    Run,
}

impl Site {
    /// The same place, where something is computed from what is there.
    pub(super) fn computed(self) -> Self {
        if self == Self::Run { Self::Computed } else { self }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Condition => "a condition",
            Self::LoopSource => "the list of a loop",
            Self::WhenSubject => "the subject of a `when`",
            Self::Pattern => "a pattern",
            Self::Default => "the default of a parameter",
            Self::Var => "a variable",
            Self::ValueArgument => "an argument of a value decorator",
            Self::Question => "a question",
            Self::Dependency => "an argument of `@needs`",
            Self::Computed => "a computation",
            Self::Run => "a step",
        }
    }
}

impl Lets {
    pub(super) fn begin(&mut self, block: &Block) {
        debug_assert!(self.scopes.is_empty(), "every scope was left");
        self.conditional.clear();
        self.all.clear();
        collect(block, &mut self.all);
    }

    pub(super) fn enter(&mut self, block: &Block, parallel: bool) {
        let binds = block.statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Let { name, .. } => Some((name.text.clone(), name.span)),
            _ => None,
        });
        self.scopes.push(Scope { bound: Vec::new(), binds: binds.gathered(), parallel });
    }

    /// One branch of a parallel block.
    pub(super) fn enter_branch(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        for index in self.scopes.pop().unwrap_or_default().bound {
            if let Some(meanings) = self.visible.get_mut(&self.bindings[index].name) {
                meanings.pop();
            }
        }
    }

    pub(super) fn enter_conditional(&mut self, word: &'static str, span: Span) {
        self.conditional.push((word, span));
    }

    pub(super) fn leave_conditional(&mut self) {
        self.conditional.pop();
    }

    fn visible(&self, name: &str) -> Option<usize> {
        self.visible.get(name).and_then(|meanings| meanings.last()).copied()
    }
}

/// Every `let` in a block and the blocks inside it.
fn collect(block: &Block, into: &mut BTreeMap<String, Span>) {
    for statement in block.statements.iter().filter(|it| !it.kind.is_command()) {
        if let StatementKind::Let { name, .. } = &statement.kind {
            into.entry(name.text.clone()).or_insert(name.span);
        }
        statement.kind.blocks(&mut |inner| collect(inner, into));
    }
}

impl<O: Observer> Checker<'_, O> {
    pub(super) fn bind_let(&mut self, name: &Name, ty: Type) {
        if let Some((word, span)) = self.lets.conditional.last().copied() {
            self.lets.misread.insert(name.span);
            self.report(
                Diagnostic::new(
                    Code::LetConditional,
                    name.span,
                    format!("`let.{}` is bound conditionally", name.text),
                )
                .also(span, format!("this `{word}` may not run"))
                .help("bind it before, and use it inside"),
            );
        }
        if let Some(index) = self.lets.visible(&name.text) {
            let same = self.lets.scopes.last().is_some_and(|scope| scope.bound.contains(&index));
            let (code, message) = if same {
                (Code::LetRebound, format!("`let.{}` is already bound", name.text))
            } else {
                (Code::LetShadowed, format!("`let.{}` hides a binding of the same name", name.text))
            };
            let first = self.lets.bindings[index].span;
            let error = Diagnostic::new(code, name.span, message).also(first, "bound here");
            self.report(error.help("a binding never changes: use another name"));
            return;
        }
        let index = self.lets.bindings.len();
        let (text, span) = (name.text.clone(), name.span);
        let kind = DefinitionKind::Let;
        self.observer.define(Definition { kind, name: &text, span, ty: &ty });
        self.lets.visible.entry(text.clone()).or_default().push(index);
        self.lets.bindings.push(Binding { name: text, span, ty, used: false });
        if let Some(scope) = self.lets.scopes.last_mut() {
            scope.bound.push(index);
        }
    }

    /// Binds a name whose source has had its error: nothing more is said about it.
    pub(super) fn bind_broken_let(&mut self, name: &Name) {
        self.lets.misread.insert(name.span);
        self.bind_let(name, Type::Any);
    }

    /// The type of a binding that is read; says so where it cannot be.
    pub(super) fn read_let(&mut self, name: &str, span: Span, site: Site) -> Type {
        if site != Site::Run {
            let message = format!(
                "`@let.{name}` is known only at run time, but {} is decided at plan time",
                site.describe()
            );
            self.error(
                Code::LetAtPlanTime,
                span,
                message,
                "use a `var` with a value decorator such as `@env.NAME` or `@shell.output(\"…\")`",
            );
        }
        if let Some(index) = self.lets.visible(name) {
            let binding = &mut self.lets.bindings[index];
            binding.used = true;
            self.observer.refer(Use::last(span, name, binding.span));
            return binding.ty.clone();
        }
        if site == Site::Run {
            self.unbound(name, span);
        }
        Type::Any
    }

    fn unbound(&mut self, name: &str, span: Span) {
        let scopes = self.lets.scopes.iter().rev();
        let pending =
            scopes.clone().find_map(|scope| scope.binds.get(name).map(|at| (*at, scope.parallel)));
        let elsewhere = self.lets.all.get(name).copied();
        self.lets.misread.extend(pending.map(|(at, _)| at).or(elsewhere));
        if let Some((at, parallel)) = pending {
            let line = self.line(at.start);
            let (code, message, help) = if parallel {
                (
                    Code::LetOutOfScope,
                    format!("`@let.{name}` belongs to another branch of `@parallel`"),
                    "put both in one branch: `{ … }`, or bind it before `@parallel`".to_owned(),
                )
            } else {
                (
                    Code::LetUnbound,
                    format!("UnboundLetError: `@let.{name}` is read before it is bound"),
                    format!("the binding is on line {line}: move it above this line"),
                )
            };
            let error = Diagnostic::new(code, span, message).also(at, "bound here");
            self.report(error.help(help));
            return;
        }
        if let Some(at) = elsewhere {
            let message = format!("`@let.{name}` ends with the block that binds it");
            let error = Diagnostic::new(Code::LetOutOfScope, span, message).also(at, "bound here");
            self.report(error.help("bind it in a block around both"));
            return;
        }
        let near = if self.may_suggest(self.lets.all.len()) {
            suggest::nearest(name, self.lets.all.keys().map(String::as_str))
        } else {
            None
        };
        let help = match near {
            Some(near) => format!("did you mean `@let.{near}`?"),
            None if self.is_visible(name) => format!("`{name}` is a variable: `@var.{name}`"),
            None => format!("bind it first: `let.{name} = @shell(\"…\")`"),
        };
        self.error(Code::LetUndeclared, span, format!("`let.{name}` is never bound"), help);
    }

    pub(super) fn say_unused_lets(&mut self) {
        for binding in &self.lets.bindings {
            let used = binding.used || self.lets.misread.contains(&binding.span);
            if !used && !binding.name.starts_with('_') {
                let message = format!("`let.{}` is never read", binding.name);
                self.out.push(
                    Diagnostic::new(Code::UnusedLet, binding.span, message)
                        .help("remove the `let` and keep the decorator, or read it"),
                );
            }
        }
    }
}
