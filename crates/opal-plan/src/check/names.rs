//! Variables: declared before use, visible in their block, used at least once.

use std::collections::{BTreeMap, BTreeSet};

use opal_core::{Code, Diagnostic, Span, Type, suggest};

use super::checker::Checker;
use super::observer::{Definition, DefinitionKind, Observer, Use};
use crate::unit::Name;

#[derive(Debug, Default)]
pub(super) struct Names {
    vars: Vec<Var>,
    /// Open scopes, the innermost last; each holds indices into `vars`.
    scopes: Vec<Vec<usize>>,
    /// What each name means in the open scopes, the innermost last.
    visible: BTreeMap<String, Vec<usize>>,
    /// The variables at top level, all of them, for functions.
    globals: BTreeMap<String, Vec<usize>>,
    /// Where the script assigns to a name at top level.
    assigned: BTreeMap<String, Vec<Span>>,
    /// Every declaration of the function being walked, for messages.
    declared: BTreeMap<String, Vec<Span>>,
    /// Declarations that are below a use: used, only too late.
    read_early: BTreeSet<Span>,
    /// The declaration whose value is being walked.
    pub(super) declaring: Option<Span>,
    /// The script is being walked.
    script: bool,
}

#[derive(Debug)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) ty: Type,
    kind: VarKind,
    used: bool,
    /// Its value comes from the world, so it must never become code.
    resolved: bool,
    /// It is declared with a literal in which no program sees more than a word.
    plain: bool,
    /// A function reads it.
    read_by: Option<Span>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarKind {
    Var,
    Param,
    Loop,
}

impl From<VarKind> for DefinitionKind {
    fn from(kind: VarKind) -> Self {
        match kind {
            VarKind::Var => Self::Variable,
            VarKind::Param => Self::Parameter,
            VarKind::Loop => Self::Loop,
        }
    }
}

impl Names {
    pub(super) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        for index in self.scopes.pop().unwrap_or_default() {
            if let Some(meanings) = self.visible.get_mut(&self.vars[index].name) {
                meanings.pop();
            }
        }
    }

    /// Begins the script or a function, with what it declares anywhere.
    pub(super) fn begin(&mut self, script: bool, declared: Vec<(String, Span)>) {
        debug_assert!(self.scopes.is_empty(), "every scope was left");
        self.script = script;
        self.declared.clear();
        for (name, span) in declared {
            self.declared.entry(name).or_default().push(span);
        }
    }

    fn declare(&mut self, name: &Name, ty: Type, kind: VarKind) {
        let index = self.vars.len();
        let (text, span) = (name.text.clone(), name.span);
        if self.script && self.scopes.len() == 1 {
            self.globals.entry(text.clone()).or_default().push(index);
        }
        self.visible.entry(text.clone()).or_default().push(index);
        self.vars.push(Var {
            name: text,
            span,
            ty,
            kind,
            used: false,
            resolved: false,
            plain: false,
            read_by: None,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(index);
        }
    }

    /// What `name` means in the open scopes.
    fn local(&self, name: &str) -> Option<usize> {
        self.visible.get(name).and_then(|meanings| meanings.last()).copied()
    }

    fn visible(&self, name: &str) -> Option<usize> {
        let global = || self.globals.get(name).and_then(|all| all.last()).copied();
        self.local(name).or_else(|| if self.script { None } else { global() })
    }

    /// How many names could be meant at this place, at most.
    fn count(&self) -> usize {
        self.globals.len() + self.visible.len()
    }

    /// Names that could be meant at this place.
    fn candidates(&self) -> impl Iterator<Item = &str> {
        let scoped = self.scopes.iter().flatten().map(|index| self.vars[*index].name.as_str());
        let globals = self.globals.keys().map(String::as_str);
        scoped.chain(globals)
    }

    /// Notes that the value of `name` comes from the world.
    pub(super) fn resolve(&mut self, name: &str) {
        if let Some(index) = self.visible(name) {
            self.vars[index].resolved = true;
        }
    }

    pub(super) fn is_resolved(&self, name: &str) -> bool {
        self.visible(name).is_some_and(|index| self.vars[index].resolved)
    }

    /// Notes that `name` is declared with a plain word.
    pub(super) fn note_plain(&mut self, name: &str) {
        if let Some(index) = self.visible(name) {
            self.vars[index].plain = true;
        }
    }

    /// Whether the value of `name` is a plain word of the source, whatever happens before it is read.
    pub(super) fn is_plain(&self, name: &str) -> bool {
        let is_it = |index: usize| self.vars[index].plain && self.vars[index].ty == Type::String;
        match (self.local(name), self.globals.get(name)) {
            (Some(index), _) => is_it(index),
            (None, Some(all)) => !self.script && all.iter().all(|index| is_it(*index)),
            (None, None) => false,
        }
    }

    /// Whether assignments anywhere make the type of `name` unsure.
    pub(super) fn loosen(&mut self, name: &str) {
        if let Some(index) = self.visible(name) {
            self.vars[index].ty = Type::Any;
        }
    }
}

impl<O: Observer> Checker<'_, O> {
    /// Declares a variable in the innermost scope.
    pub(super) fn declare(&mut self, name: &Name, ty: Type, kind: VarKind) {
        let definition = DefinitionKind::from(kind);
        let (text, span) = (&*name.text, name.span);
        self.observer.define(Definition { kind: definition, name: text, span, ty: &ty });
        self.names.declare(name, ty, kind);
    }

    /// Notes that the script assigns to a variable of its own at top level.
    pub(super) fn note_assignment(&mut self, name: &Name) {
        let all = self.names.globals.get(&name.text);
        let means = self.names.local(&name.text);
        if self.names.script && means.is_some_and(|i| all.is_some_and(|all| all.contains(&i))) {
            self.names.assigned.entry(name.text.clone()).or_default().push(name.span);
        }
    }

    /// The type of a variable that is read; says so where there is none.
    pub(super) fn read_variable(&mut self, name: &str, span: Span) -> Type {
        let Some(index) = self.names.visible(name) else {
            self.undeclared(name, span, "");
            return Type::Any;
        };
        let in_function = !self.names.script;
        let local = self.names.local(name).is_some();
        let var = &mut self.names.vars[index];
        var.used = true;
        if in_function && !local {
            var.read_by.get_or_insert(span);
            // The script may have changed it by the time the function is called.
            for all in self.names.globals.get(name).into_iter().flatten() {
                self.names.vars[*all].used = true;
            }
        }
        let var = &self.names.vars[index];
        self.observer.refer(Use::last(span, name, var.span));
        var.ty.clone()
    }

    pub(super) fn is_visible(&self, name: &str) -> bool {
        self.names.visible(name).is_some()
    }

    /// The parameter of the function being walked that `name` means here.
    pub(super) fn parameter(&self, name: &str) -> Option<usize> {
        let index = self.names.visible(name)?;
        let function = self.function?;
        if self.names.vars[index].kind != VarKind::Param {
            return None;
        }
        self.unit.functions[function].params.iter().position(|param| param.name.text == name)
    }

    pub(super) fn assigned_type(&mut self, name: &Name) -> Option<Type> {
        match self.names.visible(&name.text) {
            Some(index) => {
                let var = &self.names.vars[index];
                let found = Use { span: name.span, definition: var.span, writes: true };
                self.observer.refer(found);
                Some(var.ty.clone())
            }
            None => {
                let help = format!("declare it first: `var {} = …`", name.text);
                self.undeclared(&name.text, name.span, &help);
                None
            }
        }
    }

    fn undeclared(&mut self, name: &str, span: Span, help: &str) {
        let all = self.names.declared.get(name).map_or(&[][..], Vec::as_slice);
        let inner = all.iter().copied().filter(|at| Some(*at) != self.names.declaring);
        let inner = inner.take(1).find(|at| at.start < span.start);
        let later = all.iter().copied().find(|at| at.start > span.start);
        if let Some(at) = later {
            self.names.read_early.insert(at);
            let line = self.line(at.start);
            self.report(
                Diagnostic::new(
                    Code::UsedBeforeDeclaration,
                    span,
                    format!("`{name}` is used before its declaration"),
                )
                .also(at, "declared here")
                .help(format!("move the declaration on line {line} above this line")),
            );
            return;
        }
        let message = format!("undeclared variable `{name}`");
        let mut error = Diagnostic::new(Code::UndeclaredVariable, span, message);
        if let Some(at) = inner {
            self.names.read_early.insert(at);
            error = error
                .also(at, "this one ends with its block")
                .help("declare it before the block and assign to it inside: `NAME = value`");
        } else if self.may_suggest(self.names.count())
            && let Some(near) = suggest::nearest(name, self.names.candidates())
        {
            let given = &self.text[span.range()];
            let fixed = given.replace(name, near);
            error = error.help(format!("did you mean `{near}`?"));
            let certain = near.len() >= 4 && suggest::distance(name, near) == 1;
            if given.ends_with(name) && certain {
                error = error.fix(format!("write `{near}`"), span, fixed);
            }
        } else if !help.is_empty() {
            error = error.help(help);
        } else if !self.text[span.range()].starts_with('@') {
            error = error.help(match name {
                "env" => "read the environment with `@env.NAME`".to_owned(),
                _ => format!("for the text, write `\"{name}\"`; for a variable, declare it first"),
            });
        } else if !name.chars().any(char::is_lowercase) {
            error = error.help(format!(
                "declare it with `var {name} = …`; read the environment with `@env.{name}`"
            ));
        } else {
            error = error.help(format!("declare it with `var {name} = …`"));
        }
        self.report(error);
    }

    /// A variable that functions read has one value for all of them.
    pub(super) fn check_globals(&mut self) {
        let mut found = Vec::new();
        for (name, declarations) in &self.names.globals {
            let Some(read) = declarations.iter().find_map(|index| self.names.vars[*index].read_by)
            else {
                continue;
            };
            let first = self.names.vars[declarations[0]].span;
            let again = declarations[1..].iter().map(|index| self.names.vars[*index].span);
            let assigned = self.names.assigned.get(name).into_iter().flatten().copied();
            for span in again.chain(assigned) {
                let message =
                    format!("`{name}` is read by a function, so it can be assigned only once");
                found.push(
                    Diagnostic::new(Code::UnstableGlobal, span, message)
                        .also(first, "first set here")
                        .also(read, "read here")
                        .help("use another name, or give the function a parameter"),
                );
            }
        }
        self.out.extend(found);
    }

    pub(super) fn say_unused(&mut self) {
        let mut looked_up = 0;
        for var in &self.names.vars {
            let used = var.used || self.names.read_early.contains(&var.span);
            if used || var.name.starts_with('_') || var.kind == VarKind::Loop {
                continue;
            }
            let name = &var.name;
            let (code, what) = match var.kind {
                VarKind::Param => (Code::UnusedParameter, "parameter"),
                _ => (Code::UnusedVariable, "variable"),
            };
            // A few lookups over the whole text are cheap, a thousand are not.
            looked_up += 1;
            let shell = looked_up <= 50 && reads_as_shell_variable(self.text, name);
            let hint =
                shell.then(|| format!("read a variable with `@var.{name}`, not with `${name}`"));
            self.out.push(
                Diagnostic::new(code, var.span, format!("the {what} `{name}` is never used"))
                    .maybe_help(hint)
                    .help(format!("remove it, or call it `_{name}` if it is unused on purpose")),
            );
        }
        self.say_unused_lets();
    }
}

/// Whether `$name` or `${name` is anywhere.
fn reads_as_shell_variable(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].ends_with('$') || text[..at].ends_with("${");
        let next = text[at + name.len()..].chars().next();
        before && !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
