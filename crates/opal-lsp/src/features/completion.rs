//! What can be typed here. What the cursor is in, its text says; what there is, the facts and the registry.

mod arguments;

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, InsertTextFormat, TextEdit,
};
use opal_core::decorator::{Block, Descriptor, Presence, Subject};
use opal_core::{Span, Type, dotenv};
use opal_plan::check::observer::DefinitionKind;
use opal_plan::unit::Builtin;

use super::place::{self, Path};
use super::{Client, documents};
use crate::files::{Files, View};

/// Decorators of catalogs, at most: a provider has thousands.
const MOST: usize = 1_000;
/// Words that begin a statement.
const STATEMENTS: [&str; 8] = ["fun", "var", "let.", "if", "when", "for", "while", "try"];

pub(crate) fn of(files: &Files, client: Client, view: &View, at: u32) -> Vec<CompletionItem> {
    if let Some(path) = place::path(&view.text, at) {
        return after_at(files, client, view, &path);
    }
    let word = place::word(&view.text, at);
    if let Some(fields) = dot(view, word) {
        return fields;
    }
    let line = view.text.line_start(view.text.line_of(at));
    let before = view.text.text.get(line as usize..word.start as usize).unwrap_or_default();
    let before = before.trim();
    if before.is_empty() && !word.is_empty() {
        let words = STATEMENTS.iter().chain((view.text.line_of(at) == 0).then_some(&"import"));
        return words.map(|it| item(view, it, CompletionItemKind::Keyword, word)).collect();
    }
    if is_parameter_type(before) {
        let types = Type::NAMES.iter();
        return types.map(|it| item(view, it, CompletionItemKind::TypeParameter, word)).collect();
    }
    if let Some(inside) = place::inside(&view.text, at) {
        return arguments::of(view, &inside, word);
    }
    if is_expression(before) { names(view, word) } else { Vec::new() }
}

/// Whether what follows is an expression of the language.
fn is_expression(before: &str) -> bool {
    let begins = ["var ", "if ", "} else if ", "when ", "for ", "while "];
    let is_declared =
        |it: &&str| before.starts_with(it.trim_end()) && before.len() >= it.trim_end().len();
    let is_value = !before.starts_with("var") || before.contains('=');
    begins.iter().any(is_declared) && is_value
}

/// Whether the type of a parameter follows.
fn is_parameter_type(before: &str) -> bool {
    before.starts_with("fun ") && before.ends_with(':')
}

/// An item that replaces a place by its label.
fn item(view: &View, label: &str, kind: CompletionItemKind, span: Span) -> CompletionItem {
    let edit = TextEdit { range: view.text.range(span), new_text: label.to_owned() };
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
        ..CompletionItem::default()
    }
}

/// Bare names of an expression: variables and functions.
fn names(view: &View, word: Span) -> Vec<CompletionItem> {
    let facts = &view.analysis.facts;
    let visible = facts.visible(word.start).into_iter();
    let variables = visible.filter(|it| it.kind != DefinitionKind::Let).map(|it| CompletionItem {
        detail: Some(it.ty.to_string()),
        sort_text: Some(format!("0{}", it.name)),
        ..item(view, &it.name, CompletionItemKind::Variable, word)
    });
    let functions = Builtin::names().map(|name| {
        let form = Builtin::named(name).map(|it| it.signature().form.replace("` or `", " or "));
        CompletionItem {
            detail: form,
            sort_text: Some(format!("1{name}")),
            ..item(view, name, CompletionItemKind::Function, word)
        }
    });
    variables.chain(functions).collect()
}

fn after_at(files: &Files, client: Client, view: &View, path: &Path<'_>) -> Vec<CompletionItem> {
    let facts = &view.analysis.facts;
    let at = path.span.start;
    if let Some(dot) = path.typed.rfind('.') {
        let ends = at + 1 + dot as u32;
        let last = Span::new(ends + 1, path.span.end);
        if let Some(ty) = facts.type_ending(ends) {
            return fields(view, ty, last);
        }
    }
    let of_space = |kind: CompletionItemKind, space: &str, names: Vec<(String, String)>| {
        let items = names.into_iter().map(|(name, detail)| CompletionItem {
            detail: (!detail.is_empty()).then_some(detail),
            ..item(view, &format!("@{space}.{name}"), kind, path.span)
        });
        items.collect::<Vec<_>>()
    };
    match path.typed.split_once('.').map(|(space, _)| space) {
        Some("var") => {
            let visible = facts.visible(at).into_iter().filter(|it| it.kind != DefinitionKind::Let);
            let names = visible.map(|it| (it.name.clone(), it.ty.to_string())).collect();
            of_space(CompletionItemKind::Variable, "var", names)
        }
        Some("let") => {
            let visible = facts.visible(at).into_iter().filter(|it| it.kind == DefinitionKind::Let);
            let names = visible.map(|it| (it.name.clone(), documents::fields(&it.ty))).collect();
            of_space(CompletionItemKind::Variable, "let", names)
        }
        Some("env") => {
            let names = environment(files).into_iter().map(|name| (name, String::new())).collect();
            of_space(CompletionItemKind::Constant, "env", names)
        }
        Some(space @ ("cmd" | "needs")) => functions(view, client, space, path.span),
        _ => decorators(view, client, path),
    }
}

/// The functions of the file and its imports.
fn functions(view: &View, client: Client, space: &str, span: Span) -> Vec<CompletionItem> {
    let all = view.analysis.facts.functions.iter().map(|function| {
        let label = format!("@{space}.{}", function.called);
        let takes = !function.params.is_empty();
        let mut item = item(view, &label, CompletionItemKind::Function, span);
        item.detail = Some(documents::function_label(function));
        item.documentation = documents::documentation(function.docs.clone());
        called(view, client, &mut item, span, takes, "");
        item
    });
    all.collect()
}

/// Adds brackets to what is inserted, with the cursor in them.
fn called(
    view: &View,
    client: Client,
    item: &mut CompletionItem,
    span: Span,
    takes: bool,
    block: &str,
) {
    if !client.snippets {
        return;
    }
    let arguments = if takes { "($1)" } else { "()" };
    let new_text = format!("{}{arguments}{block}", item.label);
    let edit = TextEdit { range: view.text.range(span), new_text };
    item.text_edit = Some(CompletionItemTextEdit::TextEdit(edit));
    item.insert_text_format = Some(InsertTextFormat::Snippet);
}

/// What may stand at this place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Command,
    Value,
    Writes,
    Reads,
}

fn place_of(before: &str) -> Place {
    let before = before.trim_end();
    if before.ends_with('>') {
        return Place::Writes;
    }
    if before.ends_with('<') {
        return Place::Reads;
    }
    let is_let = || {
        let name = before.trim_start().strip_prefix("let.").and_then(|it| it.strip_suffix('='));
        name.is_some_and(|name| {
            name.trim().bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        })
    };
    let begins = before.trim().is_empty()
        || ["{", "&&", "||", "|", ";", "->"].iter().any(|it| before.ends_with(it))
        || before.trim_start().starts_with("fun ") && before.ends_with('=')
        || is_let();
    if begins { Place::Command } else { Place::Value }
}

fn decorators(view: &View, client: Client, path: &Path<'_>) -> Vec<CompletionItem> {
    let place = place_of(path.before);
    let fits = |descriptor: &Descriptor| match place {
        Place::Command => descriptor.is_action() || descriptor.is_value(),
        Place::Value => descriptor.is_value(),
        Place::Writes => descriptor.writes,
        Place::Reads => descriptor.reads,
    };
    let names = view.registry.names().filter(|name| name.starts_with(path.typed)).take(MOST);
    let all = names.filter_map(|name| {
        let descriptor = view.registry.get(name)?;
        let is_call = place == Place::Command && matches!(name, "cmd" | "needs");
        if !fits(descriptor) && !is_call {
            return None;
        }
        let mut item = item(view, &format!("@{name}"), kind(descriptor), path.span);
        item.detail = Some(descriptor.summary.to_owned());
        item.documentation = documents::documentation(documents::decorator(name, descriptor));
        // What acts comes first where a command is.
        let is_late = place == Place::Command && !descriptor.is_action();
        item.sort_text = Some(format!("{}{name}", u8::from(is_late)));
        if descriptor.subject == Subject::None && !matches!(name, "cmd" | "needs") {
            let required =
                |it: &opal_core::decorator::Param| matches!(it.presence, Presence::Required);
            let takes = descriptor.params.iter().any(required)
                || !descriptor.one_of.is_empty()
                || descriptor.open_params.is_some();
            let block = match descriptor.block {
                Block::Required if place == Place::Command => " {\n\t$0\n}",
                _ => "",
            };
            if takes || descriptor.is_action() {
                called(view, client, &mut item, path.span, takes, block);
            }
        }
        Some(item)
    });
    all.collect()
}

fn kind(descriptor: &Descriptor) -> CompletionItemKind {
    match (&descriptor.resource, descriptor.is_value()) {
        (Some(_), _) => CompletionItemKind::Class,
        (None, true) => CompletionItemKind::Value,
        (None, false) => CompletionItemKind::Function,
    }
}

/// The fields of what ends before the word.
fn dot(view: &View, word: Span) -> Option<Vec<CompletionItem>> {
    let dot = word.start.checked_sub(1)?;
    if view.text.text.as_bytes().get(dot as usize) != Some(&b'.') {
        return None;
    }
    let ty = view.analysis.facts.type_ending(dot)?;
    Some(fields(view, ty, word))
}

fn fields(view: &View, ty: &Type, span: Span) -> Vec<CompletionItem> {
    let length = |it: &Type| {
        matches!(
            it,
            Type::String | Type::OneOf(_) | Type::Array(_) | Type::Map(_) | Type::Object(_)
        )
    };
    let own: &[opal_core::types::Field] = if let Type::Object(own) = ty { own } else { &[] };
    let own = own.iter().map(|field| CompletionItem {
        detail: Some(field.ty.to_string()),
        documentation: documents::documentation(field.docs.to_owned()),
        ..item(view, field.name, CompletionItemKind::Field, span)
    });
    let length = length(ty).then(|| CompletionItem {
        detail: Some("Int".to_owned()),
        ..item(view, "length", CompletionItemKind::Field, span)
    });
    own.chain(length).collect()
}

/// The names of variables of the environment that the workspace reads, or that a file of variables has.
/// Never a value.
fn environment(files: &Files) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Without the word, a source reads none: most files of a workspace need no check.
    for path in files.sources().into_iter().filter(|path| files.contains(path, &["env"])) {
        if let Some(view) = files.view(&path) {
            names.extend(view.analysis.facts.environment.iter().cloned());
        }
    }
    for path in files.variables() {
        if let Some(text) = files.variables_text(&path) {
            let mut reader = dotenv::Reader::new(&text);
            while let Ok(Some(variable)) = reader.next(None) {
                names.push(variable.name);
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}
