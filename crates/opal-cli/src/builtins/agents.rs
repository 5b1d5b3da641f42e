//! `opal mcp` and `opal ui` in the table.

use clap::{Arg, Command, ValueHint};

use super::shared::{flag, root};

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

pub(super) fn ui() -> Command {
    Command::new("ui")
        .about("Serve pages for a person on this machine: inbox, contracts and records")
        .args([
            Arg::new("socket")
                .long("socket")
                .value_name("PATH")
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Listen on a socket that only you can open, for `ssh -L`"),
            Arg::new("host")
                .long("host")
                .value_name("HOST:PORT")
                .requires("socket")
                .help("With --socket: the address in the browser (default: localhost:8080)"),
            Arg::new("key")
                .long("key")
                .value_name("KEY")
                .value_hint(ValueHint::FilePath)
                .help("Sign decisions with this key, as in `opal plan approve`"),
            flag("no-open", "Do not start a browser"),
            root(),
        ])
        .after_help(
            "The pages are on 127.0.0.1, a free port, under a path that nobody can guess. A ticket opens \
             them, once and within 60 seconds. Every page also exists as JSON: add `.json` to its address. A \
             page can ask for the approval or rejection of a contract; this terminal then shows the \
             contract, asks, and signs. The pages start, stop and change nothing. Ctrl+C ends it.\n\n\
             Examples:\n  opal ui                          open the pages in a browser\n  opal ui \
             --no-open                print the address only\n  opal ui --socket ~/.opal/ui.sock  on a \
             server: serve a browser elsewhere, over ssh\n  opal ui --key ~/.ssh/work_sk      sign with \
             this key",
        )
}
