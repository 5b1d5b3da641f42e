//! The profile of a driver: policy, and no intent.
//!
//! What a driver reads for itself (its tools and their arguments) stays open here; what all drivers
//! share is checked.

use std::path::{Component, Path};

use opal_core::{Code, Diagnostic};
use serde_json::{Map, Value};

use super::document::{
    Checked, caption, checked, needed_name, needed_text, optional_list, optional_map, switch,
};
use super::reference::{Name, shorten};
use super::value::mapping;
use crate::config::document::{Node, NodeKind};
use crate::config::fields::Fields;
use crate::config::report::Report;
use crate::config::scalar::{Meaning, meaning};

/// What a module says, and a profile never does.
const INTENT: [&str; 6] =
    ["dependencies", "execution", "inputs", "module_ref", "outputs", "requirements"];

/// A profile without faults.
#[derive(Clone, Debug)]
pub struct Profile {
    pub profile_ref: Name,
    pub driver: Name,
    pub description: Option<String>,
    pub policy: Policy,
    pub templates: Vec<Template>,
    /// Variables for the tools.
    pub env: Map<String, Value>,
    /// The names of the hooks it owns.
    pub hooks: Vec<String>,
}

/// What holds for every run with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    pub command_timeout_s: Option<u32>,
    pub retries: u32,
    pub redact: bool,
    pub min_free_disk_mb: Option<u32>,
}

/// A file that the driver writes beside the stack: both paths are relative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub src: String,
    pub dst: String,
}

impl Profile {
    #[must_use]
    pub fn read(text: &str) -> Checked<Self> {
        checked(text, "DriverProfile", profile)
    }
}

fn profile(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Option<Profile> {
    let profile_ref = needed_name(fields, "profile_ref", "profile", report);
    let driver = needed_name(fields, "driver", "driver", report);
    let description = caption(fields, "description");
    for key in INTENT {
        if let Some(field) = fields.take(key) {
            let message = format!("a profile has no `{key}`: that is for the module to say");
            let error = Diagnostic::new(Code::SpecLeak, field.key, message);
            report.push(error.help("move it into the spec of the module"));
        }
    }
    let policy = policy(fields, report);
    let templates = optional_list(fields, "templates", report)
        .into_iter()
        .filter_map(|node| template(node, report))
        .collect();
    let env = fields.take("env").and_then(|field| mapping(field.value, "`env`", report));
    let hooks = optional_map(fields, "hooks", report)
        .map(|hooks| hooks.keys().map(str::to_owned).collect())
        .unwrap_or_default();
    let ((profile_ref, _), (driver, _)) = (profile_ref?, driver?);
    let env = env.unwrap_or_default();
    Some(Profile { profile_ref, driver, description, policy, templates, env, hooks })
}

fn policy(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Policy {
    let mut policy =
        Policy { command_timeout_s: None, retries: 0, redact: true, min_free_disk_mb: None };
    let Some(mut found) = optional_map(fields, "policy", report) else { return policy };
    if let Some(mut constraints) = optional_map(&mut found, "constraints", report)
        && let Some(field) = constraints.take("inputs")
    {
        let message = "the constraints of a profile bound tools and workspaces, not inputs";
        let error = Diagnostic::new(Code::SpecLeak, field.key, message);
        report.push(error.help("move it into `inputs.schema.json` beside the spec of the module"));
    }
    let Some(mut defaults) = optional_map(&mut found, "defaults", report) else { return policy };
    policy.command_timeout_s = count(&mut defaults, "command_timeout_s", 1, report);
    policy.retries = count(&mut defaults, "retries", 0, report).unwrap_or(0);
    policy.redact = switch(&mut defaults, "redact", true, report);
    policy.min_free_disk_mb = count(&mut defaults, "min_free_disk_mb", 0, report);
    policy
}

fn count(fields: &mut Fields<'_>, key: &str, least: u32, report: &mut Report<'_>) -> Option<u32> {
    let node = fields.take(key)?.value;
    if let NodeKind::Scalar { text, plain: true } = &node.kind
        && let Meaning::Int(number) = meaning(text)
        && let Ok(number) = u32::try_from(number)
        && number >= least
    {
        return Some(number);
    }
    let message = format!("`{key}` is a whole number, at least {least}");
    report.error(
        Code::ConfigValue,
        node.head(),
        message,
        format!("write `{key}: {}`", least.max(1)),
    );
    None
}

fn template(node: &Node, report: &mut Report<'_>) -> Option<Template> {
    let mut fields = Fields::of(node, "a template", report)?;
    let mut path = |key: &str| {
        let given = needed_text(&mut fields, key, report)?;
        let stays = Path::new(given.text).components().all(|it| matches!(it, Component::Normal(_)));
        if !stays {
            let message = format!("`{}` leads out of its directory", shorten(given.text));
            report.error(
                Code::SpecReference,
                given.span,
                message,
                "write a relative path without `..`",
            );
        }
        stays.then(|| given.text.to_owned())
    };
    let (src, dst) = (path("src"), path("dst"));
    Some(Template { src: src?, dst: dst? })
}
