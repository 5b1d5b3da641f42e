//! What `ssh` asks, on a terminal.

use std::process::{Command, Stdio};

use opal_testing::processes::eventually;
use opal_testing::sshd::Sshd;
use rustix::termios::{LocalModes, tcgetattr};

use super::Person;
use crate::servers::servers;

const ON_ONE: &str = "fun task() {\n    @ssh.host(\"web1\") {\n        echo the''re\n    }\n}\n";
const ON_MANY: &str =
    "fun task() {\n    @ssh.hosts([\"web1\"]) {\n        echo the''re\n    }\n}\n";

#[expect(clippy::disallowed_methods, reason = "the program is the system's")]
fn protect_key(sshd: &Sshd, passphrase: &str) {
    let mut command = Command::new("ssh-keygen");
    command
        .stdout(Stdio::null())
        .args(["-q", "-p", "-P", "", "-N", passphrase, "-f"])
        .arg(sshd.directory().join("id"));
    assert!(command.status().unwrap().success());
}

#[test]
fn an_unknown_host_key_is_asked_about_on_a_terminal_and_remembered() {
    let Some((sshd, opal)) = servers(&["web1"], ON_ONE) else { return };
    std::fs::remove_file(sshd.known_hosts()).unwrap();
    let mut person = Person::before(opal.args(["task"]));
    person.sees("Are you sure you want to continue connecting").types(b"yes\n").sees("there\r\n");
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("SHA256:"), "{shown}");
    let known = std::fs::read_to_string(sshd.known_hosts()).unwrap();
    assert!(known.contains(sshd.host_key().split(' ').nth(1).unwrap()), "{known}");
}

#[test]
fn no_is_an_answer_too_and_nothing_runs() {
    let Some((sshd, opal)) = servers(&["web1"], ON_ONE) else { return };
    std::fs::remove_file(sshd.known_hosts()).unwrap();
    let mut person = Person::before(opal.args(["task"]));
    person.sees("Are you sure you want to continue connecting").types(b"no\n");
    let (code, shown) = person.ends();
    assert!(code == 69 && !shown.contains("there\r\n"), "{code} {shown}");
    assert!(!sshd.known_hosts().exists());
}

#[test]
fn the_passphrase_of_a_key_is_asked_for_and_not_shown() {
    let Some((sshd, opal)) = servers(&["web1"], ON_ONE) else { return };
    protect_key(&sshd, "correct horse");
    let mut person = Person::before(opal.args(["task"]));
    let before = tcgetattr(&person.own).unwrap().local_modes;
    person.sees("Enter passphrase for key");
    eventually("nothing is shown", || {
        !tcgetattr(&person.own).unwrap().local_modes.contains(LocalModes::ECHO)
    });
    person.types(b"correct horse\n").sees("there\r\n");
    let own = person.own.try_clone().unwrap();
    let (code, shown) = person.ends();
    assert!(code == 0 && !shown.contains("correct horse"), "{shown}");
    assert_eq!(tcgetattr(&own).unwrap().local_modes, before);
}

#[test]
fn ctrl_c_ends_a_question_and_the_terminal_shows_what_is_typed_again() {
    let Some((sshd, opal)) = servers(&["web1"], ON_ONE) else { return };
    protect_key(&sshd, "correct horse");
    let mut person = Person::before(opal.args(["task"]));
    person.sees("Enter passphrase for key");
    // The terminal of the test controls nobody: the signal comes from elsewhere.
    opal_testing::processes::signal(&person.child, "INT");
    let own = person.own.try_clone().unwrap();
    let (code, shown) = person.ends();
    assert!(code == 130 && !shown.contains("there\r\n"), "{code} {shown}");
    assert!(tcgetattr(&own).unwrap().local_modes.contains(LocalModes::ECHO));
}

#[test]
fn nobody_is_asked_for_a_fleet_or_without_a_terminal() {
    let Some((sshd, opal)) = servers(&["web1"], ON_MANY) else { return };
    std::fs::remove_file(sshd.known_hosts()).unwrap();
    let (code, shown) = Person::before(opal.args(["task"])).ends();
    assert!(code == 69 && !shown.contains("Are you sure"), "{code} {shown}");
    let Some((sshd, opal)) = servers(&["web1"], ON_ONE) else { return };
    std::fs::remove_file(sshd.known_hosts()).unwrap();
    opal.call(&["task"]).code(69).hides("Are you sure").says("Host key verification failed");
}
