//! What a copy lacks, piece by piece, and nothing of what it holds besides.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::hash::Digest;
use opal_core::message::Reason;
use opal_core::resolver::{Probe, Trouble, TroubleKind};
use opal_core::tree::{Found, Part, below, links};

use super::Wanted;
use crate::resource::paths::{self, is_private};
use crate::resource::sides::Sides;

/// Files, directories and links of one copy.
const MAX_ENTRIES: usize = 100_000;

/// Directories within directories.
const MAX_DEPTH: usize = 128;

/// As many as the system follows.
const MAX_LINKS: usize = 40;

/// Set-uid and set-gid: as whom a program runs.
const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// The permissions of a copy that belongs to whom it belongs to.
pub(super) fn mode(source: &Entry, copy: &Entry) -> u32 {
    let is_file = source.kind == EntryKind::File;
    let loses = |is_other: bool, bit: u32| if is_file && is_other { bit } else { 0 };
    let lost =
        loses(source.owner != copy.owner, SET_USER) | loses(source.group != copy.group, SET_GROUP);
    source.mode & !lost
}

/// What a new file may have before it is known whose it is.
pub(super) fn without_set_user(mode: u32) -> u32 {
    mode & !(SET_USER | SET_GROUP)
}

/// Where a copy is not as it should be. The path begins in the source, and is empty for the source
/// itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) path: PathBuf,
    pub(super) how: How,
    /// Whether only its owner may read one of the sides, what it shall be, or a directory of the tree
    /// that it is in.
    pub(super) is_private: bool,
}

impl Difference {
    /// Whether the content of a file is written.
    pub(super) fn has_content(&self) -> bool {
        matches!(self.how, How::Missing(Piece::File { .. }) | How::Content { .. })
    }

    /// For digests in contracts, which outlive this program: this text stays as it is.
    pub(super) fn hashed(&self) -> String {
        format!("Difference {{ path: {:?}, how: {:?} }}", self.path, self.how)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Missing(Piece),
    /// Another content; `mode` is that of the source.
    Content {
        expected: u64,
        actual: u64,
        mode: u32,
    },
    Mode {
        expected: u32,
        actual: u32,
    },
    /// Another owner or group than those that are given.
    Owner {
        expected: (Option<u32>, Option<u32>),
        actual: (u32, u32),
    },
    Link {
        expected: PathBuf,
        actual: PathBuf,
    },
    Kind {
        expected: EntryKind,
        actual: EntryKind,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    File { mode: u32 },
    Directory { mode: u32 },
    Link(PathBuf),
}

/// What the comparison of both found.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Where the source is, a link that it is followed.
    pub(super) source: PathBuf,
    pub(super) kind: EntryKind,
    /// Whether anything is at the destination.
    pub(super) is_there: bool,
    /// In the order of the paths.
    pub(super) differences: Vec<Difference>,
}

impl Facts {
    pub(super) fn read(wanted: &Wanted, sides: &Sides<'_>) -> Result<Self, Trouble> {
        let (source, entry) = followed(&wanted.source, sides.source())?;
        if entry.kind == EntryKind::Directory {
            if !wanted.recursive {
                return Err(Trouble::new(
                    TroubleKind::Invalid,
                    format!("`{}` is a directory", wanted.source.display()),
                    "set `recursive=true` to copy it with its content",
                ));
            }
            if wanted.attributes.mode.is_some() {
                return Err(Trouble::new(
                    TroubleKind::Invalid,
                    format!(
                        "`{}` is a directory, but `mode` applies only to files",
                        wanted.source.display()
                    ),
                    "omit `mode`: the copy has the permissions of the source",
                ));
            }
            if sides.is_one() && wanted.destination.starts_with(&source) {
                return Err(Trouble::new(
                    TroubleKind::Invalid,
                    format!("`{}` is inside its own source", wanted.destination.display()),
                    "choose a destination outside the source",
                ));
            }
        }
        let kind = entry.kind;
        let mut walk = Walk { wanted, sides, source, entries: 0, differences: Vec::new() };
        let there = walk.there(&[(PathBuf::new(), entry)])?.pop().flatten();
        match &there {
            None => paths::check_creatable(&wanted.destination, sides.here())?,
            Some(found) if found.entry.kind == EntryKind::Link => {
                return Err(paths::is_link(&wanted.destination, sides.here()));
            }
            Some(_) => {}
        }
        let is_there = there.is_some();
        walk.visit(Path::new(""), entry, there, Around { depth: 0, is_private: false })?;
        let Walk { source, differences, .. } = walk;
        Ok(Self { source, kind, is_there, differences })
    }
}

/// The source itself may be a link; those within it are copied as links.
fn followed(path: &Path, probe: &dyn Probe) -> Result<(PathBuf, Entry), Trouble> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(found) = probe.stat(&at)? else { return Err(no_source(path)) };
        if found.kind != EntryKind::Link {
            return Ok((at, found));
        }
        let to = probe.read_link(&at)?;
        at = at.parent().unwrap_or(Path::new("/")).join(to);
    }
    Err(no_source(path))
}

struct Walk<'a> {
    wanted: &'a Wanted,
    sides: &'a Sides<'a>,
    source: PathBuf,
    entries: usize,
    differences: Vec<Difference>,
}

/// Where in a tree something is.
#[derive(Clone, Copy)]
struct Around {
    depth: usize,
    /// Whether only its owner may look into a directory of it, on either side.
    is_private: bool,
}

impl Walk<'_> {
    fn visit(
        &mut self,
        path: &Path,
        source: Entry,
        there: Option<Found>,
        around: Around,
    ) -> Result<(), Trouble> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES || around.depth > MAX_DEPTH {
            return Err(self.too_large());
        }
        let both = [Some(source), there.as_ref().map(|it| it.entry)].into_iter().flatten();
        let is_private = around.is_private
            || self.wanted.attributes.mode.is_some_and(is_private)
            || both.filter(|it| it.kind != EntryKind::Link).any(|it| is_private(it.mode));
        let known = self.differences.len();
        if source.kind == EntryKind::Other {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                format!("`{}` is {}", below(&self.source, path).display(), source.kind.name()),
                "copy only files, directories and symlinks",
            ));
        }
        let is_there = there.is_some();
        match there {
            None => self.missing(path, source)?,
            Some(there) if there.entry.kind != source.kind => {
                let how = How::Kind { expected: source.kind, actual: there.entry.kind };
                self.note(path, how);
                return Ok(());
            }
            Some(there) => self.compare(path, &source, there)?,
        }
        self.differences[known..].iter_mut().for_each(|it| it.is_private = is_private);
        if source.kind == EntryKind::Directory {
            let inside = Around { depth: around.depth + 1, is_private };
            self.descend(path, is_there, inside)?;
        }
        Ok(())
    }

    fn descend(&mut self, path: &Path, is_there: bool, inside: Around) -> Result<(), Trouble> {
        let mut all = Vec::new();
        for name in self.sides.source().list(&below(&self.source, path))? {
            if self.entries + all.len() >= MAX_ENTRIES {
                return Err(self.too_large());
            }
            let path = path.join(name);
            let source = below(&self.source, &path);
            let found = self.sides.source().stat(&source)?;
            all.push((path, found.ok_or_else(|| no_source(&source))?));
        }
        let there = match is_there {
            true => self.there(&all)?,
            false => vec![None; all.len()],
        };
        for ((path, source), there) in all.into_iter().zip(there) {
            self.visit(&path, source, there, inside)?;
        }
        Ok(())
    }

    /// What is at the destination of some paths. Of what is the same on both machines, only a digest
    /// crosses; on one machine both contents are read.
    fn there(&self, all: &[(PathBuf, Entry)]) -> Result<Vec<Option<Found>>, Trouble> {
        let part = |(path, source): &(PathBuf, Entry)| {
            let is_summed = source.kind == EntryKind::File && !self.sides.is_one();
            Part { path: path.clone(), digest_up_to: is_summed.then_some(u64::MAX) }
        };
        let parts: Vec<Part> = all.iter().map(part).collect();
        self.sides.here().parts(&self.wanted.destination, &parts)
    }

    fn missing(&mut self, path: &Path, source: Entry) -> Result<(), Trouble> {
        let mode = self.wanted.attributes.mode.unwrap_or(source.mode);
        let piece = match source.kind {
            EntryKind::Directory => Piece::Directory { mode },
            EntryKind::Link => {
                Piece::Link(self.sides.source().read_link(&below(&self.source, path))?)
            }
            EntryKind::File | EntryKind::Other => Piece::File { mode },
        };
        self.note(path, How::Missing(piece));
        Ok(())
    }

    fn compare(&mut self, path: &Path, source: &Entry, there: Found) -> Result<(), Trouble> {
        let from = below(&self.source, path);
        let Found { entry: there, digest, link } = &there;
        let how = match (source.kind, link) {
            (EntryKind::Link, Some(actual)) => {
                let (expected, actual) = (self.sides.source().read_link(&from)?, actual.clone());
                (expected != actual).then_some(How::Link { expected, actual })
            }
            // Sizes tell nothing of what a system makes up as it is read, such as `/proc/version`.
            (EntryKind::File, _) if !self.is_same(&from, path, *digest)? => {
                let mode = self.wanted.mode(source, there);
                Some(How::Content { expected: source.bytes, actual: there.bytes, mode })
            }
            _ => {
                let (expected, actual) = (self.wanted.mode(source, there), there.mode);
                let differs = self.wanted.sets_mode() && expected != actual;
                differs.then_some(How::Mode { expected, actual })
            }
        };
        let owner = self.owner(source, there);
        how.into_iter().chain(owner).for_each(|how| self.note(path, how));
        Ok(())
    }

    /// A link belongs to whoever made it.
    fn owner(&self, source: &Entry, there: &Entry) -> Option<How> {
        let Attributes { owner, group, .. } = self.wanted.attributes;
        let differs = owner.is_some_and(|owner| owner != there.owner)
            || group.is_some_and(|group| group != there.group);
        let how = How::Owner { expected: (owner, group), actual: (there.owner, there.group) };
        (differs && source.kind != EntryKind::Link).then_some(how)
    }

    /// `theirs` is the digest of the destination, where it is known.
    fn is_same(&self, from: &Path, path: &Path, theirs: Option<Digest>) -> Result<bool, Trouble> {
        if let Some(theirs) = theirs {
            return Ok(self.sides.source().digest(from, links(&self.source, from))? == theirs);
        }
        let to = below(&self.wanted.destination, path);
        let mut ours = Chunks::open(from, &self.source, self.sides.source())?;
        let mut theirs = Chunks::open(&to, &self.wanted.destination, self.sides.here())?;
        loop {
            let (ours, theirs) = (ours.next()?, theirs.next()?);
            if ours != theirs {
                return Ok(false);
            }
            if ours.is_empty() {
                return Ok(true);
            }
        }
    }

    fn note(&mut self, path: &Path, how: How) {
        self.differences.push(Difference { path: path.to_owned(), how, is_private: false });
    }

    fn too_large(&self) -> Trouble {
        Trouble::new(
            TroubleKind::TooLarge,
            format!(
                "`{}` cannot be compared: it has more than 100,000 entries, or directories more \
                 than {MAX_DEPTH} deep",
                self.source.display()
            ),
            "copy parts of it, or use a program made for it, such as `rsync`, in a step",
        )
    }
}

/// A file in pieces of the same size, whatever a read gives.
pub(super) struct Chunks<'p> {
    path: &'p Path,
    file: Box<dyn Read>,
    buffer: Vec<u8>,
}

impl<'p> Chunks<'p> {
    /// A file of the tree at `root`.
    pub(super) fn open(path: &'p Path, root: &Path, probe: &dyn Probe) -> Result<Self, Trouble> {
        let file = probe.read(path, links(root, path))?;
        Ok(Self { path, file, buffer: vec![0; 64 * 1024] })
    }

    /// Empty at its end.
    pub(super) fn next(&mut self) -> Result<&[u8], Trouble> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            match self.file.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unread(self.path, &error)),
            }
        }
        Ok(&self.buffer[..filled])
    }
}

pub(super) fn unread(path: &Path, error: &io::Error) -> Trouble {
    Trouble::new(
        TroubleKind::Failed,
        format!("`{}` could not be read completely: {}", path.display(), Reason(error.kind())),
        "check the disk, and try again",
    )
}

fn no_source(path: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Missing,
        format!("the source `{}` does not exist", path.display()),
        "check the path: a relative path starts next to the file that names it",
    )
}
