//! Requests of other pages, other names, other users: refused before anything is looked up.

use super::Ui;
use crate::gate::Gate;
use crate::support::Opal;

/// Whoever sends more than is read may be cut off before the answer has come.
const CUT_OFF: u16 = 0;

/// A contract in the inbox: its id.
pub(super) fn submitted(gate: &Gate, task: &str) -> String {
    submitted_with(gate, &[task])
}

pub(super) fn submitted_with(gate: &Gate, words: &[&str]) -> String {
    gate.plan(&[words, &["-o", "x.plan"]].concat());
    let entry = gate.opal.call(&["plan", "submit", "x.plan", "--json"]).code(0).json();
    entry["id"].as_str().unwrap().to_owned()
}

/// The body of the form of a contract.
pub(super) fn form(ui: &Ui, id: &str, decision: &str) -> String {
    let page = ui.get(&format!("/contracts/{id}")).ok();
    let [digest, token] = ["digest", "token"]
        .map(|name| page.between(&format!("name=\"{name}\" value=\""), "\"").to_owned());
    format!("digest={digest}&token={token}&decision={decision}")
}

#[test]
fn only_the_right_host_and_the_right_path_reach_a_page() {
    let opal = Opal::machine("");
    let ui = Ui::start(opal.command(), &[]).entered();
    let (host, base) = (&ui.client.authority, &ui.client.base);
    let port = host.rsplit_once(':').unwrap().1;
    let right = format!("GET {base}/inbox HTTP/1.1\r\nHost: {host}\r\n\r\n");
    ui.client.send(&right).ok();
    let request = |line: &str, hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|it| format!("Host: {it}\r\n")).collect();
        format!("{line} HTTP/1.1\r\n{hosts}\r\n")
    };
    let page = format!("GET {base}/inbox");
    let evil = format!("evil.example:{port}");
    let short = &base[..base.len() - 1];
    for attack in [
        request(&page, &[&evil]),
        request(&page, &[&format!("localhost:{port}")]),
        request(&page, &["127.0.0.1"]),
        request(&page, &["127.0.0.1:1"]),
        request(&page, &[&format!("{host}.evil.example")]),
        request(&page, &[host, &evil]),
        request(&page, &[&evil, host]),
        request(&page, &[]),
        request(&format!("GET http://{evil}{base}/inbox"), &[host]),
        request(&format!("GET http://{host}{base}/inbox"), &[&evil]),
        request("GET /", &[host]),
        request("GET /inbox", &[host]),
        request("GET //inbox", &[host]),
        request("GET /favicon.ico", &[host]),
        request(&format!("GET /{}/inbox", "0".repeat(32)), &[host]),
        request(&format!("GET {short}/inbox"), &[host]),
        request(&format!("GET {base}0/inbox"), &[host]),
        request(&format!("GET {}/inbox", base.to_uppercase()), &[host]),
        request(&format!("GET /x/..{base}/inbox"), &[host]),
        request(&format!("GET /ticket/{}", "0".repeat(32)), &[host]),
        request("GET /ticket/", &[host]),
        request("GET /ticket", &[host]),
        request(&format!("GET /ticket{base}"), &[host]),
    ] {
        let answer = ui.client.send(&attack);
        assert!(answer.status == 403 || answer.status == 400, "{attack} {answer:?}");
        assert!(!answer.body.contains("<html"), "{attack} {answer:?}");
        assert!(answer.header("access-control-allow-origin").is_none(), "{attack} {answer:?}");
    }
    ui.client.send(&right).ok();
}

#[test]
fn a_form_counts_only_from_a_page_of_this_place() {
    let gate = Gate::new();
    let id = submitted(&gate, "test");
    let ui = Ui::in_terminal(gate.opal.command(), &["--no-open"]).entered();
    let path = format!("{}/contracts/{id}/decide", ui.client.base);
    // The page with the form lets browsers tell their origin to this place, and nothing to others.
    let page = ui.get(&format!("/contracts/{id}")).ok();
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    assert_eq!(ui.get("/contracts").ok().header("referrer-policy"), Some("no-referrer"));
    let right: Vec<String> = ui.client.form_lines("");
    let host = ui.client.authority.clone();
    // Each row replaces one line of the right ones; an empty one removes it.
    for (at, line) in [
        (0, String::new()),
        (0, "Origin: null".to_owned()),
        (0, "Origin: http://evil.example".to_owned()),
        (0, "Origin: http://127.0.0.1:1".to_owned()),
        (0, format!("Origin: https://{host}")),
        (0, format!("Origin: http://{host}.evil.example")),
        (0, format!("Origin: http://{host}\r\nOrigin: http://{host}")),
        (1, String::new()),
        (1, "Sec-Fetch-Site: cross-site".to_owned()),
        (1, "Sec-Fetch-Site: same-site".to_owned()),
        (1, "Sec-Fetch-Site: none".to_owned()),
        (2, String::new()),
        (2, "Content-Type: text/plain".to_owned()),
        (2, "Content-Type: application/json".to_owned()),
        (2, "Content-Type: multipart/form-data; boundary=x".to_owned()),
    ] {
        let body = form(&ui, &id, "approve");
        let mut lines = right.clone();
        lines[3] = format!("Content-Length: {}", body.len());
        lines[at].clone_from(&line);
        let lines: Vec<&str> =
            lines.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        let answer = ui.client.ask("POST", &path, &lines, &body);
        assert_eq!(answer.status, 403, "{line} {answer:?}");
    }
    // Neither does an address that is only looked at, nor another method.
    let query = format!("{path}?{}", form(&ui, &id, "approve"));
    assert_eq!(ui.client.get_at(&path).status, 405);
    assert_eq!(ui.client.get_at(&query).status, 405);
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "HEAD", "TRACE", "CONNECT"] {
        let answer = ui.client.ask(method, &path, &["Origin: http://evil.example"], "");
        assert!(matches!(answer.status, 400 | 403), "{method} {answer:?}");
        assert!(answer.header("access-control-allow-methods").is_none(), "{method} {answer:?}");
    }
    assert!(!ui.said().contains("a page asks"), "{}", ui.said());
    // The same form with all lines is one.
    let answer = ui.client.post(&format!("/contracts/{id}/decide"), &form(&ui, &id, "approve"));
    assert_eq!(answer.status, 303, "{answer:?}");
    ui.says("a page asks to approve `test`");
}

#[test]
fn a_token_counts_once_and_only_for_the_digest_that_was_shown() {
    let gate = Gate::new();
    let id = submitted(&gate, "test");
    let other = submitted(&gate, "deploy");
    let ui = Ui::in_terminal(gate.opal.command(), &["--no-open"]).entered();
    let decide = |id: &str, body: &str| ui.client.post(&format!("/contracts/{id}/decide"), body);
    let body = form(&ui, &id, "approve");
    let digest = body.split('&').next().unwrap().strip_prefix("digest=").unwrap().to_owned();
    assert_eq!(digest.len(), 64);
    let others = form(&ui, &other, "approve");
    let other_digest =
        others.split('&').next().unwrap().strip_prefix("digest=").unwrap().to_owned();
    for (id, body) in [
        // Another digest, part of one, or a token of another form.
        (&id, body.replace(&digest, &other_digest)),
        (&id, form(&ui, &id, "approve").replace(&digest, &digest[..32])),
        (&id, form(&ui, &id, "approve").replace(&digest, &"0".repeat(64))),
        (&other, form(&ui, &id, "approve")),
        (&id, format!("digest={digest}&token={}&decision=approve", "0".repeat(32))),
        (&id, format!("digest={digest}&decision=approve")),
        (&id, form(&ui, &id, "run")),
        (&id, form(&ui, &id, "approve") + "&decision=reject"),
        (&id, String::new()),
    ] {
        assert_eq!(decide(id, &body).status, 403, "{body}");
    }
    // The token of the first row was used up by it.
    assert_eq!(decide(&id, &body).status, 403);
    // The file changes after the page was shown.
    let body = form(&ui, &id, "approve");
    let file = gate.opal.path().join(format!("home/.opal/inbox/{id}/contract.plan"));
    let was = std::fs::read(&file).unwrap();
    let changed =
        std::fs::read(file.parent().unwrap().with_file_name(&other).join("contract.plan"));
    std::fs::write(&file, changed.unwrap()).unwrap();
    assert_eq!(decide(&id, &body).status, 403);
    std::fs::write(&file, was).unwrap();
    assert!(!ui.said().contains("a page asks"), "{}", ui.said());
    let body = form(&ui, &id, "reject");
    assert_eq!(decide(&id, &body).status, 303);
    ui.says("a page asks to reject `test`");
    assert_eq!(decide(&id, &body).status, 403, "sent twice");
}

#[test]
fn what_is_too_large_is_refused_and_the_pages_stay() {
    let opal = Opal::machine("");
    let ui = Ui::start(opal.command(), &[]).entered();
    let path = format!("{}/contracts/{}/decide", ui.client.base, "0".repeat(32));
    let large = "x".repeat((1 << 20) + 1);
    let answer = ui.client.post(&format!("/contracts/{}/decide", "0".repeat(32)), &large);
    assert!(matches!(answer.status, CUT_OFF | 403), "{answer:?}");
    let mut lines = ui.client.form_lines("");
    for length in ["Content-Length: 99999999999999999999", "Content-Length: 1048577"] {
        lines[3] = length.to_owned();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answer = ui.client.ask("POST", &path, &lines, "");
        assert!(matches!(answer.status, 400 | 403), "{length} {answer:?}");
    }
    // In pieces, which do not say how many they are.
    lines[3] = "Transfer-Encoding: chunked".to_owned();
    let pieces = format!("100000\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(1 << 20));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let answer = ui.client.ask("POST", &path, &lines, &pieces);
    assert!(matches!(answer.status, CUT_OFF | 403), "{answer:?}");
    // Many or long lines of a head.
    for head in [format!("X: {}", "x".repeat(200_000)), "X: y\r\n".repeat(1_000) + "X: z"] {
        let answer = ui.client.ask("GET", &format!("{}/inbox", ui.client.base), &[&head], "");
        assert!(matches!(answer.status, CUT_OFF | 431), "{answer:?}");
    }
    ui.get("/inbox").ok();
}

/// Two requests in one, or one that two programs read in two ways: a connection has one answer.
#[test]
fn a_connection_has_one_request_and_what_is_ambiguous_is_refused() {
    let gate = Gate::new();
    let id = submitted(&gate, "test");
    let ui = Ui::in_terminal(gate.opal.command(), &["--no-open"]).entered();
    let (host, base) = (ui.client.authority.clone(), ui.client.base.clone());
    let path = format!("{base}/contracts/{id}/decide");
    let second = format!("GET {base}/records HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let first = format!("GET {base}/inbox HTTP/1.1\r\nHost: {host}\r\n");
    for head in ["\r\n", "Connection: keep-alive\r\n\r\n", "Content-Length: 0\r\n\r\n"] {
        let answer = ui.client.send(&format!("{first}{head}{second}"));
        assert_eq!(answer.status, 200, "{head} {answer:?}");
        assert!(!answer.body.contains("HTTP/1.1"), "{head} {answer:?}");
    }
    let lines = ui.client.form_lines("").join("\r\n").replace("\r\nContent-Length: 0", "");
    let post = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n");
    for more in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        "Content-Length: +5\r\n\r\nabcde",
        "Content-Length: -1\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\nabcde",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "Content-Length : 5\r\n\r\nabcde",
        "X: a\r\n folded: b\r\nContent-Length: 0\r\n\r\n",
    ] {
        let answer = ui.client.send(&format!("{post}{more}{second}"));
        assert!(matches!(answer.status, CUT_OFF | 400 | 403), "{more} {answer:?}");
        assert!(!answer.body.contains("<html"), "{more} {answer:?}");
    }
    for odd in [
        format!("GET {base}/inbox HTTP/1.0\r\n\r\n"),
        format!("GET {base}/inbox HTTP/2.0\r\nHost: {host}\r\n\r\n"),
        format!("GET {base}/inbox\r\n\r\n"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\0\x01\0\x01\u{fc}".to_owned(),
        format!("GET {base}/inbox HTTP/1.1\nHost: {host}\n\nX"),
        format!("GET {base}/\0inbox HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET {base}/inbox HTTP/1.1\r\nHost: {host}\0\r\n\r\n"),
        format!("OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        format!("GET * HTTP/1.1\r\nHost: {host}\r\n\r\n"),
    ] {
        let answer = ui.client.send(&odd);
        let is_usual = odd.contains('\n') && !odd.contains('\r') && answer.status == 200;
        assert!(
            is_usual || matches!(answer.status, CUT_OFF | 400 | 403 | 505),
            "{odd:?} {answer:?}"
        );
    }
    assert!(!ui.said().contains("a page asks"), "{}", ui.said());
    ui.get("/inbox").ok();
}

#[test]
fn every_answer_is_kept_by_nobody_and_names_no_other_place() {
    let opal = Opal::machine("");
    let ui = Ui::start(opal.command(), &[]).entered();
    let mut nonces = Vec::new();
    for path in
        ["/inbox", "/inbox", "/contracts", "/records", "/nothing", "/inbox.json", "/", "/records/x"]
    {
        let answer = ui.get(path);
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{path}");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"),
            "{path}"
        );
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}");
        if header("content-type").starts_with("text/html") {
            let nonce = answer.between("<style nonce=\"", "\"").to_owned();
            let expected = format!(
                "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; \
                 connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            );
            assert_eq!(policy, expected, "{path}");
            assert_eq!(nonce.len(), 32);
            nonces.push(nonce);
        }
    }
    let count = nonces.len();
    nonces.sort();
    nonces.dedup();
    assert!(count >= 5 && nonces.len() == count, "a nonce is used once");
}
