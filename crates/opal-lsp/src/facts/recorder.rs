//! Listening to the checks, and keeping what concerns the file itself.

use std::collections::BTreeMap;

use opal_core::{Span, Type};
use opal_plan::check::observer::{self, DefinitionKind, Given, Observer};
use opal_plan::unit::{self, FunctionNames, Unit};

use super::{Argument, Called, Definition, Facts, Function, Import, Param, Target, Use};
use crate::program::Part;

/// Keeps what it hears about the text up to `end`, where those of other files begin.
#[derive(Debug)]
pub(crate) struct Recorder {
    end: u32,
    scopes: Vec<Span>,
    definitions: Vec<Definition>,
    uses: Vec<observer::Use>,
    calls: Vec<Called>,
    arguments: Vec<Argument>,
    types: Vec<(Span, Type)>,
    /// Paths of references to the environment, in every file.
    environment: Vec<Span>,
}

impl Recorder {
    pub(crate) fn new(end: u32) -> Self {
        Self {
            end,
            scopes: Vec::new(),
            definitions: Vec::new(),
            uses: Vec::new(),
            calls: Vec::new(),
            arguments: Vec::new(),
            types: Vec::new(),
            environment: Vec::new(),
        }
    }

    fn is_own(&self, span: Span) -> bool {
        span.end <= self.end
    }
}

impl Observer for Recorder {
    fn enter(&mut self, span: Span) {
        self.scopes.push(span);
    }

    fn leave(&mut self) {
        self.scopes.pop();
    }

    fn define(&mut self, definition: observer::Definition<'_>) {
        if !self.is_own(definition.span) {
            return;
        }
        let observer::Definition { kind, name, span, ty } = definition;
        let whole = Span::new(0, self.end);
        let scope = match kind {
            DefinitionKind::Function | DefinitionKind::Namespace => whole,
            _ => {
                let scope = self.scopes.last().copied().unwrap_or(whole);
                Span::new(span.end.min(scope.end), scope.end.min(self.end).max(span.end))
            }
        };
        let is_global = kind == DefinitionKind::Variable && self.scopes.len() == 1;
        let (name, ty) = (name.to_owned(), ty.clone());
        self.definitions.push(Definition { kind, name, span, ty, scope, is_global });
    }

    fn refer(&mut self, found: observer::Use) {
        if self.is_own(found.span) {
            self.uses.push(found);
        }
    }

    fn called(&mut self, path: Span, callee: observer::Callee) {
        if let observer::Callee::Decorator(descriptor) = callee
            && descriptor.path == ENVIRONMENT
        {
            self.environment.push(path);
        }
        if self.is_own(path) {
            self.calls.push(Called { path, callee });
        }
    }

    fn given(&mut self, argument: Given) {
        if self.is_own(argument.span) {
            let Given { call, callee, param, name, span } = argument;
            self.arguments.push(Argument { call, callee, param, name, span });
        }
    }

    fn typed(&mut self, span: Span, ty: &Type) {
        if self.is_own(span) {
            self.types.push((span, ty.clone()));
        }
    }
}

/// The files of a program, in order, and the text of all of them.
#[derive(Debug)]
pub(crate) struct Places<'p> {
    pub(crate) parts: &'p [Part],
    pub(crate) text: &'p str,
}

impl Recorder {
    /// The facts, with the functions that the program has by now.
    pub(crate) fn facts(
        self,
        unit: &Unit,
        names: &FunctionNames<'_>,
        places: &Places<'_>,
    ) -> Facts {
        let mut definitions = self.definitions;
        definitions.sort_by_key(|it| (it.span, it.kind));
        definitions.dedup_by_key(|it| (it.span, it.kind));
        let functions = functions(unit, names, places);
        let mut foreign: BTreeMap<Span, Target> = BTreeMap::new();
        for (number, function) in functions.iter().enumerate().filter(|(_, it)| it.file.is_some()) {
            let source = &unit.functions[function.index];
            foreign.insert(source.name.span, Target::Foreign(number, None));
            for (index, param) in source.params.iter().enumerate() {
                let target = Target::Foreign(number, Some(index));
                foreign.entry(param.name.span).or_insert(target);
            }
        }
        let own = |span: Span| {
            let at = definitions.partition_point(|it| it.span < span);
            definitions.get(at).filter(|it| it.span == span).map(|_| Target::Own(at))
        };
        let mut uses: Vec<Use> = self
            .uses
            .iter()
            .filter_map(|it| {
                let target = own(it.definition).or_else(|| foreign.get(&it.definition).copied());
                let target = target?;
                Some(Use { span: it.span, target, writes: it.writes })
            })
            .collect();
        uses.sort_by_key(|it| it.span);
        uses.dedup_by_key(|it| it.span);
        let mut facts = Facts {
            uses,
            functions,
            imports: imports(unit, places),
            environment: environment(&self.environment, places.text),
            calls: self.calls,
            arguments: self.arguments,
            types: self.types,
            definitions,
        };
        facts.sort();
        facts
    }
}

impl Facts {
    fn sort(&mut self) {
        self.calls.sort_by_key(|it| it.path);
        self.calls.dedup_by_key(|it| it.path);
        self.arguments.sort_by_key(|it| (it.call, it.span));
        self.arguments.dedup_by_key(|it| (it.call, it.span));
        self.types.sort_by_key(|(span, _)| *span);
        self.types.dedup_by(|a, b| a.0 == b.0);
        // They are kept for as long as the file does not change, for every file that is open.
        self.definitions.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.calls.shrink_to_fit();
        self.arguments.shrink_to_fit();
        self.types.shrink_to_fit();
    }
}

/// Each function that a call in the file may say, its own first.
fn functions(unit: &Unit, names: &FunctionNames<'_>, places: &Places<'_>) -> Vec<Function> {
    let own = unit.functions_of(0);
    let mut all: Vec<Function> = own.map(|index| function(unit, index, None, places)).collect();
    for import in unit.imports_of(0) {
        let (Some(namespace), Some(file)) = (import.namespace(), import.file) else { continue };
        for index in unit.functions_of(file) {
            let called = format!("{namespace}.{}", unit.functions[index].name.text);
            // What may not be called, or is hidden by another of its name, is not among them.
            if names.find(0, &called).function() == Some(index) {
                all.push(function(unit, index, Some((file, called)), places));
            }
        }
    }
    all
}

fn function(
    unit: &Unit,
    index: usize,
    foreign: Option<(usize, String)>,
    places: &Places<'_>,
) -> Function {
    let source = &unit.functions[index];
    let number = foreign.as_ref().map_or(0, |(file, _)| *file);
    let (file, start) = match places.parts.get(number) {
        Some(part) if number > 0 => (part.path.clone(), part.span.start),
        _ => (None, 0),
    };
    let place =
        |span: Span| Span::new(span.start.saturating_sub(start), span.end.saturating_sub(start));
    let said = source.documentation();
    let params = source.params.iter().zip(&said.params);
    let params = params.map(|(param, docs)| self::param(param, *docs, &place, places.text));
    let name = source.name.text.clone();
    Function {
        called: foreign.map_or_else(|| name.clone(), |(_, called)| called),
        name,
        file,
        span: place(source.name.span),
        whole: place(source.span.to(source.body.span)),
        body: place(source.body.span),
        params: params.collect(),
        group: source.group.clone(),
        docs: said.text,
        index,
    }
}

fn param(
    param: &unit::Param,
    docs: Option<&str>,
    place: &dyn Fn(Span) -> Span,
    text: &str,
) -> Param {
    let default = param.default.as_ref().and_then(|it| text.get(it.span.range()));
    Param {
        name: param.name.text.clone(),
        span: place(param.name.span),
        ty: param.declared_type(),
        default: default.map(str::to_owned),
        rest: param.rest,
        docs: docs.map(str::to_owned),
    }
}

fn imports(unit: &Unit, places: &Places<'_>) -> Vec<Import> {
    let one = |import: &unit::Import| Import {
        path: import.path.clone().unwrap_or_default(),
        path_span: import.path_span,
        span: import.span,
        namespace: import.namespace().map(str::to_owned),
        has_alias: import.alias.is_some(),
        file: import.file.and_then(|file| places.parts.get(file)?.path.clone()),
    };
    unit.imports_of(0).iter().map(one).collect()
}

/// What reads a variable of the environment: `@env.NAME`.
const ENVIRONMENT: &str = "env";

fn environment(paths: &[Span], text: &str) -> Vec<String> {
    let name = |path: &Span| text.get(path.range())?.strip_prefix('@')?.split_once('.');
    let mut names: Vec<&str> = paths.iter().filter_map(|path| Some(name(path)?.1)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}
