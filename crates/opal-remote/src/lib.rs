//! Sessions on other machines: the client of the target helper.
//!
//! ```text
//! transport: ssh, or the helper itself ──▶ pipes ──▶ greeting: who is there?
//! accepted ──▶ link: numbered requests, one thread that reads ──▶ connection
//!                                        ├─ Looking: can only read  ──▶ RemoteProbe
//!                                        └─ Acting: reads and acts  ──▶ RemoteSession, RemoteFiles
//! ```
//!
//! What a target sends is raw, as what a local session gives; the executor scrubs it. Nothing that it
//! says is trusted: every frame is checked against what was asked, and one that cannot be ends the
//! connection.
//!
//! | what | where |
//! |---|---|
//! | the first words, and who answers | [`greeting`] |
//! | requests and what becomes of them | `link`, `request` |
//! | what can be asked: two types | [`connection`] |
//! | reading a target | [`probe`], the content of files in `content` |
//! | acting on it | [`session`], commands in `run`, files in `files`, the journal of an order in `journal` |
//! | reaching a target by ssh, sudo, an engine or through another target | [`dial`](mod@dial), `relay`, `carrier` |
//! | the targets of a fleet, from inventories | [`inventory`] |
//! | commands on a target without a helper | [`plain`] |
//! | the targets of a run | [`reaching`] |
//! | the helper on this machine | [`local`] |
//! | the helper that is sent to other machines | [`helper`] |
//! | why there is no connection any more | `error` |
//!
//! The frames and both kinds of requests are in `opal_session::wire`, which the helper shares.

mod carrier;
pub mod connection;
mod content;
pub mod dial;
mod error;
mod files;
pub mod greeting;
pub mod helper;
pub mod inventory;
mod journal;
mod link;
pub mod local;
pub mod plain;
pub mod probe;
pub mod reaching;
mod relay;
mod request;
mod run;
pub mod session;

pub use dial::{Dialled, Mode, Options, Origin, dial};
pub use greeting::{Greeting, Terms};
pub use session::{ReadOnlySession, RemoteSession};
