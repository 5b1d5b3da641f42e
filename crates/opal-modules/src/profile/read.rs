//! Reading a profile.

use std::path::{Component, Path};

use opal_config::document::{Node, NodeKind};
use opal_config::report::Report;
use opal_core::{Code, Diagnostic};
use opal_yaml::fields::Fields;
use serde_json::{Map, Value};

use super::hooks::{self, from_credentials};
use super::policy::{self, Policy};
use super::{Profile, Template, workspace};
use crate::document::{
    Checked, caption, checked, needed_name, needed_text, optional_list, unused, without_effect,
};
use crate::programs::program_name;
use crate::reference::shorten;
use crate::run::{Driver, drivers};
use crate::spec::secret;
use crate::value::{mapping, value};

/// What a module says, and a profile never does.
const INTENT: [&str; 6] =
    ["dependencies", "execution", "inputs", "module_ref", "outputs", "requirements"];

/// What opal reads in a profile of every driver.
const KEYS: [&str; 9] = [
    "api_version",
    "description",
    "driver",
    "env",
    "hooks",
    "kind",
    "policy",
    "profile_ref",
    "templates",
];

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
            let message =
                format!("`{key}` is not allowed in a profile: it belongs in the spec of a module");
            let error = Diagnostic::new(Code::SpecLeak, field.key, message);
            report.push(error.help("move it to the spec of the module"));
        }
    }
    let keeps_state = driver.as_ref().is_some_and(|(name, _)| name.as_str() == "iac/terragrunt");
    let policy = Policy::read(fields, keeps_state, report);
    let names_provider = policy.workspace_pattern.as_ref().is_some_and(|it| it.names("provider"));
    match fields.get_field(workspace::KEY) {
        Some(field) if keeps_state || names_provider => {
            workspace::check(field, keeps_state, names_provider, report);
        }
        Some(field) => unused(workspace::KEY, field.key, policy::NO_WORKSPACES, report),
        None => {}
    }
    let templates = optional_list(fields, "templates", report)
        .into_iter()
        .filter_map(|node| template(node, report))
        .collect();
    let env = fields.take("env").and_then(|field| {
        secret::refuse(field.value, from_credentials, report);
        mapping(field.value, "`env`", report)
    });
    let hooks = hooks::read(fields, report);
    let built_in = driver.as_ref().and_then(|(name, _)| drivers::find(name).ok());
    built_in.into_iter().for_each(|driver| unread_settings(fields, driver, report));
    let others: Vec<&str> = fields.keys().collect();
    let mut settings = Map::new();
    for key in others {
        let found = fields.take(key).and_then(|field| value(field.value, report));
        settings.extend(found.map(|found| (key.to_owned(), found)));
    }
    built_in.into_iter().for_each(|driver| unasked_tools(&policy, &settings, driver, report));
    let ((profile_ref, _), (driver, _)) = (profile_ref?, driver?);
    let env = env.unwrap_or_default();
    Some(Profile { profile_ref, driver, description, policy, templates, env, hooks, settings })
}

/// Warns about what is neither for opal nor for the driver.
fn unread_settings(fields: &Fields<'_>, driver: &dyn Driver, report: &mut Report<'_>) {
    let why = format!("the driver `{}` does not read it", driver.reference());
    let own = driver.section();
    let section = own.map(|own| own.name);
    let known: Vec<&str> = KEYS.into_iter().chain([workspace::KEY]).chain(section).collect();
    for key in fields.keys().filter(|key| !known.contains(key)) {
        let Some(field) = fields.get_field(key) else { continue };
        report.push(without_effect("", key, field.key, &known, &why));
    }
    let Some((own, node)) = own.and_then(|own| Some((own, fields.get(own.name)?))) else { return };
    // What is wrong with the section itself is reported where it is read as a value.
    let NodeKind::Map(pairs) = &node.kind else { return };
    for (key, _) in pairs {
        if let NodeKind::Scalar { text, .. } = &key.kind
            && !own.keys.contains(&text.as_str())
        {
            let prefix = format!("{}.", own.name);
            report.push(without_effect(&prefix, text, key.span, own.keys, &why));
        }
    }
}

/// Warns about versions of programs that no run with this driver starts.
fn unasked_tools(
    policy: &Policy,
    settings: &Map<String, Value>,
    driver: &dyn Driver,
    report: &mut Report<'_>,
) {
    let Some(programs) = driver.programs(settings) else { return };
    let known: Vec<&str> = programs.iter().map(|it| program_name(it)).collect();
    let why = format!("the driver `{}` starts no such program", driver.reference());
    for (name, tool) in policy.tool_versions.iter().filter(|(it, _)| !known.contains(&it.as_str()))
    {
        report.push(without_effect("policy.tool_versions.", name, tool.span, &known, &why));
    }
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
