//! A file, or a directory with all that is in it: what it holds, in one walk, or some of it at once.
//!
//! [`Probe::tree`] and [`Probe::parts`] give it. On a target it is computed there, and only names and
//! digests cross.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{Entry, EntryKind};
use crate::hash::{Algorithm, Digest};
use crate::message::Reason;
use crate::resolver::{Links, Probe, Trouble, TroubleKind};

/// Directories within directories.
pub const MAX_DEPTH: usize = 64;

/// Something in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Seen from the root of the tree, which itself has an empty one.
    pub path: PathBuf,
    pub entry: Entry,
    /// SHA-256 of the content; only files have one.
    pub digest: Option<Digest>,
}

/// A path of a tree that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Seen from the root of the tree, which itself has an empty one.
    pub path: PathBuf,
    /// Asks for the digest of a file that has at most so many bytes.
    pub digest_up_to: Option<u64>,
}

impl Part {
    fn wants_digest(&self, entry: &Entry) -> bool {
        entry.kind == EntryKind::File && self.digest_up_to.is_some_and(|most| entry.bytes <= most)
    }
}

/// What is at a path, links not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub entry: Entry,
    /// Of a file, where it was asked for: SHA-256 of the content.
    pub digest: Option<Digest>,
    /// What a link says.
    pub link: Option<PathBuf>,
}

impl Found {
    /// Whether it can be the answer: who was asked has all that was wanted, and nothing else.
    #[must_use]
    pub fn answers(&self, part: &Part) -> bool {
        self.digest.is_some() == part.wants_digest(&self.entry)
            && self.link.is_some() == (self.entry.kind == EntryKind::Link)
    }
}

/// How large a tree may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    pub entries: usize,
    pub bytes: u64,
}

/// Walks a tree: each directory before what is in it, names in order. Links are not followed.
pub fn walk<P: Probe + ?Sized>(
    probe: &P,
    root: &Path,
    limits: &TreeLimits,
) -> Result<Vec<TreeEntry>, Trouble> {
    let mut found = Vec::new();
    let mut left = limits.bytes;
    let mut todo = vec![(PathBuf::new(), 0)];
    while let Some((path, depth)) = todo.pop() {
        let whole = below(root, &path);
        let Some(entry) = probe.stat(&whole)? else {
            if depth == 0 {
                return Err(missing(root));
            }
            // It went away after it was listed.
            continue;
        };
        if found.len() == limits.entries || depth > MAX_DEPTH {
            return Err(too_many(root, limits.entries));
        }
        let mut digest = None;
        match entry.kind {
            EntryKind::Directory => {
                let names = probe.list(&whole)?;
                // They count before each of them is looked up: a directory can have millions.
                if names.len() > limits.entries - found.len() {
                    return Err(too_many(root, limits.entries));
                }
                todo.extend(names.into_iter().rev().map(|name| (path.join(name), depth + 1)));
            }
            EntryKind::File => {
                let read = &mut *probe.read(&whole, links(root, &whole))?;
                let (content, count) = summed(read, left)
                    .map_err(|error| unread(&whole, &error))?
                    .ok_or_else(|| too_large(root, limits.bytes))?;
                left -= count;
                digest = Some(content);
            }
            EntryKind::Link | EntryKind::Other => {}
        }
        found.push(TreeEntry { path, entry, digest });
    }
    Ok(found)
}

/// What is at some paths of a tree, one after the other.
pub fn parts<P: Probe + ?Sized>(
    probe: &P,
    root: &Path,
    parts: &[Part],
) -> Result<Vec<Option<Found>>, Trouble> {
    let find = |part: &Part| {
        let path = below(root, &part.path);
        let Some(entry) = probe.stat(&path)? else { return Ok(None) };
        let (mut digest, mut link) = (None, None);
        match entry.kind {
            EntryKind::File if part.wants_digest(&entry) => {
                digest = Some(probe.digest(&path, links(root, &path))?);
            }
            EntryKind::Link => link = Some(probe.read_link(&path)?),
            _ => {}
        }
        Ok(Some(Found { entry, digest, link }))
    };
    parts.iter().map(find).collect()
}

/// A tree may be named by a link; those within it lead nowhere.
#[must_use]
pub fn links<'r>(root: &'r Path, path: &Path) -> Links<'r> {
    if path == root { Links::followed_above(root) } else { Links::FollowedTo(root) }
}

/// The SHA-256 of a file.
pub fn digest<P: Probe + ?Sized>(
    probe: &P,
    path: &Path,
    links: Links<'_>,
) -> Result<Digest, Trouble> {
    let summed = summed(&mut *probe.read(path, links)?, u64::MAX);
    let summed = summed.map_err(|error| unread(path, &error))?;
    summed.map(|(digest, _)| digest).ok_or_else(|| too_large(path, u64::MAX))
}

/// The digest of what is read, and how much that is; none where it is more than `most`.
fn summed(from: &mut dyn Read, most: u64) -> io::Result<Option<(Digest, u64)>> {
    let mut hasher = Algorithm::Sha256.hasher();
    let (mut bytes, mut count) = (vec![0; 64 * 1024], 0);
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(Some((hasher.finish(), count))),
            Ok(more) => {
                count += more as u64;
                if count > most {
                    return Ok(None);
                }
                hasher.update(&bytes[..more]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `Path::join` would put a slash after a file.
#[must_use]
pub fn below(root: &Path, path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() { root.to_owned() } else { root.join(path) }
}

fn missing(root: &Path) -> Trouble {
    let message = format!("`{}` does not exist", root.display());
    Trouble::new(TroubleKind::Missing, message, "check the path")
}

fn too_many(root: &Path, most: usize) -> Trouble {
    let message = format!(
        "`{}` has more than {most} entries, or directories more than {MAX_DEPTH} deep",
        root.display()
    );
    Trouble::new(TroubleKind::TooLarge, message, "name a part of it, or raise the limit")
}

fn too_large(root: &Path, most: u64) -> Trouble {
    let message = format!("`{}` has more than {most} bytes", root.display());
    Trouble::new(TroubleKind::TooLarge, message, "name a part of it, or raise the limit")
}

fn unread(path: &Path, error: &io::Error) -> Trouble {
    let message =
        format!("`{}` could not be read completely: {}", path.display(), Reason(error.kind()));
    Trouble::new(TroubleKind::Failed, message, "check the disk, and try again")
}
