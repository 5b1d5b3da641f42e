//! A server with prepared answers, one connection for each request; as a proxy it says so in the
//! path.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) struct Request {
    method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

pub(crate) struct Server {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> String {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    fn read(stream: &TcpStream) -> Option<Self> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next()?.ok()?;
        let (method, rest) = first.split_once(' ')?;
        let (method, path) = (method.to_owned(), rest.split(' ').next()?.to_owned());
        let lines = lines.map_while(Result::ok).take_while(|line| !line.is_empty());
        let pair = |line: String| line.split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned()));
        Some(Self { method, path, headers: lines.filter_map(pair).collect() })
    }
}

impl Server {
    pub(crate) fn start(answer: impl Fn(Request) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            let mut open = Vec::new();
            for mut stream in listener.incoming().flatten() {
                if reported.load(Ordering::SeqCst) {
                    return;
                }
                stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                let mut first = [0; 1];
                // A client that speaks TLS gets words that are not.
                if stream.peek(&mut first).is_ok() && first[0].is_ascii_uppercase() {
                    let Some(mut request) = Request::read(&stream) else { continue };
                    if request.method == "CONNECT" {
                        let _ = stream.write_all(b"HTTP/1.1 200 Words\r\n\r\n");
                        let Some(inner) = Request::read(&stream) else { continue };
                        request.path += &inner.path;
                    }
                    let _ = stream.write_all(&answer(request));
                } else {
                    let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                }
                // A body that is shorter than it says keeps the client waiting.
                open.push(stream);
            }
        });
        Self { address, ends, thread: Some(thread) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address, where nobody answers any more.
    pub(crate) fn stop(self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An answer with the length of its body, unless the headers say another.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Words\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Content-Length") {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}\r\n{body}").into_bytes()
}
