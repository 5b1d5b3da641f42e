//! The loop: every message in the order of the client, one after the other.
//!
//! What waits is read first, so that a request that was cancelled meanwhile costs nothing, and what was
//! wrong with a text that has changed since is never published. A request sees every edit before it.

use std::collections::VecDeque;
use std::path::PathBuf;

use gen_lsp_types::{
    DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, TextDocumentContentChangeEvent,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::capabilities::{self, Hello};
use crate::dispatch::{self, Failed};
use crate::features::Client;
use crate::files::{Files, Packages};
use crate::positions::Text;
use crate::publisher::Publisher;
use crate::transport::{self, Connection};
use crate::uri;

/// What the server gets from whoever starts it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The version of opal.
    pub version: String,
    /// The packages of registries and git on this machine.
    pub packages: Option<PathBuf>,
}

/// Messages that are read ahead of the one that is answered, at most: whoever sends more has to wait.
const MOST_WAITING: usize = 1_000;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client said that it would end, and did.
    Well,
    /// It ended without a word.
    Abruptly,
}

/// Serves one client until it ends.
#[must_use]
pub fn serve(connection: &Connection, settings: &Settings) -> Ended {
    let Some((hello, id)) = greet(connection) else { return Ended::Abruptly };
    let answer = capabilities::of_server(&hello, &settings.version);
    connection.send(transport::answer(&id, &transport::json(&answer)));
    let packages = Packages::new(settings.packages.clone(), &settings.version);
    let mut server = Server {
        connection,
        files: Files::new(hello.roots.clone(), hello.encoding, packages),
        hello,
        cache: settings.packages.clone(),
        waiting: VecDeque::new(),
        publisher: Publisher::default(),
        asked: 0,
        is_ending: false,
    };
    server.run()
}

/// Waits for the request that begins a connection.
fn greet(connection: &Connection) -> Option<(Hello, RequestId)> {
    for message in &connection.receiver {
        match message {
            Message::Request(request) if request.method == "initialize" => {
                return Some((Hello::read(&request.params), request.id));
            }
            Message::Request(request) => {
                let code = ErrorCode::ServerNotInitialized as i32;
                let what = "the first request is `initialize`";
                connection.send(transport::error(&request.id, code, what));
            }
            Message::Notification(it) if it.method == "exit" => return None,
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
    None
}

struct Server<'c> {
    connection: &'c Connection,
    hello: Hello,
    files: Files,
    /// The packages of registries and git on this machine.
    cache: Option<PathBuf>,
    /// What has been read and not been done.
    waiting: VecDeque<Message>,
    publisher: Publisher,
    /// Requests to the client so far.
    asked: i32,
    is_ending: bool,
}

impl Server<'_> {
    fn run(&mut self) -> Ended {
        loop {
            self.read_waiting();
            let next = match self.waiting.pop_front() {
                Some(next) => next,
                None if self.publish_one() => continue,
                None => {
                    self.refresh();
                    self.files.free();
                    let Ok(next) = self.connection.receiver.recv() else { return Ended::Abruptly };
                    self.waiting.push_back(next);
                    continue;
                }
            };
            match next {
                Message::Request(request) => self.request(request),
                Message::Notification(it) if it.method == "exit" => {
                    return if self.is_ending { Ended::Well } else { Ended::Abruptly };
                }
                Message::Notification(it) => self.notification(it),
                // The client has done what it was asked, or not: nothing depends on it.
                Message::Response(_) => {}
            }
        }
    }

    /// Reads what has arrived, and drops requests that the client no longer wants.
    fn read_waiting(&mut self) {
        while self.waiting.len() < MOST_WAITING
            && let Ok(message) = self.connection.receiver.try_recv()
        {
            let cancelled = match &message {
                Message::Notification(it) if it.method == "$/cancelRequest" => id(&it.params["id"]),
                _ => None,
            };
            let Some(cancelled) = cancelled else {
                self.waiting.push_back(message);
                continue;
            };
            let is_it = |it: &Message| matches!(it, Message::Request(it) if it.id == cancelled);
            if let Some(at) = self.waiting.iter().position(is_it) {
                self.waiting.remove(at);
                let code = ErrorCode::RequestCanceled as i32;
                self.connection.send(transport::error(&cancelled, code, "cancelled"));
            }
        }
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answer = if self.is_ending {
            let message = "the server is ending".to_owned();
            Err(Failed { code: ErrorCode::InvalidRequest as i32, message })
        } else if method == "shutdown" {
            self.is_ending = true;
            dispatch::nothing()
        } else if method == "initialize" {
            let message = "`initialize` was answered already".to_owned();
            Err(Failed { code: ErrorCode::InvalidRequest as i32, message })
        } else {
            dispatch::answer(&self.files, self.client(), &method, params)
        };
        self.connection.send(match answer {
            Ok(result) => transport::answer(&id, &result),
            Err(Failed { code, message }) => transport::error(&id, code, &message),
        });
    }

    fn client(&self) -> Client {
        self.hello.client
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" => self.watch(),
            "textDocument/didOpen" => {
                if let Some(DidOpenTextDocumentParams { text_document: it }) = read(params) {
                    let path = self.files.open(it.uri, it.text, it.version);
                    self.changed(path);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = read(params) {
                    self.edit(params);
                }
            }
            "textDocument/didSave" => {
                if let Some(DidSaveTextDocumentParams { text_document, .. }) = read(params) {
                    self.files.saved(&text_document.uri);
                    let path = self.files.key(&text_document.uri);
                    self.changed(path);
                    self.publisher.must_refresh = true;
                }
            }
            "textDocument/didClose" => {
                if let Some(DidCloseTextDocumentParams { text_document }) = read(params)
                    && let Some(path) = self.files.close(&text_document.uri)
                {
                    self.all_changed();
                    self.publisher.stale.insert(path);
                }
            }
            "workspace/didChangeWatchedFiles" => {
                self.files.disk_changed();
                self.all_changed();
            }
            "workspace/didChangeWorkspaceFolders" => {
                if let Some(DidChangeWorkspaceFoldersParams { event }) = read(params) {
                    for folder in event.removed.iter().filter_map(|it| uri::path(&it.uri)) {
                        self.files.disk.remove(&folder);
                    }
                    for folder in event.added.iter().filter_map(|it| uri::path(&it.uri)) {
                        self.files.add_root(&folder);
                    }
                    self.files.disk_changed();
                    self.all_changed();
                }
            }
            _ => {}
        }
    }

    fn edit(&mut self, params: DidChangeTextDocumentParams) {
        let document = params.text_document;
        let (uri, encoding) = (document.text_document_identifier.uri, self.files.encoding());
        let path = self.files.change(&uri, document.version, |text| {
            for change in params.content_changes {
                match change {
                    TextDocumentContentChangeEvent::TextDocumentContentChangePartial(it) => {
                        text.splice(&it.range, &it.text);
                    }
                    TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(it) => {
                        *text = Text::new(it.text, encoding);
                    }
                }
            }
        });
        if let Some(path) = path {
            self.changed(path);
        }
    }

    /// A document has changed, and what is said about those that import it may have.
    fn changed(&mut self, path: PathBuf) {
        let others = self.files.opened().map(|(path, _)| path).filter(|it| **it != path);
        let stale: Vec<PathBuf> = others.filter(|it| !self.files.is_fresh(it)).cloned().collect();
        self.publisher.must_refresh |= !stale.is_empty();
        self.publisher.stale.extend(stale);
        self.publisher.edited.insert(path);
    }

    fn all_changed(&mut self) {
        let all: Vec<PathBuf> = self.files.opened().map(|(path, _)| path.clone()).collect();
        self.publisher.stale.extend(all);
        self.publisher.must_refresh = true;
    }

    /// Publishes what was found in one document. False where there is nothing left to publish.
    fn publish_one(&mut self) -> bool {
        let (files, pulls) = (&self.files, self.hello.pulls);
        let Some(all) = self.publisher.next(files, pulls) else { return false };
        for params in all {
            let method = "textDocument/publishDiagnostics";
            self.connection.send(transport::notification(method, &params));
        }
        true
    }

    /// Lets a client that asks for diagnostics itself ask again, where more than the document that it edits
    /// has changed.
    fn refresh(&mut self) {
        if std::mem::take(&mut self.publisher.must_refresh) && self.hello.client.refreshes {
            self.asked += 1;
            let (id, method) = (self.asked.into(), "workspace/diagnostic/refresh");
            self.connection.send(transport::question(&id, method));
        }
    }

    /// Asks for reports of files that change.
    fn watch(&mut self) {
        if !self.hello.watches {
            return;
        }
        self.asked += 1;
        let (id, method) = (self.asked.into(), "client/registerCapability");
        let watchers = capabilities::watchers(&self.hello, self.cache.as_deref());
        self.connection.send(transport::request(&id, method, &watchers));
    }
}

fn id(value: &Value) -> Option<RequestId> {
    let number = value.as_i64().and_then(|id| i32::try_from(id).ok()).map(RequestId::from);
    number.or_else(|| value.as_str().map(|id| RequestId::from(id.to_owned())))
}

/// What cannot be read was not said: a notification has no answer.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
