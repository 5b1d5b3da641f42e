//! Named keys under the runtime root, in `credentials/`.
//!
//! `NAME.key` is the private half: an age identity, an Ed25519 key as PKCS#8 in PEM form, or one of
//! `ssh-keygen`, which approves.
//! `NAME.pub` is the public half, for other people. What a private key is, its content says.

use opal_core::gather;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use opal_core::wiped::Wiped;

use super::error::KeyFault;
use super::seal::Identity;
use super::signing::{PublicKey, SigningKey};
use super::{KeyError, KeyErrorKind, MAX_KEY_BYTES};
use crate::approvals::{KeyFile, Signer};
use opal_vault::root::{self, Root, RootError, Why};

const FOLDER: &str = "credentials";

#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a>(&'a Root);

/// Letters, digits, `-`, `_` and `.`, at most 64, and no `.` or `-` at the start: a name can
/// neither leave its directory nor look like an option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyName(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Signs contracts.
    Sign,
    /// Opens what was sealed to it.
    Seal,
    /// Approves contracts. `ssh-keygen` makes it and signs with it.
    Approve,
}

/// A key as everybody may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    pub name: KeyName,
    pub kind: KeyKind,
    /// `ed25519:…` or `age1…`.
    pub public: String,
    /// Where the private half is.
    pub path: PathBuf,
}

/// A file that should be a key, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: KeyName,
    pub found: Result<KeyEntry, KeyError>,
}

enum Private {
    Sign(SigningKey),
    Seal(Identity),
    Approve(Signer),
}

impl<'a> Credentials<'a> {
    #[must_use]
    pub fn new(root: &'a Root) -> Self {
        Self(root)
    }

    /// Makes a key and both its files.
    pub fn generate(&self, name: &KeyName, kind: KeyKind) -> Result<KeyEntry, KeyError> {
        let public = format!("{}.pub", name.0);
        let path = self.0.path().join(FOLDER).join(&public);
        if path.exists() {
            return Err(KeyFault::AlreadyExists(&path).into());
        }
        let entry = self.create(name, kind)?;
        self.0.create(FOLDER, &public, format!("{}\n", entry.public).as_bytes())?;
        Ok(entry)
    }

    /// Makes a key and the file of its private half.
    pub(super) fn create(&self, name: &KeyName, kind: KeyKind) -> Result<KeyEntry, KeyError> {
        let (text, public) = match kind {
            KeyKind::Sign => {
                let key = SigningKey::generate();
                (key.to_pem(), key.public().to_string())
            }
            KeyKind::Approve => return Err(KeyFault::NotMadeHere.into()),
            KeyKind::Seal => {
                let key = Identity::generate();
                let public = key.recipient().to_string();
                let text = format!("# public key: {public}\n{}\n", *key.text());
                (Wiped::new(text), public)
            }
        };
        let path = self.0.create(FOLDER, &format!("{}.key", name.0), text.as_bytes())?;
        Ok(KeyEntry { name: name.clone(), kind, public, path })
    }

    /// Every key, by name; one that cannot be used comes with the reason.
    pub fn list(&self) -> Result<Vec<Listed>, KeyError> {
        let folder = match self.0.guarded(FOLDER) {
            Ok(folder) => folder,
            Err(error) => {
                let error = KeyError::from(error);
                let none = error.kind == KeyErrorKind::Missing;
                return if none { Ok(Vec::new()) } else { Err(error) };
            }
        };
        let unreadable = |why| KeyFault::FolderUnreadable { path: &folder, why };
        let mut names = Vec::new();
        for file in fs::read_dir(&folder).map_err(unreadable)? {
            let file = file.map_err(unreadable)?.file_name();
            let name = file.to_str().and_then(|file| file.strip_suffix(".key")?.parse().ok());
            names.extend(name);
        }
        gather::sort_by(&mut names, Ord::cmp);
        let listed = |name: KeyName| Listed { found: self.show(&name), name };
        Ok(names.into_iter().map(listed).collect())
    }

    pub fn show(&self, name: &KeyName) -> Result<KeyEntry, KeyError> {
        let path = self.path(name);
        let (kind, public) = match self.private(name)? {
            Private::Sign(key) => (KeyKind::Sign, key.public().to_string()),
            Private::Seal(key) => (KeyKind::Seal, key.recipient().to_string()),
            Private::Approve(key) => (KeyKind::Approve, key.to_string()),
        };
        Ok(KeyEntry { name: name.clone(), kind, public, path })
    }

    /// The key that `--sign` names: one of these, or a file.
    pub fn signing_key(&self, name_or_path: &str) -> Result<SigningKey, KeyError> {
        let private = match name_or_path.parse() {
            Ok(name) => self.private(&name)?,
            Err(_) if name_or_path.contains('/') => load(Path::new(name_or_path))?,
            Err(error) => return Err(error),
        };
        self.signing(private, name_or_path)
    }

    fn signing(&self, private: Private, name: &str) -> Result<SigningKey, KeyError> {
        match private {
            Private::Sign(key) => Ok(key),
            Private::Seal(_) => Err(KeyFault::CannotSign(name).into()),
            Private::Approve(_) => Err(KeyFault::ApprovesOnly(name).into()),
        }
    }

    /// The key with which a runner signs what it says about shares, made at first need.
    pub fn queue_key(&self) -> Result<SigningKey, KeyError> {
        let name = KeyName("queue".into());
        match self.private(&name) {
            Err(error) if error.kind == KeyErrorKind::Missing => {}
            found => return self.signing(found?, name.as_str()),
        }
        match self.create(&name, KeyKind::Sign) {
            Ok(_) => {}
            // Another process was quicker, and its key is the one.
            Err(error) if error.kind == KeyErrorKind::Exists => {}
            Err(error) => return Err(error),
        }
        self.signing(self.private(&name)?, name.as_str())
    }

    /// The only key that signs contracts; none where there are several or none.
    pub fn only_signing_key(&self) -> Result<Option<SigningKey>, KeyError> {
        let is_mine = |it: &KeyEntry| it.kind == KeyKind::Sign && it.name.as_str() != "queue";
        let keys = self.list()?.into_iter().filter_map(|it| it.found.ok());
        let keys: Vec<KeyEntry> = keys.filter(is_mine).collect();
        match keys.as_slice() {
            [only] => self.signing_key(only.name.as_str()).map(Some),
            _ => Ok(None),
        }
    }

    /// The public key that `--require-signature` names: `ed25519:…`, one of these, of which the
    /// public half is enough, or a file that holds that half.
    pub fn public_key(&self, key: &str) -> Result<PublicKey, KeyError> {
        if key.starts_with("ed25519:") {
            return key.parse();
        }
        if key.contains('/') {
            let bytes = root::read_given(Path::new(key), MAX_KEY_BYTES)?;
            return String::from_utf8_lossy(&bytes).trim().parse();
        }
        let missing = match self.signing_key(key) {
            Err(error) if error.kind == KeyErrorKind::Missing => error,
            found => return found.map(|key| key.public()),
        };
        let path = self.0.path().join(FOLDER).join(format!("{key}.pub"));
        match root::read_guarded(&path, MAX_KEY_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).trim().parse(),
            Err(RootError { why: Why::Missing, .. }) => Err(missing),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn identity(&self, name: &KeyName) -> Result<Identity, KeyError> {
        match self.private(name)? {
            Private::Seal(identity) => Ok(identity),
            Private::Sign(_) | Private::Approve(_) => {
                Err(KeyFault::CannotOpen(&self.path(name)).into())
            }
        }
    }

    /// Where `ssh-keygen` puts a key that approves; nothing is there yet.
    pub fn place(&self, name: &KeyName) -> Result<PathBuf, KeyError> {
        self.0.directory(FOLDER)?;
        let path = self.path(name);
        for path in [path.clone(), self.public_path(name)] {
            if path.exists() {
                return Err(KeyFault::AlreadyExists(&path).into());
            }
        }
        Ok(path)
    }

    /// The file of the public half.
    #[must_use]
    pub fn public_path(&self, name: &KeyName) -> PathBuf {
        self.0.path().join(FOLDER).join(format!("{}.pub", name.0))
    }

    fn path(&self, name: &KeyName) -> PathBuf {
        self.0.path().join(FOLDER).join(format!("{}.key", name.0))
    }

    fn private(&self, name: &KeyName) -> Result<Private, KeyError> {
        let path = self.path(name);
        let found = self.0.guarded(FOLDER).map_err(KeyError::from).and_then(|_| load(&path));
        // Whether the file or the folder is missing: the key is.
        found.map_err(|error| match error.kind {
            KeyErrorKind::Missing => KeyFault::Unknown { name: &name.0, path: &path }.into(),
            _ => error,
        })
    }
}

fn load(path: &Path) -> Result<Private, KeyError> {
    let bytes = root::read_private(path, MAX_KEY_BYTES)?;
    let text = std::str::from_utf8(&bytes).ok();
    let sign = text.and_then(SigningKey::from_pem).map(Private::Sign);
    let key = sign.or_else(|| text.and_then(Identity::parse).map(Private::Seal));
    let approve = || text.and_then(KeyFile::parse).map(|file| Private::Approve(file.signer));
    let key = key.or_else(approve);
    key.ok_or_else(|| KeyFault::Unsupported(path).into())
}

impl KeyName {
    /// The key of this machine.
    #[must_use]
    pub fn runner() -> Self {
        Self("runner".into())
    }

    /// A key to sign with that was given no name.
    #[must_use]
    pub fn signing() -> Self {
        Self("signing".into())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyName {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let sound = (1..=64).contains(&text.len())
            && text.chars().all(known)
            && !text.starts_with(['.', '-']);
        if !sound {
            return Err(KeyFault::InvalidName(text).into());
        }
        Ok(Self(text.into()))
    }
}

impl KeyKind {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Sign => "sign",
            Self::Seal => "seal",
        }
    }
}
