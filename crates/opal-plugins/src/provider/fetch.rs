//! Getting a provider: the helper says which document comes next and checks all of them; opal downloads.
//!
//! ```text
//! source ──find──▶ documents ──▶ versions ──▶ archive, sums, signature ──open──▶ files that may be accepted
//! ```
//!
//! A mirror has only archives. Where nothing is locked, the registry that it mirrors vouches for them.

use std::path::{Path, PathBuf};

use opal_core::hash::Digest;
use opal_core::protocol::Body;
use opal_core::wiped::Wiped;
use opal_vault::root::Root;
use tempfile::TempDir;

use super::bridge::Session;
use super::store::{FOLDER, ProviderError, h1_digest, kept_files};
use super::wanted::WantedProvider;
use super::{Installation, ProjectSettings, Provider};
use crate::client::failure::Why;
use crate::lock::LockedProvider;
use crate::names::Requirement;

/// Bytes of a document, and of an archive.
const MOST_DOCUMENT: u64 = 16 << 20;
const MOST_ARCHIVE: u64 = 1 << 30;

/// Who downloads.
pub trait Download {
    type Error;

    /// A document.
    fn document(&self, url: &str, most: u64) -> Result<Vec<u8>, Self::Error>;

    /// A file that does not exist yet.
    fn file(&self, url: &str, most: u64, into: &Path) -> Result<(), Self::Error>;
}

/// Why there is no provider.
#[derive(Debug)]
pub enum FetchError<E> {
    Call(Why),
    Download(E),
    /// No version fits: those that there are, the newest first.
    NoVersion(Vec<String>),
    Io(std::io::Error),
}

/// Which provider is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    pub wanted: &'a WantedProvider,
    pub requirement: &'a Requirement,
    /// What is locked, if that is to stay.
    pub locked: Option<&'a LockedProvider>,
    /// Who signed what is locked.
    pub signed_by: Option<&'a str>,
    /// A mirror: its address, or the path of a directory.
    pub mirror: Option<&'a str>,
    /// `linux_amd64`.
    pub platform: &'a str,
    /// A person accepts another key, or a mirror that nothing vouches for.
    pub trust: bool,
    /// Seconds since 1970.
    pub now: u64,
}

/// A provider whose files were checked, and that nobody has accepted yet.
#[derive(Debug)]
pub struct Fetched {
    pub version: String,
    /// Of its files.
    pub h1: String,
    pub hashes: Vec<String>,
    pub signed_by: Option<String>,
    /// Nothing but the registry vouches for its key.
    pub is_first_use: bool,
    /// Its archive, which may go away with this; a mirror may have only files.
    pub archive: Option<PathBuf>,
    /// Its files, which go away with this unless they are kept.
    folder: TempDir,
}

impl Fetched {
    /// What is accepted: the digest of all files.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        h1_digest(&self.h1)
    }

    /// Keeps the files, which somebody has accepted.
    pub fn keep(
        self,
        project: &ProjectSettings,
        wanted: &WantedProvider,
        root: &Root,
    ) -> Result<Provider, ProviderError> {
        let digest = self.digest().ok_or(ProviderError::NotInstalled)?;
        let kept = kept_files(root, &digest);
        if let Err(error) = std::fs::rename(self.folder.path().join(FILES), &kept)
            && !kept.is_dir()
        {
            return Err(ProviderError::Unreadable(kept, error));
        }
        let origin = Installation::Registry {
            version: self.version,
            source: source(wanted),
            signed_by: self.signed_by,
            manifest: None,
            h1: self.h1,
        };
        Provider::kept(project, wanted.clone(), root, digest, origin)
    }
}

/// As a lock names where a provider comes from.
#[must_use]
pub fn source(wanted: &WantedProvider) -> String {
    format!("terraform+https://{}", wanted.full_source())
}

const FILES: &str = "files";

/// Where a provider is.
enum Located {
    /// Its archive, and what vouches for it.
    Packed(Archive, Option<Origin>),
    /// Its files, on this machine.
    Unpacked(String),
}

enum Archive {
    Url(String),
    File(String),
}

/// What a registry says about an archive: its record, and the addresses of digests and signature.
struct Origin {
    at: String,
    sums: String,
    signature: String,
}

type Bytes = Wiped<Vec<u8>>;

struct Search<'s, D> {
    wish: Wish<'s>,
    session: &'s Session,
    downloads: &'s D,
    documents: Vec<(String, Bytes)>,
}

/// Finds a version, downloads and checks it.
pub fn fetch<D: Download>(
    wish: Wish<'_>,
    session: &Session,
    downloads: &D,
    root: &Root,
) -> Result<Fetched, FetchError<D::Error>> {
    let mut search = Search { wish, session, downloads, documents: Vec::new() };
    let version = match wish.locked {
        Some(locked) => locked.version.to_string(),
        None => search.version()?,
    };
    let located = search.locate(&version)?;
    let located = search.vouched(&version, located)?;
    let above = root.path().join(FOLDER);
    std::fs::create_dir_all(&above).map_err(FetchError::Io)?;
    let folder = tempfile::Builder::new().prefix(".new-").tempdir_in(above);
    let folder = folder.map_err(FetchError::Io)?;
    search.open(&version, &located, folder)
}

impl<D: Download> Search<'_, D> {
    fn named(&self, version: Option<&str>) -> Body {
        Body::default()
            .with("source", &self.wish.wanted.source)
            .with("platform", &self.wish.platform.to_owned())
            .with("version", &version.map(str::to_owned))
    }

    /// Asks where it is, and downloads what the helper needs to know that.
    fn find(&mut self, version: Option<&str>) -> Result<Body, FetchError<D::Error>> {
        loop {
            let mirror = self.wish.mirror.map(str::to_owned);
            let params =
                self.named(version).with("mirror", &mirror).with("documents", &self.documents);
            let found = self.session.ask("package.find", params).map_err(FetchError::Call)?;
            let Some(Some(url)) = found.get::<Option<String>>("fetch") else { return Ok(found) };
            let bytes = self.downloads.document(&url, MOST_DOCUMENT);
            self.documents.push((url, Wiped::new(bytes.map_err(FetchError::Download)?)));
        }
    }

    /// The newest version that fits.
    fn version(&mut self) -> Result<String, FetchError<D::Error>> {
        let found = self.find(None)?;
        let all: Vec<String> = found.get("versions").ok_or_else(strange)?;
        let fits = |text: &&String| {
            text.parse().is_ok_and(|version| self.wish.requirement.holds(&version))
        };
        match all.iter().find(fits) {
            Some(version) => Ok(version.clone()),
            None => Err(FetchError::NoVersion(all)),
        }
    }

    fn locate(&mut self, version: &str) -> Result<Located, FetchError<D::Error>> {
        let found = self.find(Some(version))?;
        let text = |name: &str| found.get::<Option<String>>(name).flatten();
        if let (Some(at), Some(archive), Some(sums), Some(signature)) =
            (text("record"), text("archive"), text("sums"), text("signature"))
        {
            return Ok(Located::Packed(
                Archive::Url(archive),
                Some(Origin { at, sums, signature }),
            ));
        }
        let archive = text("archive").map(Archive::Url);
        let archive = archive.or_else(|| text("packed").map(Archive::File));
        let packed = archive.map(|archive| Located::Packed(archive, None));
        packed.or_else(|| text("unpacked").map(Located::Unpacked)).ok_or_else(strange)
    }

    /// The same, with what the registry says about an archive of a mirror that nothing else vouches for.
    fn vouched(
        &mut self,
        version: &str,
        located: Located,
    ) -> Result<Located, FetchError<D::Error>> {
        let Located::Packed(archive, None) = located else { return Ok(located) };
        if self.wish.locked.is_some() || self.wish.trust {
            return Ok(Located::Packed(archive, None));
        }
        let wish = Wish { mirror: None, ..self.wish };
        let mut origin = Search {
            wish,
            session: self.session,
            downloads: self.downloads,
            documents: Vec::new(),
        };
        let found = match origin.locate(version) {
            Ok(Located::Packed(_, found)) => found,
            // Without the registry nothing vouches for it, and the helper says so.
            Ok(Located::Unpacked(_)) | Err(FetchError::Download(_)) => None,
            Err(error) => return Err(error),
        };
        self.documents.extend(origin.documents);
        Ok(Located::Packed(archive, found))
    }

    /// Downloads what is left, and has all of it checked and unpacked.
    fn open(
        &self,
        version: &str,
        located: &Located,
        folder: TempDir,
    ) -> Result<Fetched, FetchError<D::Error>> {
        let into = |name: &str| folder.path().join(name).display().to_string();
        let file = |archive: &Archive| match archive {
            Archive::File(path) => Ok(PathBuf::from(path)),
            Archive::Url(url) => {
                let path = folder.path().join("archive.zip");
                let done = self.downloads.file(url, MOST_ARCHIVE, &path);
                done.map(|()| path).map_err(FetchError::Download)
            }
        };
        let document = |url: &str| {
            let bytes = self.downloads.document(url, MOST_DOCUMENT);
            bytes.map(Wiped::new).map_err(FetchError::Download)
        };
        let locked = self.wish.locked.map(|locked| locked.hashes.clone());
        let params = self
            .named(Some(version))
            .with("hashes", &locked)
            .with("signed_by", &self.wish.signed_by.map(str::to_owned))
            .with("trust", &self.wish.trust)
            .with("now", &self.wish.now)
            .with("into", &Some(into(FILES)));
        let archive = match located {
            Located::Packed(archive, _) => Some(file(archive)?),
            Located::Unpacked(_) => None,
        };
        let packed = archive.as_ref().map(|path| path.display().to_string());
        let params = match located {
            Located::Packed(_, Some(Origin { at, sums, signature })) => {
                let record = self.documents.iter().find(|(url, _)| url == at);
                let (_, record) = record.ok_or_else(strange)?;
                params
                    .with("at", at)
                    .with("record", record)
                    .with("sums", &document(sums)?)
                    .with("signature", &document(signature)?)
                    .with("archive", &packed)
            }
            Located::Packed(_, None) => params.with("packed", &packed),
            Located::Unpacked(path) => params.with("unpacked", &Some(path.clone())),
        };
        let opened = self.session.ask("package.open", params).map_err(FetchError::Call)?;
        let text = |name: &str| opened.get::<String>(name).ok_or_else(strange);
        Ok(Fetched {
            version: version.to_owned(),
            h1: text("h1")?,
            hashes: opened.get("hashes").ok_or_else(strange)?,
            signed_by: opened.get("signed_by").ok_or_else(strange)?,
            is_first_use: opened.get("first_use").ok_or_else(strange)?,
            archive,
            folder,
        })
    }
}

/// Both programs are of one build.
fn strange<E>() -> FetchError<E> {
    FetchError::Call(Why::Strange("the helper gave an incomplete answer".to_owned()))
}
