//! `opal mcp` in the table.

use clap::Command;

use super::shared::root;

pub(super) fn mcp() -> Command {
    Command::new("mcp")
        .about("Serve tools for an agent over stdin and stdout, by the Model Context Protocol")
        .args([root()])
        .after_help(
            "The tools: tasks, check, explain, plan, verify, diff, contract, contracts, runs, run, stop. \
             `[mcp]` in the policy of this machine says which of them an agent has, and for which \
             projects; verify, contract, run and stop must be named there. No tool approves, signs or \
             runs a task directly: `run` starts a contract that a person has approved. Calls are kept in \
             logs/mcp of the runtime root.\n\n\
             Example:\n  opal -C /srv/shop mcp",
        )
}
