//! The policy that holds for sources: that of the system, of the user, and of every project.

use std::path::PathBuf;

use opal_trust::policy::{Files, Policy};
use opal_vault::root::Root;

use crate::failure::{Exit, Failure};
use crate::planning::project_file;

/// The rules of the machine.
pub(crate) const SYSTEM: &str = "/etc/opal/policy.toml";

/// Those of the user, in the runtime root.
const USER: &str = "config/policy.toml";

/// The files that the owner of this machine and this user write.
pub(crate) fn own_files(root: Option<&Root>) -> Vec<PathBuf> {
    let user = root.map(|root| root.path().join(USER));
    [Some(PathBuf::from(SYSTEM)), user].into_iter().flatten().collect()
}

/// All rules that hold here, on top of those of the command line.
pub(crate) fn of(
    root: Option<&Root>,
    flags: Policy,
    sources: &[PathBuf],
) -> Result<Policy, Failure> {
    let files = Files {
        system: Some(PathBuf::from(SYSTEM)),
        user: root.map(|root| root.path().join(USER)),
        projects: projects(sources),
    };
    files.load(flags).map_err(|error| {
        let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
        Failure::new(exit, error.to_string(), error.help())
    })
}

/// The `opal.mod` around each source, once: every project's rules apply.
fn projects(sources: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for file in sources.iter().filter_map(|source| project_file(source)) {
        if !found.contains(&file) {
            found.push(file);
        }
    }
    found
}
