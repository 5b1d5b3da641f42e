//! Validations: what must hold when all steps are done.

use opal_core::{Code, Diagnostic};

use super::arguments::{arguments, text, type_name};
use super::config::{Check, Validation};
use super::document::{Node, NodeKind};
use super::keys;
use super::report::Report;
use opal_yaml::fields::Fields;

pub(super) fn read(node: &Node, report: &mut Report<'_>) -> Vec<Validation> {
    let NodeKind::List(items) = &node.kind else {
        let help = "begin each with `- type: …`";
        report.error(Code::ConfigValue, node.head(), "`validations` must be a list", help);
        return Vec::new();
    };
    items.iter().filter_map(|item| validation(item, report)).collect()
}

fn validation(node: &Node, report: &mut Report<'_>) -> Option<Validation> {
    let mut fields = Fields::of(node, "a validation", report)?;
    let span = fields.head;
    let Some((given, place)) = type_name(&mut fields, report) else {
        let params = keys::VALIDATIONS.iter().flat_map(|form| form.params);
        let known: Vec<&str> = ["type"].into_iter().chain(params.map(|it| it.name)).collect();
        fields.typos(&known, report);
        return None;
    };
    let Some(form) = keys::VALIDATIONS.iter().find(|form| form.name == given) else {
        let message = format!("unknown validation type `{given}`");
        let error = Diagnostic::new(Code::ConfigUnknownType, place, message);
        report.unknown(error, given, keys::VALIDATIONS.iter().map(|form| form.name));
        return None;
    };
    fields.rename(format!("a `{}` validation", form.name));
    let found = arguments(&mut fields, form.params.iter(), None, report);
    fields.finish(form.params.iter().map(|param| param.name).chain(["type"]), report);
    let get = |name| text(&found, name);
    let check = match form.name {
        "command_exists" => Check::CommandExists { command: get("command")? },
        "file_exists" => Check::FileExists { path: get("path")? },
        _ => Check::PathContains { file: get("file")?, text: get("text")? },
    };
    Some(Validation { check, span })
}
