//! Containers and pods.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::target::{Engine, Hop, NewContainer, Pod};
use opal_remote::{Mode, Terms};
use opal_session::Session as _;
use opal_testing::podman::{NAME, Podman};

use super::support::{Caller, act, packed, run, world};
use crate::served::PROGRAM;

fn container(engine: Engine, name: &str) -> Hop {
    Hop::Container { engine, name: name.parse().unwrap() }
}

#[test]
fn a_container_with_nothing_but_a_shell_is_a_target() {
    let Some(podman) = Podman::start(Path::new(PROGRAM)) else { return };
    let mut caller = Caller::new(podman.environment());
    // Nothing there unpacks it.
    caller.programs = packed();
    let dialled = caller.dial(&container(Engine::Podman, NAME), Mode::ReadOnly).unwrap();
    let session = dialled.look(Terms::default(), world()).unwrap();
    assert!(session.finds("sh") && !session.finds("bash"));
    drop(session);
    let hop = container(Engine::Auto, NAME);
    let dialled = caller.dial(&hop, Mode::Effect).unwrap();
    assert_eq!(dialled.facts().home.as_deref(), Some(Path::new("/root")));
    let session = act(dialled);
    let (printed, code) = run(&session, Path::new("/"), "ls /bin | head -n 1; exit 5");
    assert_eq!((printed.as_str(), code), ("busybox\n", 5));
    drop(session);
    let again = caller.dial(&hop, Mode::Effect).unwrap();
    assert_eq!(again.facts().digest, None, "its helper is there");
    drop(again);
    what_an_administrator_has_installed_is_used(&caller, &hop);
    let error = caller.dial(&container(Engine::Auto, "nothing"), Mode::Effect).unwrap_err();
    assert_eq!(error.to_string(), "unknown container `nothing`");
    let error = caller.dial(&container(Engine::Podman, "nothing"), Mode::Effect).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
    assert!(error.help().contains("is running and has `sh`"), "{}", error.help());
}

fn what_an_administrator_has_installed_is_used(caller: &Caller, hop: &Hop) {
    let install = "mkdir -p /usr/libexec/opal; f=/usr/libexec/opal/opal-target; \
                   cat /root/.cache/opal/opal-target-* >$f; chmod 755 $f; rm -r /root/.cache";
    let session = act(caller.dial(hop, Mode::Effect).unwrap());
    assert_eq!(run(&session, Path::new("/"), install), (String::new(), 0));
    drop(session);
    let session = act(caller.dial(hop, Mode::Effect).unwrap());
    let (printed, _) =
        run(&session, Path::new("/"), "ls -A /root; cat /proc/$PPID/cmdline | tr '\\0' ' '");
    assert!(printed.starts_with("/usr/libexec/opal/opal-target "), "{printed}");
    run(&session, Path::new("/"), "chmod 777 /usr/libexec/opal/opal-target");
    drop(session);
    let sent = caller.dial(hop, Mode::Effect).unwrap();
    assert!(sent.facts().digest.is_some(), "others can write it");
}

#[test]
fn the_end_of_a_session_in_a_container_leaves_no_process() {
    let Some(podman) = Podman::start(Path::new(PROGRAM)) else { return };
    let caller = Caller::new(podman.environment());
    let session = act(caller.dial(&container(Engine::Podman, NAME), Mode::Effect).unwrap());
    let word = "sleep 98765";
    run(&session, Path::new("/"), &format!("({word} >/dev/null 2>&1 &) ; true"));
    opal_testing::processes::eventually("it runs", || opal_testing::processes::is_running("98765"));
    session.end_all(std::time::Duration::ZERO, &opal_session::stop::Stop::new());
    drop(session);
    opal_testing::processes::eventually("nothing is left", || {
        !opal_testing::processes::is_running("98765")
    });
}

#[test]
fn a_new_container_inside_a_target_is_made_there_and_gone_with_its_session() {
    let Some(podman) = Podman::start(Path::new(PROGRAM)) else { return };
    let caller = Caller::new(podman.environment());
    let hop = Hop::NewContainer(NewContainer {
        engine: Engine::Podman,
        image: NAME.parse().unwrap(),
        mounts: Vec::new(),
        network: Some("host".parse().unwrap()),
    });
    let before = podman.names();
    let outer = act(caller.dial(&Hop::Local, Mode::Effect).unwrap());
    let inner = act(caller.dial_from(outer.inside(), &hop, Mode::Effect).unwrap());
    let (printed, code) = run(&inner, Path::new("/"), "ls /.opal-target; exit 4");
    assert_eq!((printed.as_str(), code), ("/.opal-target\n", 4));
    assert_eq!(podman.names().len(), before.len() + 1);
    drop(inner);
    opal_testing::processes::eventually("it is removed", || podman.names() == before);
    // Who only reads makes nothing.
    let reading = caller.dial(&Hop::Local, Mode::ReadOnly).unwrap();
    let reading = reading.look(Terms::default(), world()).unwrap();
    for refused in [
        caller.dial_from(reading.inside(), &hop, Mode::Effect).unwrap_err(),
        caller.dial(&hop, Mode::ReadOnly).unwrap_err(),
    ] {
        assert_eq!(refused.to_string(), "the container is created when the block runs");
    }
    // So does one whose image is not there.
    let mut other = hop;
    if let Hop::NewContainer(new) = &mut other {
        new.image = "localhost/nothing".parse().unwrap();
    }
    assert!(caller.dial(&other, Mode::Effect).is_err());
    opal_testing::processes::eventually("nothing is left", || podman.names() == before);
}

#[test]
fn a_pod_is_reached_by_kubectl() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("kubectl");
    // It does what the real one does: runs the command after `--`, with its own pipes.
    let log = folder.path().join("log");
    let text = format!(
        "#!/bin/sh\nfor w in \"$@\"; do [ \"$w\" = -- ] && break; printf '%s ' \"$w\"; done >>{}\n\
         while [ \"$1\" != -- ]; do shift; done; shift\nexec \"$@\"\n",
        log.display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut environment: std::collections::BTreeMap<_, _> = std::env::vars_os().collect();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    environment.insert("PATH".into(), path.into());
    let pod = Pod {
        name: "web-0".parse().unwrap(),
        namespace: Some("prod".parse().unwrap()),
        container: Some("app".parse().unwrap()),
        context: Some("admin@eu:1".parse().unwrap()),
    };
    let dialled = Caller::new(environment).dial(&Hop::Pod(pod), Mode::ReadOnly).unwrap();
    assert!(dialled.facts().is_read_only);
    assert_eq!(
        fs::read_to_string(log).unwrap(),
        "--context admin@eu:1 --namespace prod exec -i web-0 -c app "
    );
}
