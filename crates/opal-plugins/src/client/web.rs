//! Requests to hosts: which address is meant, whether it is granted, and what opal keeps to itself.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::pages::{ExchangeRequest, ExchangeResponse, Exchanges, REACHING};
use opal_core::protocol::request::{HttpRequest, HttpResponse};
use opal_core::protocol::{Kind, Refusal};
use opal_core::resolver::{Probe, Trouble};

use super::grants::Grants;
use super::handles::Handles;
use super::sites::refusal;

/// For one request, with its answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often a request asks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(10);

const MAX_HEADERS: usize = 100;

/// An address in its parts. Whatever another reader could understand in another way is not one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(super) is_plain: bool,
    /// Lower case; an address of version 6 without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// Path and query.
    path: String,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (is_plain, rest) = match url.strip_prefix("https://") {
            Some(rest) => (false, rest),
            None => (true, url.strip_prefix("http://")?),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#\"<>^`{|}".contains(&byte)) {
            return None;
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (host, port) = match authority.strip_prefix('[') {
            Some(inner) => {
                let (host, rest) = inner.split_once(']')?;
                host.parse::<std::net::Ipv6Addr>().ok()?;
                (
                    host.to_owned(),
                    if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) },
                )
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host.to_ascii_lowercase(), Some(port)),
                None => (authority.to_ascii_lowercase(), None),
            },
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-.:_".contains(c);
        if host.is_empty() || !host.chars().all(is_name) {
            return None;
        }
        let port = match port {
            None if is_plain => 80,
            None => 443,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok()?,
            Some(_) => return None,
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Some(Self { is_plain, host, port, path })
    }

    /// In its one spelling: what was checked is what is asked for.
    fn written(&self) -> String {
        let scheme = if self.is_plain { "http" } else { "https" };
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        let usual = if self.is_plain { 80 } else { 443 };
        let port = if self.port == usual { String::new() } else { format!(":{}", self.port) };
        format!("{scheme}://{host}{port}{}", self.path)
    }
}

/// A request that may be sent, with the secrets in their places.
pub(crate) struct CheckedRequest {
    address: Address,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) body: Secret,
    is_private: bool,
}

impl CheckedRequest {
    pub(crate) fn url(&self) -> String {
        self.address.written()
    }
}

/// Checks a request of a plugin. `acts` is a stage's, which may use every method.
pub(crate) fn checked(
    grants: &Grants,
    handles: &mut Handles,
    request: &HttpRequest,
    acts: bool,
) -> Result<CheckedRequest, Refusal> {
    let invalid = |message: &str| Refusal::new(Kind::Invalid, message);
    let address = Address::parse(request.url.expose()).ok_or_else(|| {
        invalid("invalid URL").with_help("write it like `https://example.com/path`")
    })?;
    let is_method = (1..=32).contains(&request.method.len())
        && request.method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !is_method || request.method == "CONNECT" {
        return Err(invalid("invalid method"));
    }
    let is_private = grants.host(&address, &request.method, acts)?;
    if request.headers.len() > MAX_HEADERS {
        return Err(invalid("a request has at most 100 headers"));
    }
    let mut headers = Vec::new();
    for (name, parts) in &request.headers {
        check_header(name)?;
        let value = handles.text(parts, false)?;
        if !value.expose().chars().all(|c| c == '\t' || (!c.is_control() && c.is_ascii())) {
            return Err(invalid("invalid value of a header"));
        }
        headers.push((name.clone(), value));
    }
    let body = handles.text(&request.body, false)?;
    Ok(CheckedRequest { address, headers, body, is_private })
}

/// Who asks a host for a plugin.
pub(super) struct Asking<'a> {
    pub(super) web: &'static dyn Exchanges,
    pub(super) probe: &'a dyn Probe,
    pub(super) grants: &'a Grants,
    /// Whether it may use every method.
    pub(super) acts: bool,
    /// Whether the answer is no longer wanted.
    pub(super) is_stopped: &'a dyn Fn() -> bool,
}

/// Sends a request of a plugin.
pub(super) fn exchange(
    asking: &Asking<'_>,
    handles: &mut Handles,
    request: &HttpRequest,
) -> Result<HttpResponse, Refusal> {
    let Asking { probe, grants, acts, .. } = *asking;
    let checked = checked(grants, handles, request, acts)?;
    // HTTP leaves from opal's machine, and so by its proxy and with its authorities.
    let origin = probe.origin();
    let here = origin.as_deref().unwrap_or(probe);
    let reaching = REACHING.into_iter().filter_map(|name| Some((name, here.env(name).ok()??)));
    let reaching: Vec<(&'static str, Secret)> = reaching.collect();
    let found = sent(asking, request.method.clone(), checked, reaching)?;
    let found = found.map_err(|trouble| refusal(&trouble))?;
    Ok(masked(handles, found.status, &found.headers, &found.body))
}

/// Sends it from a thread of its own, so that nobody waits for a host once the run is stopped. What still comes
/// is dropped; the helper that speaks to the host ends with opal.
fn sent(
    asking: &Asking<'_>,
    method: String,
    checked: CheckedRequest,
    reaching: Vec<(&'static str, Secret)>,
) -> Result<Result<ExchangeResponse, Trouble>, Refusal> {
    let (web, (answer, wait)) = (asking.web, channel());
    std::thread::spawn(move || {
        let variables = |name: &str| {
            reaching.iter().find(|(it, _)| *it == name).map(|(_, value)| value.expose())
        };
        let asked = ExchangeRequest {
            method: &method,
            url: &Secret::new(checked.url()),
            headers: &checked.headers,
            body: &checked.body,
            is_private: checked.is_private,
            timeout: TIMEOUT,
        };
        let _ = answer.send(web.exchange(&asked, &variables));
    });
    loop {
        match wait.recv_timeout(LOOK) {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) if !(asking.is_stopped)() => {}
            Err(_) => return Err(Refusal::new(Kind::Failed, "the request was stopped")),
        }
    }
}

/// An answer without the secrets that the call sent.
pub(crate) fn masked(
    handles: &Handles,
    status: u16,
    headers: &[(String, Secret)],
    body: &[u8],
) -> HttpResponse {
    let hidden = |value: &Secret| {
        let masked = handles.masked(value.expose().as_bytes());
        Secret::new(String::from_utf8_lossy(&masked))
    };
    let headers = headers.iter().map(|(name, value)| (name.clone(), hidden(value))).collect();
    HttpResponse { status, headers, body: handles.masked(body) }
}

/// Headers that say how and to whom a message is carried are opal's.
fn check_header(name: &str) -> Result<(), Refusal> {
    let is_token = !name.is_empty()
        && name.len() <= 128
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&b));
    let own = [
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    let lower = name.to_ascii_lowercase();
    if !is_token {
        return Err(Refusal::new(Kind::Invalid, "invalid name of a header"));
    }
    if own.contains(&lower.as_str()) || lower.starts_with("proxy-") {
        return Err(Refusal::new(Kind::Denied, format!("the header `{name}` is opal's")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_meaning() {
        for (url, written) in [
            ("https://A.example", "https://a.example/"),
            ("https://a.example:443/x?y=1", "https://a.example/x?y=1"),
            ("http://a.example:8080?q", "http://a.example:8080/?q"),
            ("https://[2606:4700::1]:8443/", "https://[2606:4700::1]:8443/"),
        ] {
            assert_eq!(Address::parse(url).unwrap().written(), written);
        }
        for url in [
            "ftp://a.example/",
            "https://",
            "https:///x",
            "https://user@a.example/",
            "https://a.example\\@b.example/",
            "https://a.example#@b.example/",
            "https://a.example /",
            "https://a.example\r\nHost: b/",
            "https://a.example:99999/",
            "https://a.example:+80/",
            "https://[::1/",
            "https://é.example/",
            "HTTPS://a.example/",
        ] {
            assert_eq!(Address::parse(url), None, "{url}");
        }
    }

    #[test]
    fn hosts_and_methods_are_granted_exactly() {
        let all = ["net:a.example", "query:q.example", "net:http://p.example:8080 private"];
        let grants = Grants::new(all.map(|it| it.parse().unwrap()), std::path::Path::new("/root"));
        let host = |url: &str, method: &str, acts: bool| {
            grants.host(&Address::parse(url).unwrap(), method, acts)
        };
        assert!(!host("https://a.example/x", "GET", false).unwrap());
        assert!(!host("https://a.example/x", "DELETE", true).unwrap());
        assert!(!host("https://q.example/x", "POST", false).unwrap());
        assert!(host("http://p.example:8080/", "HEAD", false).unwrap());
        for (url, method, acts) in [
            ("https://a.example/", "POST", false),
            ("https://q.example/", "PUT", false),
            ("http://a.example/", "GET", false),
            ("https://a.example:8443/", "GET", false),
            ("https://b.a.example/", "GET", true),
            ("https://p.example:8080/", "GET", true),
            ("https://169.254.169.254/", "GET", true),
        ] {
            assert_eq!(host(url, method, acts).unwrap_err().kind, Kind::Denied, "{method} {url}");
        }
    }

    #[test]
    fn headers_of_the_connection_are_opals() {
        for name in
            ["Host", "Proxy-Authorization", "transfer-encoding", "Content-Length", "a b", ""]
        {
            assert!(check_header(name).is_err(), "{name}");
        }
        assert!(check_header("X-Vault-Token").is_ok());
    }
}
