//! How `git` is started: so that a repository of strangers cannot make it run anything, and so that
//! it answers about the repository it was asked about.

/// Neither a file system monitor nor a hook of the repository is started, nothing is paged, and
/// the index is not refreshed on disk.
pub const OPTIONS: [&str; 6] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
];

/// Variables that lead git to another repository, or to another view of one. A git hook that runs opal
/// hands them on. Those that only hold settings (`GIT_CONFIG_COUNT`, `GIT_SSH_COMMAND`) are the
/// user's and stay.
pub const FOREIGN: [&str; 16] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The words of a command, with `git` and its options before them.
#[must_use]
pub fn command<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut all = vec!["git"];
    all.extend(OPTIONS);
    all.extend(words);
    all
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What git itself calls the variables of one repository, without those that hold settings.
    #[test]
    fn every_variable_that_belongs_to_one_repository_is_foreign() {
        let output = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(listed.contains("GIT_DIR\n"), "{listed}");
        let settings = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];
        for name in listed.lines().filter(|name| !settings.contains(name)) {
            assert!(FOREIGN.contains(&name), "{name}");
        }
    }
}
