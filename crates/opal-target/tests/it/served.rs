//! The session that the tests of this binary are about: a helper at the other end of two pipes.

use std::path::Path;
use std::sync::Arc;

use opal_remote::local::{self, Helper};
use opal_remote::{RemoteSession, Terms};
use opal_session::Setup;
use opal_session::wire::Timing;
use opal_session::world::{OsWorld, Surroundings};

pub(crate) type Served = RemoteSession;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_opal-target");

pub(crate) fn serve(setup: Setup) -> Served {
    serve_in(setup, Timing::default())
}

pub(crate) fn serve_in(setup: Setup, timing: Timing) -> Served {
    let mut environment = std::sync::Arc::unwrap_or_clone(setup.environment);
    if let Some(home) = setup.home {
        environment.entry("HOME".into()).or_insert_with(|| home.into());
    }
    let helper = Helper {
        program: Path::new(PROGRAM),
        arguments: &[],
        environment: &environment,
        directory: &setup.start,
        is_read_only: false,
        timing,
    };
    let greeting = local::start("test", &helper).unwrap();
    let terms = Terms { marker: setup.marker, ..Terms::default() };
    let origin = Arc::new(OsWorld::new(Surroundings::default()));
    RemoteSession::new(greeting.act(terms).unwrap(), origin)
}
