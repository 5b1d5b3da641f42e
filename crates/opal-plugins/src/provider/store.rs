//! Providers on this machine: their digests, and the manifests of those that were accepted.
//!
//! ```text
//! <root>/plugins/terraform/h1-<digest>/…                             the files of one of a registry
//! <root>/plugins/terraform/<digest>-<segment>/manifest.yaml index.jsonl protocol
//! <root>/plugins/terraform/<sha256 of a path>.digest
//! ```

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use base64ct::{Base64, Encoding as _};
use opal_core::Registry;
use opal_core::data::Secret;
use opal_core::hash::{Algorithm, Digest};
use opal_vault::root::{Root, RootError};

use super::catalog::ProviderCatalog;
use super::wanted::{Origin, WantedProvider};
use super::{Installation, ProjectSettings, Provider, bridge};
use crate::client::failure::Why;
use crate::lock::Lock;

/// Bytes of an index.
const MOST_INDEX: u64 = 64 << 20;

const MANIFEST: &str = "manifest.yaml";
const INDEX: &str = "index.jsonl";
/// The version of the protocol, as digits.
const PROTOCOL: &str = "protocol";

/// Where all of it is, below the runtime root.
pub(super) const FOLDER: &str = "plugins/terraform";

/// What a provider is, as it describes itself.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Of its manifest.
    pub checksum: Digest,
    pub protocol: u32,
}

/// Why a provider cannot be used.
#[derive(Debug)]
pub enum ProviderError {
    /// `opal.lock` does not have it, or has this version, which `opal.mod` does not want.
    NotLocked,
    OtherVersion(String),
    /// Its files are not on this machine.
    NotInstalled,
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

/// The digest that `h1:` and base64 say.
pub(super) fn h1_digest(h1: &str) -> Option<Digest> {
    let bytes = Base64::decode_vec(h1.strip_prefix("h1:")?).ok()?;
    Some(Digest(bytes.try_into().ok()?))
}

/// Where the files with this digest are kept.
pub(super) fn kept_files(root: &Root, digest: &Digest) -> PathBuf {
    root.path().join(FOLDER).join(format!("h1-{}", digest.hex()))
}

/// Whether a file is a program of this name, by the rule that the helper unpacks by: `awscc` is not `aws`.
fn is_program(file: &str, name: &str) -> bool {
    file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
}

/// What tells a file apart from another one, or from itself after a change; none for what is not a file.
fn stamp(file: &File) -> std::io::Result<Option<String>> {
    let found = file.metadata()?;
    let (device, inode, size) = (found.dev(), found.ino(), found.size());
    let (changed, nanos) = (found.ctime(), found.ctime_nsec());
    Ok(found.is_file().then(|| format!("{device}:{inode}:{size}:{changed}.{nanos}")))
}

impl Provider {
    /// A provider of a project, on this machine.
    pub fn find(
        project: &ProjectSettings,
        wanted: WantedProvider,
        root: &Root,
        lock: Option<&Lock>,
    ) -> Result<Self, ProviderError> {
        match wanted.origin.clone() {
            Origin::Local(path) => Self::local(project, wanted, root, path),
            Origin::Version(requirement) => {
                let locked = lock.and_then(|lock| lock.provider(&wanted.key));
                let locked = locked.ok_or(ProviderError::NotLocked)?;
                if !requirement.holds(&locked.version) {
                    return Err(ProviderError::OtherVersion(locked.version.to_string()));
                }
                let kept = locked.hashes.iter().filter(|hash| hash.starts_with("h1:"));
                let mut kept = kept.filter_map(|h1| Some((h1, h1_digest(h1)?)));
                let kept = kept.find(|(_, digest)| kept_files(root, digest).is_dir());
                let (h1, digest) = kept.ok_or(ProviderError::NotInstalled)?;
                let origin = Installation::Registry {
                    version: locked.version.to_string(),
                    source: locked.source.clone(),
                    signed_by: locked.signed_by.clone(),
                    manifest: Some(locked.checksum),
                    h1: h1.clone(),
                };
                Self::kept(project, wanted, root, digest, origin)
            }
        }
    }

    fn local(
        project: &ProjectSettings,
        wanted: WantedProvider,
        root: &Root,
        path: String,
    ) -> Result<Self, ProviderError> {
        let whole = project.directory.join(&path);
        let program = whole.canonicalize().map_err(|_| ProviderError::Missing(whole))?;
        let unreadable = |error| ProviderError::Unreadable(program.clone(), error);
        let mut file = File::open(&program).map_err(unreadable)?;
        let stamp = stamp(&file).map_err(unreadable)?;
        let stamp = stamp.ok_or_else(|| ProviderError::Missing(program.clone()))?;
        let digest = match known(root, &program, &stamp) {
            Some(digest) => digest,
            None => digest(&mut file).map_err(unreadable)?,
        };
        let (origin, stamp) = (Installation::Local(path), Some(stamp));
        Ok(Self::new(project, wanted, root, (program, digest, stamp), origin))
    }

    /// One whose files are kept here under this digest.
    pub(super) fn kept(
        project: &ProjectSettings,
        wanted: WantedProvider,
        root: &Root,
        digest: Digest,
        origin: Installation,
    ) -> Result<Self, ProviderError> {
        let files = kept_files(root, &digest);
        let name = format!("terraform-provider-{}", wanted.short());
        let is_it = |entry: &std::fs::DirEntry| {
            entry.file_name().to_str().is_some_and(|it| is_program(it, &name))
        };
        let entries = std::fs::read_dir(&files);
        let entries = entries.map_err(|error| ProviderError::Unreadable(files.clone(), error))?;
        let found = entries.flatten().find(is_it).map(|entry| entry.path());
        let program = found.ok_or(ProviderError::NotInstalled)?;
        let unreadable = |error| ProviderError::Unreadable(program.clone(), error);
        let stamp = File::open(&program).and_then(|file| stamp(&file)).map_err(unreadable)?;
        // Whoever changed the file since it was checked has to pass the check of all files.
        let stamp = stamp.filter(|stamp| known(root, &program, stamp) == Some(digest));
        Ok(Self::new(project, wanted, root, (program, digest, stamp), origin))
    }

    fn new(
        project: &ProjectSettings,
        wanted: WantedProvider,
        root: &Root,
        (program, digest, stamp): (PathBuf, Digest, Option<String>),
        origin: Installation,
    ) -> Self {
        let name = format!("{}-{}", digest.hex(), wanted.segment);
        let folder = root.path().join(FOLDER).join(name);
        let (project, is_accepted) = (project.clone(), AtomicBool::new(false));
        Self { wanted, project, program, digest, stamp, origin, folder, is_accepted }
    }

    /// Starts it once, where nobody did so before, and keeps what it describes.
    pub fn describe(
        &self,
        root: &Root,
        environment: Vec<(String, Secret)>,
        covered: Vec<String>,
    ) -> Result<Described, Undescribed> {
        let above = root.path().join(FOLDER);
        if !self.folder.join(INDEX).exists() {
            std::fs::create_dir_all(&above).map_err(Undescribed::Io)?;
            let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(above);
            let fresh = fresh.map_err(Undescribed::Io)?;
            let protocol = bridge::describe(self, environment, covered, fresh.path());
            let protocol = protocol.map_err(Undescribed::Call)?.to_string();
            std::fs::write(fresh.path().join(PROTOCOL), protocol).map_err(Undescribed::Io)?;
            match std::fs::rename(fresh.path(), &self.folder) {
                Ok(()) => drop(fresh.keep()),
                // Another process was faster.
                Err(_) if self.folder.join(INDEX).exists() => {}
                Err(error) => return Err(Undescribed::Io(error)),
            }
        }
        // The helper has checked these files.
        let file = File::open(&self.program).map_err(Undescribed::Io)?;
        if let Some(stamp) = stamp(&file).map_err(Undescribed::Io)? {
            let text = format!("{stamp} {}\n", self.digest.hex());
            let kept = root.replace(FOLDER, &memo(&self.program), text.as_bytes());
            kept.map_err(Undescribed::Root)?;
        }
        let mut manifest = File::open(self.folder.join(MANIFEST)).map_err(Undescribed::Io)?;
        let protocol = std::fs::read_to_string(self.folder.join(PROTOCOL)).unwrap_or_default();
        Ok(Described {
            checksum: digest(&mut manifest).map_err(Undescribed::Io)?,
            protocol: protocol.trim().parse().unwrap_or_default(),
        })
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

#[cfg(test)]
mod tests {
    use super::is_program;

    #[test]
    fn the_program_of_another_provider_with_the_same_beginning_is_not_taken() {
        let name = "terraform-provider-aws";
        for (file, is_it) in [
            ("terraform-provider-aws", true),
            ("terraform-provider-aws_v6.47.1_x5", true),
            ("terraform-provider-awscc", false),
            ("terraform-provider-aws-extra", false),
            ("LICENSE", false),
        ] {
            assert_eq!(is_program(file, name), is_it, "{file}");
        }
    }
}
