//! What is said about decorators, functions and variables, as Markdown: from their descriptors and
//! comments.

use gen_lsp_types::{Contents, Documentation, Hover, MarkupContent, MarkupKind, Range};
use opal_core::decorator::{Block, Descriptor, Param, Presence};
use opal_core::{Type, Value};
use opal_plan::check::observer::DefinitionKind;

use crate::facts::{self, Definition, Facts, Function};
use crate::files::View;

pub(crate) fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

pub(crate) fn documentation(value: String) -> Option<Documentation> {
    (!value.trim().is_empty()).then(|| markdown(value).into())
}

pub(crate) fn hover(value: String, range: Range) -> Hover {
    Hover { contents: Contents::MarkupContent(markdown(value)), range: Some(range) }
}

/// A default or a choice, as a source writes it.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    }
}

/// `times: Int = 3`.
pub(crate) fn param_label(param: &Param) -> String {
    match &param.presence {
        Presence::Required => format!("{}: {}", param.name, param.ty),
        Presence::Optional => format!("{}?: {}", param.name, param.ty),
        Presence::Default(value) => format!("{}: {} = {}", param.name, param.ty, written(value)),
    }
}

/// `@retry(times: Int, delay: Duration = 1s) { … }`.
pub(crate) fn decorator_label(called: &str, descriptor: &Descriptor) -> String {
    let params: Vec<String> = descriptor.params.iter().map(param_label).collect();
    let block = match descriptor.block {
        Block::Forbidden => "",
        Block::Optional => " [{ … }]",
        Block::Required => " { … }",
        Block::Text => " { text }",
    };
    let gives = match &descriptor.returns {
        Some(returns) => format!(" -> {}", fields(&returns.ty)),
        None => String::new(),
    };
    format!("@{called}({}){block}{gives}", params.join(", "))
}

/// A type; of an object its fields.
pub(crate) fn fields(ty: &Type) -> String {
    let Type::Object(fields) = ty else { return ty.to_string() };
    let fields: Vec<String> =
        fields.iter().map(|field| format!("{}: {}", field.name, field.ty)).collect();
    format!("{{ {} }}", fields.join(", "))
}

/// All that its descriptor says.
pub(crate) fn decorator(called: &str, descriptor: &Descriptor) -> String {
    let mut out =
        format!("```text\n{}\n```\n{}.", decorator_label(called, descriptor), descriptor.summary);
    let when = match (descriptor.is_value(), descriptor.is_action()) {
        (true, _) => "\n\n*Read at plan time.*",
        (_, true) => "\n\n*Acts at run time.*",
        _ => "",
    };
    out.push_str(when);
    if !descriptor.docs.is_empty() {
        out.push_str(&format!("\n\n{}", descriptor.docs));
    }
    let documented = descriptor.params.iter().filter(|param| !param.docs.is_empty());
    let params: Vec<String> =
        documented.map(|param| format!("- `{}`: {}", param_label(param), param.docs)).collect();
    if !params.is_empty() {
        out.push_str(&format!("\n\n{}", params.join("\n")));
    }
    if let Some(plugin) = descriptor.plugin {
        out.push_str(&format!(
            "\n\nFrom {} {}: `{}`, verification: {} in the editor",
            plugin.name, plugin.version, plugin.source, plugin.verification
        ));
    }
    out
}

/// `build(target: String, fast: Bool = false)`.
pub(crate) fn function_label(function: &Function) -> String {
    let params: Vec<String> = function.params.iter().map(function_param_label).collect();
    format!("fun {}({})", function.called, params.join(", "))
}

pub(crate) fn function_param_label(param: &facts::Param) -> String {
    if param.rest {
        return format!("{}...", param.name);
    }
    let ty = match &param.ty {
        Type::Any => String::new(),
        ty => format!(": {ty}"),
    };
    let default = param.default.as_ref().map_or_else(String::new, |it| format!(" = {it}"));
    format!("{}{ty}{default}", param.name)
}

pub(crate) fn function(function: &Function) -> String {
    let mut out = format!("```opl\n{}\n```", function_label(function));
    if !function.docs.is_empty() {
        out.push_str(&format!("\n{}", function.docs));
    }
    let said = function.params.iter().filter_map(|it| Some((&it.name, it.docs.as_ref()?)));
    let said: Vec<String> = said.map(|(name, docs)| format!("- `{name}`: {docs}")).collect();
    if !said.is_empty() {
        out.push_str(&format!("\n\n{}", said.join("\n")));
    }
    if let Some(file) = &function.file {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        out.push_str(&format!("\n\n*From {}.*", format_args!("`{name}`")));
    }
    out
}

/// What a definition of the file is.
pub(crate) fn definition(view: &View, facts: &Facts, definition: &Definition) -> String {
    let line = view.text.line_of(definition.span.start) + 1;
    let name = &definition.name;
    let (form, origin, when) = match definition.kind {
        DefinitionKind::Variable => {
            (format!("var {name}: {}", definition.ty), "variable", "plan time")
        }
        DefinitionKind::Parameter => {
            (format!("{name}: {}", definition.ty), "parameter", "plan time")
        }
        DefinitionKind::Loop => (format!("for {name}: {}", definition.ty), "loop", "plan time"),
        DefinitionKind::Let => {
            (format!("let.{name}: {}", fields(&definition.ty)), "`let`", "run time, by its step")
        }
        DefinitionKind::Namespace => {
            let found = facts.imports.iter().find(|it| it.namespace.as_ref() == Some(name));
            let path = found.map_or("", |it| &it.path);
            return format!("```opl\nimport \"{path}\" as {name}\n```");
        }
        DefinitionKind::Function => {
            let found = facts.own_functions().find(|it| it.span == definition.span);
            return found.map(function).unwrap_or_default();
        }
    };
    let mut out = format!("```text\n{form}\n```\n{origin} of line {line}, known at {when}");
    let around = facts.function_around(definition.span.start);
    let docs = around.and_then(|it| it.params.iter().find(|param| param.span == definition.span));
    if let Some(docs) = docs.and_then(|param| param.docs.as_ref()) {
        out.push_str(&format!("\n\n{docs}"));
    }
    out
}
