//! What each tool answers.

use std::fs;

use opal_testing::processes::eventually;
use serde_json::{Value, json};

use super::{ALL_TOOLS, Agent, by_ann, submitted, untrusted};
use crate::gate::Gate;

const SOURCE: &str = "## Deploys to a region.\nfun deploy(region: String = \"eu\") {\n    \
                      echo deploying to @var.region\n}\n\nfun _secret() {\n    echo private\n}\n";

#[test]
fn both_revisions_of_the_protocol_are_spoken() {
    let gate = Gate::with(SOURCE);
    let usual = ["tasks", "check", "explain", "plan", "diff", "contracts", "runs"];
    let mut agent = Agent::start(&gate);
    assert_eq!(agent.tools(), usual);
    let said = agent.leave();
    assert!(
        said.contains("opal mcp: tools: tasks check explain plan diff contracts runs\n"),
        "{said}"
    );
    assert!(!said.contains("can run commands"), "{said}");
    let mut agent = Agent::stateless(&gate);
    let answer = agent.request("server/discover", json!({}));
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    for version in ["2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{answer}");
    }
    assert_eq!(agent.tools(), usual);
    let tasks = agent.call("tasks", json!({})).done();
    assert_eq!(untrusted(&tasks["result"]["tasks"][0]["name"]), "deploy");
    // Each request says its revision; one that does not is refused.
    agent.meta = None;
    let answer = agent.request("tools/list", json!({}));
    assert!(answer["error"]["code"].is_number(), "{answer}");
}

#[test]
fn tasks_are_listed_planned_and_checked_and_private_ones_are_hidden() {
    let gate = Gate::with(SOURCE);
    let mut agent = Agent::start(&gate);
    let tasks = agent.call("tasks", json!({})).done();
    let tasks = tasks["result"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    assert_eq!(untrusted(&tasks[0]["docs"]), "Deploys to a region.");
    agent.call("plan", json!({"task": "_secret"})).refused("wrong_argument");
    let plan = agent.call("plan", json!({"task": "deploy", "arguments": ["us"]})).done();
    assert_eq!(plan["exit"], 0);
    assert_eq!(plan["result"]["header"]["mode"], "quick");
    assert!(plan["result"]["header"]["plan_hash"].as_str().unwrap().starts_with("sha256:"));
    assert!(plan["result"]["steps"].to_string().contains("deploying to us"), "{plan}");
    let check = agent.call("check", json!({})).done();
    assert_eq!(check["result"]["summary"]["errors"], 0, "{check}");
    gate.opal.write("commands.opl", "fun deploy() {\n    echo @var.nothing\n}\n");
    let check = agent.call("check", json!({})).done();
    assert_eq!(check["exit"], 65);
    assert_eq!(check["result"]["files"][0]["diagnostics"][0]["severity"], "error", "{check}");
    let page = agent.call("explain", json!({"topic": "E0401"})).done();
    assert!(page["result"]["page"].as_str().is_some_and(|page| page.contains("E0401")), "{page}");
    let page = agent.call("explain", json!({"topic": "@retry"})).done();
    assert!(!page["result"].is_null(), "{page}");
    let plan = agent.call("plan", json!({"task": "deploy"}));
    assert!(plan.is_error, "{:#}", plan.document);
}

/// A quick plan runs nothing; `verify` and `contract` do, and are off where nobody names them.
#[test]
fn commands_of_the_source_run_only_where_the_policy_enables_it() {
    let source = "fun deploy() {\n    var token = @shell.output(\"touch read; echo 1\")\n    \
                  echo @var.token\n}\n\nfun state() {\n    @file.directory(\"made\")\n}\n";
    let gate = Gate::with(source);
    let read = || gate.opal.path().join("read").exists();
    let mut agent = Agent::start(&gate);
    agent.call("plan", json!({"task": "deploy"})).done();
    assert!(!read());
    for tool in ["verify", "contract", "run", "stop"] {
        agent.call(tool, json!({"task": "deploy"})).refused("tool_not_enabled");
    }
    agent.leave();
    gate.policy(&format!("{ALL_TOOLS}resolve = false\n"));
    let mut agent = Agent::start(&gate);
    agent.call("contract", json!({"task": "deploy"})).refused("tool_not_enabled");
    agent.leave();
    assert!(!read());
    gate.policy(ALL_TOOLS);
    let mut agent = Agent::start(&gate);
    let found = agent.call("verify", json!({"task": "state"})).done();
    assert_eq!(found["exit"], 1, "{found}");
    assert!(!gate.opal.path().join("made").exists());
    submitted(&mut agent, "deploy");
    assert!(read());
    let said = agent.leave();
    assert!(said.contains("`verify` and `contract` can run commands of the source"), "{said}");
}

#[test]
fn a_contract_is_submitted_compared_and_shown() {
    let gate = Gate::with(SOURCE);
    gate.policy(&by_ann());
    let mut agent = Agent::start(&gate);
    let said = agent.call("contract", json!({"task": "deploy"})).done();
    let first = said["contract"].as_str().unwrap().to_owned();
    assert_eq!(
        (first.len(), &said["state"], &said["compared"]),
        (32, &json!("waiting"), &Value::Null)
    );
    let root = gate.opal.path().join("home/.opal");
    let command = format!("opal --root {} plan approve {}", root.display(), &first[..8]);
    assert_eq!(said["approve"], command);
    let listed = agent.call("contracts", json!({})).done();
    assert_eq!(listed["result"]["contracts"][0]["status"], "waiting", "{listed}");
    gate.approve(&first, "ann");
    let listed = agent.call("contracts", json!({})).done();
    assert_eq!(listed["result"]["contracts"][0]["status"], "approved", "{listed}");
    assert_eq!(untrusted(&listed["result"]["contracts"][0]["approved_by"][0]), "ann");
    let shown = agent.call("contracts", json!({"contract": first})).done();
    assert_eq!(shown["result"]["plan"]["header"]["plan_hash"], said["plan_hash"], "{shown}");
    gate.opal.write("commands.opl", SOURCE.replace("deploying", "DEPLOYING"));
    let said = agent.call("contract", json!({"task": "deploy"})).done();
    assert_eq!(said["compared"], first.as_str(), "{said}");
    assert_eq!(said["result"]["same"], false);
    assert!(said["result"]["differences"].to_string().contains("DEPLOYING"), "{said}");
    let second = said["contract"].as_str().unwrap();
    let diff = agent.call("diff", json!({"contract": first, "other": second})).done();
    assert_eq!(diff["result"]["differences"], said["result"]["differences"]);
    agent.call("contracts", json!({"contract": "0".repeat(32)})).refused("no_such_contract");
    // One that was edited is nothing any more.
    let file = format!("home/.opal/inbox/{second}/contract.plan");
    gate.opal.write(&file, "edited");
    agent.call("run", json!({"contract": second})).refused("contract_changed");
}

/// What ran once without anybody's approval was not approved, nor was it with other arguments.
#[test]
fn only_what_people_have_approved_with_these_arguments_is_compared_with() {
    let gate = Gate::with(SOURCE);
    gate.policy(&format!("{ALL_TOOLS}\n[[approval]]\nby = [ANN]\ntargets = [\"other\"]\n"));
    gate.plan(&["deploy", "-o", "x.plan", "--once"]);
    gate.opal.call(&["plan", "submit", "x.plan"]).code(0);
    gate.run("x.plan").code(0);
    let mut agent = Agent::start(&gate);
    let first = agent.call("contract", json!({"task": "deploy"})).done();
    assert_eq!(first["compared"], Value::Null, "{first}");
    gate.approve(first["contract"].as_str().unwrap(), "ann");
    let other = agent.call("contract", json!({"task": "deploy", "arguments": ["us"]})).done();
    assert_eq!(other["compared"], Value::Null, "{other}");
    let same = agent.call("contract", json!({"task": "deploy"})).done();
    assert_eq!(same["compared"], first["contract"], "{same}");
}

#[test]
fn records_and_output_are_read_in_pages() {
    let gate = Gate::with("fun print() {\n    seq 1 40000\n}\n");
    gate.policy(&by_ann());
    let mut agent = Agent::start(&gate);
    let id = submitted(&mut agent, "print");
    gate.approve(&id, "ann");
    let run = agent.call("run", json!({"contract": id})).done();
    let run = run["run"].as_str().unwrap();
    eventually("the run ends", || {
        let shown = gate.opal.call(&["runs", "show", run, "--json"]).json();
        shown["run"]["status"] == "executed"
    });
    let listed = agent.call("runs", json!({})).done();
    assert_eq!(listed["result"]["runs"][0]["id"], run, "{listed}");
    assert_eq!(untrusted(&listed["result"]["runs"][0]["contract"]["approvals"][0]["name"]), "ann");
    let shown = agent.call("runs", json!({"run": run})).done();
    assert_eq!(shown["result"]["run"]["status"], "executed", "{shown}");
    let (mut all, mut offset) = (String::new(), json!(0));
    while offset.is_number() {
        let page = json!({"run": run, "output": true, "offset": offset});
        let page = agent.call("runs", page).done();
        let text = untrusted(&page["output"]);
        assert!(text.len() <= 64 * 1024);
        all.push_str(text);
        offset = page["next_offset"].clone();
    }
    let expected: String = (1..=40_000).map(|number| format!("{number}\n")).collect();
    assert!(all == expected, "{} of {} bytes", all.len(), expected.len());
}

#[test]
fn an_answer_that_is_too_long_comes_in_pages() {
    let tasks: String = (0..600)
        .map(|number| format!("## {}\nfun task_{number}() {{\n    echo\n}}\n\n", "é".repeat(80)))
        .collect();
    let gate = Gate::with(&tasks);
    let mut agent = Agent::start(&gate);
    let first = agent.call("tasks", json!({})).done();
    assert!(first["result"].is_null());
    let (mut page, mut all) = (first["page"].clone(), String::new());
    loop {
        all.push_str(untrusted(&page));
        let Some(next) = page["next"].as_str() else { break };
        page = agent.call("tasks", json!({"page": next})).done()["page"].clone();
    }
    let whole: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(whole["tasks"].as_array().unwrap().len(), 600);
    agent.call("tasks", json!({"page": "9-0"})).refused("no_such_page");
}

#[test]
fn every_call_is_a_line_without_secrets() {
    let gate = Gate::with(SOURCE);
    let mut agent = Agent::start(&gate);
    agent.call("tasks", json!({})).done();
    let secret = "correct-horse-battery";
    agent.call("plan", json!({"task": "deploy", "arguments": [format!("DB_PASSWORD={secret}")]}));
    agent.call("contract", json!({"task": "deploy"})).refused("tool_not_enabled");
    let answer = agent.request("tools/call", json!({"name": "approve", "arguments": {}}));
    assert!(answer["error"]["code"].is_number(), "{answer}");
    agent.leave();
    let log = gate.opal.read("home/.opal/logs/mcp");
    assert!(!log.contains(secret), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools: Vec<&str> = lines.iter().filter_map(|line| line["tool"].as_str()).collect();
    assert_eq!(tools, ["tasks", "plan", "contract", "approve"]);
    assert_eq!((&lines[0]["exit"], &lines[0]["client"]), (&json!(0), &json!("scripted 1")));
    assert_eq!(lines[2]["refused"], "tool_not_enabled");
    let export = gate.opal.call(&["audit", "export"]).code(0).stdout.clone();
    let calls = export.lines().filter(|line| line.contains("\"kind\":\"agent_call\"")).count();
    assert_eq!(calls, 4, "{export}");
    // Where no line can be added, nothing is answered.
    fs::remove_file(gate.opal.path().join("home/.opal/logs/mcp")).unwrap();
    let mut agent = Agent::start(&gate);
    fs::remove_file(gate.opal.path().join("home/.opal/logs/mcp")).unwrap();
    std::os::unix::fs::symlink("/dev/null", gate.opal.path().join("home/.opal/logs/mcp")).unwrap();
    agent.call("tasks", json!({})).refused("not_logged");
}
