//! Inside the brackets of a call: parameters that are not given yet, and values for the one that is.

use gen_lsp_types::{CompletionItem, CompletionItemKind};
use opal_core::{Span, Type};

use super::{item, names};
use crate::features::documents;
use crate::features::place::Inside;
use crate::features::signature::{Callable, callable};
use crate::files::View;

pub(super) fn of(view: &View, inside: &Inside<'_>, word: Span) -> Vec<CompletionItem> {
    let mut all = Vec::new();
    // The name, what it says, and its type.
    let params: Vec<(String, String, Type)> = match callable(view, inside) {
        Some(Callable::Decorator(descriptor)) => descriptor
            .params
            .iter()
            .map(|it| (it.name.to_owned(), documents::param_label(it), it.ty.clone()))
            .collect(),
        Some(Callable::Function(function)) => function
            .params
            .iter()
            .filter(|it| !it.rest)
            .map(|it| (it.name.clone(), documents::function_param_label(it), it.ty.clone()))
            .collect(),
        Some(Callable::Builtin(_)) | None => Vec::new(),
    };
    let wanted = match inside.name {
        Some(name) => params.iter().find(|(it, ..)| it == name).map(|(.., ty)| ty.clone()),
        // Nothing but a value is in quotes.
        None if inside.typed.starts_with('"') => {
            params.get(inside.index).map(|(.., ty)| ty.clone())
        }
        None => {
            // Arguments without a name come first, and are for the first parameters.
            let positional = inside.index - inside.named.len().min(inside.index);
            let left = params.iter().enumerate().filter(|(index, (name, ..))| {
                *index >= positional && !inside.named.contains(&name.as_str())
            });
            all.extend(left.map(|(index, (name, label, _))| CompletionItem {
                detail: Some(label.clone()),
                sort_text: Some(format!("0{index:02}")),
                ..item(view, &format!("{name}="), CompletionItemKind::Property, word)
            }));
            params.get(positional).map(|(.., ty)| ty.clone())
        }
    };
    all.extend(values(view, inside, wanted.as_ref(), word));
    if !inside.typed.starts_with('"') {
        all.extend(names(view, word));
    }
    all
}

/// The members of a closed set.
fn values(
    view: &View,
    inside: &Inside<'_>,
    wanted: Option<&Type>,
    word: Span,
) -> Vec<CompletionItem> {
    let choices: Vec<String> = match wanted {
        Some(Type::OneOf(choices)) => match inside.typed.starts_with('"') {
            true => choices.iter().map(str::to_owned).collect(),
            false => choices.iter().map(|it| format!("\"{it}\"")).collect(),
        },
        Some(Type::Bool) => vec!["true".to_owned(), "false".to_owned()],
        _ => Vec::new(),
    };
    let value = |choice: &String| CompletionItem {
        sort_text: Some(format!("00{choice}")),
        ..item(view, choice, CompletionItemKind::EnumMember, word)
    };
    choices.iter().map(value).collect()
}
