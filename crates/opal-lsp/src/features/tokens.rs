//! Semantic tokens: what each resolved name is. Everything else the grammar of the editor colours.

use gen_lsp_types::{SemanticToken, SemanticTokens};
use opal_core::Span;
use opal_plan::check::observer::{Callee, DefinitionKind};

use crate::facts::Target;
use crate::files::View;

/// What is known at plan time, and what only at run time, has different types.
pub(crate) const TYPES: [&str; 8] = [
    "variable",
    "parameter",
    "runTimeValue",
    "function",
    "namespace",
    "planTimeDecorator",
    "runTimeDecorator",
    "property",
];
pub(crate) const MODIFIERS: [&str; 2] = ["declaration", "modification"];

pub(crate) fn of(view: &View) -> SemanticTokens {
    let facts = &view.analysis.facts;
    let mut found: Vec<(Span, usize, u32)> = Vec::new();
    for definition in &facts.definitions {
        // A namespace without a name of its own is a string.
        let is_string = view.text.slice(definition.span) != definition.name;
        if !is_string {
            found.push((definition.span, of_definition(definition.kind), 1));
        }
    }
    for used in &facts.uses {
        let kind = match used.target {
            Target::Own(index) => facts.definitions[index].kind,
            Target::Foreign(_, None) => DefinitionKind::Function,
            Target::Foreign(..) => DefinitionKind::Parameter,
        };
        found.push((used.span, of_definition(kind), if used.writes { 2 } else { 0 }));
    }
    for called in &facts.calls {
        if let Some((span, kind)) = of_call(view, called.path, called.callee) {
            found.push((span, kind, 0));
        }
    }
    for argument in &facts.arguments {
        if let (Callee::Decorator(_), Some(name)) = (argument.callee, argument.name) {
            found.push((name, 7, 0));
        }
    }
    found.sort_unstable();
    encode(view, &found)
}

fn of_definition(kind: DefinitionKind) -> usize {
    match kind {
        DefinitionKind::Variable | DefinitionKind::Loop => 0,
        DefinitionKind::Parameter => 1,
        DefinitionKind::Let => 2,
        DefinitionKind::Function => 3,
        DefinitionKind::Namespace => 4,
    }
}

/// The part of a path that is not a name with a token of its own.
fn of_call(view: &View, path: Span, callee: Callee) -> Option<(Span, usize)> {
    let descriptor = match callee {
        Callee::Builtin(_) => return Some((path, 3)),
        Callee::Function(_) => {
            let dot = view.text.slice(path).find('.')? as u32;
            return Some((Span::new(path.start, path.start + dot), 6));
        }
        Callee::Decorator(descriptor) => descriptor,
    };
    let own =
        |space: &str| Span::new(path.start, (path.start + 1 + space.len() as u32).min(path.end));
    match descriptor.path {
        space @ "var" => Some((own(space), 5)),
        space @ "let" => Some((own(space), 6)),
        _ if descriptor.is_value() => Some((path, 5)),
        _ => Some((path, 6)),
    }
}

fn encode(view: &View, sorted: &[(Span, usize, u32)]) -> SemanticTokens {
    let mut data = Vec::with_capacity(sorted.len());
    let (mut line, mut column, mut end) = (0, 0, 0);
    for (span, kind, modifiers) in sorted {
        let range = view.text.range(*span);
        // Tokens neither overlap nor go over lines.
        if span.start < end || range.start.line != range.end.line || span.is_empty() {
            continue;
        }
        let delta_line = range.start.line - line;
        let before = if delta_line == 0 { column } else { 0 };
        data.push(SemanticToken {
            delta_line,
            delta_start: range.start.character - before,
            length: range.end.character - range.start.character,
            token_type: *kind as u32,
            token_modifiers_bitset: *modifiers,
        });
        (line, column, end) = (range.start.line, range.start.character, span.end);
    }
    SemanticTokens { result_id: None, data }
}
