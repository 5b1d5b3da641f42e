//! The files of a pack: looked through before a plan, copied by the run.
//!
//! The digest is part of the plan, so a contract holds the very files that were planned with. The
//! pack itself is only read.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use opal_core::files::{Attributes, Existing, Files};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Trouble, TroubleKind};

use crate::NotFound;
use crate::document::bytes;
use crate::load::{MOST_FILE_BYTES, ReadFile};

/// No pack needs more, and a copy is made for every run.
const MOST_ENTRIES: usize = 20_000;
const MOST_BYTES: usize = MOST_FILE_BYTES;
const MOST_LEVELS: usize = 48;

/// A pack that was looked through.
#[derive(Clone, Debug)]
pub struct Pack {
    pub stack: PathBuf,
    /// Of all its names, kinds, modes and contents.
    pub digest: Digest,
    pub bytes: u64,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// Below the stack.
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Directory,
    File { is_program: bool, digest: Digest },
    Link { to: PathBuf },
}

impl Pack {
    /// Looks through the stack of a pack.
    pub fn read(stack: &Path) -> Result<Self, NotFound> {
        Self::walked(stack, Outward::Refused)
    }

    /// The same without the links that lead out of it: nothing follows them.
    pub(crate) fn read_without_outward_links(stack: &Path) -> Result<Self, NotFound> {
        Self::walked(stack, Outward::LeftOut)
    }

    fn walked(stack: &Path, outward: Outward) -> Result<Self, NotFound> {
        let mut walk = Walk { stack, outward, entries: Vec::new(), bytes: 0 };
        walk.folder(Path::new(""), 0).map_err(|unfit| NotFound {
            message: format!("the pack in `{}` cannot be used: {unfit}", stack.display()),
            help: "check packs with `opal module lint`".to_owned(),
        })?;
        let Walk { entries, bytes, .. } = walk;
        let parts: Vec<Vec<u8>> = entries.iter().map(Entry::canonical).collect();
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let digest = Algorithm::Blake3.digest(&parts);
        Ok(Self { stack: stack.to_owned(), digest, bytes, entries })
    }

    /// Every file of it, in the order of the names.
    pub(super) fn files(&self) -> impl Iterator<Item = ReadFile> {
        self.entries.iter().filter_map(|entry| match entry.kind {
            Kind::File { digest, .. } => {
                Some(ReadFile { path: self.stack.join(&entry.path), digest })
            }
            Kind::Directory | Kind::Link { .. } => None,
        })
    }

    /// Copies it into `to`, which is there and empty. What has changed since it was looked through is
    /// trouble: the plan was made for something else.
    pub fn copy(&self, to: &Path, files: &dyn Files) -> Result<(), Trouble> {
        let files = files.within(to)?;
        for entry in &self.entries {
            let (source, target) = (self.stack.join(&entry.path), to.join(&entry.path));
            match &entry.kind {
                Kind::Directory => files.make_directory(&target, &mode(0o700))?,
                Kind::Link { to } => files.make_link(&target, to, false)?,
                Kind::File { is_program, digest } => {
                    let bytes = ReadFile { path: source, digest: *digest }.content(MOST_BYTES)?;
                    let mode = mode(if *is_program { 0o700 } else { 0o600 });
                    let mut pending = files.write(&target, &mode, Existing::Refused)?;
                    pending.write_all(&bytes).map_err(|error| unwritten(&target, &error))?;
                    pending.keep()?;
                }
            }
        }
        Ok(())
    }
}

const fn mode(mode: u32) -> Attributes {
    Attributes { mode: Some(mode), owner: None, group: None }
}

fn unwritten(path: &Path, error: &io::Error) -> Trouble {
    let message = format!("`{}` cannot be written: {error}", path.display());
    Trouble::new(TroubleKind::Failed, message, "check the disk below the runtime root")
}

impl Entry {
    /// Every part has its length before it, so no two packs have the same bytes.
    fn canonical(&self) -> Vec<u8> {
        let path = self.path.as_os_str().as_encoded_bytes();
        let (kind, content): (u8, &[u8]) = match &self.kind {
            Kind::Directory => (b'd', b""),
            Kind::File { is_program: false, digest } => (b'f', &digest.0),
            Kind::File { is_program: true, digest } => (b'x', &digest.0),
            Kind::Link { to } => (b'l', to.as_os_str().as_encoded_bytes()),
        };
        let mut bytes = vec![kind];
        for part in [path, content] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

/// What becomes of a link that leads out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outward {
    Refused,
    LeftOut,
}

struct Walk<'s> {
    stack: &'s Path,
    outward: Outward,
    entries: Vec<Entry>,
    bytes: u64,
}

impl Walk<'_> {
    fn folder(&mut self, below: &Path, level: usize) -> Result<(), Unfit> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.stack.join(below)).map_err(|e| Unfit::at(below, e))? {
            names.push(entry.map_err(|error| Unfit::at(below, error))?.file_name());
        }
        names.sort();
        for name in names {
            let path = below.join(&name);
            if name == ".git" || self.entries.len() == MOST_ENTRIES || level == MOST_LEVELS {
                let is_git = name == ".git";
                return Err(if is_git { Unfit::Repository(path) } else { Unfit::TooLarge });
            }
            let whole = self.stack.join(&path);
            let found = whole.symlink_metadata().map_err(|error| Unfit::at(&path, error))?;
            let kind = if found.is_dir() {
                Kind::Directory
            } else if found.is_symlink() {
                let to = fs::read_link(&whole).map_err(|error| Unfit::at(&path, error))?;
                if !stays(below, &to) {
                    if self.outward == Outward::LeftOut {
                        continue;
                    }
                    return Err(Unfit::Escapes(path));
                }
                Kind::Link { to }
            } else if found.is_file() {
                self.bytes += found.len();
                if self.bytes > MOST_BYTES as u64 {
                    return Err(Unfit::TooLarge);
                }
                // It may grow while it is read.
                let bytes = bytes(&whole, MOST_BYTES).map_err(|error| Unfit::at(&path, error))?;
                if bytes.len() > MOST_BYTES {
                    return Err(Unfit::TooLarge);
                }
                let digest = ReadFile::ALGORITHM.digest(&[&bytes]);
                Kind::File { is_program: found.permissions().mode() & 0o111 != 0, digest }
            } else {
                return Err(Unfit::Special(path));
            };
            let is_folder = kind == Kind::Directory;
            self.entries.push(Entry { path: path.clone(), kind });
            if is_folder {
                self.folder(&path, level + 1)?;
            }
        }
        Ok(())
    }
}

/// Whether a link in `folder` that says `to` leads to something in the stack. It may go up only
/// before it goes down: after a name, which may be a link itself, `..` is not what its letters say.
fn stays(folder: &Path, to: &Path) -> bool {
    let is_up = |part: &Component<'_>| *part == Component::ParentDir;
    let mut parts = to.components().filter(|part| *part != Component::CurDir).peekable();
    let mut up = 0;
    while parts.next_if(is_up).is_some() {
        up += 1;
    }
    up <= folder.components().count() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Why a pack is of no use.
#[derive(Debug)]
enum Unfit {
    Unreadable(PathBuf, io::Error),
    Repository(PathBuf),
    Escapes(PathBuf),
    Special(PathBuf),
    TooLarge,
}

impl Unfit {
    fn at(path: &Path, error: io::Error) -> Self {
        Self::Unreadable(path.to_owned(), error)
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Repository(path) => write!(f, "`{}` is a repository", path.display()),
            Self::Escapes(path) => {
                write!(
                    f,
                    "the symlink `{}` leads out of it, or has `..` after a name",
                    path.display()
                )
            }
            Self::Special(path) => {
                write!(f, "`{}` is neither a file nor a directory", path.display())
            }
            Self::TooLarge => {
                let megabytes = MOST_BYTES >> 20;
                write!(
                    f,
                    "it has more than {MOST_ENTRIES} files, {megabytes} MiB or {MOST_LEVELS} levels"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn the_digest_is_of_names_contents_modes_and_nothing_else() {
        let digest = |folder: &tempfile::TempDir| Pack::read(folder.path()).unwrap().digest;
        let files = [("run.sh", "true\n"), ("lib/a", "1")];
        let (first, again) = (pack(&files), pack(&files));
        assert_eq!(digest(&first), digest(&again));
        let renamed = pack(&[("run.sh", "true\n"), ("lib/b", "1")]);
        let changed = pack(&[("run.sh", "true\n"), ("lib/a", "2")]);
        assert_ne!(digest(&first), digest(&renamed));
        assert_ne!(digest(&first), digest(&changed));
        let program = again.path().join("run.sh");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_ne!(digest(&first), digest(&again));
    }

    #[test]
    fn a_link_stays_in_the_stack_or_is_refused() {
        let folder = pack(&[("a/b/file", "x")]);
        std::os::unix::fs::symlink("../b/file", folder.path().join("a/b/near")).unwrap();
        assert!(Pack::read(folder.path()).is_ok());
        for hostile in
            ["/etc/passwd", "../../../etc/passwd", "../../..", "near/../../../..", "x/.."]
        {
            let link = folder.path().join("a/b/far");
            std::os::unix::fs::symlink(hostile, &link).unwrap();
            assert!(
                Pack::read(folder.path()).unwrap_err().message.contains("leads out"),
                "{hostile}"
            );
            let without = Pack::read_without_outward_links(folder.path()).unwrap();
            fs::remove_file(link).unwrap();
            assert_eq!(without.digest, Pack::read(folder.path()).unwrap().digest, "{hostile}");
        }
    }

    #[test]
    fn a_repository_in_a_pack_is_refused() {
        let folder = pack(&[("run.sh", "true"), (".git/config", "")]);
        assert!(Pack::read(folder.path()).unwrap_err().message.contains("repository"));
    }
}
