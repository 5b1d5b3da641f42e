//! From a name to its definition, and to every place that means it, across files.

use std::path::{Path, PathBuf};

use gen_lsp_types::{DocumentHighlight, DocumentHighlightKind, Location};
use opal_core::Span;
use opal_plan::check::observer::DefinitionKind;

use crate::facts::{Facts, Target};
use crate::files::{Files, View};

/// A definition, seen from everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// Of one file.
    Local { path: PathBuf, span: Span },
    /// A function that other files may call.
    Function { path: PathBuf, name: String },
    /// A parameter of one, which calls may name.
    Param { path: PathBuf, function: String, name: String },
}

/// What a target in a file is.
pub(crate) fn symbol(path: &Path, facts: &Facts, target: Target) -> Symbol {
    let own = |index: usize| {
        let definition = &facts.definitions[index];
        let span = definition.span;
        let function = facts.function_around(span.start);
        let (path, name) = (path.to_owned(), definition.name.clone());
        match (definition.kind, function) {
            (DefinitionKind::Function, Some(function)) if function.span == span => {
                Symbol::Function { path, name }
            }
            (DefinitionKind::Parameter, Some(function))
                if function.params.iter().any(|it| it.span == span) =>
            {
                Symbol::Param { path, function: function.name.clone(), name }
            }
            _ => Symbol::Local { path, span },
        }
    };
    match target {
        Target::Own(index) => own(index),
        Target::Foreign(function, param) => {
            let function = &facts.functions[function];
            let path = function.file.clone().unwrap_or_else(|| path.to_owned());
            match param {
                None => Symbol::Function { path, name: function.name.clone() },
                Some(param) => Symbol::Param {
                    path,
                    function: function.name.clone(),
                    name: function.params[param].name.clone(),
                },
            }
        }
    }
}

impl Symbol {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Local { path, .. } | Self::Function { path, .. } | Self::Param { path, .. } => {
                path
            }
        }
    }

    /// Where it is defined, in its file as it is now.
    pub(crate) fn definition(&self, facts: &Facts) -> Option<Span> {
        match self {
            Self::Local { span, .. } => Some(*span),
            Self::Function { name, .. } => {
                facts.own_functions().find(|it| it.name == *name).map(|it| it.span)
            }
            Self::Param { function, name, .. } => {
                let function = facts.own_functions().find(|it| it.name == *function)?;
                function.params.iter().find(|it| it.name == *name).map(|it| it.span)
            }
        }
    }
}

/// The symbol that the cursor is on.
pub(crate) fn symbol_at(view: &View, at: u32) -> Option<Symbol> {
    let facts = &view.analysis.facts;
    Some(symbol(&view.path, facts, facts.target_at(at)?))
}

pub(crate) fn definition(files: &Files, view: &View, at: u32) -> Option<Location> {
    // The path of an import leads to its file.
    let mut imports = view.analysis.facts.imports.iter();
    let import = imports.find(|it| it.path_span.start <= at && at <= it.path_span.end);
    if let Some(there) = import.and_then(|it| files.view(it.file.as_ref()?)) {
        return Some(Location { range: there.text.range(Span::at(0)), uri: there.uri });
    }
    let symbol = symbol_at(view, at)?;
    let there = files.view(symbol.path())?;
    let span = symbol.definition(&there.analysis.facts)?;
    Some(Location { range: there.text.range(span), uri: there.uri })
}

/// Every use of a symbol, in the order of files and places, and whether it is assigned to.
pub(crate) fn uses(files: &Files, symbol: &Symbol) -> Vec<(View, Vec<(Span, bool)>)> {
    let own = symbol.path();
    let paths = match symbol {
        Symbol::Local { .. } => vec![own.to_owned()],
        _ => files.sources(),
    };
    let is_own_there = paths.iter().any(|path| path == own);
    let paths = (!is_own_there).then(|| own.to_owned()).into_iter().chain(paths);
    paths.filter_map(|path| uses_in(files, symbol, &path)).collect()
}

/// The uses of a symbol in one file; none where it has none.
pub(crate) fn uses_in(
    files: &Files,
    symbol: &Symbol,
    path: &Path,
) -> Option<(View, Vec<(Span, bool)>)> {
    let name = match symbol {
        Symbol::Local { .. } => None,
        Symbol::Function { name, .. } | Symbol::Param { name, .. } => Some(name.as_str()),
    };
    // What does not contain the name cannot use it: most files of a workspace need no check.
    if !name.is_none_or(|name| files.contains(path, &[name])) {
        return None;
    }
    let view = files.view(path)?;
    let facts = &view.analysis.facts;
    let there = facts.uses.iter().filter(|it| is(symbol, path, facts, it.target));
    let there: Vec<(Span, bool)> = there.map(|it| (it.span, it.writes)).collect();
    (!there.is_empty()).then_some((view, there))
}

fn is(symbol: &Symbol, path: &Path, facts: &Facts, target: Target) -> bool {
    // Most names are others: comparing those is cheaper than asking what they are.
    let name = match symbol {
        Symbol::Local { span, .. } => {
            return matches!(target, Target::Own(index) if facts.definitions[index].span == *span);
        }
        Symbol::Function { name, .. } | Symbol::Param { name, .. } => name,
    };
    facts.name_of(target) == name && self::symbol(path, facts, target) == *symbol
}

pub(crate) fn references(files: &Files, view: &View, at: u32, declaration: bool) -> Vec<Location> {
    let Some(symbol) = symbol_at(view, at) else { return Vec::new() };
    let mut all = Vec::new();
    if let (true, Some(there)) = (declaration, files.view(symbol.path()))
        && let Some(span) = symbol.definition(&there.analysis.facts)
    {
        all.push(Location { range: there.text.range(span), uri: there.uri });
    }
    for (view, spans) in uses(files, &symbol) {
        let place = |(span, _): (Span, bool)| Location {
            uri: view.uri.clone(),
            range: view.text.range(span),
        };
        all.extend(spans.into_iter().map(place));
    }
    all
}

pub(crate) fn highlights(view: &View, at: u32) -> Vec<DocumentHighlight> {
    let facts = &view.analysis.facts;
    let Some(target) = facts.target_at(at) else { return Vec::new() };
    let highlight = |span: Span, writes: bool| DocumentHighlight {
        range: view.text.range(span),
        kind: Some(if writes { DocumentHighlightKind::Write } else { DocumentHighlightKind::Read }),
    };
    let defined = match target {
        Target::Own(index) => Some(highlight(facts.definitions[index].span, true)),
        Target::Foreign(..) => None,
    };
    let used = facts.uses.iter().filter(|it| it.target == target);
    defined.into_iter().chain(used.map(|it| highlight(it.span, it.writes))).collect()
}
