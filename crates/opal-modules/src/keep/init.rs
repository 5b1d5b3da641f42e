//! Makes a target ready, or says what is missing.
//!
//! The first time, a file of settings is created to be filled in. Credentials are never requested
//! and never written, only looked up. The marker of a target that is not ready goes away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use opal_vault::Vault;
use serde_json::{Value, json};

use super::file::{self, Unkept};
use super::id::{RunId, time};
use super::ready::{Check, credentials, settings, tools};
use super::root::RuntimeRoot;
use super::target::Target;
use crate::CheckKind;
use crate::programs::Programs;

/// What is known when a target is made ready.
#[derive(Clone, Copy, Debug)]
pub struct Init<'a> {
    pub root: &'a RuntimeRoot,
    pub target: &'static Target,
    pub run_id: &'a RunId,
    /// `--out-dir`.
    pub out_dir: Option<&'a Path>,
    pub programs: &'a Programs,
    pub at: SystemTime,
    /// Gets to know the credentials of the target.
    pub vault: &'a Vault,
}

/// How far a target has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialised {
    pub is_ready: bool,
    pub checks: Vec<Check>,
    /// The file of settings, where it was made now.
    pub template: Option<PathBuf>,
    pub evidence: PathBuf,
}

pub fn init(init: &Init<'_>) -> Result<Initialised, Unkept> {
    let Init { root, target, run_id, out_dir, programs, vault, .. } = *init;
    root.ensure()?;
    let template = leave_template(root, target, vault)?;
    let (settings, config) = settings(root, target);
    let mut checks = vec![config];
    checks.extend(tools(target, programs));
    let mut files = Vec::new();
    if let Some((found, check)) = credentials(root, target) {
        found.register(vault);
        checks.push(check);
        files.extend(found.files.into_values().flatten());
    }
    let is_ready = checks.iter().all(|check| check.is_passed);
    let evidence = root.init_evidence(target, run_id, out_dir);
    let done = Initialised { is_ready, checks, template, evidence };
    let marker = root.ready(target);
    if !is_ready {
        remove(&marker)?;
    }
    done.tell(init)?;
    if is_ready {
        let files: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
        let value = json!({
            "target": target.name,
            "status": "ready",
            "run_id": run_id.as_str(),
            "checked_at": time(init.at),
            "paths": {
                "config": root.config(target).to_string_lossy(),
                "credential_files": files,
                "evidence_dir": done.evidence.to_string_lossy(),
            },
            "context": settings,
        });
        file::write(&marker, &vault.json(&value, &["/context/*"]))?;
    }
    Ok(done)
}

/// Leaves a file of settings to fill in; none where there is one.
fn leave_template(
    root: &RuntimeRoot,
    target: &Target,
    vault: &Vault,
) -> Result<Option<PathBuf>, Unkept> {
    let path = root.config(target);
    // A link that leads nowhere is there too.
    if path.symlink_metadata().is_ok() {
        return Ok(None);
    }
    file::write(&path, &vault.scrub(&target.template()))?;
    Ok(Some(path))
}

fn remove(marker: &Path) -> Result<(), Unkept> {
    match fs::remove_file(marker) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Unkept::new(marker, error)),
        _ => Ok(()),
    }
}

impl Initialised {
    /// `ready`, `needs_config` or `not_ready`.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match (self.is_ready, self.needs_config()) {
            (true, _) => "ready",
            (false, true) => "needs_config",
            (false, false) => "not_ready",
        }
    }

    /// Whether the settings are to be filled in.
    #[must_use]
    pub fn needs_config(&self) -> bool {
        self.checks.iter().any(|check| check.kind == CheckKind::Config && !check.is_passed)
    }

    fn tell(&self, init: &Init<'_>) -> Result<(), Unkept> {
        let check = |check: &Check| {
            json!({
                "name": check.kind.to_string(),
                "passed": check.is_passed,
                "message": check.message,
                "help": check.help,
            })
        };
        let value = json!({
            "target": init.target.name,
            "run_id": init.run_id.as_str(),
            "status": self.status(),
            "finished_at": time(init.at),
            "checks": self.checks.iter().map(check).collect::<Vec<Value>>(),
            "template": self.template.as_ref().map(|path| path.to_string_lossy()),
        });
        let path = self.evidence.join("init_result.json");
        let reported = ["/checks/*/message", "/checks/*/help"];
        file::write(&path, &init.vault.json(&value, &reported))
    }
}
