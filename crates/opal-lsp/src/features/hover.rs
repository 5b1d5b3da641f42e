//! What is known about what the cursor is on.

use gen_lsp_types::Hover;
use opal_core::Span;
use opal_plan::check::observer::Callee;

use super::documents;
use crate::facts::Target;
use crate::files::View;
use crate::pages;

pub(crate) fn of(view: &View, at: u32) -> Option<Hover> {
    let (said, span) =
        name(view, at).or_else(|| call(view, at)).or_else(|| argument(view, at)).unzip();
    let page = page(view, at);
    let span = span.or_else(|| page.as_ref().map(|(_, span)| *span))?;
    let parts: Vec<String> = said.into_iter().chain(page.map(|(page, _)| page)).collect();
    Some(documents::hover(parts.join("\n\n---\n\n"), view.text.range(span)))
}

/// A variable, a function or a namespace.
fn name(view: &View, at: u32) -> Option<(String, Span)> {
    let facts = &view.analysis.facts;
    let span = match facts.use_at(at) {
        Some(used) => used.span,
        None => facts.definitions[facts.definition_at(at)?].span,
    };
    let said = match facts.target_at(at)? {
        Target::Own(index) => documents::definition(view, facts, &facts.definitions[index]),
        Target::Foreign(function, None) => documents::function(&facts.functions[function]),
        Target::Foreign(function, Some(param)) => {
            let function = &facts.functions[function];
            let param = &function.params[param];
            let label = documents::function_param_label(param);
            let docs = param.docs.as_deref().unwrap_or_default();
            format!("```text\n{label}\n```\nparameter of `{}`\n\n{docs}", function.called)
        }
    };
    Some((said, span))
}

/// A decorator, or a function of expressions.
fn call(view: &View, at: u32) -> Option<(String, Span)> {
    let found = view.analysis.facts.call_at(at)?;
    let said = match found.callee {
        Callee::Decorator(descriptor) => {
            let called = view.text.slice(found.path).trim_start_matches('@');
            documents::decorator(called, descriptor)
        }
        Callee::Function(index) => {
            let facts = &view.analysis.facts;
            documents::function(facts.functions.iter().find(|it| it.index == index)?)
        }
        Callee::Builtin(function) => {
            let signature = function.signature();
            format!("```text\n{} -> {}\n```", signature.form, signature.gives)
        }
    };
    Some((said, found.path))
}

/// The name of an argument.
fn argument(view: &View, at: u32) -> Option<(String, Span)> {
    let mut arguments = view.analysis.facts.arguments.iter();
    let found =
        arguments.find(|it| it.name.is_some_and(|name| name.start <= at && at <= name.end))?;
    let Callee::Decorator(descriptor) = found.callee else { return None };
    let param = &descriptor.params[found.param?];
    let label = documents::param_label(param);
    Some((format!("```text\n{label}\n```\n{}", param.docs), found.name?))
}

/// The page of what was found here.
fn page(view: &View, at: u32) -> Option<(String, Span)> {
    let is_here = |span: Span| span.start <= at && at <= span.end;
    let mut own = view.analysis.own().iter().map(|it| &it.diagnostic);
    let found = own.find(|it| is_here(it.primary.span))?;
    let page = pages::of(found.code.as_str())?;
    Some((page.trim_end().to_owned(), found.primary.span))
}
