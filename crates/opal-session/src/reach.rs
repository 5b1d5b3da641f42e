//! Reaching a target: how its `sh` is started, and what it is to do there.
//!
//! ```text
//! Hop ──words──▶ argv of sudo, docker, kubectl … ──▶ sh -c SCRIPT ──▶ opal-target
//! ```
//!
//! Both sides use this. opal starts the first hop on its own machine; a hop inside a target is started
//! by the helper there, from the same typed request. So a connection that only reads can open another
//! one that only reads, and cannot name a program of its own.
//!
//! | what | where |
//! |---|---|
//! | what the shell on the target does | [`script`] |
//! | a container that is made for one block | [`created`] |
//! | commands without a helper | [`plain`] |
//! | which program leads there | [`words`] |
//! | what `ssh` says about the key of a host | [`report`] |

pub mod created;
pub mod plain;
#[cfg(feature = "origin")]
pub mod report;
pub mod script;
pub mod words;

use opal_core::hash::Digest;

use crate::wire::Timing;

/// What the shell on the target has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialling {
    /// Tells the shell's words from everything that the login prints before. Not a secret.
    pub nonce: Nonce,
    /// Of the helpers that opal could send: one of them may be there already.
    pub digests: Vec<Digest>,
    pub is_read_only: bool,
    pub timing: Timing,
}

/// 128 bits, new for each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce(pub [u8; 16]);

impl Nonce {
    /// As the shell prints it.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What `sudo` asks for the password with: another text than what the shell prints.
    #[must_use]
    pub fn prompt(&self) -> String {
        format!("opal-{}-password:", self.text())
    }
}
