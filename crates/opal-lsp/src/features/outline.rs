//! What a file has: groups, functions, variables at its top; and the functions of the workspace.

use gen_lsp_types::{BaseSymbolInformation, DocumentSymbol, Location, SymbolKind, WorkspaceSymbol};
use opal_core::Span;
use opal_plan::check::observer::DefinitionKind;

use super::documents;
use crate::files::{Files, View};

/// Names that a search gives, at most.
const MOST: usize = 500;

pub(crate) fn of(view: &View) -> Vec<DocumentSymbol> {
    let facts = &view.analysis.facts;
    let mut symbols: Vec<(Option<String>, DocumentSymbol)> = Vec::new();
    for definition in facts.definitions.iter().filter(|it| it.is_global) {
        let range = line(view, definition.span);
        let (kind, detail) = (SymbolKind::Variable, definition.ty.to_string());
        symbols
            .push((None, symbol(view, &definition.name, kind, detail, (range, definition.span))));
    }
    for function in facts.own_functions() {
        let detail = documents::function_label(function);
        let detail = detail.trim_start_matches("fun ").trim_start_matches(&function.called);
        let spans = (function.whole, function.span);
        let detail = detail.to_owned();
        let mut one = symbol(view, &function.name, SymbolKind::Function, detail, spans);
        let body = function.body;
        let first = facts.definitions.partition_point(|it| it.span.start < body.start);
        let inside = facts.definitions[first..].iter().take_while(|it| it.span.end <= body.end);
        let inner =
            inside.filter(|it| matches!(it.kind, DefinitionKind::Variable | DefinitionKind::Let));
        let inner = inner.map(|it| {
            let kind = match it.kind {
                DefinitionKind::Let => SymbolKind::Event,
                _ => SymbolKind::Variable,
            };
            symbol(view, &it.name, kind, it.ty.to_string(), (line(view, it.span), it.span))
        });
        let inner: Vec<DocumentSymbol> = inner.collect();
        one.children = (!inner.is_empty()).then_some(inner);
        symbols.push((function.group.clone(), one));
    }
    symbols.sort_by_key(|(_, it)| (it.range.start.line, it.range.start.character));
    grouped(symbols)
}

/// Puts what is under a heading into a symbol of its own. A variable between two functions is at the top, and
/// does not end the group around it.
fn grouped(symbols: Vec<(Option<String>, DocumentSymbol)>) -> Vec<DocumentSymbol> {
    let mut all: Vec<DocumentSymbol> = Vec::new();
    let mut current: Option<(String, usize)> = None;
    for (group, one) in symbols {
        let Some(name) = group else {
            if one.kind == SymbolKind::Function {
                current = None;
            }
            all.push(one);
            continue;
        };
        let at = match current.take() {
            Some((known, at)) if known == name => at,
            _ => {
                let (kind, inner) = (SymbolKind::Namespace, Some(Vec::new()));
                let (range, own) = (one.range, one.selection_range);
                let name = name.clone();
                all.push(DocumentSymbol::new(name, None, kind, None, None, range, own, inner));
                all.len() - 1
            }
        };
        all[at].range.end = one.range.end;
        all[at].children.get_or_insert_default().push(one);
        current = Some((name, at));
    }
    all
}

fn line(view: &View, span: Span) -> Span {
    let line = view.text.line_of(span.start);
    let start = view.text.line_start(line);
    Span::new(start, (start + view.text.line(line).len() as u32).max(span.end))
}

fn symbol(
    view: &View,
    name: &str,
    kind: SymbolKind,
    detail: String,
    (whole, own): (Span, Span),
) -> DocumentSymbol {
    let detail = (!detail.is_empty()).then_some(detail);
    let (range, selection) = (view.text.range(whole.to(own)), view.text.range(own));
    DocumentSymbol::new(name.to_owned(), detail, kind, None, None, range, selection, None)
}

/// The functions of the workspace whose name contains the letters of `query`, in their order.
pub(crate) fn workspace(files: &Files, query: &str) -> Vec<WorkspaceSymbol> {
    let mut all = Vec::new();
    for path in files.sources() {
        let Some(view) = files.view(&path) else { continue };
        let shown = files.disk.shown(&path).display().to_string();
        for function in view.analysis.facts.own_functions() {
            if all.len() >= MOST {
                return all;
            }
            if !contains(&function.name, query) {
                continue;
            }
            let location =
                Location { uri: view.uri.clone(), range: view.text.range(function.span) };
            let base_symbol_information = BaseSymbolInformation {
                name: function.name.clone(),
                kind: SymbolKind::Function,
                tags: None,
                container_name: Some(shown.clone()),
            };
            let location = location.into();
            all.push(WorkspaceSymbol { location, data: None, base_symbol_information });
        }
    }
    all
}

fn contains(name: &str, query: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    query.chars().all(|wanted| letters.any(|it| it == wanted.to_ascii_lowercase()))
}
