//! Pages of the web, as value decorators read them.
//!
//! A page is always read on opal's machine, whichever machine the steps act on.

use std::fmt;

use crate::data::Secret;
use crate::resolver::{Request, Trouble};

/// Reads pages. Nothing is loaded or connected before it is asked for.
pub trait Pages: Send + Sync + fmt::Debug {
    /// The body of a page, at most [`crate::resolver::MAX_VALUE_BYTES`].
    fn get(&self, request: &Request<'_>, variables: &Variables<'_>) -> Result<Secret, Trouble>;
}

/// The variable that names a file with certificates of authorities, in PEM, in place of the built-in ones.
pub const AUTHORITIES: &str = "SSL_CERT_FILE";

/// The variables that say how servers are reached: by which proxy, and whose certificates count.
pub const REACHING: [&str; 8] = [
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    AUTHORITIES,
];

/// The environment of who asks, with the variables of [`REACHING`].
pub type Variables<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

/// Speaks to servers for plugins: one request, one answer, no redirection followed.
pub trait Exchanges: Send + Sync + fmt::Debug {
    fn exchange(
        &self,
        request: &ExchangeRequest<'_>,
        variables: &Variables<'_>,
    ) -> Result<ExchangeResponse, Trouble>;
}

/// What is sent. The address is checked already: scheme, host, port and path, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeRequest<'a> {
    pub method: &'a str,
    pub url: &'a Secret,
    pub headers: &'a [(String, Secret)],
    pub body: &'a Secret,
    /// Whether the address of the host may be one of this machine or its network.
    pub is_private: bool,
    pub timeout: std::time::Duration,
}

/// What came back, whatever its status.
#[derive(Clone)]
pub struct ExchangeResponse {
    pub status: u16,
    pub headers: Vec<(String, Secret)>,
    /// At most [`crate::resolver::MAX_VALUE_BYTES`].
    pub body: crate::wiped::Wiped<Vec<u8>>,
}

impl fmt::Debug for ExchangeResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExchangeResponse").field("status", &self.status).finish_non_exhaustive()
    }
}
