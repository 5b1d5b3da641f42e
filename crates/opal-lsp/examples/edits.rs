//! Serves a client that edits a file and waits for its diagnostics each time, for the test that counts
//! instructions: `edits COUNT`. Twice the edits less one time the edits is what the edits take.

#![allow(clippy::disallowed_methods, reason = "it is a program for a test")]

use std::process::ExitCode;
use std::thread;

use lsp_server::{Notification, Request};
use opal_lsp::Settings;
use opal_lsp::transport::{Connection, Peer};
use serde_json::{Value, json};

const URI: &str = "untitled:edits";
const PUBLISHED: &str = "publishDiagnostics";

/// A file with what people write.
fn source() -> String {
    let one = |index: usize| {
        format!(
            "// Builds part {index}.\nfun part{index}(target: \"dev\" | \"prod\", count: Int = 3) {{\n    \
             var image = \"part{index}:@var.target\"\n    docker build --tag @var.image .\n    \
             if target == \"prod\" {{\n        docker push @var.image\n    }}\n    \
             for zone in [\"a\", \"b\"] {{\n        kubectl apply -f @var.zone.yaml && echo @var.count\n    }}\n    \
             @retry(3, delay=1s) {{\n        curl --fail \"https://@env.HOST/part{index}\"\n    }}\n}}\n\n"
        )
    };
    (0..40).map(one).collect()
}

struct Client {
    connection: Peer,
}

impl Client {
    fn notify(&self, method: &str, params: Value) -> Option<()> {
        let it = Notification { method: method.to_owned(), params };
        self.connection.sender.send(it.into()).ok()
    }

    fn ask(&self, method: &str) -> Option<()> {
        let params = json!({ "capabilities": {} });
        let it = Request { id: 1.into(), method: method.to_owned(), params };
        self.connection.sender.send(it.into()).ok()?;
        self.wait("\"result\":")
    }

    /// Waits until something is said with these words.
    fn wait(&self, words: &str) -> Option<()> {
        while !self.connection.receiver.recv().ok()?.contains(words) {}
        Some(())
    }

    fn edits(&self, count: usize) -> Option<()> {
        self.ask("initialize")?;
        let document = json!({ "uri": URI, "languageId": "opal", "version": 1, "text": source() });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }))?;
        self.wait(PUBLISHED)?;
        for edit in 0..count {
            // A character is typed at the end of a comment, and deleted again.
            let at = |character: u64| json!({ "line": 225, "character": character });
            let is_typed = edit % 2 == 0;
            let end = if is_typed { at(3) } else { at(4) };
            let text = if is_typed { "x" } else { "" };
            let change = json!({ "range": { "start": at(3), "end": end }, "text": text });
            let document = json!({ "uri": URI, "version": edit + 2 });
            let params = json!({ "textDocument": document, "contentChanges": [change] });
            self.notify("textDocument/didChange", params)?;
            self.wait(PUBLISHED)?;
        }
        self.ask("shutdown")?;
        self.notify("exit", Value::Null)
    }
}

fn main() -> ExitCode {
    let Some(count) = std::env::args().nth(1).and_then(|it| it.parse().ok()) else {
        return ExitCode::FAILURE;
    };
    let (server, connection) = Connection::memory();
    let served = thread::spawn(move || opal_lsp::serve(&server, &Settings::default()));
    let done = Client { connection }.edits(count);
    match (done, served.join()) {
        (Some(()), Ok(opal_lsp::Ended::Well)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
