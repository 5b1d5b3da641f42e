//! `workspace_policy` of a profile: where a tool runs, and who provides that. Two of its keys are read
//! by others; opal makes no workspaces, and says so to whoever wants more.

use super::policy::NO_WORKSPACES;
use crate::document::{all_without_effect, is_nothing, switch, text, unread};
use opal_config::report::Report;
use opal_yaml::fields::{Field, Fields};

pub(super) const KEY: &str = "workspace_policy";

const KEYS: [&str; 4] = ["enabled", "mode", "provider", "strict"];

/// Reports what is wrong with it, and which keys have no effect: `reads_mode` and `reads_provider`
/// say whether these are read.
pub(super) fn check(
    field: Field<'_>,
    reads_mode: bool,
    reads_provider: bool,
    report: &mut Report<'_>,
) {
    if is_nothing(field.value) {
        return;
    }
    let what = format!("`{KEY}`");
    let Some(mut fields) = Fields::of(field.value, &what, report) else { return };
    let enabled = fields.get("enabled").map(|_| switch(&mut fields, "enabled", false, report));
    let strict = switch(&mut fields, "strict", false, report);
    let mut says = |key: &str| {
        let node = fields.take(key)?.value;
        if is_nothing(node) { None } else { text(node, key, report) }
    };
    let (mode, provider) = (says("mode").is_some(), says("provider").is_some());
    let idle = [
        ("enabled: true", enabled == Some(true)),
        ("mode", mode && !reads_mode),
        ("provider", provider && !reads_provider),
        ("strict: true", strict),
    ];
    let idle = idle.into_iter().filter(|(_, is_idle)| *is_idle);
    let idle: Vec<String> = idle.map(|(name, _)| format!("{KEY}.{name}")).collect();
    // What is switched off wants nothing.
    if !idle.is_empty() && enabled != Some(false) {
        report.push(all_without_effect(&idle, field.key, NO_WORKSPACES));
    }
    unread(&mut fields, &format!("{KEY}."), &KEYS, "opal does not know it", report);
}
