//! What the checks said about the names of one file: definitions, uses, calls and types, each with its
//! place. Every feature reads these facts, and none resolves a name.

mod recorder;

use std::collections::BTreeSet;
use std::path::PathBuf;

use opal_core::{Span, Type};
use opal_plan::check::observer::{Callee, DefinitionKind};

pub(crate) use recorder::{Places, Recorder};

/// Everything is in the order of its place in the file.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) uses: Vec<Use>,
    pub(crate) calls: Vec<Called>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) types: Vec<(Span, Type)>,
    /// The functions of the file, then those of its imports that it may call.
    pub(crate) functions: Vec<Function>,
    pub(crate) imports: Vec<Import>,
    /// Variables of the environment that are read, each once.
    pub(crate) environment: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) kind: DefinitionKind,
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) ty: Type,
    /// Where the name may be used: from here on, in its scope.
    pub(crate) scope: Span,
    /// Of the top level, so that every function of the file sees it too.
    pub(crate) is_global: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The definition of this number in this file.
    Own(usize),
    /// A function of another file, and its parameter: numbers of [`Facts::functions`] and its parameters.
    Foreign(usize, Option<usize>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) span: Span,
    pub(crate) target: Target,
    pub(crate) writes: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Called {
    /// The path with its `@`, or the name of a function in an expression.
    pub(crate) path: Span,
    pub(crate) callee: Callee,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) call: Span,
    pub(crate) callee: Callee,
    pub(crate) param: Option<usize>,
    pub(crate) name: Option<Span>,
    pub(crate) span: Span,
}

/// A function that the file may call.
#[derive(Debug)]
pub(crate) struct Function {
    /// As a call says it: `build`, or `db.migrate`.
    pub(crate) called: String,
    pub(crate) name: String,
    /// The file that it is in; none for this one.
    pub(crate) file: Option<PathBuf>,
    /// Of its name, in its own file.
    pub(crate) span: Span,
    /// From `fun` to the end of its body, in its own file.
    pub(crate) whole: Span,
    pub(crate) body: Span,
    pub(crate) params: Vec<Param>,
    /// The heading that it is under.
    pub(crate) group: Option<String>,
    /// The documentation, without what it says about parameters.
    pub(crate) docs: String,
    /// The number of the function in the program.
    pub(crate) index: usize,
}

#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) ty: Type,
    /// The default, as it is written.
    pub(crate) default: Option<String>,
    pub(crate) rest: bool,
    pub(crate) docs: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: String,
    pub(crate) path_span: Span,
    pub(crate) span: Span,
    pub(crate) namespace: Option<String>,
    pub(crate) has_alias: bool,
    /// The file that it leads to.
    pub(crate) file: Option<PathBuf>,
}

impl Facts {
    /// The use at a place. The end of a name belongs to it: there the cursor is after it was typed.
    #[must_use]
    pub(crate) fn use_at(&self, at: u32) -> Option<&Use> {
        within(&self.uses, at, |it| it.span)
    }

    #[must_use]
    pub(crate) fn definition_at(&self, at: u32) -> Option<usize> {
        let found = within(&self.definitions, at, |it| it.span)?;
        self.definitions.iter().position(|it| std::ptr::eq(it, found))
    }

    /// The definition at a place, or the one that the use there means.
    #[must_use]
    pub(crate) fn target_at(&self, at: u32) -> Option<Target> {
        let used = self.use_at(at).map(|it| it.target);
        used.or_else(|| self.definition_at(at).map(Target::Own))
    }

    #[must_use]
    pub(crate) fn call_at(&self, at: u32) -> Option<&Called> {
        within(&self.calls, at, |it| it.path)
    }

    /// The function of this file or of an import, as a call says it.
    #[must_use]
    pub(crate) fn function(&self, called: &str) -> Option<&Function> {
        self.functions.iter().find(|it| it.called == called)
    }

    /// The functions of this file.
    pub(crate) fn own_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|it| it.file.is_none())
    }

    /// The function of this file around a place.
    #[must_use]
    pub(crate) fn function_around(&self, at: u32) -> Option<&Function> {
        let own = &self.functions[..self.functions.partition_point(|it| it.file.is_none())];
        let after = own.partition_point(|it| it.whole.start <= at);
        own[..after].last().filter(|it| at <= it.whole.end)
    }

    /// The use with exactly this place.
    #[must_use]
    pub(crate) fn use_of(&self, span: Span) -> Option<&Use> {
        self.uses.binary_search_by_key(&span, |it| it.span).ok().map(|at| &self.uses[at])
    }

    /// The arguments of a call, by its place.
    pub(crate) fn arguments_of(&self, start: u32) -> impl Iterator<Item = &Argument> {
        let first = self.arguments.partition_point(|it| it.call.start < start);
        self.arguments[first..].iter().take_while(move |it| it.call.start == start)
    }

    /// The definitions of variables that may be used at a place, the innermost of each name.
    #[must_use]
    pub(crate) fn visible(&self, at: u32) -> Vec<&Definition> {
        use DefinitionKind::{Function, Namespace};
        let in_function = self.function_around(at).is_some();
        let mut found: Vec<&Definition> = Vec::new();
        let mut names = BTreeSet::new();
        for definition in self.definitions.iter().rev() {
            if matches!(definition.kind, Function | Namespace) {
                continue;
            }
            let is_local = definition.scope.start <= at && at <= definition.scope.end;
            let is_seen = is_local || definition.is_global && in_function;
            let is_let = definition.kind == DefinitionKind::Let;
            if is_seen && names.insert((definition.name.as_str(), is_let)) {
                found.push(definition);
            }
        }
        found
    }

    /// The type of what ends at a place.
    #[must_use]
    pub(crate) fn type_ending(&self, at: u32) -> Option<&Type> {
        self.types.iter().rev().find(|(span, _)| span.end == at).map(|(_, ty)| ty)
    }

    /// What a target is called.
    #[must_use]
    pub(crate) fn name_of(&self, target: Target) -> &str {
        match target {
            Target::Own(index) => &self.definitions[index].name,
            Target::Foreign(function, None) => &self.functions[function].name,
            Target::Foreign(function, Some(param)) => &self.functions[function].params[param].name,
        }
    }
}

/// The last of the sorted things that begin at or before a place and do not end before it.
fn within<T>(sorted: &[T], at: u32, span: impl Fn(&T) -> Span) -> Option<&T> {
    let after = sorted.partition_point(|it| span(it).start <= at);
    sorted[..after].iter().rev().take(8).find(|it| at <= span(it).end)
}
