//! The programs, built so that they run on any machine of a system and do not depend on where they were
//! built.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::chores::run_with;
use crate::tools::static_target;

/// Programs for one system.
#[derive(Debug)]
pub(super) struct Built {
    /// `x86_64-linux`
    pub(super) system: String,
    pub(super) programs: Vec<PathBuf>,
    /// The time of the commit, in seconds since 1970.
    pub(super) time: String,
    /// What `cargo metadata` says about this target.
    pub(super) metadata: Value,
}

/// Programs that nobody installs: those of the repository, and what opal sends to other machines.
const NOT_RELEASED: [&str; 2] = ["opal-target", "xtask"];

pub(super) fn programs(root: &Path) -> Result<Built, String> {
    let machine = std::env::consts::ARCH;
    let target = static_target(machine);
    let time = answers_in(root, &["git", "log", "-1", "--format=%ct"])?;
    let metadata = answers_in(
        root,
        &["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", &target],
    )?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("what `cargo metadata` printed is not JSON: {error}"))?;
    let released = released(&metadata);
    let mut line = vec!["cargo", "build", "--release", "--locked", "--target", &target];
    for (package, program) in &released {
        line.extend(["-p", package, "--bin", program]);
    }
    let cargo = cargo_home()?;
    let prefixes = [(root.to_path_buf(), "/opal"), (cargo, "/cargo")];
    let remap = |option: &str| {
        let words = prefixes.iter().map(|(from, to)| format!("{option}={}={to}", from.display()));
        words.collect::<Vec<_>>().join("\u{1f}")
    };
    let flags = format!("-Ctarget-feature=+crt-static\u{1f}{}", remap("--remap-path-prefix"));
    // A release sends the target helper to other machines: for those of its own kind, or more if asked.
    let helpers = helpers();
    let c_flags = remap("-ffile-prefix-map").replace('\u{1f}', " ");
    let variables = [
        ("CARGO_ENCODED_RUSTFLAGS", flags.as_str()),
        ("CFLAGS", &c_flags),
        ("SOURCE_DATE_EPOCH", &time),
        ("OPAL_TARGET_HELPERS", &helpers),
    ];
    run_with(root, &variables, &line)?;
    let folder = root.join("target").join(&target).join("release");
    let programs = released.iter().map(|(_, program)| folder.join(program)).collect();
    Ok(Built { system: format!("{machine}-linux"), programs, time, metadata })
}

/// The programs of the workspace, with their packages.
fn released(metadata: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let members = metadata["workspace_members"].as_array().cloned().unwrap_or_default();
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = text(&package["name"]);
        if !members.contains(&package["id"]) || NOT_RELEASED.contains(&name.as_str()) {
            continue;
        }
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds = target["kind"].as_array().cloned().unwrap_or_default();
            if kinds.contains(&Value::from("bin")) {
                found.push((name.clone(), text(&target["name"])));
            }
        }
    }
    found.sort();
    found
}

fn answers_in(root: &Path, line: &[&str]) -> Result<String, String> {
    let shown = line.join(" ");
    let output = crate::chores::command(line).current_dir(root).output();
    let output = output.map_err(|error| format!("`{shown}` did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`{shown}` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "who makes a release chooses its helpers")]
fn helpers() -> String {
    std::env::var("OPAL_TARGET_HELPERS").unwrap_or_else(|_| "own".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "xtask looks where cargo keeps its sources")]
fn cargo_home() -> Result<PathBuf, String> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let found = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home);
    found.ok_or_else(|| "neither CARGO_HOME nor HOME is set".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `opal` starts its helpers from its own directory, so a release has all of them.
    #[test]
    fn a_release_has_every_helper_that_opal_starts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let line = ["cargo", "metadata", "--offline", "--no-deps", "--format-version", "1"];
        let metadata = serde_json::from_str(&answers_in(&root, &line).unwrap()).unwrap();
        let programs: Vec<String> = released(&metadata).into_iter().map(|(_, it)| it).collect();
        let helpers =
            ["opal-commands", "opal-extra", "opal-plugin-host", "opal-serve", "opal-terraform"];
        assert_eq!(programs, [&["hyops", "opal"], &helpers[..]].concat());
    }
}
