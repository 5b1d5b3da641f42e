//! Pages of the web.
//!
//! Redirections are followed here and not by the client, since three rules must hold at each of
//! them: never from `https` to `http`, no header to another server, one time limit for all.

use std::io;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::pages::{Pages, Variables};
use opal_core::resolver::{MAX_VALUE_BYTES, Request, Trouble};
use opal_core::wiped;
use ureq::config::{Config, ConfigBuilder};
use ureq::http::Uri;
use ureq::http::uri::Scheme;
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error, Proxy};

use crate::authorities::Clients;
use crate::error::{PageError, Server, ServerError};

pub(crate) const MAX_REDIRECTS: usize = 10;

/// For one connection, as part of the time of its request.
const CONNECT: Duration = Duration::from_secs(10);

/// A client of web servers. Connections are kept for the next page.
#[derive(Debug, Default)]
pub struct Http {
    clients: Clients,
}

impl Http {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Pages for Http {
    fn get(&self, request: &Request<'_>, variables: &Variables<'_>) -> Result<Secret, Trouble> {
        let asking = Asking { clients: &self.clients, request, variables };
        Ok(get(&asking)?)
    }
}

/// A page that is asked for.
struct Asking<'a, 'v> {
    clients: &'a Clients,
    request: &'a Request<'a>,
    variables: &'a Variables<'v>,
}

fn get(asking: &Asking<'_, '_>) -> Result<Secret, PageError> {
    let request = asking.request;
    let deadline = Instant::now() + request.timeout;
    let first = parse(request.url)?;
    let mut uri = first.clone();
    for _ in 0..=MAX_REDIRECTS {
        let left = deadline.saturating_duration_since(Instant::now());
        let to_first = same_server(&first, &uri);
        let server = Server { has_redirected: !to_first, ..server(&first) };
        let agent = asking.clients.get(&uri, asking.variables, agent)?;
        let mut response = fetch(asking, &agent, &uri, to_first, left)
            .map_err(|error| trouble(&server, &error, request.timeout))?;
        let status = response.status();
        if status.is_success() {
            return text(&server, response.body_mut(), request.timeout);
        }
        let location = response.headers().get("location").filter(|_| status.is_redirection());
        let Some(location) = location.and_then(|it| it.to_str().ok()) else {
            return Err(failed(&server, ServerError::Status(status.as_u16())));
        };
        uri = follow(&uri, location, &server)?;
    }
    Err(failed(&server(&first), ServerError::TooManyRedirects(MAX_REDIRECTS)))
}

fn fetch(
    asking: &Asking<'_, '_>,
    agent: &Agent,
    uri: &Uri,
    with_headers: bool,
    left: Duration,
) -> Result<ureq::http::Response<Body>, Error> {
    if left.is_zero() {
        return Err(Error::Timeout(ureq::Timeout::Global));
    }
    let mut builder = agent.get(uri.clone());
    if with_headers {
        for (name, value) in asking.request.headers {
            builder = builder.header(name, value.as_text().unwrap_or_default());
        }
    }
    let config = builder.config().timeout_global(Some(left));
    config.proxy(proxy(asking.variables, uri)?).build().call()
}

pub(crate) fn agent(config: Config) -> Agent {
    Agent::with_parts(config, DefaultConnector::default(), Names(DefaultResolver::default()))
}

pub(crate) fn configured() -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT))
        .user_agent(concat!("opal/", env!("CARGO_PKG_VERSION")))
}

/// As `curl` reads them; `HTTP_PROXY` in capitals can be set by strangers in CGI programs.
pub(crate) fn proxy(variables: &Variables<'_>, uri: &Uri) -> Result<Option<Proxy>, Error> {
    let variable =
        |names: &[&str]| names.iter().find_map(|name| variables(name).filter(|it| !it.is_empty()));
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

pub(crate) fn parse(url: &str) -> Result<Uri, PageError> {
    let uri: Option<Uri> = url.split('#').next().and_then(|url| url.parse().ok());
    uri.filter(|uri| {
        let scheme = uri.scheme();
        uri.host().is_some() && (scheme == Some(&Scheme::HTTP) || scheme == Some(&Scheme::HTTPS))
    })
    .ok_or(PageError::InvalidAddress)
}

pub(crate) fn follow(from: &Uri, location: &str, server: &Server) -> Result<Uri, PageError> {
    let to = parse(&join(from, location))?;
    if from.scheme() == Some(&Scheme::HTTPS) && to.scheme() != Some(&Scheme::HTTPS) {
        return Err(failed(server, ServerError::Downgrade));
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

pub(crate) fn same_server(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.host() == other.host() && one.port() == other.port()
}

fn text(server: &Server, body: &mut Body, limit: Duration) -> Result<Secret, PageError> {
    let bytes = wiped::read(&mut body.as_reader(), MAX_VALUE_BYTES + 1)
        .map_err(|error| trouble(server, &Error::from(error), limit))?;
    if bytes.len() as u64 > MAX_VALUE_BYTES {
        return Err(failed(server, ServerError::TooLarge));
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Secret::new(text)),
        Err(_) => Err(failed(server, ServerError::NotText)),
    }
}

/// The server, without a user and a password before it, and without the path.
pub(crate) fn server(uri: &Uri) -> Server {
    let port = uri.port().map_or_else(String::new, |port| format!(":{port}"));
    let name = format!("{}{port}", uri.host().unwrap_or_default());
    Server { name, has_redirected: false }
}

/// Only words of ours: the client's own may repeat the address.
pub(crate) fn trouble(server: &Server, error: &Error, limit: Duration) -> PageError {
    failed(
        server,
        match error {
            Error::Timeout(_) => ServerError::TimedOut(Some(limit)),
            Error::HostNotFound => ServerError::NotFound,
            Error::Io(error) => match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ServerError::TimedOut(None),
                // How the client passes on what TLS found.
                io::ErrorKind::InvalidData => ServerError::NotTrusted,
                other => ServerError::Unreachable(other),
            },
            Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => ServerError::NotTrusted,
            Error::InvalidProxyUrl | Error::ConnectProxyFailed(_) => ServerError::BrokenProxy,
            Error::Http(_) => return PageError::InvalidHeader,
            _ => ServerError::NotHttp,
        },
    )
}

pub(crate) fn failed(server: &Server, why: ServerError) -> PageError {
    PageError::Failed { server: server.clone(), why }
}

/// Names of hosts, as the client finds them. The standard library has no kind of error for a name
/// that nobody knows; here it can be nothing else.
#[derive(Debug)]
struct Names(DefaultResolver);

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        self.0.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            error => error,
        })
    }
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
        assert_eq!(server(&from).name, "one.example:8443");
    }

    #[test]
    fn the_way_back_from_https_is_closed() {
        let from = "https://one.example/".parse().unwrap();
        let follow = |location| follow(&from, location, &server(&from));
        let why = follow("http://one.example/").unwrap_err();
        assert!(matches!(why, PageError::Failed { why: ServerError::Downgrade, .. }), "{why:?}");
        assert!(follow("https://two.example/").is_ok());
        let why = follow("file:///etc/passwd").unwrap_err();
        assert!(matches!(why, PageError::InvalidAddress), "{why:?}");
    }
}
