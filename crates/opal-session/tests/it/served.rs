//! The session that the tests of this binary are about: the local one. The same tests run against a
//! target helper in `crates/opal-target/tests`.

use opal_session::{LocalSession, Setup};

pub(crate) type Served = LocalSession;

pub(crate) fn serve(setup: Setup) -> Served {
    LocalSession::new(setup)
}
