//! The profile of a driver: policy, and no intent.
//!
//! What a driver reads for itself (its tools and their arguments) stays open here; what all drivers
//! share is checked.

use std::path::{Component, Path};

use opal_core::{Code, Diagnostic, suggest};
use serde_json::{Map, Value};

use super::document::{
    Checked, caption, checked, needed_name, needed_text, optional_list, optional_map, switch,
    unused,
};
use super::reference::{Name, shorten};
use super::spec::secret;
use super::value::{mapping, value};
use crate::config::document::{Node, NodeKind};
use crate::config::fields::Fields;
use crate::config::report::Report;
use crate::config::scalar::{Meaning, meaning};

/// What a module says, and a profile never does.
const INTENT: [&str; 6] =
    ["dependencies", "execution", "inputs", "module_ref", "outputs", "requirements"];

const DEFAULTS: [&str; 4] = ["command_timeout_s", "min_free_disk_mb", "redact", "retries"];

/// What `policy` may say and opal does not act on, and why.
const UNUSED: [(&str, &str); 4] = [
    ("constraints", "nothing is held against it"),
    ("naming", "names are as the inputs say them"),
    ("tool_versions", "no tool is asked for its version"),
    ("workspace", "workspaces are not made or named"),
];

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
    /// Everything else, for the driver to read: `terragrunt`, `ansible`, `workspace_policy`.
    pub settings: Map<String, Value>,
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
    let reads_mode = driver.as_ref().is_some_and(|(name, _)| name.as_str() == "iac/terragrunt");
    if !reads_mode && let Some(field) = fields.get_field("workspace_policy") {
        unused("workspace_policy", field.key, "workspaces are not made or named", report);
    }
    let templates = optional_list(fields, "templates", report)
        .into_iter()
        .filter_map(|node| template(node, report))
        .collect();
    let env = fields.take("env").and_then(|field| {
        secret::refuse(field.value, from_credentials, report);
        mapping(field.value, "`env`", report)
    });
    let hooks = optional_map(fields, "hooks", report)
        .map(|hooks| hooks.keys().map(str::to_owned).collect())
        .unwrap_or_default();
    let others: Vec<&str> = fields.keys().collect();
    let mut settings = Map::new();
    for key in others {
        let found = fields.take(key).and_then(|field| value(field.value, report));
        settings.extend(found.map(|found| (key.to_owned(), found)));
    }
    let ((profile_ref, _), (driver, _)) = (profile_ref?, driver?);
    let env = env.unwrap_or_default();
    Some(Profile { profile_ref, driver, description, policy, templates, env, hooks, settings })
}

/// The way out for a secret variable.
fn from_credentials(name: &str) -> String {
    format!(
        "leave it out: the tools get `{name}` from an `.env` file of a credential of the module"
    )
}

fn policy(fields: &mut Fields<'_>, report: &mut Report<'_>) -> Policy {
    let mut policy =
        Policy { command_timeout_s: None, retries: 0, redact: true, min_free_disk_mb: None };
    let Some(mut found) = optional_map(fields, "policy", report) else { return policy };
    for (key, why) in UNUSED {
        if let Some(field) = found.get_field(key) {
            unused(&format!("policy.{key}"), field.key, why, report);
        }
    }
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
    let redact = defaults.get_field("redact");
    policy.redact = switch(&mut defaults, "redact", true, report);
    if let Some(field) = redact.filter(|_| !policy.redact) {
        let why = "what is secret is always hidden";
        unused("policy.defaults.redact: false", field.key, why, report);
    }
    policy.min_free_disk_mb = count(&mut defaults, "min_free_disk_mb", 0, report);
    astray(&mut defaults, report);
    policy
}

/// Keys that are left: a slip of one that is known is an error, any other is for another tool.
fn astray(defaults: &mut Fields<'_>, report: &mut Report<'_>) {
    let others: Vec<&str> = defaults.keys().collect();
    for key in others {
        let Some(field) = defaults.take(key) else { continue };
        if suggest::nearest(key, DEFAULTS).is_some() {
            let message = format!("`policy.defaults` has no key `{}`", shorten(key));
            let error = Diagnostic::new(Code::ConfigUnknownKey, field.key, message);
            report.unknown(error, key, DEFAULTS.into_iter());
        } else {
            let name = format!("policy.defaults.{}", shorten(key));
            unused(&name, field.key, "opal does not know it", report);
        }
    }
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
