//! Documents of registries: redirections, headers, limits.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use opal_core::Secret;
use opal_http::{Transfer, TransferRequest, TransferResponse};

/// A server that gives one answer, and says what it was asked.
fn serve(answer: String) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let head: Vec<String> =
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        stream.write_all(answer.as_bytes()).unwrap();
        head.join("\n").to_lowercase()
    });
    (port, served)
}

fn get(port: u16, most: u64) -> Result<TransferResponse, String> {
    let headers = [("Authorization".to_owned(), Secret::new("Bearer canary"))];
    let request = TransferRequest {
        method: "GET",
        url: &format!("http://127.0.0.1:{port}/v2/x"),
        headers: &headers,
        body: &[],
        most,
        timeout: Duration::from_secs(30),
    };
    Transfer::default().send(&request, &|_| None).map_err(|trouble| trouble.message.to_string())
}

fn whole(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn a_password_does_not_follow_a_redirection_to_another_server() {
    let (to, second) = serve(whole("blob"));
    let (from, first) = serve(format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:{to}/blob\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    ));
    assert_eq!(get(from, 100).unwrap().body, b"blob");
    assert!(first.join().unwrap().contains("authorization: bearer canary"));
    let asked = second.join().unwrap();
    assert!(asked.contains("get /blob") && !asked.contains("canary"), "{asked}");
}

#[test]
fn an_answer_that_is_larger_than_its_limit_is_refused() {
    let (port, _served) = serve(whole("12345"));
    assert_eq!(get(port, 5).unwrap().body, b"12345");
    let (port, _served) = serve(whole("12345"));
    let why = get(port, 4).unwrap_err();
    assert!(why.contains("is too large") && !why.contains("canary"), "{why}");
}
