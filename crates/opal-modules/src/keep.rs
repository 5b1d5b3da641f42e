//! What is kept of modules: everything below the runtime root.
//!
//! | what | where |
//! |---|---|
//! | the runtime root, and where each thing is in it | [`RuntimeRoot`], in `root` |
//! | the name of a run, and times | [`RunId`], [`time`], in `id` |
//! | the one way to write, and documents in JSON | [`mod@file`] |
//! | which keys say that a secret is below them | [`is_secret_key`], in `secrecy` |
//! | what a run leaves: documents, and what its tools printed | [`Evidence`], in `evidence` |
//! | how the last run of a module ended, and what it has published | [`State`], in `state` |
//! | what runs have in clear while they go on, and where that has got to | `exposed`, `strays` |
//! | who is running now | [`Lock`], in `lock` |
//! | which opal was here last | [`stamp()`] |
//! | credentials: files, variables, and values to hide | [`Credentials`], in `credentials` |
//! | what can be made ready, making it ready, and whether it is | [`Target`], [`init()`], [`status`], in `target`, `init`, `ready` |
//!
//! Nothing reaches a file here that the scrubber has not seen. The clock, the environment and
//! randomness are handed in. Deliberately not here: what is run, and what it means.

mod credentials;
mod evidence;
mod exposed;
pub mod file;
mod id;
mod init;
mod lock;
mod ready;
mod root;
mod secrecy;
mod stamp;
mod state;
mod strays;
mod target;

pub use credentials::{Credentials, Hidden, Unusable};
pub use evidence::{Evidence, ToolEnd, ToolStep};
pub(crate) use exposed::{Exposed, abandoned};
pub use file::Unkept;
pub use id::{Instance, RunId, time};
pub use init::{Init, Initialised, init};
pub use lock::{Lock, NoLock};
pub use ready::{Check, Readiness, TargetStatus, status};
pub use root::RuntimeRoot;
pub use secrecy::{HIDDEN, is_secret_key};
pub(crate) use secrecy::{below, guessed, is_count_key, is_plain_key, parts};
pub use stamp::{Stamp, stamp};
pub use state::{State, Status};
pub(crate) use strays::{MOST_ENTRIES, Strays};
pub use target::Target;
