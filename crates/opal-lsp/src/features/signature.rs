//! The parameters of the call that is being typed.

use gen_lsp_types::{
    ActiveParameter, ParameterInformation, ParameterInformationLabel, SignatureHelp,
    SignatureInformation,
};
use opal_core::decorator::Descriptor;
use opal_plan::unit::{Builtin, CallKind};

use super::documents;
use super::place::{self, Inside};
use crate::facts::Function;
use crate::files::View;

/// What a text that is being typed calls.
pub(crate) enum Callable<'v> {
    Decorator(&'static Descriptor),
    Function(&'v Function),
    Builtin(Builtin),
}

/// What a call in brackets is of.
pub(crate) fn callable<'v>(view: &'v View, inside: &Inside<'_>) -> Option<Callable<'v>> {
    if !inside.has_at {
        return Builtin::named(inside.path).map(Callable::Builtin);
    }
    if let Some((_, function)) = CallKind::of(inside.path) {
        return view.analysis.facts.function(function).map(Callable::Function);
    }
    let shorter = || inside.path.rsplit_once('.').and_then(|(it, _)| view.registry.get(it));
    view.registry.get(inside.path).or_else(shorter).map(Callable::Decorator)
}

pub(crate) fn of(view: &View, at: u32) -> Option<SignatureHelp> {
    let inside = place::inside(&view.text, at)?;
    let (label, docs, params) = match callable(view, &inside)? {
        Callable::Decorator(descriptor) => {
            let params = descriptor.params.iter();
            let params = params.map(|it| (it.name, documents::param_label(it), it.docs.to_owned()));
            let label = documents::decorator_label(inside.path, descriptor);
            (label, descriptor.summary.to_owned(), params.collect::<Vec<_>>())
        }
        Callable::Function(function) => {
            let params = function.params.iter().map(|it| {
                let docs = it.docs.clone().unwrap_or_default();
                (it.name.as_str(), documents::function_param_label(it), docs)
            });
            (documents::function_label(function), function.docs.clone(), params.collect())
        }
        Callable::Builtin(function) => {
            (function.signature().form.to_owned(), String::new(), Vec::new())
        }
    };
    let active = match inside.name {
        Some(name) => params.iter().position(|(it, ..)| *it == name),
        None => Some(inside.index).filter(|index| *index < params.len()),
    };
    let active = active.map(|index| ActiveParameter::Int(index as u32));
    let parameters = params.into_iter().map(|(_, label, docs)| ParameterInformation {
        label: ParameterInformationLabel::String(label),
        documentation: documents::documentation(docs),
    });
    let signature = SignatureInformation {
        label,
        documentation: documents::documentation(docs),
        parameters: Some(parameters.collect()),
        active_parameter: active,
    };
    Some(SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: active,
    })
}
