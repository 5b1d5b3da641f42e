//! `[mcp]`: which projects and tools an agent gets.

use std::collections::BTreeSet;
use std::path::PathBuf;

pub(super) const KEYS: [&str; 3] = ["projects", "tools", "resolve"];

/// All tools, in the order in which they are listed.
pub const TOOLS: [&str; 11] = [
    "tasks",
    "check",
    "explain",
    "plan",
    "verify",
    "diff",
    "contract",
    "contracts",
    "runs",
    "run",
    "stop",
];

/// Those that an agent has where nothing is said.
const USUAL: [&str; 7] = ["tasks", "check", "explain", "plan", "diff", "contracts", "runs"];

/// Those that run commands which the source names, to read values and to verify.
pub const RESOLVING: [&str; 2] = ["verify", "contract"];

/// What a machine lets agents do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpRules {
    /// The directories of projects; none where nothing is said.
    pub projects: Option<BTreeSet<PathBuf>>,
    pub(super) tools: Option<BTreeSet<String>>,
    pub(super) refuses_resolving: bool,
}

impl McpRules {
    /// Whether an agent has a tool.
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        let is_named = match &self.tools {
            Some(tools) => tools.contains(tool),
            None => USUAL.contains(&tool),
        };
        is_named && !(self.refuses_resolving && RESOLVING.contains(&tool))
    }

    /// Both sets of rules at once: what both allow.
    #[must_use]
    pub(super) fn merge(self, other: Self) -> Self {
        Self {
            projects: both(self.projects, other.projects),
            tools: both(self.tools, other.tools),
            refuses_resolving: self.refuses_resolving || other.refuses_resolving,
        }
    }
}

fn both<T: Ord + Clone>(
    one: Option<BTreeSet<T>>,
    other: Option<BTreeSet<T>>,
) -> Option<BTreeSet<T>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(&other).cloned().collect()),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Policy, ProjectFile};
    use super::*;

    fn rules(text: &str) -> McpRules {
        Policy::parse(Path::new("policy.toml"), text).unwrap().mcp
    }

    #[test]
    fn tools_that_run_commands_or_contracts_are_enabled_by_name() {
        let usual = rules("");
        for tool in TOOLS {
            let is_usual = !["verify", "contract", "run", "stop"].contains(&tool);
            assert_eq!(usual.allows(tool), is_usual, "{tool}");
        }
        let some = rules("[mcp]\ntools = [\"plan\", \"verify\", \"run\"]\n");
        assert!(some.allows("verify") && some.allows("run") && !some.allows("tasks"));
        let some = rules("[mcp]\ntools = [\"plan\", \"verify\", \"contract\"]\nresolve = false\n");
        assert!(some.allows("plan") && !some.allows("verify") && !some.allows("contract"));
    }

    #[test]
    fn the_machine_and_the_user_must_both_allow_it() {
        let system = rules("[mcp]\nprojects = [\"/srv/a\", \"/srv/b\"]\ntools = [\"plan\"]\n");
        let user = rules("[mcp]\nprojects = [\"/srv/b\"]\ntools = [\"plan\", \"run\"]\n");
        let merged = system.clone().merge(user);
        assert_eq!(merged.projects, Some([PathBuf::from("/srv/b")].into()));
        assert!(merged.allows("plan") && !merged.allows("run"));
        assert_eq!(system.clone().merge(McpRules::default()), system);
    }

    #[test]
    fn a_project_has_no_say_and_mistakes_are_refused() {
        for wrong in [
            "[mcp]\nprojects = [\"relative\"]\n",
            "[mcp]\ntools = [\"approve\"]\n",
            "[mcp]\nresolve = 1\n",
            "[mcp]\nother = 1\n",
            "mcp = 1\n",
        ] {
            assert!(Policy::parse(Path::new("policy.toml"), wrong).is_err(), "{wrong}");
        }
        let project = "[policy.mcp]\ntools = [\"run\"]\n";
        let error = ProjectFile::parse(Path::new("opal.mod"), project).unwrap_err();
        assert!(error.to_string().contains("unknown key `mcp`"), "{error}");
    }
}
