//! A small HTTP server of the tests: a function answers, and what was asked is kept.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// `GET /path`.
    pub(super) line: String,
    /// In lower case: `name: value`.
    headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value)
    }
}

/// It ends with the tests.
pub(super) struct Server {
    /// `127.0.0.1:1234`.
    pub(super) host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// `answer` gets a request and how many there were before it.
    pub(super) fn start(answer: fn(&Asked, usize) -> (u16, String)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(&stream.unwrap(), &kept, answer));
            }
        });
        Self { host, asked }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.host)
    }

    /// The capability that reaches it.
    pub(super) fn net(&self) -> String {
        format!("net:http://{} private", self.host)
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: &TcpStream,
    kept: &Mutex<Vec<Asked>>,
    answer: fn(&Asked, usize) -> (u16, String),
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let mut asked = Asked { line, ..Asked::default() };
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim().split_once(": ") else { break };
            asked.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let length = asked.header("content-length").parse().unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        asked.body = String::from_utf8(body).ok()?;
        let before = {
            let mut kept = kept.lock().unwrap();
            kept.push(asked.clone());
            kept.len() - 1
        };
        let (status, body) = answer(&asked, before);
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).ok()?;
    }
}
