//! What `opal explain` shows.

use std::fmt::Write as _;

use opal_core::decorator::{Block, Cost, Descriptor, Exposure, Param, Presence, Role, Subject};
use opal_core::shape::{Shape, ShapeField, ShapeKind};
use opal_core::{Code, Registry, Type};
use serde_json::json;

use super::diagnostics::visible;
use super::{print, print_json};
use crate::failure::{Exit, Failure};

pub(crate) fn code(code: Code, page: &str, json: bool) -> Result<Exit, Failure> {
    if !json {
        return print(page);
    }
    print_json(&json!({
        "code": code.as_str(),
        "title": code.title(),
        "severity": code.severity().name(),
        "page": page,
    }))
}

pub(crate) fn index(registry: &Registry, json: bool) -> Result<Exit, Failure> {
    if json {
        let codes = Code::ALL.iter().map(|code| {
            json!({"code": code.as_str(), "title": code.title(), "severity": code.severity().name()})
        });
        let decorators = registry.iter().map(|descriptor| {
            json!({"path": descriptor.path, "summary": descriptor.summary, "roles": roles(descriptor)})
        });
        return print_json(&json!({
            "version": 1,
            "codes": codes.collect::<Vec<_>>(),
            "decorators": decorators.collect::<Vec<_>>(),
        }));
    }
    let mut out = String::from("Codes: opal explain CODE\n\n");
    for code in Code::ALL {
        let _ = writeln!(out, "  {}  {}", code.as_str(), code.title());
    }
    out.push_str("\nDecorators: opal explain @PATH\n\n");
    for descriptor in registry.iter() {
        let _ = writeln!(out, "  @{:<20} {}", descriptor.path, descriptor.summary);
    }
    print(&out)
}

fn roles(descriptor: &Descriptor) -> Vec<&'static str> {
    descriptor.roles().into_iter().map(Role::name).collect()
}

pub(crate) fn decorator(descriptor: &Descriptor, json: bool) -> Result<Exit, Failure> {
    if json {
        return print_json(&document(descriptor));
    }
    let mut out =
        format!("@{}: {}\n\n    {}\n\n", descriptor.path, descriptor.summary, usage(descriptor));
    if !descriptor.docs.is_empty() {
        let _ = writeln!(out, "{}\n", prose(descriptor.docs));
    }
    if !descriptor.params.is_empty() {
        out.push_str("Parameters:\n\n");
        for param in descriptor.params {
            let alias = param.alias.map_or(String::new(), |alias| format!(" (also `{alias}`)"));
            let _ = writeln!(out, "  {}: {}{alias}{}", param.name, param.ty, presence(param));
            let _ = writeln!(out, "      {}", param.docs);
        }
        out.push('\n');
    }
    if let Some(returns) = &descriptor.returns {
        let _ = writeln!(out, "Returns (schema {}): {}", returns.version, returned(&returns.ty));
        if let Some(shape) = descriptor.result {
            result_fields(shape, "", &mut out);
        }
    }
    for line in facts(descriptor) {
        let _ = writeln!(out, "{line}");
    }
    if let Some(plugin) = descriptor.plugin {
        let (name, version, source) = (plugin.name, plugin.version, plugin.source);
        let _ = writeln!(out, "Package: {name} {version}, from {source}");
    }
    for example in descriptor.examples {
        let _ = writeln!(out, "\nExample, {}:\n", example.title);
        for line in example.source.lines() {
            let _ = writeln!(out, "{}", format!("    {line}").trim_end());
        }
    }
    // The words may be those of a package.
    print(&out.lines().map(|line| visible(line) + "\n").collect::<String>())
}

/// The fields of a result, with what is said about each: `items[].name: String`.
fn result_fields(shape: &Shape, place: &str, out: &mut String) {
    let of = |fields: &'static [ShapeField], out: &mut String| {
        for field in fields {
            let dot = if place.is_empty() { "" } else { "." };
            let name = format!("{place}{dot}{}", field.name);
            let secret = if field.shape.secret { ", secret" } else { "" };
            let optional = if field.required { "" } else { ", optional" };
            let ty = returned(&field.shape.type_of());
            let _ = writeln!(out, "  {name}: {ty}{secret}{optional}");
            if !field.shape.docs.is_empty() {
                let _ = writeln!(out, "      {}", field.shape.docs);
            }
            result_fields(&field.shape, &name, out);
        }
    };
    match &shape.kind {
        ShapeKind::List(items) => result_fields(items, &format!("{place}[]"), out),
        ShapeKind::Map(values) => result_fields(values, &format!("{place}.*"), out),
        ShapeKind::Fields(fields) => of(fields, out),
        ShapeKind::Union { cases, .. } => cases.iter().for_each(|(_, fields)| of(fields, out)),
        _ => {}
    }
}

/// Headings as the other parts of the page have them.
fn prose(docs: &str) -> String {
    let line = |line: &str| match line.strip_prefix("## ") {
        Some(title) => format!("{title}:"),
        None => line.to_owned(),
    };
    docs.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

fn presence(param: &Param) -> String {
    let mut text = match &param.presence {
        Presence::Required => ", required".to_owned(),
        Presence::Optional => String::new(),
        Presence::Default(value) => format!(" = {value}"),
    };
    if let Some((low, high)) = param.range {
        let _ = write!(text, ", {low} to {high}");
    }
    if let Some(pattern) = param.pattern {
        let _ = write!(text, ", matches {pattern}");
    }
    if let Some(instead) = param.deprecated {
        let _ = write!(text, ", deprecated: {instead}");
    }
    text
}

fn returned(ty: &Type) -> String {
    match ty {
        Type::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", field.name, field.ty)).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn usage(descriptor: &Descriptor) -> String {
    let name = match descriptor.subject {
        Subject::None => String::new(),
        Subject::Required(_) | Subject::OrParam(_) => ".NAME".to_owned(),
    };
    let one_of = descriptor.one_of.join(" | ");
    let required: Vec<&str> = descriptor
        .params
        .iter()
        .filter_map(|param| match param.presence {
            Presence::Required if descriptor.subject != Subject::OrParam(param.name) => {
                Some(param.name)
            }
            _ if descriptor.one_of.first() == Some(&param.name) => Some(&*one_of),
            _ => None,
        })
        .collect();
    let more = descriptor.params.len() > required.len() || descriptor.open_params.is_some();
    let mut inside = required.join(", ");
    if more {
        inside.push_str(if inside.is_empty() { "…" } else { ", …" });
    }
    let arguments = if inside.is_empty() { String::new() } else { format!("({inside})") };
    let block = match descriptor.block {
        Block::Forbidden => "",
        Block::Optional => " [{ … }]",
        Block::Required => " { … }",
        Block::Text => " { text }",
    };
    format!("@{}{name}{arguments}{block}", descriptor.path)
}

fn facts(descriptor: &Descriptor) -> Vec<String> {
    let mut facts = Vec::new();
    let roles = roles(descriptor);
    if !roles.is_empty() {
        facts.push(format!("Roles: {}", roles.join(", ")));
    }
    // What these give is what they were given: nothing of their own to say.
    let passes_on = matches!(descriptor.path, "args" | "let" | "raw" | "var");
    if descriptor.is_value() && !passes_on {
        facts.push(match descriptor.cost {
            Cost::Cheap => "Resolved in quick plans too".into(),
            Cost::Expensive => "Deferred in quick plans".into(),
        });
        facts.push(match descriptor.exposure {
            Exposure::Secret => "A secret: hidden everywhere".into(),
            Exposure::Resolved => "A secret unless `public=true`: hidden everywhere".into(),
            Exposure::Plain => "A placeholder in plans, in clear in runs".into(),
            Exposure::Marked => {
                "Secret fields are hidden everywhere, the others only in plans".into()
            }
            Exposure::Public => "In clear everywhere".into(),
        });
    }
    if descriptor.acts_when_read {
        facts.push("Reading it may change something: `opal verify` does not read it".into());
    }
    if !descriptor.repeatable {
        facts.push("Refused in contracts: its value changes each time it is read".into());
    }
    if let Some(resource) = &descriptor.resource {
        let kind = step_type(descriptor).map(|kind| format!("Step type in YAML: {kind}; "));
        let keys = resource.key.join(" + ");
        facts.push(match kind {
            Some(kind) => format!("{kind}distinguished by {keys}"),
            None => format!("Distinguished by {keys}"),
        });
    }
    facts
}

/// Of a resource in YAML.
fn step_type(descriptor: &Descriptor) -> Option<&'static str> {
    let resource = descriptor.resource.as_ref()?;
    descriptor.is_step_type().then_some(resource.yaml)
}

fn document(descriptor: &Descriptor) -> serde_json::Value {
    let params = descriptor.params.iter().map(|param| {
        let mut document = json!({
            "name": param.name,
            "type": param.ty.to_string(),
            "required": matches!(param.presence, Presence::Required),
            "docs": param.docs,
        });
        if let Presence::Default(value) = &param.presence {
            document["default"] = json!(value.to_string());
        }
        if let Some(alias) = param.alias {
            document["alias"] = json!(alias);
        }
        if let Some((low, high)) = param.range {
            document["range"] = json!([low, high]);
        }
        if let Some(pattern) = param.pattern {
            document["pattern"] = json!(pattern);
        }
        document
    });
    let resource = descriptor.resource.as_ref();
    let package = descriptor
        .plugin
        .map(|it| json!({"name": it.name, "version": it.version, "source": it.source}));
    json!({
        "version": 1,
        "path": descriptor.path,
        "summary": descriptor.summary,
        "usage": usage(descriptor),
        "docs": descriptor.docs,
        "roles": roles(descriptor),
        "params": params.collect::<Vec<_>>(),
        "returns": descriptor.returns.as_ref().map(|r| json!({"version": r.version, "type": returned(&r.ty)})),
        "package": package,
        "resource": resource.map(|it| json!({"type": step_type(descriptor), "key": it.key})),
        "examples": descriptor.examples.iter().map(|e| json!({"title": e.title, "source": e.source})).collect::<Vec<_>>(),
    })
}
