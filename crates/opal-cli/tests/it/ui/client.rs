//! A client that sends exactly what it is given.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than anything takes, so that a test which hangs fails.
const TOO_LONG: Duration = Duration::from_mins(2);

#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) authority: String,
    /// The path that all pages are under.
    pub(crate) base: String,
    pub(crate) socket: Option<PathBuf>,
}

pub(crate) trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn connect(&self) -> Box<dyn Stream> {
        if let Some(path) = &self.socket {
            let stream = UnixStream::connect(path).unwrap();
            stream.set_read_timeout(Some(TOO_LONG)).unwrap();
            return Box::new(stream);
        }
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(TOO_LONG)).unwrap();
        Box::new(stream)
    }

    /// Sends these bytes and reads until the other side ends.
    pub(crate) fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // The other side may have answered and gone before it was all sent.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::read(&String::from_utf8_lossy(&bytes))
    }

    /// A request with the usual `Host`, and these lines.
    pub(crate) fn ask(&self, method: &str, path: &str, lines: &[&str], body: &str) -> Answer {
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let host = &self.authority;
        self.send(&format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n{body}"))
    }

    pub(crate) fn get_at(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// A page, by the rest of its address.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_at(&format!("{}{path}", self.base))
    }

    /// What a browser adds to a form of these pages.
    pub(crate) fn form_lines(&self, body: &str) -> Vec<String> {
        vec![
            format!("Origin: http://{}", self.authority),
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/x-www-form-urlencoded".to_owned(),
            format!("Content-Length: {}", body.len()),
        ]
    }

    /// A form, as a browser sends it.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        let lines = self.form_lines(body);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.ask("POST", &format!("{}{path}", self.base), &lines, body)
    }

    /// A stream of events, read as far as its head.
    pub(crate) fn events(&self, path: &str) -> Events {
        let mut stream = self.connect();
        let (base, host) = (&self.base, &self.authority);
        let request = format!("GET {base}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = Events { stream, text: String::new() };
        events.until("\r\n\r\n");
        events
    }
}

/// What a page that is open hears.
pub(crate) struct Events {
    stream: Box<dyn Stream>,
    pub(crate) text: String,
}

impl Events {
    /// Reads until it has been told this.
    #[track_caller]
    pub(crate) fn until(&mut self, said: &str) {
        let mut bytes = [0; 4096];
        while !self.text.contains(said) {
            match self.stream.read(&mut bytes) {
                Ok(count @ 1..) => {
                    self.text.push_str(&String::from_utf8_lossy(&bytes[..count]));
                }
                ended => panic!("{said:?} has not come: {ended:?} {}", self.text),
            }
        }
    }

    pub(crate) fn status(&self) -> u16 {
        Answer::read(&self.text).status
    }

    /// Reads to the end.
    pub(crate) fn rest(mut self) -> String {
        let mut bytes = Vec::new();
        let _ = self.stream.read_to_end(&mut bytes);
        self.text + &String::from_utf8_lossy(&bytes)
    }
}

impl Answer {
    #[track_caller]
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Self {
            // Whoever is cut off hears nothing.
            status: status.unwrap_or(0),
            headers: lines.filter_map(header).collect(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| &**value)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 200, "{self:?}");
        self
    }

    /// What is between two texts.
    #[track_caller]
    pub(crate) fn between(&self, before: &str, after: &str) -> &str {
        let found = self.body.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        found.unwrap_or_else(|| panic!("{before:?} is not in {}", self.body)).0
    }
}
