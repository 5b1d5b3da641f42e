//! Runs under a contract.

use std::io::{Read as _, Write as _};

use super::terminal::start;
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
