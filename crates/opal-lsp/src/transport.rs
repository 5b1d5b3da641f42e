//! Messages over a pair of streams, each with a limit: a message that claims to have a terabyte is the end
//! of the connection, and not of the memory.
//!
//! What the server says is written as JSON at once. A tree of it first would cost more than most answers.

use std::io::{self, BufRead, Read, Write};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use lsp_server::{ErrorCode, Message, RequestId};
use serde::Serialize;

/// Bytes of a message: the largest source, in which each byte may be written as six.
const MOST_BYTES: usize = 128 * 1024 * 1024;
/// Messages that wait to be read, at most.
const MOST_WAITING: usize = 256;
/// Bytes of the lines before a message.
const MOST_HEADER: u64 = 4096;

/// What the server hears and says.
#[derive(Debug)]
pub struct Connection {
    pub receiver: Receiver<Message>,
    /// Messages as JSON.
    pub sender: Sender<String>,
}

/// The other end of a [`Connection`] in memory.
#[derive(Debug)]
pub struct Peer {
    pub sender: Sender<Message>,
    pub receiver: Receiver<String>,
}

impl Connection {
    /// To a client in the same process.
    #[must_use]
    pub fn memory() -> (Self, Peer) {
        let (to_server, receiver) = unbounded();
        let (sender, from_server) = unbounded();
        (Self { receiver, sender }, Peer { sender: to_server, receiver: from_server })
    }

    pub(crate) fn send(&self, message: String) {
        // A client that is gone needs no answer; the loop ends at its next message.
        let _ = self.sender.send(message);
    }
}

/// What has a name and parameters: a request where it has a number, otherwise a notification.
#[derive(Serialize)]
struct Call<'c, T> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'c RequestId>,
    method: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'c T>,
}

const VERSION: &str = "2.0";

pub(crate) fn request(id: &RequestId, method: &str, params: &impl Serialize) -> String {
    json(&Call { jsonrpc: VERSION, id: Some(id), method, params: Some(params) })
}

/// A request without parameters.
pub(crate) fn question(id: &RequestId, method: &str) -> String {
    json(&Call::<()> { jsonrpc: VERSION, id: Some(id), method, params: None })
}

pub(crate) fn notification(method: &str, params: &impl Serialize) -> String {
    json(&Call { jsonrpc: VERSION, id: None, method, params: Some(params) })
}

/// The answer to a request; `result` is JSON.
pub(crate) fn answer(id: &RequestId, result: &str) -> String {
    format!("{{\"jsonrpc\":\"{VERSION}\",\"id\":{},\"result\":{result}}}", json(id))
}

pub(crate) fn error(id: &RequestId, code: i32, message: &str) -> String {
    let error = serde_json::json!({ "code": code, "message": message });
    json(&serde_json::json!({ "jsonrpc": VERSION, "id": id, "error": error }))
}

/// Nothing that the server says has a map with other keys than strings, which is all that could fail.
pub(crate) fn json(of: &impl Serialize) -> String {
    serde_json::to_string(of).unwrap_or_default()
}

/// A connection over streams, and what ends with it.
#[derive(Debug)]
pub struct Streams {
    writer: thread::JoinHandle<()>,
}

impl Streams {
    /// Waits until everything has been written.
    pub fn finish(self) {
        // A panic of the writer has been reported; there is nothing left to write.
        let _ = self.writer.join();
    }
}

/// Reads messages from one stream, and writes them to another.
pub fn connect(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> (Connection, Streams) {
    let (to_loop, receiver) = bounded(MOST_WAITING);
    let (sender, from_loop) = unbounded();
    let replies = sender.clone();
    // It is not waited for: it may be blocked in a read for as long as the client likes.
    thread::spawn(move || read(io::BufReader::new(input), &to_loop, &replies));
    let writer = thread::spawn(move || write(io::BufWriter::new(output), &from_loop));
    (Connection { receiver, sender }, Streams { writer })
}

fn read(mut input: impl BufRead, into: &Sender<Message>, replies: &Sender<String>) {
    while let Ok(Some(bytes)) = frame(&mut input) {
        let message = match serde_json::from_slice::<Message>(&bytes) {
            Ok(message) => message,
            Err(_) => {
                let what = "this is not a message of the protocol";
                let reply = error(&id_of(&bytes), ErrorCode::InvalidRequest as i32, what);
                if replies.send(reply).is_err() {
                    return;
                }
                continue;
            }
        };
        let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
        if into.send(message).is_err() || is_exit {
            return;
        }
    }
}

/// The number of a request that could not be read, so that its client need not wait.
fn id_of(bytes: &[u8]) -> RequestId {
    let value: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let number = value["id"].as_i64().and_then(|id| i32::try_from(id).ok());
    let text = value["id"].as_str().map(str::to_owned);
    number.map(RequestId::from).or_else(|| text.map(RequestId::from)).unwrap_or(RequestId::from(-1))
}

/// The bytes of the next message; none at the end.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MOST_HEADER).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.strip_suffix('\n').ok_or_else(invalid)?;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(invalid)?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length.filter(|length| *length <= MOST_BYTES).ok_or_else(invalid)?;
    let mut bytes = Vec::new();
    input.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Ok(None) } else { Ok(Some(bytes)) }
}

fn write(mut output: impl Write, from: &Receiver<String>) {
    for message in from {
        let length = message.len();
        let written = write!(output, "Content-Length: {length}\r\n\r\n{message}");
        if written.and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str) -> Vec<String> {
        let mut input = text.as_bytes();
        let mut found = Vec::new();
        while let Ok(Some(bytes)) = frame(&mut input) {
            found.push(String::from_utf8(bytes).unwrap());
        }
        found
    }

    #[test]
    fn frames_are_read_one_after_the_other() {
        let text = "Content-Length: 2\r\n\r\n{}content-length: 3\r\nX: y\r\n\r\nabc";
        assert_eq!(frames(text), ["{}", "abc"]);
    }

    #[test]
    fn what_is_too_large_or_cut_off_ends_the_connection() {
        let rows = [
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: 99999999999999999999999999\r\n\r\n{}",
            "Content-Length: 10\r\n\r\n{}",
            "Content-Length: -1\r\n\r\n{}",
            "no header\r\n\r\n{}",
            "\r\n{}",
        ];
        for text in rows {
            assert!(frames(text).is_empty(), "{text}");
        }
        assert!(frames(&"x".repeat(1_000_000)).is_empty());
    }
}
