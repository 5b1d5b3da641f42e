//! Whose certificates are accepted: those of the authorities that browsers trust, or those that the user names.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use opal_core::pages::{AUTHORITIES, Variables};
use opal_files::regular;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::http::uri::Scheme;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::client::configured;
use crate::error::PageError;

/// Bytes of a file of authorities.
const MAX_BYTES: u64 = 8 << 20;

/// Clients that keep their connections, one for each file of authorities: a process meets one or none.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    known: Mutex<Vec<(Option<String>, Agent)>>,
}

impl Clients {
    /// The client for an address, with the authorities that the variables name. `make` is the same whenever it
    /// is asked.
    pub(crate) fn get(
        &self,
        uri: &Uri,
        variables: &Variables<'_>,
        make: impl FnOnce(Config) -> Agent,
    ) -> Result<Agent, PageError> {
        let is_tls = uri.scheme() == Some(&Scheme::HTTPS);
        let file = variables(AUTHORITIES).filter(|file| is_tls && !file.is_empty());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, agent)) = known.iter().find(|(it, _)| it.as_deref() == file) {
            return Ok(agent.clone());
        }
        let roots = file.map_or(Ok(RootCerts::WebPki), read)?;
        let agent =
            make(configured().tls_config(TlsConfig::builder().root_certs(roots).build()).build());
        known.push((file.map(str::to_owned), agent.clone()));
        Ok(agent)
    }
}

/// The certificates of a file.
fn read(file: &str) -> Result<RootCerts, PageError> {
    let failed = |why: &'static str| PageError::Authorities { file: file.to_owned(), why };
    let text = regular::read_to_string(Path::new(file), MAX_BYTES)
        .map_err(|_| failed("cannot be read"))?;
    let mut all = Vec::new();
    for item in parse_pem(text.as_bytes()) {
        match item {
            Ok(PemItem::Certificate(certificate)) => all.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(failed("is not PEM")),
        }
    }
    match all.is_empty() {
        true => Err(failed("has no certificate")),
        false => Ok(RootCerts::new_with_certs(&all)),
    }
}
