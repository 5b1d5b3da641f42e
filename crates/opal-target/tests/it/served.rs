//! The session that the tests of this binary are about: a helper at the other end of two pipes, or, with
//! `OPAL_TEST_OVER=ssh`, of a connection to a real server. `OPAL_TEST_OVER=podman` is a container.
//! `OPAL_TEST_HELPER` names a helper that was built for another kind of machine, which this one can run.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use opal_core::Secret;
use opal_core::target::{Engine, Hop};
use opal_remote::dial::Base;
use opal_remote::dial::ssh::SshOptions;
use opal_remote::helper::{Program, Programs};
use opal_remote::local::{self, Helper};
use opal_remote::{Mode, Options, Origin, RemoteSession, Terms, dial};
use opal_session::Setup;
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::world::{OsWorld, Surroundings};
use opal_testing::podman::{NAME, Podman};
use opal_testing::sshd::Sshd;

pub(crate) type Served = RemoteSession;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_opal-target");

/// What the tests go through. It ends with this process.
enum Over {
    Ssh(Sshd),
    Podman(Podman),
}

static OVER: LazyLock<Option<Over>> = LazyLock::new(|| {
    let over = std::env::var_os("OPAL_TEST_OVER")?;
    match over.to_str() {
        Some("ssh") => Sshd::start_for_root().map(Over::Ssh),
        Some("podman") => Podman::whole().map(Over::Podman),
        _ => panic!("`OPAL_TEST_OVER` is `ssh` or `podman`"),
    }
});

pub(crate) static PROGRAMS: LazyLock<Programs> =
    LazyLock::new(|| Programs::of(Program::read(Path::new(PROGRAM)).unwrap()));

static HELPER: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::var_os("OPAL_TEST_HELPER").map_or_else(|| PROGRAM.into(), PathBuf::from)
});

pub(crate) fn serve(setup: Setup) -> Served {
    serve_in(setup, Timing::default())
}

pub(crate) fn serve_in(setup: Setup, timing: Timing) -> Served {
    let mut environment = Arc::unwrap_or_clone(setup.environment);
    let (start, home) = (setup.start.clone(), setup.home.clone());
    if let Some(home) = setup.home {
        environment.entry("HOME".into()).or_insert_with(|| home.into());
    }
    // Sources of copies are read on opal's machine: here, too.
    let here = Surroundings { start, home, ..Surroundings::default() };
    let origin = Arc::new(OsWorld::new(here));
    let mut terms = Terms { marker: setup.marker, ..Terms::default() };
    if let Some(way) = &*OVER {
        let text = |text: std::ffi::OsString| text.into_string().unwrap();
        let variables = environment.into_iter();
        let variables = variables.map(|(name, value)| (text(name), Secret::new(text(value))));
        terms.environment = variables.collect();
        terms.start = Some(setup.start);
        return over(way, terms, timing, origin);
    }
    let helper = Helper {
        program: &HELPER,
        arguments: &[],
        environment: &environment,
        directory: &setup.start,
        is_read_only: false,
        timing,
    };
    let greeting = local::start("test", &helper).unwrap();
    RemoteSession::new(greeting.act(terms).unwrap(), origin)
}

fn over(way: &Over, terms: Terms, timing: Timing, world: Arc<OsWorld>) -> Served {
    let (environment, hop) = match way {
        Over::Ssh(sshd) => (sshd.environment(), Hop::Ssh(sshd.address_of("root").parse().unwrap())),
        Over::Podman(podman) => {
            let (engine, name) = (Engine::Podman, NAME.parse().unwrap());
            (podman.environment(), Hop::Container { engine, name })
        }
    };
    let here = Origin { environment, directory: "/".into(), helper: (PROGRAM.into(), Vec::new()) };
    let (programs, ssh) = (&*PROGRAMS, SshOptions::default());
    let options = Options { origin: &here, programs, timing, ssh, password: None, asker: None };
    let name = "test".parse().unwrap();
    let dialled = dial(&name, Base::Here, &hop, Mode::Effect, &options, &Stop::new()).unwrap();
    dialled.act(terms, world).unwrap()
}
