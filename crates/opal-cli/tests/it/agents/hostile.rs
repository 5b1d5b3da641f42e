//! Clients that send too much, too often, or what nobody expects.

use std::io::{BufRead as _, Read as _, Write as _};

use serde_json::{Value, json};

use super::{Agent, by_ann, submitted};
use crate::gate::{Gate, SOURCE};

/// A line that the agent sends as it is.
fn send(agent: &mut Agent, line: &[u8]) {
    agent.input.write_all(line).unwrap();
    agent.input.write_all(b"\n").unwrap();
}

#[test]
fn a_message_without_an_end_closes_the_connection_and_is_not_kept() {
    let gate = Gate::new();
    let mut agent = Agent::start(&gate);
    agent.call("tasks", json!({})).done();
    let page = vec![b'x'; 1 << 20];
    // Whoever writes on has nobody who reads.
    let mut sent = 0;
    while agent.input.write_all(&page).is_ok() {
        sent += 1;
        assert!(sent < 64, "{sent} MiB of one message were read");
    }
    let said = agent.ended();
    assert!(said.contains("a message has more than 1 MiB"), "{said}");
}

#[test]
fn arguments_may_be_many_or_deep_and_the_log_stays_short() {
    let gate = Gate::new();
    gate.policy(&by_ann());
    let mut agent = Agent::start(&gate);
    let many: Vec<String> = (0..20_000).map(|number| format!("{number:030}")).collect();
    for tool in ["plan", "contract", "verify"] {
        let long = json!({"task": "deploy", "arguments": ["x".repeat(70_000)]});
        agent.call(tool, long).refused("wrong_argument");
        agent.call(tool, json!({"task": "deploy", "arguments": many})).refused("wrong_argument");
    }
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    agent.call("plan", json!({"task": "deploy", "arguments": deep})).refused("wrong_argument");
    let names: serde_json::Map<String, Value> =
        (0..5_000).map(|number| (format!("name-{number}"), json!(number))).collect();
    agent.call("plan", Value::Object(names)).refused("wrong_argument");
    agent.leave();
    let log = gate.opal.read("home/.opal/logs/mcp");
    assert_eq!(log.lines().count(), 8);
    let longest = log.lines().map(str::len).max().unwrap();
    assert!(longest < 32 * 1024, "{longest}");
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert!(first["arguments"]["arguments"]["bytes"].as_u64().unwrap() > 70_000, "{first}");
    assert_eq!(first["arguments"]["task"], "deploy", "{first}");
}

#[test]
fn odd_messages_and_ids_are_refused_or_answered_and_the_next_call_is() {
    let gate = Gate::new();
    let mut agent = Agent::start(&gate);
    for line in [
        "not json",
        "{}",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999999999,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u202e\\u001b[2J\",\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"tasks\",\"arguments\":[]}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"file:///etc/passwd\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"completion/complete\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":12345}}",
        "[{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"},{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\"}]",
        &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{}1{}}}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        ),
    ] {
        send(&mut agent, line.as_bytes());
    }
    send(&mut agent, b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\xfe\",\"method\":\"tools/list\"}");
    agent.last = 1_000;
    let tasks = agent.call("tasks", json!({})).done();
    assert_eq!(tasks["exit"], 0, "{tasks}");
    assert!(!agent.leave().contains("panicked"));
}

/// Each call is a process. An agent that does not wait for answers gets some of them refused, and the others.
#[test]
fn calls_at_the_same_time_wait_for_each_other_and_too_many_are_refused() {
    const CALLS: u64 = 150;
    let gate = Gate::new();
    let mut agent = Agent::start(&gate);
    let mut all = String::new();
    for id in 1_000..1_000 + CALLS {
        let params = json!({"name": "check", "arguments": {}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        all.push_str(&format!("{call}\n"));
    }
    agent.input.write_all(all.as_bytes()).unwrap();
    let (mut done, mut busy) = (0, 0);
    for _ in 0..CALLS {
        let mut line = String::new();
        assert_ne!(agent.output.read_line(&mut line).unwrap(), 0);
        let answer: Value = serde_json::from_str(&line).unwrap();
        let document = &answer["result"]["structuredContent"];
        match document["error"]["code"].as_str() {
            None => done += u64::from(document["exit"] == 0),
            Some(code) => {
                assert_eq!(code, "busy", "{answer}");
                busy += 1;
            }
        }
    }
    assert!(done >= 64 && busy > 0 && done + busy == CALLS, "{done} {busy}");
    agent.call("tasks", json!({})).done();
}

#[test]
fn a_source_that_is_a_link_to_another_file_is_not_read() {
    let gate = Gate::new();
    gate.opal.write("home/id_ed25519", "-----BEGIN canary-private-key-----\n");
    let other = tempfile::tempdir().unwrap();
    let key = other.path().join("id_ed25519");
    std::fs::write(&key, "-----BEGIN canary-private-key-----\n").unwrap();
    let source = gate.opal.path().join("commands.opl");
    let mut agent = Agent::start(&gate);
    agent.call("check", json!({})).done();
    std::fs::remove_file(&source).unwrap();
    std::os::unix::fs::symlink(&key, &source).unwrap();
    for tool in ["tasks", "check"] {
        let said = agent.call(tool, json!({}));
        said.refused("no_source").says("is a link to a file outside of it");
        assert!(!said.document.to_string().contains("canary"), "{:#}", said.document);
    }
    agent.call("plan", json!({"task": "deploy"})).refused("no_source");
    // A link inside of the project is a file of it.
    std::fs::remove_file(&source).unwrap();
    gate.opal.write("real.opl", SOURCE);
    std::os::unix::fs::symlink("real.opl", &source).unwrap();
    agent.call("tasks", json!({})).done();
    // A directory, a pipe, nothing.
    std::fs::remove_file(&source).unwrap();
    agent.call("tasks", json!({})).refused("no_source");
    std::fs::create_dir(&source).unwrap();
    agent.call("tasks", json!({})).refused("no_source");
    // The name of a project through a link is the project.
    std::fs::remove_dir(&source).unwrap();
    gate.opal.write("commands.opl", SOURCE);
    let link = other.path().join("link");
    std::os::unix::fs::symlink(gate.opal.path(), &link).unwrap();
    agent.call("tasks", json!({"project": link})).done();
    let elsewhere = other.path().join("elsewhere");
    std::os::unix::fs::symlink("/", &elsewhere).unwrap();
    for project in [elsewhere.display().to_string(), "..".to_owned(), "\0".to_owned()] {
        agent.call("tasks", json!({"project": project})).refused("project_refused");
    }
}

/// `diff` with one contract: its steps and those of the source as it is now. No command runs.
#[test]
fn a_contract_is_compared_with_the_quick_plan_of_now() {
    let source = "fun deploy() {\n    var token = @shell.output(\"touch read; echo 1\")\n    \
                  echo @var.token\n    echo done\n}\n";
    let gate = Gate::with(source);
    gate.policy(&by_ann());
    let mut agent = Agent::start(&gate);
    let id = submitted(&mut agent, "deploy");
    std::fs::remove_file(gate.opal.path().join("read")).unwrap();
    let same = agent.call("diff", json!({"contract": id})).done();
    assert_eq!((&same["exit"], &same["result"]["same"]), (&json!(0), &json!(true)), "{same:#}");
    assert_eq!(same["result"]["values_compared"], false, "{same:#}");
    gate.opal.write("commands.opl", source.replace("echo done", "echo harm"));
    let differs = agent.call("diff", json!({"contract": id})).done();
    assert_eq!(differs["exit"], 1, "{differs:#}");
    let found = &differs["result"]["differences"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{differs:#}");
    assert!(found.to_string().contains("echo harm"), "{differs:#}");
    assert!(!gate.opal.path().join("read").exists(), "a quick plan runs nothing");
    gate.opal.write("commands.opl", "fun deploy( {");
    let broken = agent.call("diff", json!({"contract": id}));
    assert!(broken.is_error && broken.document["exit"] == 65, "{:#}", broken.document);
    agent.call("diff", json!({})).refused("wrong_argument");
    // The same for people.
    gate.opal.write("commands.opl", source);
    let shown = gate.opal.call(&[
        "plan",
        "diff",
        &format!("home/.opal/inbox/{id}/contract.plan"),
        "--quick",
    ]);
    shown.code(0).says("the steps are the same").says("a quick plan: values are not compared");
}

impl Agent {
    /// What `opal mcp` said on standard error, which has ended by itself.
    fn ended(self) -> String {
        let Self { mut child, input, .. } = self;
        opal_testing::processes::eventually("it ends", || child.try_wait().unwrap().is_some());
        drop(input);
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}
