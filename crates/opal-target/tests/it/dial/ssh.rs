//! By ssh.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use opal_remote::Mode;
use opal_remote::dial::error::DialCause;
use opal_remote::dial::pace::Pace;
use opal_session::stop::Stop;
use opal_testing::sshd::Sshd;

use super::support::{Caller, act, packed, run, ssh, world};

#[test]
fn a_host_without_a_helper_gets_it_and_keeps_it() {
    let Some(sshd) = Sshd::start() else { return };
    let caller = Caller::of(&sshd);
    let dialled = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    let facts = dialled.facts().clone();
    assert_eq!((facts.user, facts.os.as_str()), (sshd.account().uid(), "linux"));
    assert!(facts.digest.is_some(), "it was sent, so it says what it is");
    assert_eq!(facts.start, sshd.account().home);
    let session = act(dialled);
    let (printed, code) = run(&session, Path::new("/"), "id -un; exit 3");
    assert_eq!((printed.trim(), code), (&*sshd.account().name, 3));
    let cache = sshd.account().home.join(".cache/opal");
    let names: Vec<_> = fs::read_dir(&cache).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].to_str().unwrap().starts_with("opal-target-"));
    for path in [cache.clone(), cache.join(&names[0])] {
        let found = path.metadata().unwrap();
        assert_eq!(found.mode() & 0o777, 0o700);
        assert_eq!(found.uid(), sshd.account().uid());
    }
    drop(session);
    let again = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    assert_eq!(again.facts().digest, None, "what is there is not sent again");
}

#[test]
fn helpers_that_nobody_uses_any_more_are_removed_when_a_new_one_is_sent() {
    let Some(sshd) = Sshd::start() else { return };
    let cache = sshd.account().home.join(".cache/opal");
    drop(Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let own = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let day = Duration::from_hours(24);
    let put = |name: &str, days: u32| {
        let file = fs::File::create(cache.join(name)).unwrap();
        file.set_modified(SystemTime::now() - day * days).unwrap();
        std::os::unix::fs::chown(cache.join(name), Some(sshd.account().uid()), None).unwrap();
    };
    let digest = |number: u32| format!("opal-target-{number:064x}");
    // From the one that was used last: the first four stay.
    (2..9).for_each(|days| put(&digest(days), days));
    put(".new-1234", 2);
    put("notes", 400);
    // One that is used says so, and removes nothing.
    fs::File::open(&own).unwrap().set_modified(SystemTime::now() - day * 9).unwrap();
    drop(Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    assert!(own.metadata().unwrap().modified().unwrap() > SystemTime::now() - day);
    assert!(cache.join(digest(8)).exists());
    fs::remove_file(&own).unwrap();
    drop(Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let mut left: Vec<String> = fs::read_dir(&cache)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|name| !own.ends_with(name))
        .collect();
    left.sort();
    assert_eq!(left, ["notes".to_owned(), digest(2), digest(3), digest(4), digest(5)]);
}

#[test]
fn a_session_that_only_reads_leaves_nothing_on_the_target() {
    let Some(sshd) = Sshd::start() else { return };
    let before = left(&sshd);
    let dialled = Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap();
    assert!(dialled.facts().is_read_only);
    // While it runs, too.
    assert_eq!(left(&sshd), before);
    let session = dialled.look(opal_remote::Terms::default(), world()).unwrap();
    assert!(opal_session::Session::finds(&session, "sh"));
    assert!(!sshd.account().home.join(".cache").exists());
}

/// What the account has where temporary files are.
pub(super) fn left(sshd: &Sshd) -> Vec<String> {
    let uid = sshd.account().uid();
    let all = ["/tmp", "/dev/shm"].iter().flat_map(|place| fs::read_dir(place).unwrap().flatten());
    let own = all.filter(|it| it.metadata().is_ok_and(|found| found.uid() == uid));
    own.map(|it| it.path().display().to_string()).collect()
}

#[test]
fn what_others_can_write_is_never_run() {
    let Some(sshd) = Sshd::start() else { return };
    let (caller, hop) = (Caller::of(&sshd), ssh(&sshd.address()));
    drop(caller.dial(&hop, Mode::Effect).unwrap());
    let cache = sshd.account().home.join(".cache/opal");
    let helper = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let is_sent = || {
        let dialled = caller.dial(&hop, Mode::Effect).unwrap();
        dialled.facts().digest.is_some()
    };
    assert!(!is_sent());
    let home = sshd.account().home.clone();
    for (path, good) in [(&home, 0o755), (&cache, 0o700)] {
        for bad in [0o777, 0o775, 0o1777] {
            set(path, bad);
            assert!(is_sent(), "{} with {bad:o}", path.display());
            set(path, good);
        }
    }
    for bad in [0o722, 0o770] {
        set(&helper, bad);
        assert!(is_sent(), "the helper with {bad:o}");
    }
    // It has been replaced since.
    assert!(!is_sent());
    std::os::unix::fs::chown(&helper, Some(65534), None).unwrap();
    assert!(is_sent(), "the helper of another user");
    std::os::unix::fs::chown(&cache, Some(65534), None).unwrap();
    assert!(is_sent(), "the cache of another user");
}

#[test]
fn a_helper_that_does_not_run_is_replaced() {
    let Some(sshd) = Sshd::start() else { return };
    let (caller, hop) = (Caller::of(&sshd), ssh(&sshd.address()));
    drop(caller.dial(&hop, Mode::Effect).unwrap());
    let cache = sshd.account().home.join(".cache/opal");
    let helper = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    // One that runs cannot be written.
    fs::remove_file(&helper).unwrap();
    fs::write(&helper, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let dialled = caller.dial(&hop, Mode::Effect).unwrap();
    assert!(dialled.facts().digest.is_some());
}

#[test]
fn an_unreachable_host_and_a_refused_login_say_why() {
    let Some(mut sshd) = Sshd::start() else { return };
    let caller = Caller::of(&sshd);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = caller.dial(&ssh(&format!("127.0.0.1:{free}")), Mode::Effect).unwrap_err();
    assert_eq!(error.cause, DialCause::Ended { code: Some(255) });
    assert_eq!(error.to_string(), "host unreachable: connection refused");
    assert_eq!(error.help(), "check the port, and that an SSH server runs there");
    let error = caller.dial(&ssh(&sshd.address_of("nobody-at-all")), Mode::Effect).unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
    assert!(error.help().contains("its keys"), "{}", error.help());
    fs::remove_file(sshd.known_hosts()).unwrap();
    let error = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap_err();
    assert!(error.to_string().contains("ost key verification failed"), "{error}");
    assert!(error.help().contains("connect once with `ssh -p"), "{}", error.help());
    assert!(!error.is_refused_key());
    sshd.configure("Host *\nStrictHostKeyChecking no\n");
    assert!(caller.dial(&ssh(&sshd.address()), Mode::Effect).is_ok(), "the user's policy holds");
}

#[test]
fn a_server_that_turns_many_away_lets_all_in_after_a_while() {
    let lines = ["MaxStartups 2:100:2"];
    let Some(sshd) = Sshd::start_with("/bin/sh", &lines) else { return };
    let caller = Caller::of(&sshd);
    let hop = ssh(&sshd.address());
    drop(caller.dial(&hop, Mode::Effect).unwrap());
    let (pace, stop) = (Pace::new(20), Stop::new());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let dialled = pace.dial(false, &stop, || caller.dial(&hop, Mode::Effect));
                drop(dialled.unwrap());
            });
        }
    });
}

#[test]
fn a_jump_host_that_turns_many_away_lets_all_in_after_a_while() {
    let (Some(mut jump), Some(server)) = (Sshd::start(), Sshd::start()) else { return };
    jump.name_hosts(&["jump"]);
    jump.name_other("target", &server);
    jump.configure("Host target\nProxyJump jump\n");
    jump.restart(&["MaxStartups 2:100:2"]);
    let (caller, hop) = (Caller::of(&jump), ssh("target"));
    assert_eq!(caller.dial(&hop, Mode::Effect).unwrap().facts().user, server.account().uid());
    let (pace, stop) = (Pace::new(20), Stop::new());
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                drop(pace.dial(false, &stop, || caller.dial(&hop, Mode::Effect)).unwrap());
            });
        }
    });
}

#[test]
fn a_packed_helper_is_unpacked_on_the_target() {
    let Some(sshd) = Sshd::start() else { return };
    let mut caller = Caller::of(&sshd);
    caller.programs = packed();
    let dialled = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    assert!(dialled.facts().digest.is_some());
}

#[test]
fn a_hostile_configuration_of_the_client_changes_nothing() {
    let Some(mut sshd) = Sshd::start_with("/bin/sh", &["MaxSessions 1"]) else { return };
    let trace = sshd.directory().join("trace");
    sshd.configure(&format!(
        "Host *\nIgnoreUnknown UseKeychain,NoSuch*\nUseKeychain yes\nNoSuchOption x\n\
         RemoteCommand echo replaced\nRequestTTY force\nSessionType none\nStdinNull yes\n\
         ForkAfterAuthentication yes\nPermitLocalCommand yes\nLocalCommand touch {}\n\
         ForwardAgent yes\nForwardX11 yes\nEscapeChar X\nLogLevel DEBUG3\nControlMaster auto\n\
         ControlPath {}/%h\nLocalForward 127.0.0.1:1 127.0.0.1:1\nSendEnv *\n",
        trace.display(),
        sshd.directory().display()
    ));
    let mut caller = Caller::of(&sshd);
    caller.origin.environment.insert("SSH_AUTH_SOCK".into(), "/nowhere".into());
    let session = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let (printed, _) =
        run(&session, Path::new("/"), "echo ${SSH_AUTH_SOCK-none}; printf 'X.\\nX?'");
    assert_eq!(printed, "none\nX.\nX?");
    assert!(!trace.exists(), "a local command");
    assert!(!sshd.directory().join("127.0.0.1").exists(), "a master");
}
