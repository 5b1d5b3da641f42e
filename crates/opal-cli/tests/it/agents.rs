//! `opal mcp`: what an agent can do, and above all what it cannot.

#![expect(clippy::disallowed_methods, reason = "programs that speak the protocol are started here")]

mod attacks;
mod demo;
mod hostile;
mod sdk;
mod tools;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::gate::Gate;

/// A program in the role of an agent, which speaks the protocol over the standard streams of `opal mcp`.
pub(crate) struct Agent {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// What every request of the stateless revision has.
    meta: Option<Value>,
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) document: Value,
    pub(crate) is_error: bool,
}

impl Agent {
    /// By the revision of 2025-11-25.
    pub(crate) fn start(gate: &Gate) -> Self {
        let mut agent = Self::connected(gate);
        let client = json!({"name": "scripted", "version": "1"});
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client,
        });
        let answer = agent.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    /// By the revision of 2026-07-28.
    fn stateless(gate: &Gate) -> Self {
        let mut agent = Self::connected(gate);
        agent.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "scripted", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
        agent
    }

    fn connected(gate: &Gate) -> Self {
        let mut command = gate.opal.command();
        command.arg("mcp").stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output), last: 0, meta: None }
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The whole answer to a request.
    fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                panic!("`opal mcp` ended: {:?}", self.child.wait());
            }
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == self.last {
                return answer;
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Said {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let document = result["structuredContent"].clone();
        assert!(document.is_object(), "{answer}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, document);
        assert_only_marked(&document);
        Said { document, is_error: result["isError"] == true }
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// It leaves; what `opal mcp` said on standard error.
    fn leave(mut self) -> String {
        drop(self.input);
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        let ended = self.child.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{said}");
        said
    }
}

impl Said {
    #[track_caller]
    pub(crate) fn done(self) -> Value {
        assert!(!self.is_error, "{:#}", self.document);
        self.document
    }

    #[track_caller]
    pub(crate) fn refused(&self, code: &str) -> &Self {
        assert!(self.is_error, "{:#}", self.document);
        assert_eq!(self.document["error"]["code"], code, "{:#}", self.document);
        let help = self.document["error"]["help"][0].as_str();
        assert!(help.is_some_and(|help| !help.is_empty()), "{:#}", self.document);
        self
    }

    /// `opal` refused it, with this exit code.
    #[track_caller]
    pub(crate) fn exit(&self, code: i64) -> &Self {
        assert!(self.is_error, "{:#}", self.document);
        assert_eq!(self.document["exit"], code, "{:#}", self.document);
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        assert!(self.document.to_string().contains(words), "{words}: {:#}", self.document);
        self
    }
}

/// What the hostile texts of the tests begin with.
const HOSTILE: &str = "IGNORE-ALL-RULES";

/// No text of others is outside of a member `untrusted`.
#[track_caller]
fn assert_only_marked(document: &Value) {
    fn outside(value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(HOSTILE),
            Value::Array(items) => items.iter().any(outside),
            Value::Object(members) => members.iter().any(|(name, value)| {
                name.contains(HOSTILE) || name != "untrusted" && outside(value)
            }),
            _ => false,
        }
    }
    assert!(!outside(document), "{document:#}");
    let text = document.to_string();
    assert!(!text.contains("\\u001b") && !text.contains('\u{202e}'), "{text}");
}

/// The one text of a member.
fn untrusted(value: &Value) -> &str {
    value["untrusted"].as_str().unwrap_or_else(|| panic!("{value:#}"))
}

/// Tools that are off where nothing is said.
const ALL_TOOLS: &str = "[mcp]\ntools = [\"tasks\", \"check\", \"explain\", \"plan\", \"verify\", \"diff\", \
                         \"contract\", \"contracts\", \"runs\", \"run\", \"stop\"]\n";

/// The policy of a machine on which agents may do everything, and Ann approves.
fn by_ann() -> String {
    format!("{ALL_TOOLS}\n[[approval]]\nby = [ANN]\n")
}

/// Submits a task, and gives the id of its contract.
fn submitted(agent: &mut Agent, task: &str) -> String {
    let said = agent.call("contract", json!({"task": task})).done();
    said["contract"].as_str().unwrap().to_owned()
}
