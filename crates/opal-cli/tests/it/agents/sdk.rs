//! The official SDK in Python as a client, in both revisions of the protocol.

use std::process::Command;

use opal_testing::guest::build_directory;
use opal_testing::needs;

use super::by_ann;
use crate::gate::Gate;
use crate::support::binary;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agent.py");

#[test]
fn the_official_sdk_plans_submits_and_is_refused() {
    let python = build_directory().join("tools/mcp/bin/python");
    if !needs::has("`mcp` of PyPI in target/tools/mcp", python.exists()) {
        return;
    }
    let gate = Gate::new();
    gate.policy(&by_ann());
    let mut command = Command::new(&python);
    command.arg(SCRIPT).arg(binary()).arg(gate.opal.path()).env_clear();
    let opal = gate.opal.command();
    command.envs(opal.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = command.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let shown = String::from_utf8_lossy(&ran.stdout);
    let expected = "2025-11-25 tasks deploy test all\n2025-11-25 contract waiting\n2025-11-25 run 77\n\
                    2026-07-28 tasks deploy test all\n2026-07-28 contract waiting\n2026-07-28 run 77\n";
    assert_eq!(shown, expected, "{said}");
}
