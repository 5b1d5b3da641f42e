//! Runs under a contract.

use std::io::{Read as _, Write as _};

use crate::pty::start;
use crate::support::Opal;

const TASK: &str = "fun main() {\n    echo deploys @env.TAG\n}\n";

fn with_contract(options: &[&str]) -> Opal {
    let opal = Opal::machine(TASK).env("TAG", "release-1");
    let line = [&["plan", "main", "-o", "c.plan"], options].concat();
    opal.call(&line).code(0);
    opal
}

#[test]
fn the_plan_of_a_contract_runs_and_its_record_names_it() {
    let opal = with_contract(&[]);
    let ran = opal.call(&["run", "--plan", "c.plan"]);
    ran.code(0).stdout("deploys release-1\n");
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(shown["run"]["contract"]["path"], "c.plan", "{shown:#}");
}

#[test]
fn a_refused_contract_runs_nothing_and_leaves_a_record() {
    let opal = with_contract(&[]);
    let ran = opal.call_with(&[("TAG", "release-2")], &["run", "--plan", "c.plan"]);
    ran.code(76).stdout("").says("env_changed");
    let ran = opal.call(&["runs", "show", "last", "--json"]);
    let shown = ran.hides("release-2").json();
    assert_eq!(shown["run"]["status"], "refused", "{shown:#}");
    assert_eq!(shown["run"]["drift"][0]["code"], "env_changed", "{shown:#}");
}

#[test]
fn a_forced_contract_runs_with_the_values_of_today_and_says_so_for_ever() {
    let opal = with_contract(&[]);
    let line = ["run", "--plan", "c.plan", "--force"];
    let ran = opal.call_with(&[("TAG", "release-2")], &line);
    ran.code(0).stdout("deploys release-2\n").says("env_changed: env.TAG: <9:");
    let shown = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(shown["run"]["status"], "drifted", "{shown:#}");
}

#[test]
fn a_contract_for_a_single_run_has_one() {
    let opal = with_contract(&["--once"]);
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(76).stdout("").says("single-use contract");
}

#[test]
fn random_values_outside_of_contracts_can_be_forbidden() {
    let text = "fun main() {\n    printf '%s' @random.password(16) > secret\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["main"]).code(0);
    let policy = opal.path().join("home/.opal/config");
    std::fs::create_dir_all(&policy).unwrap();
    std::fs::write(policy.join("policy.toml"), "randomness = \"contract\"\n").unwrap();
    opal.call(&["main"]).code(77).says("only in a contract");
    opal.call(&["plan", "main", "-o", "c.plan"]).code(0);
    opal.call(&["run", "--plan", "c.plan"]).code(0);
    assert_eq!(opal.read("secret").len(), 16);
}

#[test]
fn of_two_runs_of_a_single_use_contract_at_once_one_is_refused_as_used() {
    let text = "fun main() {\n    @confirm(\"really?\")\n    echo ran\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["plan", "main", "-o", "c.plan", "--once", "--expires", "1h"]).code(0);
    let mut command = opal.interruptible();
    command.args(["run", "--plan", "c.plan"]);
    let (mut child, mut own) = start(command);
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    // It has been compared, and asks; the other one runs meanwhile.
    while let Ok(count @ 1..) = own.read(&mut bytes) {
        let is_asked = shown.contains("really?");
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if !is_asked && shown.contains("really?") {
            opal.call(&["run", "--plan", "c.plan", "--yes"]).code(0).stdout("ran\n");
            own.write_all(b"y\n").unwrap();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(76), "{shown}");
    assert!(shown.contains("this single-use contract has already been run"), "{shown}");
    assert!(shown.contains("`opal plan -o c.plan --expires 1h --once main`"), "{shown}");
    let record = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["status"], "refused", "{record:#}");
    assert_eq!(record["run"]["refused"]["reason"], "used", "{record:#}");
}

const FAILS: &str = "fun main() {\n    echo one\n    test -e go\n    echo three\n}\n";

#[test]
fn a_failed_run_of_a_single_use_contract_is_continued_and_that_is_its_one_use() {
    let opal = Opal::machine(FAILS);
    opal.call(&["plan", "main", "-o", "c.plan", "--once"]).code(0);
    let run = |more: &[&str]| opal.call(&[&["run", "--plan", "c.plan"], more].concat());
    let used = |more: &[&str]| {
        run(more).code(76).stdout("").says("this single-use contract has already been run");
    };
    run(&[]).code(1).stdout("one\n").says("opal run --plan c.plan --resume");
    let first = opal.call(&["runs", "show", "last", "--json"]).json()["run"]["id"].clone();
    let first = format!("--resume={}", first.as_str().unwrap());
    used(&[]);
    used(&["--from", "step:2"]);
    // A run of the same plan that is not a run of the contract.
    opal.call(&["main"]).code(1).stdout("one\n");
    let direct = opal.call(&["runs", "show", "last", "--json"]).json()["run"]["id"].clone();
    used(&[&format!("--resume={}", direct.as_str().unwrap())]);
    run(&["--resume"]).code(1).stdout("").says("opal run --plan c.plan --resume");
    // The first run was continued: what is left of the use is in the second.
    used(&[&first]);
    let opal = opal.file("go", "");
    let run = |more: &[&str]| opal.call(&[&["run", "--plan", "c.plan"], more].concat());
    run(&["--resume"]).code(0).stdout("three\n");
    for more in [&[][..], &["--resume"], &[&first]] {
        run(more).code(76).stdout("").says("this single-use contract has already been run");
    }
    let record = opal.call(&["runs", "show", "last", "--json"]).json();
    assert_eq!(record["run"]["refused"]["reason"], "used", "{record:#}");
}

#[test]
fn another_contract_of_the_same_plan_does_not_continue_it() {
    let opal = Opal::machine(FAILS);
    for file in ["a.plan", "b.plan"] {
        opal.call(&["plan", "main", "-o", file, "--once"]).code(0);
    }
    opal.call(&["run", "--plan", "a.plan"]).code(1).stdout("one\n");
    opal.call(&["run", "--plan", "b.plan", "--resume"]).code(2).stdout("").says("no earlier run");
    opal.call(&["run", "--plan", "b.plan"]).code(1).stdout("one\n");
}

#[test]
fn of_two_that_continue_a_single_use_contract_at_once_one_is_refused_as_used() {
    let text = "fun main() {\n    test -e go\n    @confirm(\"really?\")\n    echo ran\n}\n";
    let opal = Opal::machine(text);
    opal.call(&["plan", "main", "-o", "c.plan", "--once"]).code(0);
    opal.call(&["run", "--plan", "c.plan", "--yes"]).code(1);
    let opal = opal.file("go", "");
    let mut command = opal.interruptible();
    command.args(["run", "--plan", "c.plan", "--resume"]);
    let (mut child, mut own) = start(command);
    let (mut shown, mut bytes) = (String::new(), [0; 4096]);
    while let Ok(count @ 1..) = own.read(&mut bytes) {
        let is_asked = shown.contains("really?");
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if !is_asked && shown.contains("really?") {
            let other = ["run", "--plan", "c.plan", "--resume", "--yes"];
            opal.call(&other).code(0).stdout("ran\n");
            own.write_all(b"y\n").unwrap();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(76), "{shown}");
    assert!(shown.contains("this single-use contract has already been run"), "{shown}");
}

#[test]
fn a_contract_is_never_run_or_refused_without_a_record() {
    let opal = Opal::machine("fun main() = touch ran\n");
    opal.call(&["plan", "main", "-o", "c.plan"]).code(0);
    for words in [
        &["run", "--plan", "c.plan", "--no-record"][..],
        &["--no-record", "run", "--plan", "c.plan"],
        &["run", "--plan", "gone.plan", "--no-record"],
        &["run", "--plan", "c.plan", "--no-record", "--dry-run"],
    ] {
        opal.call(words).code(2).says("`--no-record` cannot be used with `--plan`");
    }
    assert!(!opal.path().join("ran").exists());
    opal.call(&["main", "--no-record"]).code(0);
    opal.call(&["runs", "list"]).code(0).says("No runs yet");
}
