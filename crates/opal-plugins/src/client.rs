//! The client of the helper that runs plugins.
//!
//! ```text
//! call ──line──▶ helper: the plugin runs there
//!      ◀─line── what it asks for ──▶ `Serve`: opal decides and acts
//!      ◀─line── what it gives
//! ```
//!
//! | what | where |
//! |---|---|
//! | one process, its calls and how it ends | [`process`], with all that it started in `child`; `ended` |
//! | the processes of a run, and the one restart | [`hosts`] |
//! | sending a line with descriptors | `sending` |
//! | what a call costs of what may be in flight, and what a native program may use | `room`, `limits` |
//! | what opal does for a plugin, and what it refuses | [`serving`], paths and programs in `sites` |
//! | requests to hosts | `web` |
//! | what a package was granted: every check | [`grants`], what nobody is granted in [`reserved`] |
//! | the secrets of a call | [`handles`] |
//! | compiled code, kept under a MAC | [`compiled`] |
//! | why a call has no answer: all messages | [`failure`] |

mod child;
pub mod compiled;
mod ended;
pub mod failure;
pub mod grants;
pub mod handles;
pub mod hosts;
mod limits;
pub mod process;
pub mod reserved;
mod room;
mod sending;
pub mod serving;
pub(crate) mod sites;
pub(crate) mod web;

use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Refusal};

pub use failure::CallFailure;
pub use hosts::{Component, Hosts};
pub use process::{Ended, Host};

/// How long a helper may go on with a call that was cancelled.
const PARTING: Duration = Duration::from_secs(2);

/// Does what a plugin asks for while it answers a call, or refuses it.
pub trait Serve {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal>;

    /// Whether the answer is no longer wanted.
    fn is_stopped(&self) -> bool;

    /// How long the helper may take to answer a call that is no longer wanted.
    fn parting(&self) -> Duration {
        PARTING
    }

    /// What the plugin says, without the secrets of the call.
    fn masked(&self, text: &Secret) -> Secret {
        text.clone()
    }
}

/// The file name of the helper.
pub const HOST: &str = "opal-plugin-host";
