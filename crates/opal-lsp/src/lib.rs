//! The language server: what editors ask about a source, answered by the code that checks and runs it.
//!
//! ```text
//! messages ─▶ one loop ─▶ files { text, facts, findings } ─▶ feature(file, place) ─▶ answer
//!               └─ edit: change the text; once nothing waits: parse, check with an observer, publish
//! ```
//!
//! | what | where |
//! |---|---|
//! | messages over streams, within limits | [`transport`] |
//! | the loop: order, cancelled requests | `server` |
//! | from the name of a request to its feature | `dispatch` |
//! | what the server and its client can do | `capabilities` |
//! | open documents, and the files that they need | `files`, on the disk `disk` |
//! | decorators of packages, from manifests | `files::packages` |
//! | a source with its imports, as one program | `program` |
//! | what the client is sent about each file, and when | `publisher` |
//! | what is wrong with it, and the facts about its names | `analysis`, `facts` |
//! | places as the protocol counts them; addresses of documents | `positions`, `uri` |
//! | each feature | `features` |
//! | the pages of error codes | `pages` |
//!
//! Deliberately not here: values, the environment, processes and the network. Nothing is planned, so a
//! stranger's repository can be opened.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read fixtures and start programs")
)]

mod analysis;
mod capabilities;
mod disk;
mod dispatch;
mod facts;
mod features;
mod files;
mod pages;
mod positions;
mod program;
mod publisher;
mod server;
pub mod transport;
mod uri;

pub use server::{Ended, Settings, serve};
