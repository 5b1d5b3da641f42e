//! Pages of the web.
//!
//! Redirections are followed here and not by the client, since three rules must hold at each of
//! them: never from `https` to `http`, no header to another server, one time limit for all.
//!
//! Messages name the server that was asked for, and no other: where an answer leads to is a part of
//! that answer, which nobody should see.

use std::io;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::resolver::{MAX_VALUE_BYTES, Request, Trouble, TroubleKind};
use ureq::http::Uri;
use ureq::http::uri::Scheme;
use ureq::{Agent, Body, Error, Proxy};

use super::{OsWorld, View};
use opal_core::wiped;

const MAX_REDIRECTS: usize = 10;

pub(super) fn get(view: &View<'_>, request: &Request<'_>) -> Result<Secret, Trouble> {
    let deadline = Instant::now() + request.timeout;
    let first = parse(request.url)?;
    let mut uri = first.clone();
    for _ in 0..=MAX_REDIRECTS {
        let left = deadline.saturating_duration_since(Instant::now());
        let to_first = same_server(&first, &uri);
        let server = if to_first { server(&first) } else { stranger(&first) };
        let mut response = fetch(view, request, &uri, to_first, left)
            .map_err(|error| trouble(&server, &error, request.timeout))?;
        let status = response.status();
        if status.is_success() {
            return text(&server, response.body_mut(), request.timeout);
        }
        let location = response.headers().get("location").filter(|_| status.is_redirection());
        let Some(location) = location.and_then(|it| it.to_str().ok()) else {
            return Err(status_trouble(&server, status.as_u16()));
        };
        uri = follow(&uri, location, &server)?;
    }
    Err(Trouble::new(
        TroubleKind::Failed,
        format!("{} redirects more than {MAX_REDIRECTS} times", server(&first)),
        "name the address where the page really is",
    ))
}

fn fetch(
    view: &View<'_>,
    request: &Request<'_>,
    uri: &Uri,
    with_headers: bool,
    left: Duration,
) -> Result<ureq::http::Response<Body>, Error> {
    if left.is_zero() {
        return Err(Error::Timeout(ureq::Timeout::Global));
    }
    let agent = view.world.agent.get_or_init(|| agent(view.world));
    let mut builder = agent.get(uri.clone());
    if with_headers {
        for (name, value) in request.headers {
            builder = builder.header(name, value.as_text().unwrap_or_default());
        }
    }
    let config = builder.config().timeout_global(Some(left));
    config.proxy(proxy(view, uri)?).build().call()
}

fn agent(world: &OsWorld) -> Agent {
    Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_connect(Some(world.limits.connect))
        .user_agent(concat!("opal/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// As `curl` reads them; `HTTP_PROXY` in capitals can be set by strangers in CGI programs.
fn proxy(view: &View<'_>, uri: &Uri) -> Result<Option<Proxy>, Error> {
    let variable = |names: &[&str]| {
        names.iter().find_map(|name| view.variable(name)?.to_str().filter(|it| !it.is_empty()))
    };
    let names: &[&str] = if uri.scheme() == Some(&Scheme::HTTPS) {
        &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    } else {
        &["http_proxy", "all_proxy", "ALL_PROXY"]
    };
    let Some(url) = variable(names) else { return Ok(None) };
    let given = Proxy::new(url)?;
    let mut builder = Proxy::builder(given.protocol()).host(given.host()).port(given.port());
    if let Some(name) = given.username() {
        builder = builder.username(name);
    }
    if let Some(password) = given.password() {
        builder = builder.password(password);
    }
    for exception in variable(&["no_proxy", "NO_PROXY"]).unwrap_or_default().split(',') {
        builder = builder.no_proxy(exception.trim());
    }
    builder.build().map(Some)
}

fn parse(url: &str) -> Result<Uri, Trouble> {
    let uri: Option<Uri> = url.split('#').next().and_then(|url| url.parse().ok());
    uri.filter(|uri| {
        let scheme = uri.scheme();
        uri.host().is_some() && (scheme == Some(&Scheme::HTTP) || scheme == Some(&Scheme::HTTPS))
    })
    .ok_or_else(|| {
        Trouble::new(
            TroubleKind::Invalid,
            "this is no address of the web",
            "write it as in `https://example.com/path`, with blanks and the like as `%20`",
        )
    })
}

fn follow(from: &Uri, location: &str, server: &str) -> Result<Uri, Trouble> {
    let to = parse(&join(from, location))?;
    if from.scheme() == Some(&Scheme::HTTPS) && to.scheme() != Some(&Scheme::HTTPS) {
        return Err(Trouble::new(
            TroubleKind::Denied,
            format!("{server} redirects from `https` to `http`, which anybody can change"),
            "name the address where the page really is",
        ));
    }
    Ok(to)
}

/// What a `Location` means, seen from the page that says it.
fn join(from: &Uri, location: &str) -> String {
    let scheme = from.scheme_str().unwrap_or("https");
    let authority = from.authority().map_or("", |it| it.as_str());
    let before_query = location.split(['?', '#']).next().unwrap_or_default();
    if before_query.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let directory = from.path().rsplit_once('/').map_or("", |(directory, _)| directory);
        format!("{scheme}://{authority}{directory}/{location}")
    }
}

fn same_server(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.host() == other.host() && one.port() == other.port()
}

fn text(server: &str, body: &mut Body, limit: Duration) -> Result<Secret, Trouble> {
    let bytes = wiped::read(&mut body.as_reader(), MAX_VALUE_BYTES + 1)
        .map_err(|error| trouble(server, &Error::from(error), limit))?;
    if bytes.len() as u64 > MAX_VALUE_BYTES {
        return Err(Trouble::new(
            TroubleKind::TooLarge,
            format!("{server} answered with more than {} MiB", MAX_VALUE_BYTES >> 20),
            "fetch it in a step, with `curl`, and keep it in a file",
        ));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Secret::new(text)),
        Err(_) => Err(Trouble::new(
            TroubleKind::NotText,
            format!("what {server} answered is not UTF-8 text"),
            "fetch it in a step, with `curl`, and keep it in a file",
        )),
    }
}

/// The server, without a name and a password that may stand before it, and without the path, which
/// may hold a token.
fn server(uri: &Uri) -> String {
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("`{}{port}`", uri.host().unwrap_or_default())
}

/// Another server, to which the first one led.
fn stranger(first: &Uri) -> String {
    format!("the server that {} redirects to", server(first))
}

fn status_trouble(server: &str, status: u16) -> Trouble {
    let (kind, help) = match status {
        404 | 410 => (TroubleKind::Missing, "check the address"),
        401 | 403 | 407 => (TroubleKind::Denied, "this page wants to know who asks"),
        502..=504 => (TroubleKind::Unreachable, "the server itself is not there: try again later"),
        _ => (TroubleKind::Failed, "try the address with `curl -v`"),
    };
    Trouble::new(kind, format!("{server} answered with status {status}"), help)
}

/// Only words of ours: the client's own may repeat the address.
fn trouble(server: &str, error: &Error, limit: Duration) -> Trouble {
    let (kind, message, help) = match error {
        Error::Timeout(_) => (
            TroubleKind::Unreachable,
            format!("{server} did not answer within {limit:?}"),
            "try the address with `curl -v`",
        ),
        Error::HostNotFound => return no_server(server),
        Error::Io(error) => return io_trouble(server, error),
        Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => (
            TroubleKind::Denied,
            format!("{server} could not prove who it is"),
            "check its certificate, and whether the port speaks `https`",
        ),
        Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => (
            TroubleKind::Unreachable,
            format!("the proxy to {server} does not work"),
            "check `https_proxy`, `http_proxy` and `no_proxy`",
        ),
        Error::Http(_) => (
            TroubleKind::Invalid,
            "a header has a name or a value that no request can hold".to_owned(),
            "leave out line ends and characters outside of ASCII",
        ),
        _ => (
            TroubleKind::Failed,
            format!("{server} gave an answer that is not HTTP"),
            "try the address with `curl -v`",
        ),
    };
    Trouble::new(kind, message, help)
}

fn no_server(server: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Unreachable,
        format!("{server} was not found"),
        "check the name and the network",
    )
}

fn io_trouble(server: &str, error: &io::Error) -> Trouble {
    // The standard library has no kind for a name that nobody knows, only these words.
    if error.to_string().contains("lookup address") {
        return no_server(server);
    }
    let (kind, message, help) = match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => (
            TroubleKind::Unreachable,
            format!("{server} did not answer in time"),
            "try the address with `curl -v`",
        ),
        // How the client passes on what TLS found.
        io::ErrorKind::InvalidData => (
            TroubleKind::Denied,
            format!("{server} could not prove who it is"),
            "check its certificate, and whether the port speaks `https`",
        ),
        other => (
            TroubleKind::Unreachable,
            format!("{server} cannot be reached: {other}"),
            "check the name, the port and the network",
        ),
    };
    Trouble::new(kind, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_from_where_it_was_found() {
        let from = "https://u:p@one.example:8443/a/b?q=1".parse().unwrap();
        let at = |location| join(&from, location);
        assert_eq!(at("http://two.example/x"), "http://two.example/x");
        assert_eq!(at("//two.example/x"), "https://two.example/x");
        assert_eq!(at("/x?y=1"), "https://u:p@one.example:8443/x?y=1");
        assert_eq!(at("x?to=http://z"), "https://u:p@one.example:8443/a/x?to=http://z");
        assert_eq!(at("?y"), "https://u:p@one.example:8443/a/b?y");
        assert_eq!(server(&from), "`one.example:8443`");
    }

    #[test]
    fn the_way_back_from_https_is_closed() {
        let from = "https://one.example/".parse().unwrap();
        let follow = |location| follow(&from, location, "`one.example`").map_err(|it| it.kind);
        assert_eq!(follow("http://one.example/").unwrap_err(), TroubleKind::Denied);
        assert!(follow("https://two.example/").is_ok());
        assert_eq!(follow("file:///etc/passwd").unwrap_err(), TroubleKind::Invalid);
    }
}
