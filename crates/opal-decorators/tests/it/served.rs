//! The session that resources are tried in: the local one. The same tests run against a target helper
//! in `crates/opal-target/tests`.

use opal_session::{LocalSession, Setup};

pub(crate) fn serve(setup: Setup) -> LocalSession {
    LocalSession::new(setup)
}
