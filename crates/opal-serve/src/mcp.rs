//! `opal mcp`: tools with which an agent plans, verifies and submits contracts, and runs approved ones.
//!
//! | what | where |
//! |---|---|
//! | the protocol, by the official SDK | `server` |
//! | which tools there are, and what they take | `tools`, `arguments` |
//! | what each of them does | `calls` |
//! | which projects an agent may name, and whose contracts it sees | `projects` |
//! | what all calls share, and whose turn it is | `desk` |
//! | how long a message may be | `limited` |
//! | runs that an agent has started | `started` |
//! | text that is not opal's own | `marked` |
//! | answers that are too long for one message | `pages` |
//! | every call as a line of a file | `log` |
//! | why a call is refused: all messages | `refusal` |
//!
//! No tool approves, signs, writes a source or a policy, reads a file, or runs a task directly. What must not
//! happen is checked by the `opal` that a tool starts, with the policy of the machine, not here.

mod arguments;
mod calls;
mod desk;
mod limited;
mod log;
mod marked;
mod pages;
mod projects;
mod refusal;
mod server;
mod started;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use opal_trust::policy::{Files, Policy, RESOLVING, TOOLS};
use opal_vault::root::Root;
use rmcp::ServiceExt as _;

use self::limited::Limited;
use self::server::Server;
use crate::notice::{fail, say};

/// The rules of the machine.
const SYSTEM: &str = "/etc/opal/policy.toml";

/// `EX_CONFIG`, `EX_NOPERM`, `EX_UNAVAILABLE`, `EX_SOFTWARE`.
const CONFIGURATION: u8 = 78;
const NOT_TRUSTED: u8 = 77;
const UNAVAILABLE: u8 = 69;
const BUG: u8 = 70;

/// Answers over standard input and output until the first ends.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> ExitCode {
    let Some(root) = words.next().map(Root::new) else {
        return fail("the runtime root is missing", "start it with `opal mcp`", 2);
    };
    let files = Files {
        system: Some(PathBuf::from(SYSTEM)),
        user: Some(root.path().join("config/policy.toml")),
        projects: Vec::new(),
    };
    let policy = match files.load(Policy::default()) {
        Ok(policy) => policy,
        Err(error) => {
            let code = if error.is_unsafe() { NOT_TRUSTED } else { CONFIGURATION };
            return fail(&error.to_string(), &error.help(), code);
        }
    };
    let opal = match opal_helper::find("opal") {
        Ok(opal) => opal,
        Err(unusable) => {
            let code = if unusable.is_unsafe() { NOT_TRUSTED } else { UNAVAILABLE };
            return fail(&unusable.to_string(), &unusable.help(), code);
        }
    };
    announce(&policy);
    let server = match Server::new(opal, root, policy.mcp) {
        Ok(server) => server,
        Err(error) => return fail(&error.to_string(), &error.help(), CONFIGURATION),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return fail("the system gives no timer or no poll", "try again", BUG);
    };
    let code = runtime.block_on(serve(server));
    // A thread may still wait for standard input.
    runtime.shutdown_background();
    code
}

async fn serve(server: Server) -> ExitCode {
    let (input, output) = rmcp::transport::stdio();
    match server.serve((Limited::new(input), output)).await {
        Ok(running) => {
            let _ = running.waiting().await;
            ExitCode::SUCCESS
        }
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => ExitCode::SUCCESS,
        Err(_) => fail(
            "the other side does not speak the Model Context Protocol",
            "`opal mcp` is started by an agent's program, which speaks it over standard input and output",
            76,
        ),
    }
}

/// Says what an agent can do from now on.
fn announce(policy: &Policy) {
    let tools: Vec<&str> = TOOLS.into_iter().filter(|it| policy.mcp.allows(it)).collect();
    say(&format!("opal mcp: tools: {}", tools.join(" ")));
    let resolving: Vec<String> =
        RESOLVING.iter().filter(|it| policy.mcp.allows(it)).map(|it| format!("`{it}`")).collect();
    if !resolving.is_empty() {
        say(&format!(
            "opal mcp: {} can run commands of the source, to read values and to verify; `resolve = false` \
             in `[mcp]` of the policy turns that off",
            resolving.join(" and ")
        ));
    }
}
