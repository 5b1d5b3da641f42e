//! A running `opal ui`, from outside.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use opal_testing::processes::eventually;

use super::client::{Answer, Client};
use crate::pty;

/// A running `opal ui`.
pub(crate) struct Ui {
    pub(crate) child: Child,
    /// What it and its terminal have shown.
    said: Arc<Mutex<String>>,
    /// Where a person types.
    keys: Option<std::fs::File>,
    pub(crate) client: Client,
    pub(crate) ticket: String,
}

impl Ui {
    /// Without a terminal.
    pub(crate) fn start(mut command: Command, words: &[&str]) -> Self {
        let mut child = command.arg("ui").args(words).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        Self::begun(child, stderr, None, None)
    }

    /// In a terminal, with somebody who can answer.
    pub(crate) fn in_terminal(mut command: Command, words: &[&str]) -> Self {
        command.arg("ui").args(words);
        let (child, own) = pty::start(command);
        let shown = own.try_clone().unwrap();
        Self::begun(child, shown, Some(own), None)
    }

    /// On a socket.
    pub(crate) fn on_socket(mut command: Command, socket: &Path, words: &[&str]) -> Self {
        let path = socket.display().to_string();
        let mut child = command.args(["ui", "--socket", &path]).args(words).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        Self::begun(child, stderr, None, Some(socket.to_owned()))
    }

    fn begun(
        mut child: Child,
        mut from: impl Read + Send + 'static,
        keys: Option<std::fs::File>,
        socket: Option<PathBuf>,
    ) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let to = Arc::clone(&said);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let mut ticket = String::new();
        eventually("it says where it is", || {
            let text = said.lock().unwrap().clone();
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "it has ended: {ended:?} {text}");
            let found =
                text.split_once("http://").and_then(|(_, rest)| rest.split_once(['\r', '\n']));
            ticket = found.map(|(url, _)| url.to_owned()).unwrap_or_default();
            text.contains("Ctrl+C ends it")
        });
        let (authority, ticket) = ticket.split_once('/').unwrap();
        let client = Client { authority: authority.to_owned(), base: String::new(), socket };
        let ticket = format!("/{ticket}");
        Self { child, said, keys, client, ticket }
    }

    /// The same, with the ticket used.
    pub(crate) fn entered(mut self) -> Self {
        let answer = self.client.get_at(&self.ticket);
        assert_eq!(answer.status, 303, "{answer:?}");
        let place = answer.header("location").unwrap().to_owned();
        self.client.base = place.strip_suffix("/inbox").unwrap().to_owned();
        assert_eq!(self.client.base.len(), 33, "{place}");
        self
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.client.get(path)
    }

    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn says(&self, text: &str) {
        eventually(&format!("it says {text:?}: {}", self.said()), || self.said().contains(text));
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keys.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        opal_testing::processes::signal(&self.child, name);
    }

    pub(crate) fn ends(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
