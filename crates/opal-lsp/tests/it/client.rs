//! A client in memory: it keeps the texts of its documents as an editor does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lsp_server::{Message, Notification, Request, RequestId, Response};
use opal_lsp::transport::{Connection, Peer};
use opal_lsp::{Ended, Settings};
use serde_json::{Value, json};

/// Also on a machine with much else to do.
const TOO_LONG: Duration = Duration::from_secs(120);

pub(crate) struct Client {
    connection: Peer,
    server: Option<thread::JoinHandle<Ended>>,
    next: i32,
    /// Answers that came before somebody waited for them.
    early: Vec<Response>,
    /// What was published last for each document, with its version.
    pub(crate) published: BTreeMap<String, (Option<i64>, Value)>,
    /// The documents of everything that was published, in its order.
    pub(crate) log: Vec<String>,
    /// What the server asked, in its order: names with parameters.
    pub(crate) asked: Vec<(String, Value)>,
}

/// What a modern editor says that it can do.
pub(crate) fn abilities() -> Value {
    json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
    })
}

impl Client {
    pub(crate) fn start(root: Option<&Path>) -> Self {
        Self::with(root, abilities())
    }

    pub(crate) fn with(root: Option<&Path>, capabilities: Value) -> Self {
        Self::with_packages(root, capabilities, None)
    }

    /// With a cache of packages.
    pub(crate) fn with_packages(
        root: Option<&Path>,
        capabilities: Value,
        packages: Option<&Path>,
    ) -> Self {
        let (server, connection) = Connection::memory();
        let packages = packages.map(Path::to_owned);
        let settings = Settings { version: "0.1.0".to_owned(), packages };
        let server = thread::spawn(move || opal_lsp::serve(&server, &settings));
        let mut client = Self {
            connection,
            server: Some(server),
            next: 0,
            early: Vec::new(),
            published: BTreeMap::new(),
            log: Vec::new(),
            asked: Vec::new(),
        };
        let root = root.map(|root| json!(uri(root)));
        let commands = json!({ "commands": ["opal.plan", "opal.run", "opal.verify"] });
        let params = json!({
            "processId": null,
            "rootUri": root,
            "capabilities": capabilities,
            "initializationOptions": commands,
        });
        client.request("initialize", params).expect("it is answered");
        client.notify("initialized", json!({}));
        client
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        let it = Notification { method: method.to_owned(), params };
        self.connection.sender.send(it.into()).expect("the server is there");
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> RequestId {
        self.next += 1;
        let id = RequestId::from(self.next);
        let it = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(it.into()).expect("the server is there");
        id
    }

    /// Waits for the answer to a request; what is published meanwhile is kept.
    pub(crate) fn wait(&mut self, id: &RequestId) -> Result<Value, String> {
        loop {
            if let Some(at) = self.early.iter().position(|it| it.id == *id) {
                return self.early.remove(at).response_result.map_err(|error| error.message);
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    /// What takes longer than this is not answered in time: nobody waits so long for an editor.
    fn receive(&self) -> Message {
        let message = self.connection.receiver.recv_timeout(TOO_LONG);
        let message = message.expect("the server is there, and answers in time");
        serde_json::from_str(&message).expect("a message of the protocol")
    }

    fn keep(&mut self, message: Message) {
        if let Message::Response(it) = message {
            self.early.push(it);
        } else if let Message::Request(it) = message {
            self.asked.push((it.method, it.params));
        } else if let Message::Notification(it) = message
            && it.method == "textDocument/publishDiagnostics"
        {
            let uri = it.params["uri"].as_str().unwrap_or_default().to_owned();
            let version = it.params["version"].as_i64();
            self.log.push(uri.clone());
            self.published.insert(uri, (version, it.params["diagnostics"].clone()));
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.send(method, params);
        self.wait(&id)
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "opal", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", params);
    }

    /// Waits until the diagnostics of a version have been published.
    pub(crate) fn diagnostics(&mut self, uri: &str, version: i64) -> Value {
        loop {
            if let Some((Some(found), diagnostics)) = self.published.get(uri)
                && *found == version
            {
                return diagnostics.clone();
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    /// Waits until something has been published about a document.
    pub(crate) fn published(&mut self, uri: &str) -> Value {
        loop {
            if let Some((_, diagnostics)) = self.published.get(uri) {
                return diagnostics.clone();
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    /// Waits until the server has asked something, and forgets it.
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.asked.iter().position(|(it, _)| it == method) {
                return self.asked.remove(at).1;
            }
            let message = self.receive();
            self.keep(message);
        }
    }

    pub(crate) fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    pub(crate) fn end(mut self) -> Ended {
        self.request("shutdown", Value::Null).expect("it is answered");
        self.notify("exit", Value::Null);
        self.server.take().expect("it was started").join().expect("no panic")
    }

    /// The client is gone, without a word.
    pub(crate) fn vanish(mut self) -> Ended {
        let server = self.server.take().expect("it was started");
        drop(self);
        server.join().expect("no panic")
    }
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A directory with files.
pub(crate) fn workspace(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    (folder, root)
}
