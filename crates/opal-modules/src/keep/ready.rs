//! Whether a target is ready: its settings, its tools, its credentials.
//!
//! The marker `<root>/meta/<target>.ready.json` says so to others, and exists only while the last
//! check found it true. Checking here changes nothing; [`super::init()`] does.

use std::path::Path;

use serde_json::{Map, Value};

use super::credentials::Credentials;
use super::file::{self, Unkept};
use super::root::RuntimeRoot;
use super::target::Target;
use crate::inputs::placeholder;
use crate::programs::Programs;
use crate::reference::shorten;
use crate::{CheckKind, document, value};

const MOST_BYTES: u64 = 1 << 20;

/// One thing that must hold for a target to be ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub kind: CheckKind,
    pub is_passed: bool,
    /// What was found. Holds no value.
    pub message: String,
    /// The way forward, where it is not passed.
    pub help: Option<String>,
}

impl Check {
    fn passed(kind: CheckKind, message: impl Into<String>) -> Self {
        Self { kind, is_passed: true, message: message.into(), help: None }
    }

    fn failed(kind: CheckKind, message: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { kind, is_passed: false, message: message.into(), help }
    }
}

/// The readiness of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// It was ready, and something is gone since.
    Stale,
    NotReady,
}

impl Readiness {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Stale => "stale",
            Self::NotReady => "not_ready",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetStatus {
    pub target: &'static Target,
    pub readiness: Readiness,
    /// The run that made it ready.
    pub run_id: Option<String>,
    /// What is missing.
    pub failed: Vec<Check>,
}

/// The readiness of every target. Tools are not looked up.
#[must_use]
pub fn status(root: &RuntimeRoot) -> Vec<TargetStatus> {
    Target::all().iter().map(|target| status_of(root, target)).collect()
}

fn status_of(root: &RuntimeRoot, target: &'static Target) -> TargetStatus {
    let checks = [Some(settings(root, target).1), credentials(root, target).map(|found| found.1)];
    let mut failed: Vec<Check> =
        checks.into_iter().flatten().filter(|check| !check.is_passed).collect();
    let (has_marker, run_id) = match marker(root, target) {
        Ok(Some(run_id)) => (true, Some(run_id)),
        Ok(None) => (false, None),
        Err(unkept) => {
            failed.push(Check::failed(CheckKind::Marker, unkept.to_string(), unkept.help()));
            (true, None)
        }
    };
    let readiness = match (has_marker, failed.is_empty()) {
        (true, true) => Readiness::Ready,
        (true, false) => Readiness::Stale,
        (false, _) => Readiness::NotReady,
    };
    TargetStatus { target, readiness, run_id, failed }
}

/// The run that has left the marker.
fn marker(root: &RuntimeRoot, target: &Target) -> Result<Option<String>, Unkept> {
    let path = root.ready(target);
    let Some(bytes) = file::read(&path, MOST_BYTES)? else { return Ok(None) };
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    let run_id = value.as_ref().and_then(|value| value.get("run_id")?.as_str());
    match run_id {
        Some(run_id) => Ok(Some(run_id.to_owned())),
        None => Err(Unkept::because(&path, "it is not the marker of a target")),
    }
}

/// The settings of a target, where nothing is wrong with them.
pub(super) fn settings(root: &RuntimeRoot, target: &Target) -> (Map<String, Value>, Check) {
    let path = root.config(target);
    match read_settings(&path, target) {
        Ok(settings) => {
            (settings, Check::passed(CheckKind::Config, format!("`{}`", path.display())))
        }
        Err(why) => {
            let message = format!("`{}` cannot be used: {why}", path.display());
            (
                Map::new(),
                Check::failed(CheckKind::Config, message, format!("edit `{}`", path.display())),
            )
        }
    }
}

fn read_settings(path: &Path, target: &Target) -> Result<Map<String, Value>, String> {
    let bytes = match file::read(path, MOST_BYTES) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err("it does not exist".to_owned()),
        Err(unkept) => return Err(unkept.error.to_string()),
    };
    let text = str::from_utf8(&bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let read =
        document::plain(text, |node, report| value::mapping(node, "a file of settings", report));
    if let Some(error) = read.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(error.message.to_string());
    }
    let mut settings = read.found.unwrap_or_default();
    for (key, value) in &settings {
        if !target.settings.iter().any(|setting| setting.key == key) {
            return Err(format!("unknown setting `{}` of `{}`", shorten(key), target.name));
        }
        if value.as_str().is_none_or(|text| text.trim().is_empty()) {
            return Err(format!("`{key}` must be a text, and must not be empty"));
        }
    }
    if let Some((key, word)) = placeholder(&settings) {
        return Err(format!("`{key}` still contains the placeholder `{word}`"));
    }
    for setting in target.settings {
        match setting.default {
            Some(default) => drop(settings.entry(setting.key).or_insert_with(|| default.into())),
            None if settings.contains_key(setting.key) => {}
            None => return Err(format!("`{}` is missing: {}", setting.key, setting.about)),
        }
    }
    Ok(settings)
}

/// The credentials of a target that has any.
pub(super) fn credentials(root: &RuntimeRoot, target: &Target) -> Option<(Credentials, Check)> {
    if !target.has_credentials {
        return None;
    }
    let name = target.name;
    Some(match Credentials::read(root, &[name.to_owned()]) {
        Ok(found) => {
            let files: Vec<String> =
                found.files.values().flatten().map(|path| path.display().to_string()).collect();
            let check = if let Some(unusable) = found.fault(name).or(found.lack(name)) {
                Check::failed(
                    CheckKind::TargetCredentials,
                    unusable.message.clone(),
                    unusable.help.clone(),
                )
            } else if files.is_empty() {
                Check::failed(
                    CheckKind::TargetCredentials,
                    format!("no credentials with a value for `{name}`"),
                    format!(
                        "put them in `{name}.credentials.tfvars`, `{name}.env` or `{name}.json` \
                         in `{}`, with mode 0600",
                        root.credentials().display()
                    ),
                )
            } else {
                Check::passed(CheckKind::TargetCredentials, format!("`{}`", files.join("`, `")))
            };
            (found, check)
        }
        Err(unusable) => (
            Credentials::default(),
            Check::failed(CheckKind::TargetCredentials, unusable.message, unusable.help),
        ),
    })
}

pub(super) fn tools(target: &Target, programs: &Programs) -> Vec<Check> {
    let check = |group: &&[&str]| {
        let kind = CheckKind::Tool(group.join("|"));
        match group.iter().find_map(|program| programs.find(program)) {
            Some(path) => Check::passed(kind, format!("`{}`", path.display())),
            None => Check::failed(
                kind,
                format!("`{}` is not in `PATH`", group.join("` or `")),
                format!("install `{}`", group.join("` or `")),
            ),
        }
    };
    target.tools.iter().map(check).collect()
}
