//! Providers on this machine: their digests, and the manifests of those that were accepted.
//!
//! ```text
//! <root>/plugins/terraform/<sha256>-<segment>/manifest.yaml index.jsonl
//! <root>/plugins/terraform/<sha256 of a path>.digest
//! ```

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use opal_core::Registry;
use opal_core::data::Secret;
use opal_core::hash::{Algorithm, Digest};
use opal_vault::root::{Root, RootError};

use super::catalog::ProviderCatalog;
use super::wanted::WantedProvider;
use super::{ProjectSettings, Provider, bridge};
use crate::client::failure::Why;

/// Bytes of an index.
const MOST_INDEX: u64 = 64 << 20;

const MANIFEST: &str = "manifest.yaml";
const INDEX: &str = "index.jsonl";

/// Where all of it is, below the runtime root.
const FOLDER: &str = "plugins/terraform";

/// Why a provider cannot be used.
#[derive(Debug)]
pub enum ProviderError {
    /// There is no such file.
    Missing(PathBuf),
    Unreadable(PathBuf, std::io::Error),
    /// Nobody accepted it here, or it has changed since.
    NotAccepted,
}

/// Why a provider could not describe itself.
#[derive(Debug)]
pub enum Undescribed {
    Root(RootError),
    Io(std::io::Error),
    Call(Why),
}

/// The name of the file with the digest of a program that was accepted, and its stamp.
fn memo(program: &Path) -> String {
    let path = program.as_os_str().as_encoded_bytes();
    format!("{}.digest", Algorithm::Sha256.digest(&[path]).hex())
}

/// The digest of a program that is the same file as when it was accepted.
fn known(root: &Root, program: &Path, stamp: &str) -> Option<Digest> {
    let file = root.path().join(FOLDER).join(memo(program));
    let text = opal_files::regular::read_to_string(&file, 1 << 10).ok()?;
    let (was, digest) = text.trim_end().split_once(' ')?;
    (was == stamp).then(|| Digest::parse(digest)).flatten()
}

impl Provider {
    /// A provider of a project.
    pub fn find(
        project: &ProjectSettings,
        wanted: WantedProvider,
        root: &Root,
    ) -> Result<Self, ProviderError> {
        let path = project.directory.join(&wanted.path);
        let program = path.canonicalize().map_err(|_| ProviderError::Missing(path))?;
        let unreadable = |error| ProviderError::Unreadable(program.clone(), error);
        let mut file = File::open(&program).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(ProviderError::Missing(program));
        }
        let (changed, nanos) = (found.ctime(), found.ctime_nsec());
        let (device, inode, size) = (found.dev(), found.ino(), found.size());
        let stamp = format!("{device}:{inode}:{size}:{changed}.{nanos}");
        let digest = match known(root, &program, &stamp) {
            Some(digest) => digest,
            None => digest(&mut file).map_err(unreadable)?,
        };
        let name = format!("{}-{}", digest.hex(), wanted.segment);
        let folder = root.path().join(FOLDER).join(name);
        let (project, is_accepted) = (project.clone(), AtomicBool::new(false));
        Ok(Self { wanted, project, program, digest, stamp, folder, is_accepted })
    }

    /// Starts it once, where nobody did so before, and keeps what it describes.
    pub fn describe(
        &self,
        root: &Root,
        environment: Vec<(String, Secret)>,
        covered: Vec<String>,
    ) -> Result<(), Undescribed> {
        // What is known of the file is kept first, so the folder is there.
        let text = format!("{} {}\n", self.stamp, self.digest.hex());
        root.replace(FOLDER, &memo(&self.program), text.as_bytes()).map_err(Undescribed::Root)?;
        if self.folder.join(INDEX).exists() {
            return Ok(());
        }
        let above = root.path().join(FOLDER);
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(above);
        let fresh = fresh.map_err(Undescribed::Io)?;
        let described = bridge::describe(self, environment, covered, fresh.path());
        described.map_err(Undescribed::Call)?;
        match std::fs::rename(fresh.path(), &self.folder) {
            Ok(()) => {
                let _ = fresh.keep();
                Ok(())
            }
            // Another process was faster.
            Err(_) if self.folder.join(INDEX).exists() => Ok(()),
            Err(error) => Err(Undescribed::Io(error)),
        }
    }

    /// Its decorators.
    pub fn catalog(
        &'static self,
        built_in: &'static Registry,
    ) -> Result<ProviderCatalog, ProviderError> {
        let open =
            |name: &str| File::open(self.folder.join(name)).map_err(|_| ProviderError::NotAccepted);
        let (manifest, index) = (open(MANIFEST)?, open(INDEX)?);
        let mut text = String::new();
        let read = index.take(MOST_INDEX).read_to_string(&mut text);
        read.map_err(|error| ProviderError::Unreadable(self.folder.join(INDEX), error))?;
        Ok(ProviderCatalog::new(self, text, manifest, built_in))
    }
}

fn digest(file: &mut File) -> std::io::Result<Digest> {
    let mut hasher = Algorithm::Sha256.hasher();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&buffer[..read]),
        }
    }
}
