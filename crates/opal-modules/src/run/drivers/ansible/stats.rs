//! What Ansible did to each host, as it counts it itself.
//!
//! A callback plugin beside the playbook writes the counts to a file, so that nothing depends on what is
//! printed for people. Ansible loads the plugins of that folder besides those of its settings.

use std::path::Path;

use serde_json::Value;

/// The file of the counts, below the stack.
pub(super) const FILE: &str = "hyops.stats.json";

/// Where the plugin finds the path of that file.
pub(super) const VARIABLE: &str = "HYOPS_STATS_FILE";

pub(super) const PLUGIN: &str = r#"# Written by opal for this run.
import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: hyops_stats
type: notification
short_description: says what a playbook changed
description: Writes the counts of every host to the file that HYOPS_STATS_FILE names.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "hyops_stats"

    def v2_playbook_on_stats(self, stats):
        path = os.environ["HYOPS_STATS_FILE"]
        hosts = {host: stats.summarize(host) for host in sorted(stats.processed)}
        with open(path + ".new", "w") as out:
            json.dump({"hosts": hosts}, out)
        os.replace(path + ".new", path)
"#;

/// Where the plugin is, for a playbook of the stack.
pub(super) fn plugin_path(playbook: &str) -> String {
    let folder = Path::new(playbook).parent().unwrap_or(Path::new(""));
    folder.join("callback_plugins").join("hyops_stats.py").display().to_string()
}

/// How many tasks have changed each host, or would.
#[derive(Debug)]
pub(super) struct Stats(Vec<u64>);

impl Stats {
    pub(super) fn has_changes(&self) -> bool {
        self.0.iter().any(|changes| *changes > 0)
    }

    pub(super) fn has_hosts(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Reads the file of the counts.
pub(super) fn of(report: &str) -> Result<Stats, String> {
    let changes = || -> Option<Vec<u64>> {
        let report: Value = serde_json::from_str(report).ok()?;
        let hosts = report.get("hosts")?.as_object()?;
        hosts.values().map(|host| host.get("changed")?.as_u64()).collect()
    };
    changes().map(Stats).ok_or_else(|| format!("`{FILE}` does not hold the counts of Ansible"))
}

#[cfg(test)]
mod tests {
    use super::super::{Ansible, Driver};

    const NOBODY: &str = r#"{"hosts": {}}"#;
    const SAME: &str = r#"{"hosts": {"a": {"changed": 0, "ok": 3}, "b": {"changed": 0}}}"#;
    const CHANGED: &str = r#"{"hosts": {"a": {"changed": 0}, "b": {"changed": 12}}}"#;

    #[test]
    fn a_change_of_any_host_is_a_difference_and_without_a_report_there_is_no_answer() {
        let cases = [
            (0, Some(SAME), Some(false)),
            (0, Some(CHANGED), Some(true)),
            (0, Some(NOBODY), Some(false)),
            (2, Some(CHANGED), Some(false)),
            (4, None, Some(false)),
            (0, None, None),
            (0, Some(""), None),
            (0, Some("PLAY RECAP ***"), None),
            (0, Some(r#"{"hosts": {"a": {}}}"#), None),
            (0, Some(r#"{"hosts": {"a": {"changed": "0"}}}"#), None),
        ];
        for (code, report, expected) in cases {
            assert_eq!(Ansible.differs(code, report).ok(), expected, "{code} {report:?}");
        }
    }

    #[test]
    fn a_report_without_hosts_is_a_run_for_nobody() {
        let cases = [
            (0, Some(NOBODY), Some(true)),
            (4, Some(NOBODY), Some(false)),
            (0, Some(SAME), Some(false)),
            // `--syntax-check` counts nothing.
            (0, None, Some(false)),
            (0, Some("{"), None),
        ];
        for (code, report, expected) in cases {
            let missed = Ansible.has_missed(code, report).map(|why| why.is_some());
            assert_eq!(missed.ok(), expected, "{code} {report:?}");
        }
    }

    #[test]
    fn the_plugin_is_beside_the_playbook() {
        for (playbook, expected) in [
            ("playbook.yml", "callback_plugins/hyops_stats.py"),
            ("plays/site.yml", "plays/callback_plugins/hyops_stats.py"),
        ] {
            assert_eq!(super::plugin_path(playbook), expected);
        }
    }
}
