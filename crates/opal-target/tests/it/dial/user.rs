//! Another user: by `sudo` and `doas`, here and on a target.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::Secret;
use opal_core::target::{Hop, Via};
use opal_remote::dial::error::DialCause;
use opal_remote::{Mode, RemoteSession, Terms};
use opal_session::Session as _;
use opal_testing::account::Account;
use opal_testing::needs;
use opal_testing::sshd::Sshd;

use super::support::{Caller, act, nothing_runs_as, run, ssh, world};

fn by(via: Via, user: &str) -> Hop {
    Hop::User { user: user.parse().unwrap(), via }
}

fn has_sudo() -> bool {
    needs::has("`sudo`", Path::new("/usr/bin/sudo").exists())
}

fn whoami(session: &RemoteSession) -> String {
    run(session, Path::new("/"), "id -un").0.trim().to_owned()
}

#[test]
fn a_user_of_this_machine_is_reached_by_sudo_and_leaves_no_process() {
    let Some(account) = Account::new("/bin/sh").filter(|_| has_sudo()) else { return };
    let caller = Caller::new(std::env::vars_os().collect());
    for mode in [Mode::Effect, Mode::Effect, Mode::ReadOnly] {
        let dialled = caller.dial(&by(Via::Sudo, &account.name), mode).unwrap();
        assert_eq!(dialled.facts().user, account.uid());
        if mode == Mode::Effect {
            let session = act(dialled);
            assert_eq!(whoami(&session), account.name);
            let (home, _) = run(&session, Path::new("/"), "echo $HOME");
            assert_eq!(Path::new(home.trim()), account.home);
        }
    }
    assert!(account.home.join(".cache/opal").exists());
    nothing_runs_as(account.uid());
}

#[test]
fn inside_ssh_the_helper_there_starts_sudo() {
    let Some(sshd) = Sshd::start().filter(|_| has_sudo()) else { return };
    let _rule = sshd.account().may_be_anyone();
    let caller = Caller::of(&sshd);
    let outer = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let other = Account::new("/bin/sh").unwrap();
    let dialled = caller.dial_from(outer.inside(), &by(Via::Sudo, &other.name), Mode::Effect);
    let inner = act(dialled.unwrap());
    assert_eq!((whoami(&outer), whoami(&inner)), (sshd.account().name.clone(), other.name.clone()));
    // Large output crosses both.
    let (printed, code) = run(&inner, Path::new("/"), "head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!((printed.len(), code), (3_000_000, 0));
    drop(inner);
    assert_eq!(whoami(&outer), sshd.account().name, "the outer one goes on");
}

#[test]
fn from_a_target_that_is_only_read_another_one_can_only_be_read() {
    let Some(sshd) = Sshd::start().filter(|_| has_sudo()) else { return };
    let _rule = sshd.account().may_be_anyone();
    let caller = Caller::of(&sshd);
    let outer = caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap();
    let outer = outer.look(Terms::default(), world()).unwrap();
    // Whatever is asked for.
    let hop = by(Via::Sudo, "root");
    let dialled = caller.dial_from(outer.inside(), &hop, Mode::Effect).unwrap();
    assert_eq!((dialled.facts().user, dialled.facts().is_read_only), (0, true));
    let inner = dialled.look(Terms::default(), world()).unwrap();
    assert!(inner.finds("sh"));
}

#[test]
fn a_password_is_given_once_and_only_to_the_prompt() {
    let Some(sshd) = Sshd::start().filter(|_| has_sudo()) else { return };
    sshd.account().set_password("s3cret-word");
    let _rule = sshd.account().may("Defaults:USER lecture=always\nUSER ALL=(ALL) ALL");
    let mut caller = Caller::of(&sshd);
    let outer = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let root = by(Via::Sudo, "root");
    let error = caller.dial_from(outer.inside(), &root, Mode::ReadOnly).unwrap_err();
    assert_eq!(error.to_string(), "sudo: a password is required");
    caller.password = Some(Secret::new("s3cret-word"));
    let dialled = caller.dial_from(outer.inside(), &root, Mode::ReadOnly).unwrap();
    assert_eq!(dialled.facts().user, 0);
    drop(dialled);
    caller.password = Some(Secret::new("another-word"));
    let error = caller.dial_from(outer.inside(), &root, Mode::ReadOnly).unwrap_err();
    assert_eq!(error.cause, DialCause::Denied, "{error}");
    assert!(!format!("{error:?} {error}").contains("another-word"));
    assert!(error.help().contains("NOPASSWD"), "{}", error.help());
}

#[test]
fn sudo_with_a_pty_a_log_and_a_terminal_required_works() {
    let Some(sshd) = Sshd::start().filter(|_| has_sudo()) else { return };
    let logs = tempfile::tempdir().unwrap();
    let rule = format!(
        "Defaults:USER requiretty,use_pty,log_output,iolog_dir={}\nUSER ALL=(ALL) NOPASSWD: ALL",
        logs.path().display()
    );
    let _rule = sshd.account().may(&rule);
    let caller = Caller::of(&sshd);
    let outer = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let other = Account::new("/bin/sh").unwrap();
    let dialled = caller.dial_from(outer.inside(), &by(Via::Sudo, &other.name), Mode::Effect);
    let inner = act(dialled.unwrap());
    let (printed, _) = run(&inner, Path::new("/"), "id -un; seq 1 100000 | tail -n 1");
    assert_eq!(printed, format!("{}\n100000\n", other.name));
}

#[test]
fn sudo_is_never_looked_up_in_the_path_and_its_home_is_not_believed() {
    let lines = ["PermitUserEnvironment yes"];
    let Some(sshd) = Sshd::start_with("/bin/sh", &lines).filter(|_| has_sudo()) else { return };
    let home = sshd.account().home.clone();
    let _rule = sshd
        .account()
        .may("Defaults:USER !always_set_home,!env_reset\nUSER ALL=(ALL) NOPASSWD: ALL");
    let fake = home.join("bin");
    fs::create_dir_all(&fake).unwrap();
    for name in ["sudo", "id", "ls", "head"] {
        fs::write(fake.join(name), format!("#!/bin/sh\ntouch {}/stolen\n", home.display()))
            .unwrap();
        fs::set_permissions(fake.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir_all(home.join(".ssh")).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin\n", fake.display());
    fs::write(home.join(".ssh/environment"), path).unwrap();
    let caller = Caller::of(&sshd);
    let outer = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let (path, _) = run(&outer, Path::new("/"), "command -v sudo");
    assert_eq!(Path::new(path.trim()), fake.join("sudo"), "a step would find it");
    let other = Account::new("/bin/sh").unwrap();
    let dialled = caller.dial_from(outer.inside(), &by(Via::Sudo, &other.name), Mode::Effect);
    drop(dialled.unwrap());
    assert!(!home.join("stolen").exists());
    assert!(other.home.join(".cache/opal").exists(), "its own home");
}

#[test]
fn doas_works_without_a_password_and_takes_none() {
    let Some(sshd) = Sshd::start() else { return };
    if !needs::has("`doas`", Path::new("/usr/bin/doas").exists()) {
        return;
    }
    let rules = Path::new("/etc/doas.conf");
    if !needs::has("no rules for `doas`", !rules.exists()) {
        return;
    }
    let other = Account::new("/bin/sh").unwrap();
    let rule = format!("permit nopass {} as {}\n", sshd.account().name, other.name);
    fs::write(rules, rule).unwrap();
    let mut caller = Caller::of(&sshd);
    let outer = act(caller.dial(&ssh(&sshd.address()), Mode::Effect).unwrap());
    let hop = by(Via::Doas, &other.name);
    let inner = caller.dial_from(outer.inside(), &hop, Mode::Effect);
    let denied = caller.dial_from(outer.inside(), &by(Via::Doas, "root"), Mode::Effect);
    caller.password = Some(Secret::new("word"));
    let refused = caller.dial_from(outer.inside(), &hop, Mode::Effect);
    fs::remove_file(rules).unwrap();
    let inner = inner.unwrap();
    assert_eq!(inner.facts().start, other.home);
    assert_eq!(whoami(&act(inner)), other.name);
    assert_eq!(denied.unwrap_err().to_string(), "doas: Operation not permitted");
    assert_eq!(refused.unwrap_err().to_string(), "`doas` accepts no password");
}
