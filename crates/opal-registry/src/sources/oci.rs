//! A registry of the OCI distribution protocol.
//!
//! The first answer may ask for a token: then the server that the registry names is asked for one, with the
//! user's credentials for the registry, over `https` only.

use std::cell::RefCell;
use std::time::Duration;

use opal_core::Secret;
use opal_http::{TransferRequest, TransferResponse};
use opal_plugins::address::host;
use semver::Version;
use serde_json::Value;

use super::credentials::{Scheme, headers};
use super::{Reach, Registry};
use crate::format::oci::{
    self, MANIFEST_TYPE, MAX_OCI_MANIFEST, OciManifest, STATEMENTS_TYPE, Tag,
};
use crate::format::{FormatError, MAX_STATEMENTS, PackageName, Sha256, VersionEntry, Versions};
use crate::refusal::Refusal;

const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_TAGS: u64 = 16 << 20;
/// Pages of the list of tags.
const MAX_PAGES: usize = 1000;

#[derive(Debug)]
pub(crate) struct Oci<'a> {
    address: String,
    /// `https://reg.example`.
    server: String,
    /// `opal`, before the namespace.
    base: String,
    reach: &'a Reach,
    token: RefCell<Option<Secret>>,
}

impl<'a> Oci<'a> {
    pub(crate) fn new(address: &str, rest: &str, reach: &'a Reach) -> Self {
        let (host, base) = rest.split_once('/').unwrap_or((rest, ""));
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        // As other clients do: a registry on this machine has no certificate.
        let is_here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        let scheme = if is_here { "http" } else { "https" };
        let base = base.trim_matches('/').to_owned();
        let (address, token) = (address.to_owned(), RefCell::new(None));
        Self { address, server: format!("{scheme}://{host}"), base, reach, token }
    }

    fn repository(&self, name: &PackageName) -> String {
        match self.base.is_empty() {
            true => name.to_string(),
            false => format!("{}/{name}", self.base),
        }
    }

    /// An address in the repository of a package.
    pub(crate) fn url(&self, name: &PackageName, rest: &str) -> String {
        format!("{}/v2/{}/{rest}", self.server, self.repository(name))
    }

    /// The address of an upload, where it is on this server: credentials go nowhere else.
    pub(crate) fn own(&self, location: &str) -> Option<String> {
        if location.starts_with('/') && !location.starts_with("//") {
            return Some(format!("{}{location}", self.server));
        }
        location.starts_with(&format!("{}/", self.server)).then(|| location.to_owned())
    }

    fn send(&self, url: &str, accept: &str, most: u64) -> Result<TransferResponse, Refusal> {
        self.exchange("GET", url, &[("Accept", accept)], &[], most)
    }

    /// Any request, with a token where the registry asks for one.
    pub(crate) fn exchange(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        most: u64,
    ) -> Result<TransferResponse, Refusal> {
        let once = |token: Option<&Secret>| {
            let own = headers.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
            let token = token.map(|token| ("Authorization".to_owned(), token.clone()));
            let headers: Vec<(String, Secret)> = own.chain(token).collect();
            self.request(method, url, &headers, body, most)
        };
        let found = once(self.token.borrow().as_ref())?;
        if found.status != 401 {
            return Ok(found);
        }
        let challenge = found.header("www-authenticate").unwrap_or_default().to_owned();
        let token = self.authorise(&challenge)?;
        let found = once(Some(&token))?;
        self.token.replace(Some(token));
        match found.status {
            401 | 403 => Err(self.refused()),
            _ => Ok(found),
        }
    }

    fn refused(&self) -> Refusal {
        let host = host(&self.address);
        let message =
            format!("the registry {host} asks for credentials, and yours are missing or wrong");
        let help = "use `docker login`, or `config/registries.toml` of the runtime root: a project cannot \
                    name credentials";
        Refusal::untrusted(message, help)
    }

    fn request(
        &self,
        method: &str,
        url: &str,
        headers: &[(String, Secret)],
        body: &[u8],
        most: u64,
    ) -> Result<TransferResponse, Refusal> {
        let request = TransferRequest { method, url, headers, body, most, timeout: TIMEOUT };
        let variables = |name: &str| self.reach.variable(name);
        let found = self.reach.transfer.send(&request, &variables);
        found.map_err(|trouble| Refusal::unreached(&trouble))
    }

    /// The header that the registry asks for.
    fn authorise(&self, challenge: &str) -> Result<Secret, Refusal> {
        let host = host(&self.address);
        if challenge.to_ascii_lowercase().starts_with("basic") {
            let own = headers(self.reach, host, Scheme::Basic)?;
            return own.into_iter().next().map(|(_, value)| value).ok_or_else(|| self.refused());
        }
        let field = |name: &str| {
            let rest = challenge.split_once(&format!("{name}=\""))?.1;
            rest.split_once('"').map(|(value, _)| value.to_owned())
        };
        let (Some(realm), service) = (field("realm"), field("service")) else {
            return Err(self.refused());
        };
        // Credentials leave only over https, or to the machine that the registry is on.
        if !realm.starts_with("https://") && !realm.starts_with(&format!("{}/", self.server)) {
            return Err(self.refused());
        }
        let own = headers(self.reach, host, Scheme::Exchange)?;
        if let (Some((_, value)), true) =
            (headers(self.reach, host, Scheme::Basic)?.into_iter().next(), own.is_empty())
        {
            return Ok(value);
        }
        let mut url = format!("{realm}?scope={}", encoded(&field("scope").unwrap_or_default()));
        if let Some(service) = service {
            url.push_str(&format!("&service={}", encoded(&service)));
        }
        let found = self.request("GET", &url, &own, &[], 1 << 20)?;
        let document: Option<Value> = serde_json::from_slice(&found.body).ok();
        let token =
            document.as_ref().and_then(|it| it.get("token").or_else(|| it.get("access_token")));
        let token = token.and_then(Value::as_str).filter(|_| found.status == 200);
        token.map(|token| Secret::new(format!("Bearer {token}"))).ok_or_else(|| self.refused())
    }

    pub(crate) fn manifest(
        &self,
        name: &PackageName,
        tag: &str,
    ) -> Result<Option<OciManifest>, Refusal> {
        let url = self.url(name, &format!("manifests/{tag}"));
        let found = self.send(&url, MANIFEST_TYPE, MAX_OCI_MANIFEST)?;
        match found.status {
            200 => OciManifest::parse(&found.body).map(Some).map_err(|error| self.invalid(&error)),
            404 => Ok(None),
            status => Err(self.status(status)),
        }
    }

    fn invalid(&self, error: &FormatError) -> Refusal {
        Refusal::document(&self.address, error)
    }

    fn status(&self, status: u16) -> Refusal {
        if matches!(status, 401 | 403) {
            return self.refused();
        }
        let message = format!("the registry {} answered with status {status}", host(&self.address));
        Refusal::unavailable(message, "try again later, or ask its owner")
    }

    fn tags(&self, name: &PackageName) -> Result<Option<Vec<String>>, Refusal> {
        let first = self.url(name, "tags/list?n=1000");
        let (mut next, mut all) = (Some(first), Vec::new());
        for _ in 0..MAX_PAGES {
            let Some(url) = next else { return Ok(Some(all)) };
            let found = self.send(&url, "application/json", MAX_TAGS)?;
            match found.status {
                200 => {}
                404 => return Ok(None),
                status => return Err(self.status(status)),
            }
            let document: Option<Value> = serde_json::from_slice(&found.body).ok();
            let tags = document.as_ref().and_then(|it| it.get("tags")).and_then(Value::as_array);
            all.extend(tags.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
            let path =
                found.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
            next = path
                .map(|(path, _)| path)
                .filter(|path| path.starts_with('/'))
                .map(|path| format!("{}{path}", self.server));
        }
        Err(Refusal::invalid(format!("{name} has too many tags in {}", self.address)))
    }

    /// `statements.jsonl` of a version.
    pub(crate) fn statements_of(
        &self,
        name: &PackageName,
        version: &Version,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(manifest) = self.manifest(name, &oci::attest_tag(version))? else {
            return Ok(None);
        };
        let layer = manifest.layer(STATEMENTS_TYPE).filter(|layer| layer.size <= MAX_STATEMENTS);
        layer.map(|layer| self.blob(name, layer.digest, layer.size)).transpose()
    }

    fn blob(&self, name: &PackageName, digest: Sha256, most: u64) -> Result<Vec<u8>, Refusal> {
        let url = self.url(name, &format!("blobs/{digest}"));
        let found = self.send(&url, "*/*", most)?;
        match found.status {
            200 if Sha256::of(&found.body) == digest => Ok(found.body),
            200 => Err(Refusal::untrusted(
                format!("the registry {} has other bytes for {digest} of {name}", self.address),
                "ask the owner of the registry; nothing was changed",
            )),
            status => Err(self.status(status)),
        }
    }
}

impl Registry for Oci<'_> {
    fn versions(&self, name: &PackageName) -> Result<Option<(Versions, Option<Sha256>)>, Refusal> {
        let Some(tags) = self.tags(name)? else { return Ok(None) };
        let tags: Vec<Tag> = tags.iter().filter_map(|tag| Tag::parse(tag)).collect();
        let mut all = Versions::new(name.clone());
        for version in tags.iter().filter_map(|tag| match tag {
            Tag::Version(version) => Some(version),
            _ => None,
        }) {
            let Some(manifest) = self.manifest(name, &oci::tag(version))? else { continue };
            let yank = match tags.contains(&Tag::Yanked(version.clone())) {
                true => self.manifest(name, &oci::yanked_tag(version))?,
                false => None,
            };
            let entry = manifest.entry(name, version, yank.as_ref());
            let entry = entry.map_err(|error| self.invalid(&error))?;
            let added = all.add(entry);
            added.map_err(|_| Refusal::invalid(format!("{name} {version} is not valid")))?;
        }
        Ok(if all.all().is_empty() { None } else { Some((all, None)) })
    }

    fn archive(&self, name: &PackageName, entry: &VersionEntry) -> Result<Vec<u8>, Refusal> {
        self.blob(name, entry.archive, entry.size)
    }

    fn statements(
        &self,
        name: &PackageName,
        entry: &VersionEntry,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        self.statements_of(name, &entry.version)
    }

    fn index(&self) -> Result<Option<Vec<u8>>, Refusal> {
        Ok(None)
    }
}

/// A value of a query.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
