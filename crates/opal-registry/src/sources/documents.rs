//! A static registry: files of this machine, or of a web server.

use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use opal_core::resolver::TroubleKind;
use opal_files::{SystemError, regular};
use opal_http::TransferRequest;
use opal_plugins::address::host;

use super::credentials::{Scheme, headers};
use super::{Reach, Registry};
use crate::format::{
    ARCHIVE, INDEX, MAX_INDEX, MAX_STATEMENTS, MAX_VERSIONS, PackageName, STATEMENTS, Sha256,
    VersionEntry, Versions, version_path, versions_path,
};
use crate::refusal::Refusal;

const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct Documents<'a> {
    /// As the project names it.
    address: String,
    place: Place,
    reach: &'a Reach,
}

/// Why a document cannot be had.
#[derive(Debug)]
enum Unfetched {
    /// It has more bytes than it may have.
    TooLarge,
    Refused(Refusal),
}

impl From<Refusal> for Unfetched {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[derive(Debug)]
enum Place {
    Files(PathBuf),
    Web(String),
}

impl<'a> Documents<'a> {
    pub(super) fn new(address: &str, reach: &'a Reach) -> Self {
        let place = match address.strip_prefix("file:") {
            Some(path) => Place::Files(reach.folder.join(path.strip_prefix("//").unwrap_or(path))),
            None => Place::Web(address.trim_end_matches('/').to_owned()),
        };
        Self { address: address.to_owned(), place, reach }
    }

    /// A document; none where it is not there.
    fn get(&self, path: &str, most: u64) -> Result<Option<Vec<u8>>, Refusal> {
        self.fetch(path, most).map_err(|why| match why {
            Unfetched::Refused(refusal) => refusal,
            Unfetched::TooLarge => Refusal::unavailable(
                format!("`{path}` of the registry {} is too large", self.address),
                "ask the owner of the registry",
            ),
        })
    }

    fn fetch(&self, path: &str, most: u64) -> Result<Option<Vec<u8>>, Unfetched> {
        match &self.place {
            Place::Files(top) => self.file(&top.join(path), most),
            Place::Web(base) => self.page(&format!("{base}/{}", path.replace('+', "%2B")), most),
        }
    }

    fn file(&self, path: &std::path::Path, most: u64) -> Result<Option<Vec<u8>>, Unfetched> {
        let broken = |error: &std::io::Error| {
            let (path, why) = (path.display(), SystemError(error));
            let message = format!("`{path}` of the registry cannot be read: {why}");
            Unfetched::from(Refusal::unavailable(message, "check the directory of the registry"))
        };
        let file = match regular::open(path) {
            Ok(file) => file,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(broken(&error)),
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(|error| broken(&error))?;
        match bytes.len() as u64 > most {
            true => Err(Unfetched::TooLarge),
            false => Ok(Some(bytes)),
        }
    }

    fn page(&self, url: &str, most: u64) -> Result<Option<Vec<u8>>, Unfetched> {
        let headers = headers(self.reach, host(&self.address), Scheme::Basic)?;
        let request = TransferRequest {
            method: "GET",
            url,
            headers: &headers,
            body: &[],
            most,
            timeout: TIMEOUT,
        };
        let variables = |name: &str| self.reach.variable(name);
        let found = self.reach.transfer.send(&request, &variables);
        let found = found.map_err(|trouble| match trouble.kind {
            TroubleKind::TooLarge => Unfetched::TooLarge,
            _ => Refusal::unreached(&trouble).into(),
        })?;
        let host = host(&self.address);
        let refused = match found.status {
            200 => return Ok(Some(found.body)),
            404 | 410 => return Ok(None),
            401 | 403 if headers.is_empty() => Refusal::untrusted(
                format!("the registry {host} asks for credentials, and you have none for it"),
                "only your own configuration can name them: `config/registries.toml` of the runtime root",
            ),
            401 | 403 => Refusal::untrusted(
                format!("the registry {host} refuses your credentials"),
                "check them in `config/registries.toml` of the runtime root",
            ),
            status => Refusal::unavailable(
                format!("the registry {host} answered with status {status}"),
                "try again later, or ask its owner",
            ),
        };
        Err(refused.into())
    }
}

impl Registry for Documents<'_> {
    fn versions(&self, name: &PackageName) -> Result<Option<(Versions, Option<Sha256>)>, Refusal> {
        let Some(bytes) = self.get(&versions_path(name), MAX_VERSIONS)? else { return Ok(None) };
        let found =
            Versions::parse(&bytes).map_err(|error| Refusal::document(&self.address, &error))?;
        if found.name != *name {
            let message = format!(
                "the registry {} has the versions of {} for {name}",
                self.address, found.name
            );
            return Err(Refusal::untrusted(message, "report it to the owner of the registry"));
        }
        Ok(Some((found, Some(Sha256::of(&bytes)))))
    }

    fn archive(&self, name: &PackageName, entry: &VersionEntry) -> Result<Vec<u8>, Refusal> {
        let path = format!("{}/{ARCHIVE}", version_path(name, &entry.version));
        let (address, version) = (&self.address, &entry.version);
        let help = "report it to the owner of the registry";
        match self.fetch(&path, entry.size) {
            Ok(Some(archive)) => Ok(archive),
            Ok(None) => {
                let message = format!("the registry {address} has no archive of {name} {version}");
                Err(Refusal::unavailable(message, help))
            }
            Err(Unfetched::TooLarge) => {
                let message = format!(
                    "the registry {address} has a larger archive of {name} {version} than it lists"
                );
                Err(Refusal::untrusted(message, help))
            }
            Err(Unfetched::Refused(refusal)) => Err(refusal),
        }
    }

    fn statements(
        &self,
        name: &PackageName,
        entry: &VersionEntry,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        self.get(&format!("{}/{STATEMENTS}", version_path(name, &entry.version)), MAX_STATEMENTS)
    }

    fn index(&self) -> Result<Option<Vec<u8>>, Refusal> {
        self.get(INDEX, MAX_INDEX)
    }
}
