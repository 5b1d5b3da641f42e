//! Documents and archives of registries: any method, whole bytes, a limit for each answer.
//!
//! Redirections of reading requests are followed here. The rules of pages hold: never from `https` to
//! `http`, no header to another server, one time limit for all.

use std::io::Read as _;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::message;
use opal_core::pages::Variables;
use opal_core::resolver::{Trouble, TroubleKind};
use ureq::Error;
use ureq::http::{Request, Uri};

use crate::authorities::Clients;
use crate::client::{
    MAX_REDIRECTS, agent, failed, follow, parse, proxy, same_server, server, trouble,
};
use crate::error::{PageError, ServerError};

/// A client of registries. Connections are kept.
#[derive(Debug, Default)]
pub struct Transfer {
    clients: Clients,
}

/// A request to a registry.
#[derive(Clone, Copy, Debug)]
pub struct TransferRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(String, Secret)],
    pub body: &'a [u8],
    /// Bytes of the answer.
    pub most: u64,
    pub timeout: Duration,
}

/// What a registry answered.
#[derive(Debug)]
pub struct TransferResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl TransferResponse {
    /// The first header of a name, which is written in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

impl Transfer {
    /// The answer to a request, whatever its status.
    pub fn send(
        &self,
        request: &TransferRequest<'_>,
        variables: &Variables<'_>,
    ) -> Result<TransferResponse, Trouble> {
        let deadline = Instant::now() + request.timeout;
        let first = parse(request.url)?;
        let is_reading = matches!(request.method, "GET" | "HEAD");
        let mut uri = first.clone();
        for _ in 0..=MAX_REDIRECTS {
            let left = deadline.saturating_duration_since(Instant::now());
            let found = self.once(request, variables, &uri, same_server(&first, &uri), left)?;
            let is_elsewhere = matches!(found.status, 301 | 302 | 303 | 307 | 308);
            match found.header("location").filter(|_| is_elsewhere && is_reading) {
                Some(location) => uri = follow(&uri, location, &server(&first))?,
                None => return Ok(found),
            }
        }
        Err(failed(&server(&first), ServerError::TooManyRedirects(MAX_REDIRECTS)).into())
    }

    fn once(
        &self,
        request: &TransferRequest<'_>,
        variables: &Variables<'_>,
        uri: &Uri,
        with_headers: bool,
        left: Duration,
    ) -> Result<TransferResponse, Trouble> {
        let server = server(uri);
        let broken = |error: &Error| -> Trouble { trouble(&server, error, request.timeout).into() };
        if left.is_zero() {
            return Err(broken(&Error::Timeout(ureq::Timeout::Global)));
        }
        let agent = self.clients.get(uri, variables, agent)?;
        let proxy = proxy(variables, uri).map_err(|error| broken(&error))?;
        let mut built = Request::builder().method(request.method).uri(uri.clone());
        for (name, value) in request.headers.iter().filter(|_| with_headers) {
            built = built.header(name, value.expose());
        }
        let built = built.body(request.body).map_err(|_| PageError::InvalidHeader)?;
        let built = agent
            .configure_request(built)
            .timeout_global(Some(left))
            .allow_non_standard_methods(true)
            .proxy(proxy)
            .build();
        let mut response = agent.run(built).map_err(|error| broken(&error))?;
        let headers = response.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        let (status, headers) = (response.status().as_u16(), headers.collect());
        let mut body = Vec::new();
        let reader = response.body_mut().as_reader();
        let read = reader.take(request.most + 1).read_to_end(&mut body);
        read.map_err(|error| broken(&Error::from(error)))?;
        if body.len() as u64 > request.most {
            let message = message!("the response of `", server.name, "` is too large");
            return Err(Trouble::new(
                TroubleKind::TooLarge,
                message,
                "ask the owner of the registry",
            ));
        }
        Ok(TransferResponse { status, headers, body })
    }
}
