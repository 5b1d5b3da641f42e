//! For tests: never shipped.
//!
//! | what | where |
//! |---|---|
//! | the laws that every decorator obeys, plugins included | [`conformance`] |
//! | a world of plain data that remembers what it was asked | [`MemoryWorld`], in `memory` |
//! | a session that only remembers what it was asked | [`LoggedSession`], in `logged` |
//! | targets with such sessions | [`LoggedReach`], in `reaching`; under an order [`LoggedFencing`], in `fencing` |
//! | a run and a verification that nobody listens to | [`bare`] |
//! | a project to plan, and a plan that is run | [`planning`], [`running`] |
//! | processes, signals, and waiting for a fact | [`processes`] |
//! | arguments and environments of all processes | [`sampling`] |
//! | records of runs, with the time held still | [`records`] |
//! | files with what is expected | [`expect`] |
//! | text as a run would show it | [`shown`] |
//! | a real SSH server, accounts to log in to, containers | [`sshd`], [`account`], [`podman`], [`docker`] |
//! | a network that fails | [`proxy`]; one of the system that loses packets: [`network`] |
//! | real servers of databases | [`databases`] |
//! | a plugin in WASM | [`guest`] |
//! | OpenTofu or Terraform | [`terraform`] |
//! | what a test needs that not every machine has | [`needs`] |

#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

pub mod account;
pub mod bare;
pub mod conformance;
pub mod databases;
pub mod docker;
pub mod expect;
mod fencing;
pub mod guest;
mod logged;
mod memory;
pub mod needs;
pub mod network;
pub mod planning;
pub mod podman;
pub mod processes;
pub mod proxy;
mod reaching;
pub mod records;
pub mod running;
pub mod sampling;
pub mod sshd;
pub mod terraform;

use opal_vault::{Shown, Vault};

pub use fencing::{Happens, LoggedFencing, LoggedJournal};
pub use logged::{Answer, LoggedSession};
pub use memory::{Asked, MemoryWorld};
pub use reaching::LoggedReach;

/// How often a test repeats what it does: so often, unless `$OPAL_TEST_ROUNDS` says otherwise, as it does in long
/// tests.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever has less time, or more, says how many rounds"
)]
pub fn rounds(usual: u64) -> u64 {
    let set = std::env::var("OPAL_TEST_ROUNDS").ok().and_then(|it| it.parse().ok());
    set.unwrap_or(usual)
}

/// From now on templates are rendered in this process: tests have no helper beside them.
pub fn render_here() {
    opal_core::template::render_by(std::sync::Arc::new(opal_template::Engine));
}

/// This text as a vault shows it that hides nothing.
#[must_use]
pub fn shown(text: impl AsRef<[u8]>) -> Shown<'static> {
    Vault::new().scrub_bytes(text.as_ref())
}
