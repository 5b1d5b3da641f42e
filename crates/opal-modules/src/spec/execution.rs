//! `execution`: which driver, which profile, which pack, and the switches of their hooks.

use opal_core::{Code, Diagnostic, suggest};
use serde_json::{Map, Value};

use super::super::document::{closed, needed_map, needed_name, optional_map};
use super::super::profile::Profile;
use super::super::reference::shorten;
use super::super::value;
use super::{Execution, Hook, Spans, secret};
use opal_config::document::{Node, NodeKind};
use opal_config::report::Report;
use opal_yaml::fields::{Field, Fields};

const KEYS: [&str; 4] = ["driver", "hooks", "pack_ref", "profile"];

/// The hooks that the built-in drivers have.
const DRIVER_HOOKS: [&str; 1] = ["export_infra"];

/// The settings that opal acts on.
const SWITCHES: [&str; 2] = ["enabled", "strict"];

/// Settings that would be an implementation, whatever their value.
const COMMANDS: [&str; 9] =
    ["args", "argv", "bin", "cmd", "command", "exec", "path", "run", "script"];

/// What it names, and where.
pub(super) fn read(mut fields: Fields<'_>, report: &mut Report<'_>) -> Option<(Execution, Spans)> {
    let driver = needed_name(&mut fields, "driver", "driver", report);
    let profile = needed_name(&mut fields, "profile", "profile", report);
    let pack = needed_map(&mut fields, "pack_ref", report).and_then(|mut pack_ref| {
        let pack = needed_name(&mut pack_ref, "id", "pack", report);
        let help = "the driver and its profile decide how to run the pack";
        closed(&mut pack_ref, "`pack_ref`", &["id"], help, report);
        pack
    });
    let mut hooks = Vec::new();
    if let Some(mut found) = optional_map(&mut fields, "hooks", report) {
        let names: Vec<&str> = found.keys().collect();
        for name in names {
            let Some(field) = found.take(name) else { continue };
            hooks.extend(hook(name, field, report));
        }
    }
    let help = "a module describes the desired result; the driver, the profile and the pack \
        decide how to reach it";
    closed(&mut fields, "`execution`", &KEYS, help, report);
    let ((driver, of_driver), (profile, of_profile), (pack, of_pack)) = (driver?, profile?, pack?);
    let spans = Spans { driver: of_driver, profile: of_profile, pack: of_pack };
    Some((Execution { driver, profile, pack, hooks }, spans))
}

/// A hook that is set: by a switch, or by a flat map.
fn hook(name: &str, field: Field<'_>, report: &mut Report<'_>) -> Option<Hook> {
    let settings = match value::value(field.value, report)? {
        Value::Bool(enabled) => Some(Map::from_iter([("enabled".to_owned(), enabled.into())])),
        Value::Object(settings) => Some(settings),
        _ => None,
    };
    secret::refuse(field.value, never_here, report);
    let shown = shorten(name);
    let Some(settings) = settings else {
        let message = format!("the hook `{shown}` must be `true`, `false` or a map of settings");
        report.push(refused(field, message));
        return None;
    };
    if let Some((key, _)) = settings.iter().find(|(key, value)| !is_setting(key, value)) {
        let key = shorten(key);
        let message = format!("`{key}` of the hook `{shown}` is an implementation, not a setting");
        report.push(refused(field, message));
        return None;
    }
    let is_switch = |value: &Value| value.is_boolean() || value.is_null();
    let is_odd = |key: &&str| settings.get(*key).is_some_and(|it| !is_switch(it));
    if let Some(key) = SWITCHES.into_iter().find(is_odd) {
        let message = format!("`{key}` of the hook `{shown}` must be `true` or `false`");
        report.push(refused(field, message));
        return None;
    }
    let typos = typos(&settings, field, &shown);
    if !typos.is_empty() {
        typos.into_iter().for_each(|typo| report.push(typo));
        return None;
    }
    Some(Hook { name: name.to_owned(), span: field.key, settings })
}

/// Settings that are almost a switch, and were meant to be one: a switch that does not switch is dangerous.
fn typos(settings: &Map<String, Value>, field: Field<'_>, hook: &str) -> Vec<Diagnostic> {
    let NodeKind::Map(pairs) = &field.value.kind else { return Vec::new() };
    let typo = |key: &Node| {
        let NodeKind::Scalar { text, .. } = &key.kind else { return None };
        let is_meant = settings.get(text).is_some_and(is_truth);
        let absent = SWITCHES.into_iter().filter(|switch| !settings.contains_key(*switch));
        let near = suggest::nearest(text, absent).filter(|_| is_meant)?;
        let message = format!("`{}` of the hook `{hook}` has no effect", shorten(text));
        let error = Diagnostic::new(Code::SpecHook, key.span, message);
        let error = error.help(format!("did you mean `{near}`?"));
        Some(error.fix(format!("write `{near}`"), key.span, near))
    };
    pairs.iter().filter_map(|(key, _)| typo(key)).collect()
}

/// What can be meant for a switch: `street: main` is not.
fn is_truth(value: &Value) -> bool {
    const WORDS: [&str; 8] = ["false", "n", "no", "off", "on", "true", "y", "yes"];
    match value {
        Value::String(text) => WORDS.contains(&text.to_ascii_lowercase().as_str()),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// The way out for a secret setting.
fn never_here(name: &str) -> String {
    format!("remove `{name}`: a hook has the credentials of the module in its environment")
}

fn refused(field: Field<'_>, message: String) -> Diagnostic {
    Diagnostic::new(Code::SpecHook, field.value.head(), message).help(
        "write `true`, `false`, or settings like `strict: false`; the profile decides what a hook \
         runs",
    )
}

/// A truth, a number, or a single word that can be no path and no command.
fn is_setting(key: &str, value: &Value) -> bool {
    let is_word = |text: &str| {
        !text.starts_with(['.', '-'])
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-:@".contains(c))
    };
    !COMMANDS.contains(&key)
        && match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::String(text) => is_word(text),
            Value::Array(_) | Value::Object(_) => false,
        }
}

pub(super) fn unknown_hooks(hooks: &[Hook], profile: Option<&Profile>) -> Vec<Diagnostic> {
    let own = profile.into_iter().flat_map(|profile| profile.hooks.keys().map(String::as_str));
    let known: Vec<&str> = DRIVER_HOOKS.into_iter().chain(own).collect();
    let unknown = hooks.iter().filter(|hook| !known.contains(&hook.name.as_str()));
    let diagnostic = |hook: &Hook| {
        let message =
            format!("unknown hook `{}`: no driver and no profile has it", shorten(&hook.name));
        let near = suggest::nearest(&hook.name, known.iter().copied());
        Diagnostic::new(Code::SpecHook, hook.span, message)
            .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
            .help("describe a hook under `hooks` of the profile, and enable it here")
    };
    unknown.map(diagnostic).collect()
}
