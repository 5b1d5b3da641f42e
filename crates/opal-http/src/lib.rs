//! Pages of the web.
//!
//! | what | where |
//! |---|---|
//! | asking a server, redirections, proxies | `client` |
//! | whose certificates are accepted | `authorities` |
//! | requests of plugins | `exchange` |
//! | documents and archives of registries | `transfer` |
//! | why a page cannot be had | `error` |
//!
//! Deliberately not in `opal-session`: a client with TLS is large, and sessions are sent to other
//! machines, which never read a page (docs/decisions/0015-opal-http.md).

mod authorities;
mod client;
mod error;
mod exchange;
mod transfer;

pub use client::Http;
pub use exchange::Exchanger;
pub use transfer::{Transfer, TransferRequest, TransferResponse};
