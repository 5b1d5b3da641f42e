//! An editor that does nothing but measure: messages to `opal lsp` and its answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{command, text};

/// Bytes of a message of the server.
const MOST_BYTES: usize = 256 << 20;

pub(super) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// What was published while an answer was waited for, and when it had arrived.
    waiting: Vec<(Instant, Value)>,
}

impl Client {
    pub(super) fn start(opal: &Path, folder: &Path) -> Result<Self, String> {
        let started = command(&[text(opal)?.to_owned(), "lsp".to_owned()])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|error| format!("`opal lsp` did not start: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("`opal lsp` has no pipes".to_owned());
        };
        let output = BufReader::new(output);
        let mut client = Self { child, input, output, next: 0, waiting: Vec::new() };
        let hello = json!({
            "processId": null,
            "rootUri": format!("file://{}", folder.display()),
            "capabilities": { "general": { "positionEncodings": ["utf-8"] } },
        });
        client.asked("initialize", &hello)?;
        client.notify("initialized", &json!({}))?;
        Ok(client)
    }

    pub(super) fn open(&mut self, uri: &str, text: &str) -> Result<(), String> {
        let document = json!({ "uri": uri, "languageId": "opal", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }))
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) -> Result<(), String> {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// An answer, and how long it took to arrive. What this client needs to read it is not the server's.
    pub(super) fn asked(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<(Duration, Value), String> {
        self.next += 1;
        let id = self.next;
        let since = Instant::now();
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let (arrived, mut message) = self.read()?;
            if message["id"] != id {
                self.waiting.push((arrived, message));
                continue;
            }
            let took = arrived - since;
            return match message.get("error") {
                Some(error) => Err(format!("{method}: {error}")),
                None => Ok((took, message["result"].take())),
            };
        }
    }

    /// Waits for the diagnostics of a version of a file, and says when they had arrived.
    pub(super) fn published(&mut self, uri: &str, version: i64) -> Result<Instant, String> {
        let is_it = |message: &Value| {
            message["params"]["uri"] == uri && message["params"]["version"] == version
        };
        if let Some(at) = self.waiting.iter().position(|(_, message)| is_it(message)) {
            return Ok(self.waiting.remove(at).0);
        }
        loop {
            let (arrived, message) = self.read()?;
            if is_it(&message) {
                return Ok(arrived);
            }
            self.waiting.push((arrived, message));
        }
    }

    /// Kilobytes of memory that it has now.
    pub(super) fn memory(&self) -> Result<u64, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| format!("`{path}` does not say how much memory there is"))
    }

    pub(super) fn end(mut self) -> Result<(), String> {
        self.asked("shutdown", &Value::Null)?;
        self.notify("exit", &Value::Null)?;
        let ended = self.child.wait().map_err(|error| error.to_string())?;
        if ended.success() { Ok(()) } else { Err(format!("`opal lsp` ended with {ended}")) }
    }

    fn write(&mut self, message: &Value) -> Result<(), String> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .map_err(|error| format!("`opal lsp` takes nothing any more: {error}"))
    }

    /// The next message, and when all of it had arrived.
    fn read(&mut self) -> Result<(Instant, Value), String> {
        let wrong = |error: std::io::Error| format!("`opal lsp` cannot be read: {error}");
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(wrong)? == 0 {
                return Err("`opal lsp` has ended".to_owned());
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", number)) => {
                    length = number.parse().unwrap_or(MOST_BYTES + 1);
                }
                Some(_) => {}
                None => break,
            }
        }
        if length > MOST_BYTES {
            return Err(format!("`opal lsp` sends a message of {length} bytes"));
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).map_err(wrong)?;
        let arrived = Instant::now();
        let message =
            serde_json::from_slice(&bytes).map_err(|error| format!("not JSON: {error}"))?;
        Ok((arrived, message))
    }
}
