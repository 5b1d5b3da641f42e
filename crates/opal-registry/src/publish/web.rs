//! A static registry on a web server that takes files with PUT.

use std::time::Duration;

use opal_core::Secret;
use opal_http::{TransferRequest, TransferResponse};
use opal_plugins::address::host;

use super::store::{Found, Store};
use crate::refusal::Refusal;
use crate::sources::Reach;
use crate::sources::credentials::{Scheme, headers};

const TIMEOUT: Duration = Duration::from_secs(300);
/// Bytes of an answer to what was sent.
const MAX_ANSWER: u64 = 64 * 1024;

#[derive(Debug)]
pub(super) struct Web<'a> {
    address: String,
    reach: &'a Reach,
}

impl<'a> Web<'a> {
    pub(super) fn new(address: &str, reach: &'a Reach) -> Self {
        Self { address: address.trim_end_matches('/').to_owned(), reach }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        more: Vec<(String, Secret)>,
        most: u64,
    ) -> Result<TransferResponse, Refusal> {
        let mut all = headers(self.reach, host(&self.address), Scheme::Basic)?;
        all.extend(more);
        let url = format!("{}/{}", self.address, path.replace('+', "%2B"));
        let request =
            TransferRequest { method, url: &url, headers: &all, body, most, timeout: TIMEOUT };
        let variables = |name: &str| self.reach.variable(name);
        let found = self.reach.transfer.send(&request, &variables);
        found.map_err(|trouble| Refusal::unreached(&trouble))
    }

    fn upload(&self, path: &str, bytes: &[u8], more: Vec<(String, Secret)>) -> Result<(), Refusal> {
        let host = host(&self.address);
        match self.send("PUT", path, bytes, more, MAX_ANSWER)?.status {
            200..=204 => Ok(()),
            401 | 403 => Err(self.denied()),
            409 | 412 => Err(Refusal::unavailable(
                format!("somebody else changed `{path}` of the registry {host} meanwhile"),
                "run the command again",
            )),
            404 | 405 | 501 => Err(Refusal::unavailable(
                format!("the server {host} does not accept files (PUT `{path}`)"),
                "write the registry to a directory, `--to file:DIR`, and copy its files to the server",
            )),
            status => Err(Refusal::unavailable(
                format!("the registry {host} answered with status {status} to `{path}`"),
                "try again later, or ask its owner",
            )),
        }
    }

    fn denied(&self) -> Refusal {
        let host = host(&self.address);
        let message = format!("the registry {host} does not let you write");
        Refusal::untrusted(
            message,
            "check your credentials in `config/registries.toml` of the runtime root",
        )
    }
}

impl Store for Web<'_> {
    fn get(&self, path: &str, most: u64) -> Result<Option<Found>, Refusal> {
        let found = self.send("GET", path, &[], Vec::new(), most)?;
        match found.status {
            200 => {
                let tag = found.header("etag").map(str::to_owned);
                Ok(Some(Found { bytes: found.body, tag }))
            }
            404 | 410 => Ok(None),
            401 | 403 => Err(self.denied()),
            status => {
                let host = host(&self.address);
                let message = format!("the registry {host} answered with status {status}");
                Err(Refusal::unavailable(message, "try again later, or ask its owner"))
            }
        }
    }

    fn put_version(&self, path: &str, files: &[(&str, &[u8])]) -> Result<(), Refusal> {
        let mut files = files.iter();
        files
            .try_for_each(|(name, bytes)| self.upload(&format!("{path}/{name}"), bytes, Vec::new()))
    }

    fn put(&self, path: &str, bytes: &[u8], before: Option<&Found>) -> Result<(), Refusal> {
        // Only in place of what was read, where the server can tell.
        let only = match before {
            None => Some(("If-None-Match".to_owned(), Secret::new("*"))),
            Some(found) => {
                let tag = found.tag.as_ref().filter(|tag| !tag.starts_with("W/"));
                tag.map(|tag| ("If-Match".to_owned(), Secret::new(tag.as_str())))
            }
        };
        self.upload(path, bytes, only.into_iter().collect())
    }

    fn is_own(&self) -> bool {
        false
    }
}
