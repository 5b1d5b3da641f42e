//! What a contract says about its own making.

use std::sync::Arc;
use std::time::SystemTime;

use opal_core::action::Why;
use opal_core::selection::Selection;
use opal_plan::plan::Purpose;
use opal_session::Session;
use opal_testing::{LoggedSession, MemoryWorld};

use super::*;
use crate::planning::Aim;
use crate::source::Loaded;

const SOURCE: &str = "fun deploy() {\n    echo hello\n}\n";
const WITH_LINK: &str = "fun deploy() {\n    @file.symlink(source=\"v2\", target=\"current\")\n}\n";

/// The contract of `deploy` in a file at `path`, made in `/p/app`.
fn made(source: &str, path: &str, terms: &Terms<'_>, stop: &Stop) -> Result<Provenance, NotMade> {
    let registry = opal_decorators::registry();
    let loaded = Loaded::language(path.into(), path.to_owned(), source.to_owned(), &registry);
    let (function, arguments) = (Some("deploy".to_owned()), BTreeMap::new());
    let subject = Subject { loaded: &loaded, function, arguments };
    let load = || Ok((Runner::ephemeral("a test"), "project".to_owned()));
    let mut keys = OwnKeys::new("deploy", Box::new(load));
    let program = subject.examine(&registry).unwrap().program;
    let aim = Aim {
        algorithm: Algorithm::Sha256,
        purpose: Purpose::Contract,
        selection: Selection::default(),
        may_skip: false,
    };
    let world = MemoryWorld::default();
    let resolved = subject.resolve(&registry, &program, aim, &world, &mut keys).unwrap();
    let session: Arc<dyn Session + Send> = Arc::new(LoggedSession::new().world(world));
    let place = Place {
        reach: None,
        session: Box::new(move || Arc::clone(&session)),
        start: "/p/app".into(),
        base: "/p/app".into(),
        clock: || SystemTime::UNIX_EPOCH,
    };
    let origin = Origin {
        compiler: "1.2.3".to_owned(),
        user: Some("ada".to_owned()),
        host: Some("build-7".to_owned()),
        commit: Some("c0ffee".to_owned()),
        modified: true,
    };
    let request = Request {
        subject: &subject,
        registry: &registry,
        terms,
        origin: &origin,
        place: &place,
        here: Path::new("/p/app"),
        time: 1_000,
        stop,
    };
    request.world(&resolved, &mut keys)?;
    request.provenance(resolved.plan.algorithm)
}

fn source_of(path: &str) -> (String, String) {
    let made = made(SOURCE, path, &Terms::default(), &Stop::new()).unwrap();
    let source = made.source.unwrap();
    assert_eq!(made.sources.len(), 1);
    assert_eq!(made.sources[0].path, source.path);
    (source.path, source.absolute)
}

#[test]
fn a_source_is_recorded_as_seen_from_here_and_from_the_root() {
    for (path, near, whole) in [
        ("commands.opl", "commands.opl", "/p/app/commands.opl"),
        ("ops/./deploy.opl", "ops/./deploy.opl", "/p/app/ops/deploy.opl"),
        ("../shared.opl", "../shared.opl", "/p/app/../shared.opl"),
        ("/p/app/ops/deploy.opl", "ops/deploy.opl", "/p/app/ops/deploy.opl"),
        ("/p/shared.opl", "../shared.opl", "/p/shared.opl"),
        ("/etc/deploy.opl", "../../etc/deploy.opl", "/etc/deploy.opl"),
    ] {
        assert_eq!(source_of(path), (near.to_owned(), whole.to_owned()), "{path}");
    }
}

#[test]
fn who_makes_it_is_recorded() {
    let made = made(SOURCE, "commands.opl", &Terms::default(), &Stop::new()).unwrap();
    assert_eq!(made.compiler, "1.2.3");
    assert_eq!(made.generated_by.as_deref(), Some("ada"));
    assert_eq!(made.host.as_deref(), Some("build-7"));
    assert_eq!(made.commit.as_deref(), Some("c0ffee"));
    assert!(made.modified);
    assert_eq!((made.expires, made.once), (None, false));
    assert!(made.options.is_empty(), "{:?}", made.options);
}

#[test]
fn a_contract_expires_a_second_after_it_is_made_at_the_earliest() {
    for (nanos, end) in [(1, 1_001), (1_000_000_000, 1_001), (90_000_000_000, 1_090)] {
        let terms = Terms { expires: Some(Duration::from_nanos(nanos)), ..Terms::default() };
        let made = made(SOURCE, "commands.opl", &terms, &Stop::new()).unwrap();
        assert_eq!(made.expires, Some(end), "{nanos}");
    }
}

#[test]
fn options_are_recorded_so_that_they_can_be_typed_elsewhere() {
    let typed = Typed {
        env_files: &["prod.env".into(), "/etc/opal.env".into()],
        recipients: &["age1abc".to_owned(), "./keys/ops.pub".to_owned()],
        root: Some(Path::new("state")),
        sign: Some("release"),
    };
    let terms = Terms { once: true, typed, ..Terms::default() };
    let made = made(SOURCE, "commands.opl", &terms, &Stop::new()).unwrap();
    assert!(made.once);
    let expected = [
        ("env-file", vec!["/p/app/prod.env", "/etc/opal.env"]),
        ("recipient", vec!["age1abc", "/p/app/keys/ops.pub"]),
        ("root", vec!["/p/app/state"]),
        ("sign", vec!["release"]),
    ];
    let expected = expected.map(|(name, values)| {
        (name.to_owned(), values.into_iter().map(str::to_owned).collect::<Vec<_>>())
    });
    assert_eq!(made.options, BTreeMap::from(expected));
}

#[test]
fn a_signal_while_resources_are_verified_makes_no_contract() {
    let stop = Stop::new();
    stop.ask(Why::Signal(2));
    let refused = made(WITH_LINK, "commands.opl", &Terms::default(), &stop).unwrap_err();
    assert!(matches!(refused, NotMade::Stopped), "{refused:?}");
    // A plan without resources has nothing to verify.
    assert!(made(SOURCE, "commands.opl", &Terms::default(), &stop).is_ok());
}
