//! The story of `docs/guide/agents.md`: an agent plans and submits, a person approves, the approved plan runs.

use std::process::Command;

use opal_testing::processes::eventually;
use serde_json::{Value, json};

use super::{ALL_TOOLS, Agent, submitted};
use crate::gate::Gate;

const SOURCE: &str =
    "fun deploy() {\n    ./deploy.sh\n    echo \"opts=$NODE_OPTIONS to \"@env.REGION\n}\n";

fn repository() -> Gate {
    let gate = Gate::with(SOURCE);
    gate.opal.write("deploy.sh", "#!/bin/sh\necho approved script\n");
    gate.opal.write(".gitignore", "*\n!commands.opl\n!deploy.sh\n");
    commit(&gate, "chmod +x deploy.sh && git init -q");
    gate
}

fn commit(gate: &Gate, before: &str) {
    let make = format!(
        "{before} && git add -f commands.opl deploy.sh && \
         git -c user.name=t -c user.email=t@example.com commit -q -m change"
    );
    let made = Command::new("sh").args(["-c", &make]).current_dir(gate.opal.path()).status();
    assert!(made.unwrap().success());
}

/// What a run has printed, once it has ended.
fn output(gate: &Gate, run: &Value) -> String {
    let run = run["run"].as_str().unwrap();
    eventually("the run ends", || {
        gate.opal.call(&["runs", "show", run, "--json"]).json()["run"]["status"] == "executed"
    });
    gate.opal.call(&["runs", "show", run, "--logs"]).code(0).stdout.clone()
}

#[test]
fn an_agent_plans_a_person_approves_and_exactly_that_runs() {
    let gate = repository();
    let rule = format!("{ALL_TOOLS}\n[[approval]]\nby = [ANN]\n");
    gate.policy(&rule);
    let mut agent = Agent::start(&gate);
    // 1. The agent plans a change and submits a contract.
    agent.call("plan", json!({"task": "deploy"})).done();
    let id = submitted(&mut agent, "deploy");
    // 2. It cannot start it, also not after it has signed with a key of its own.
    agent.call("run", json!({"contract": id})).exit(77).says("needs 1 approval and has none");
    gate.approve(&id, "eve");
    agent.call("run", json!({"contract": id})).exit(77).says("unknown key: it is not in `by`");
    // 3. A person approves with an SSH key.
    gate.approve(&id, "ann");
    // 4. It runs, the record names the approval, and it runs only once.
    let run = agent.call("run", json!({"contract": id})).done();
    assert_eq!(output(&gate, &run), "approved script\nopts= to eu-west-1\n");
    let shown = agent.call("runs", json!({"run": run["run"]})).done();
    let approval = &shown["result"]["run"]["contract"]["approvals"][0];
    assert_eq!(approval["name"]["untrusted"], "ann", "{shown}");
    agent.call("run", json!({"contract": id})).exit(76).says("has already been run");
    // 5. A step of the source changes after the approval.
    let id = submitted(&mut agent, "deploy");
    gate.approve(&id, "ann");
    gate.opal.write("commands.opl", SOURCE.replace("echo", "curl evil.example; echo"));
    agent.call("run", json!({"contract": id})).exit(76).says("source_changed");
    gate.opal.write("commands.opl", SOURCE);
    // 6. The script of a step and a variable of a program change: a contract compares neither, but `tree`
    // and `environment` fix both.
    gate.policy(&format!("tree = \"commit\"\nenvironment = [\"HOME\", \"PATH\"]\n\n{rule}"));
    agent.leave();
    let gate = Gate { opal: gate.opal.env("NODE_OPTIONS", "--require=./harm.js") };
    let mut agent = Agent::start(&gate);
    let id = submitted(&mut agent, "deploy");
    gate.approve(&id, "ann");
    gate.opal.write("deploy.sh", "#!/bin/sh\necho harm\n");
    let run = agent.call("run", json!({"contract": id})).done();
    assert_eq!(output(&gate, &run), "approved script\nopts= to eu-west-1\n");
}

/// The limit that the page states: without the two settings nobody notices.
#[test]
fn without_tree_and_environment_both_are_not_noticed() {
    let gate = repository();
    gate.policy(&format!("{ALL_TOOLS}\n[[approval]]\nby = [ANN]\n"));
    let gate = Gate { opal: gate.opal.env("NODE_OPTIONS", "--require=./harm.js") };
    let mut agent = Agent::start(&gate);
    let id = submitted(&mut agent, "deploy");
    gate.approve(&id, "ann");
    gate.opal.write("deploy.sh", "#!/bin/sh\necho harm\n");
    let run = agent.call("run", json!({"contract": id})).done();
    assert_eq!(output(&gate, &run), "harm\nopts=--require=./harm.js to eu-west-1\n");
}
