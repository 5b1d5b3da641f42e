//! Login shells, and what they print.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;

use opal_remote::dial::error::DialCause;
use opal_remote::{Mode, Terms};
use opal_testing::sshd::Sshd;
use opal_testing::{needs, processes};

use super::support::{Caller, act, run, ssh, world};

fn greets(shell: &str, lines: &[&str]) {
    if !needs::has(shell, Path::new(shell).exists()) {
        return;
    }
    let Some(sshd) = Sshd::start_with(shell, lines) else { return };
    let caller = Caller::of(&sshd);
    for mode in [Mode::ReadOnly, Mode::Effect, Mode::Effect] {
        let dialled = caller.dial(&ssh(&sshd.address()), mode);
        let dialled = dialled.unwrap_or_else(|error| panic!("{shell}: {error}"));
        if mode == Mode::Effect {
            let session = act(dialled);
            assert_eq!(run(&session, Path::new("/"), "echo $((6*7))"), ("42\n".to_owned(), 0));
        }
    }
}

#[test]
fn every_login_shell_leads_to_the_helper() {
    for shell in [
        "/bin/sh",
        "/bin/bash",
        "/bin/dash",
        "/usr/bin/fish",
        "/usr/bin/tcsh",
        "/usr/bin/zsh",
        "/bin/mksh",
    ] {
        greets(shell, &[]);
    }
}

#[test]
fn busybox_alone_is_enough() {
    let folder = Path::new("/var/lib/opal-tests/busybox");
    if !needs::root() || !needs::program("busybox") {
        return;
    }
    fs::create_dir_all(folder).unwrap();
    command(&["busybox", "--install", "-s", folder.to_str().unwrap()]);
    let path = format!("SetEnv PATH={}", folder.display());
    greets("/var/lib/opal-tests/busybox/ash", &[&path]);
}

#[test]
fn an_account_without_a_login_says_so() {
    let Some(sshd) = Sshd::start_with("/usr/sbin/nologin", &[]) else { return };
    let error = Caller::of(&sshd).dial(&ssh(&sshd.address()), Mode::Effect).unwrap_err();
    assert_eq!(error.cause, DialCause::Ended { code: Some(1) });
    assert_eq!(error.to_string(), "the login has ended: This account is currently not available.");
}

#[test]
fn noise_of_a_login_is_passed_over_up_to_a_limit() {
    let Some(sshd) = Sshd::start_with("/bin/bash", &[]) else { return };
    let rc = |text: &str| fs::write(sshd.account().home.join(".bashrc"), text).unwrap();
    let caller = Caller::of(&sshd);
    // What looks like the protocol is noise like any other.
    rc(
        "echo 00112233445566778899aabbccddeeff helper; head -c 60000 /dev/zero; echo; printf no-newline\n",
    );
    let dialled = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    assert!(dialled.said().last_line().unwrap() == "no-newline");
    rc("head -c 10000000 /dev/zero\n");
    let error = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap_err();
    assert_eq!(error.cause, DialCause::Noise);
    // What repeats the command does not print the nonce.
    rc("set -xv; exec 2>&1\n");
    caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
}

#[test]
fn a_login_that_takes_its_time_is_waited_for() {
    let Some(sshd) = Sshd::start_with("/bin/bash", &[]) else { return };
    let (caller, home) = (Caller::of(&sshd), &sshd.account().home);
    let rc = "touch ~/began; until test -e ~/go; do sleep 0.05; done; echo noise\n";
    fs::write(home.join(".bashrc"), rc).unwrap();
    let ready = caller.dial_and(&ssh(&sshd.address()), || {
        processes::eventually("the login has begun", || home.join("began").exists());
        fs::write(home.join("go"), "").unwrap();
    });
    assert_eq!(run(&act(ready.unwrap()), Path::new("/"), "echo ready").0, "ready\n");
}

#[test]
fn a_server_that_prints_megabytes_before_its_version_is_not_reached() {
    let flood = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = flood.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in flood.incoming().map_while(Result::ok) {
            // Until nobody listens any more.
            let line = [&[b'x'; 1000][..], b"\r\n"].concat();
            let _ = (0..10_000).try_for_each(|_| client.write_all(&line));
        }
    });
    let caller = Caller::new(std::env::vars_os().collect());
    let error = caller.dial(&ssh(&format!("127.0.0.1:{port}")), Mode::Effect).unwrap_err();
    assert_eq!(error.cause, DialCause::Ended { code: Some(255) });
    assert!(!error.is_turned_away() && !error.is_refused_key(), "{error:?}");
    assert!(error.to_string().len() < 1000, "{error}");
}

#[test]
fn a_banner_is_neither_noise_nor_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    // A server sends a packet of 256 KiB at most.
    fs::write(file.path(), "@@ REMOTE HOST IDENTIFICATION HAS CHANGED @@\n".repeat(5_000)).unwrap();
    let banner = format!("Banner {}", file.path().display());
    let Some(sshd) = Sshd::start_with("/bin/sh", &[&banner]) else { return };
    let caller = Caller::of(&sshd);
    caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
    let error = caller.dial(&ssh(&sshd.address_of("stranger")), Mode::Effect).unwrap_err();
    assert!(!error.is_refused_key(), "{error}");
}

#[test]
fn a_home_in_which_nothing_runs_or_fits_is_replaced_by_a_directory_that_is_removed() {
    let Some(sshd) = Sshd::start() else { return };
    let home = sshd.account().home.clone();
    if !needs::has("a disk to mount", mount(&home, "size=100k")) {
        return;
    }
    let caller = Caller::of(&sshd);
    let check = |what: &str| {
        let dialled = caller.dial(&ssh(&sshd.address()), Mode::Effect);
        let dialled = dialled.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(dialled.facts().digest.is_some());
        let session = act(dialled);
        assert_eq!(run(&session, Path::new("/"), "echo ok").0, "ok\n");
        assert_eq!(super::ssh::left(&sshd), Vec::<String>::new(), "{what}");
        let cache = home.join(".cache/opal");
        let files = fs::read_dir(&cache).map(Iterator::count).unwrap_or_default();
        assert_eq!(files, 0, "{what}");
    };
    check("full");
    umount(&home);
    assert!(mount(&home, "noexec"));
    check("noexec");
    umount(&home);
    assert!(mount(&home, "ro"));
    check("read-only");
    umount(&home);
}

fn mount(home: &Path, options: &str) -> bool {
    let owner = home.metadata().map(|it| std::os::unix::fs::MetadataExt::uid(&it)).unwrap();
    let options = format!("{options},mode=0755,uid={owner}");
    command(&["mount", "-t", "tmpfs", "-o", &options, "none", home.to_str().unwrap()])
}

fn umount(home: &Path) {
    assert!(command(&["umount", "--lazy", home.to_str().unwrap()]));
}

fn command(words: &[&str]) -> bool {
    let status = std::process::Command::new(words[0]).args(&words[1..]).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn with_login_the_environment_is_that_of_the_login_shell() {
    for (shell, file, text) in [
        ("/bin/sh", ".profile", "echo noise; export OPAL_WORD=login"),
        ("/bin/bash", ".bash_profile", "echo noise; export OPAL_WORD=login"),
        ("/usr/bin/zsh", ".zprofile", "echo noise; export OPAL_WORD=login"),
        ("/bin/mksh", ".profile", "echo noise; export OPAL_WORD=login"),
        ("/usr/bin/tcsh", ".login", "echo noise; setenv OPAL_WORD login"),
        (
            "/usr/bin/fish",
            ".config/fish/config.fish",
            "if status is-login; echo noise; set -gx OPAL_WORD login; end",
        ),
    ] {
        if !needs::has(shell, Path::new(shell).exists()) {
            continue;
        }
        let Some(sshd) = Sshd::start_with(shell, &[]) else { return };
        let file = sshd.account().home.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{text}\n")).unwrap();
        let caller = Caller::of(&sshd);
        for (is_login, expected) in [(false, "none\n"), (true, "login\n")] {
            let dialled = caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap();
            let terms = Terms { marker: "login".to_owned(), is_login, ..Terms::default() };
            let session = dialled.act(terms, world()).unwrap();
            let (printed, _) = run(&session, Path::new("/"), "echo ${OPAL_WORD-none}");
            assert_eq!(printed, expected, "{shell}");
        }
    }
}
