//! What `ssh` asks: passwords, passphrases, unknown keys.

use std::collections::VecDeque;
use std::fs;
use std::process::Command;
use std::sync::Mutex;

use opal_core::Secret;
use opal_remote::Mode;
use opal_remote::dial::Asker;
use opal_remote::dial::error::DialCause;
use opal_session::stop::Stop;
use opal_testing::sshd::Sshd;

use super::support::{Caller, ssh};

const WORD: &str = "correct horse 'battery'";

/// A server that wants a password.
fn with_password(lines: &[&str]) -> Option<(Sshd, Caller)> {
    let all = [&["PubkeyAuthentication no", "PasswordAuthentication yes"], lines].concat();
    let sshd = Sshd::start_with("/bin/sh", &all)?;
    sshd.account().set_password(WORD);
    let mut caller = Caller::of(&sshd);
    caller.password = Some(Secret::new(WORD));
    Some((sshd, caller))
}

#[test]
fn a_password_is_for_the_server_that_asks_for_it() {
    let Some((sshd, mut caller)) = with_password(&[]) else { return };
    let hop = ssh(&sshd.address());
    let dialled = caller.dial(&hop, Mode::ReadOnly).unwrap();
    assert_eq!(dialled.facts().user, sshd.account().uid());
    drop(dialled);
    caller.password = Some(Secret::new("wrong-word"));
    let error = caller.dial(&hop, Mode::ReadOnly).unwrap_err();
    assert_eq!(error.cause, DialCause::Ended { code: Some(255) });
    assert!(error.to_string().contains("Permission denied"), "{error}");
    assert!(!format!("{error:?}").contains("wrong-word"));
    assert!(error.help().starts_with("check `password=`"), "{}", error.help());
    // Without one nobody is asked.
    caller.password = None;
    let error = caller.dial(&hop, Mode::ReadOnly).unwrap_err();
    assert!(error.to_string().contains("Permission denied"), "{error}");
}

#[test]
fn a_password_is_not_for_a_host_whose_key_is_unknown() {
    let Some((mut sshd, caller)) = with_password(&["LogLevel VERBOSE"]) else { return };
    sshd.configure("Host *\nStrictHostKeyChecking no\n");
    fs::write(sshd.known_hosts(), "").unwrap();
    caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap_err();
    let log = fs::read_to_string(sshd.directory().join("log")).unwrap();
    assert!(!log.contains("password for"), "it was never sent: {log}");
}

#[test]
fn a_jump_host_that_asks_for_the_password_does_not_get_it() {
    let Some((mut sshd, caller)) = with_password(&["LogLevel VERBOSE"]) else { return };
    // The way to the target is by a host that wants a password, too: the same server by another name.
    let (user, port) = (&sshd.account().name, sshd.port());
    let jump = format!(
        "Host jump\nHostName 127.0.0.1\nPort {port}\nUser {user}\n\
         Host target\nHostName 127.0.0.1\nPort {port}\nUser {user}\nHostKeyAlias [127.0.0.1]:{port}\n\
         ProxyJump jump\n"
    );
    sshd.configure(&jump);
    let error = caller.dial(&ssh("target"), Mode::ReadOnly).unwrap_err();
    assert_eq!(error.cause, DialCause::Question, "{error}");
    let log = fs::read_to_string(sshd.directory().join("log")).unwrap();
    assert!(!log.contains("password for"), "it was never sent: {log}");
}

/// Only who knows this can use the key that the client has.
fn encrypt_key(sshd: &Sshd) {
    let changed = Command::new("ssh-keygen")
        .stdout(std::process::Stdio::null())
        .args(["-q", "-p", "-N", "pass-phrase", "-f"])
        .arg(sshd.directory().join("id"))
        .status();
    assert!(changed.unwrap().success());
}

#[test]
fn a_key_with_a_passphrase_does_not_stop_a_password_and_may_be_what_it_is_for() {
    let Some(sshd) = Sshd::start_with("/bin/sh", &["PasswordAuthentication yes"]) else { return };
    sshd.account().set_password(WORD);
    encrypt_key(&sshd);
    let hop = ssh(&sshd.address());
    let mut caller = Caller::of(&sshd);
    // The configuration has the key. Nobody named it: it is passed over.
    caller.password = Some(Secret::new(WORD));
    caller.dial(&hop, Mode::ReadOnly).unwrap();
    caller.password = Some(Secret::new("pass-phrase"));
    caller.dial(&hop, Mode::ReadOnly).unwrap_err();
    // The block names it: the password is its passphrase.
    caller.key_file = Some(sshd.directory().join("id").display().to_string());
    caller.dial(&hop, Mode::ReadOnly).unwrap();
}

/// Somebody who has the answers.
struct Person(Mutex<VecDeque<(&'static str, &'static str, bool)>>);

impl Asker for Person {
    fn ask(&self, question: &str, is_hidden: bool, _: &Stop) -> Option<Secret> {
        let (expected, answer, hides) = self.0.lock().unwrap().pop_front()?;
        assert!(question.contains(expected), "{question}");
        assert_eq!(is_hidden, hides, "{question}");
        Some(Secret::new(answer))
    }
}

#[test]
fn a_person_is_asked_about_an_unknown_key_and_a_passphrase() {
    let Some(sshd) = Sshd::start() else { return };
    fs::write(sshd.known_hosts(), "").unwrap();
    encrypt_key(&sshd);
    let mut caller = Caller::of(&sshd);
    let answers = [
        ("Are you sure you want to continue connecting", "yes", false),
        ("Enter passphrase for key", "pass-phrase", true),
    ];
    caller.asker = Some(Box::new(Person(Mutex::new(answers.into()))));
    caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap();
    assert!(!fs::read_to_string(sshd.known_hosts()).unwrap().is_empty(), "it is known now");
    // Somebody who gives up.
    let error = caller.dial(&ssh(&sshd.address()), Mode::ReadOnly).unwrap_err();
    assert_eq!(error.cause, DialCause::Question);
}
