//! Helpers: parts of opal that few runs need, in programs of their own beside it.
//!
//! ```text
//! opal ──find──▶ program beside it ──start──▶ its build ──ask──▶ parcels on its stdin and stdout
//! ```
//!
//! | what | where |
//! |---|---|
//! | where a helper is, and whether it may be used | `find` |
//! | starting one and asking it | `client` |
//! | many requests for few processes | `desk` |
//! | becoming one | [`become_part`] |
//! | answering, in a helper | [`serve`] |
//! | what both say: a document, and bytes that are wiped | [`Parcel`] |
//! | the helper `opal-extra`: pages of the web, JSON Schemas, templates | [`Extra`], `templates` |
//! | why a helper cannot be used: all messages of this crate | [`Unusable`] |
//!
//! Deliberately not here: what helpers do. `opal` is linked with this crate and not with theirs.

mod client;
mod desk;
mod error;
mod exchange;
mod extra;
mod find;
mod parcel;
mod server;
mod templates;
mod trouble;

pub use client::{Answer, Helper, become_part, become_program};
pub use error::Unusable;
pub use extra::{EXTRA, Extra};
pub use find::find;
pub use parcel::Parcel;
pub use server::{Asking, serve};
pub use trouble::{read as read_trouble, write as write_trouble};

/// The helper whose parts need an async runtime or a database, in the directory of `opal`.
pub const SERVE: &str = "opal-serve";

/// `opal` with all its commands, in the same directory.
pub const COMMANDS: &str = "opal-commands";

/// The build of this program: a helper must be of the same one.
pub const BUILD: &str = env!("OPAL_BUILD");
