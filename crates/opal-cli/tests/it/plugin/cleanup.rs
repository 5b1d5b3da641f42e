//! What a plugin opened and could not close: the record names it, and `opal runs cleanup` closes it.

#![expect(clippy::disallowed_methods, reason = "each process is waited for")]

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use opal_testing::processes::eventually;

use super::wasm::{helpers, project};
use crate::support::Opal;

fn start(opal: &Opal, task: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = opal.interruptible();
    let mut child =
        command.arg(task).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

fn kill(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// A run in whose block opal was killed.
fn killed() -> Opal {
    let opal = project();
    let (mut child, mut lines) = start(&opal, "waiting");
    assert_eq!(lines.next().unwrap().unwrap(), "waiting");
    kill("-KILL", child.id());
    child.wait().unwrap();
    assert!(!opal.path().join("data/token").exists());
    opal
}

#[test]
fn what_was_open_when_opal_was_killed_is_named_and_closed_later() {
    let opal = killed();
    let shown = opal.call(&["runs", "show", "last"]);
    shown.code(0).says("not closed").says("`@guest.wrap` of acme/guest 1.2.3: data/token");
    let json = opal.call(&["runs", "show", "last", "--json"]);
    json.code(0).says("\"unclosed\"").says("\"token\": \"data/token\"");
    let closed = opal.call(&["runs", "cleanup", "last"]);
    closed.code(0).stdout("closed `@guest.wrap` of acme/guest 1.2.3: data/token\n");
    assert_eq!(opal.read("data/token"), "stopped");
    // Once is enough.
    fs::remove_file(opal.path().join("data/token")).unwrap();
    opal.call(&["runs", "cleanup", "last"]).code(0).stdout("Nothing to close.\n");
    assert!(!opal.path().join("data/token").exists());
    let again = opal.call(&["runs", "cleanup", "last", "--json"]);
    again.code(0).says("\"closed\": []").says("\"not_closed\": []");
    assert!(!opal.call(&["runs", "show", "last"]).stdout.contains("not closed"));
}

/// The object may exist as soon as its token is announced.
#[test]
fn what_was_announced_while_it_was_created_is_named_and_closed_later() {
    let opal = project();
    let (mut child, _) = start(&opal, "slow");
    eventually("it has announced its token", || opal.path().join("data/kept").exists());
    kill("-KILL", child.id());
    child.wait().unwrap();
    assert!(!opal.path().join("data/token").exists());
    let shown = opal.call(&["runs", "show", "last"]);
    shown.code(0).says("`@guest.slow` of acme/guest 1.2.3: data/token");
    opal.call(&["runs", "cleanup", "last"]).code(0);
    assert_eq!(opal.read("data/token"), "stopped");
}

/// Ctrl+C in the middle of creating closes it at once.
#[test]
fn what_was_announced_while_it_was_created_is_closed_after_ctrl_c() {
    let opal = project();
    let (mut child, _) = start(&opal, "slow");
    eventually("it has announced its token", || opal.path().join("data/kept").exists());
    kill("-INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(opal.read("data/token"), "stopped");
    opal.call(&["runs", "cleanup", "last"]).code(0).stdout("Nothing to close.\n");
}

#[test]
fn only_the_package_that_opened_something_closes_it() {
    let opal = killed();
    let manifest = opal.read("guest/dim.yaml");
    opal.write("guest/dim.yaml", manifest.replace("a decorator of the tests", "another text"));
    let refused = opal.call(&["runs", "cleanup", "last"]);
    refused.code(77).says("of acme/guest 1.2.3: data/token is not closed: the package has changed");
    opal.write("guest/dim.yaml", &manifest);
    let accepted = opal.path().join(".opal/config/accepted.toml");
    let before = fs::read(&accepted).unwrap();
    fs::remove_file(&accepted).unwrap();
    opal.call(&["runs", "cleanup", "last"]).code(77).says("nobody has accepted it");
    fs::write(&accepted, before).unwrap();
    opal.call(&["runs", "cleanup", "last"]).code(0);
    assert_eq!(opal.read("data/token"), "stopped");
}

#[test]
fn what_is_kept_for_closing_is_not_readable_and_not_exchangeable() {
    let opal = killed();
    let folder = opal.path().join(".opal/plugins/open");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("token"));
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, bytes).unwrap();
    let refused = opal.call(&["runs", "cleanup", "last"]);
    refused.code(69).says("this machine does not have what closing needs");
    // What is gone is not closed.
    fs::remove_file(&file).unwrap();
    let refused = opal.call(&["runs", "cleanup", "last"]);
    refused.code(69).says("data/token is not closed").says("or close it by hand");
    opal.call(&["runs", "show", "last"]).code(0).says("not closed");
}

#[test]
fn everything_that_cannot_be_closed_is_named() {
    let opal = project();
    let (mut child, mut lines) = start(&opal, "nested");
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    kill("-KILL", child.id());
    child.wait().unwrap();
    let manifest = opal.read("guest/dim.yaml");
    opal.write("guest/dim.yaml", manifest.replace("a decorator of the tests", "another text"));
    let refused = opal.call(&["runs", "cleanup", "last"]);
    refused.code(77).says("data/outer is not closed").says("data/inner is not closed");
    let json = opal.call(&["runs", "cleanup", "last", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json.code(77).stdout).unwrap();
    assert_eq!(document["not_closed"].as_array().unwrap().len(), 2);
}

#[test]
fn the_json_of_a_run_lists_what_is_not_closed() {
    let opal = project();
    let commands = opal
        .read("commands.opl")
        .replace("guest.wrap(subject=\"data/token\")", "guest.hang(subject=\"data/token\")");
    opal.write("commands.opl", commands);
    let ran = opal.call(&["failing", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.code(3).stdout).unwrap();
    let open = &document["unclosed"][0];
    assert_eq!(
        (open["token"].as_str(), open["decorator"].as_str()),
        (Some("data/token"), Some("guest.hang"))
    );
}

fn kill_helper(opal: u32) {
    let pids = helpers(opal);
    assert_eq!(pids.len(), 1);
    kill("-KILL", pids[0]);
    let until = Instant::now() + Duration::from_secs(10);
    while helpers(opal).contains(&pids[0]) {
        assert!(Instant::now() < until, "the helper is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_helper_that_crashes_twice_leaves_what_the_summary_names() {
    let opal = project();
    let (mut child, mut lines) = start(&opal, "nested");
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    kill_helper(child.id());
    opal.write("go1", "");
    // The helper was started again for `end`.
    assert_eq!(lines.next().unwrap().unwrap(), "second");
    assert_eq!(opal.read("data/inner"), "done");
    kill_helper(child.id());
    opal.write("go2", "");
    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(69), "{said}");
    assert!(said.contains("it is restarted once in a run"), "{said}");
    assert!(said.contains("not closed: `@guest.wrap` of acme/guest 1.2.3: data/outer"), "{said}");
    assert!(said.contains("opal runs cleanup run-"), "{said}");
    opal.call(&["runs", "cleanup", "last"]).code(0);
    assert_eq!(opal.read("data/outer"), "stopped");
}

#[test]
fn a_second_ctrl_c_leaves_what_cleanup_closes() {
    let opal = project();
    opal.write(
        "commands.opl",
        "fun stuck() {\n    @guest.wrap(subject=\"data/token\") {\n        trap '' INT TERM; echo waiting; \
         sleep 60\n    }\n}\n",
    );
    let (mut child, mut lines) = start(&opal, "stuck");
    assert_eq!(lines.next().unwrap().unwrap(), "waiting");
    kill("-INT", child.id());
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut errors = errors.lines();
    assert!(errors.any(|line| line.unwrap().contains("the same signal again")));
    kill("-INT", child.id());
    let rest: Vec<String> = errors.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.iter().any(|line| line.contains("not closed: `@guest.wrap`")), "{rest:?}");
    assert!(!opal.path().join("data/token").exists());
    opal.call(&["runs", "cleanup", "last"]).code(0);
    assert_eq!(opal.read("data/token"), "stopped");
}
