//! Files that patterns name, with digests of their content: what `@cached` compares.
//!
//! As in git's index, a file whose inode, size and times have not changed has the content that it had.
//! A file that was changed right before the index was made could be changed again without another
//! time, so that rule holds only for what was at least [`SETTLED_NANOS`] old by then.

use std::collections::BTreeMap;

use crate::hash::Digest;

/// The decorator whose blocks are skipped while nothing has changed.
pub const CACHED: &str = "cached";

/// What a plan says of a block that its contract lets be skipped; nobody can write it in a source.
pub const MAY_SKIP: &str = "may_skip";

/// Files of one inventory.
pub const MAX_FILES: usize = 200_000;

/// How old a change must be to be trusted by its time.
pub const SETTLED_NANOS: i64 = 2_000_000_000;

/// Which files are asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Globs, or names of files and directories, which stand for all that is below them. Relative ones
    /// begin where paths of resources begin.
    pub patterns: &'a [&'a str],
    /// What is left out, whatever the patterns say: only of what is watched.
    pub except: &'a [&'a str],
    pub which: Which,
    /// What is known from before.
    pub known: Option<Known<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// What is read: globs leave out what git ignores, and a symlink is what it leads to.
    Inputs,
    /// What is made: all of it, and a symlink is what it says.
    Outputs,
    /// What may change: as inputs, but a symlink is what it says, and what cannot be read is left out.
    Watched,
}

/// An earlier inventory, and when it was made: nanoseconds of Unix time.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub files: &'a Inventory,
    pub at: i64,
}

/// Files by their names, which begin as their patterns do.
pub type Inventory = BTreeMap<Box<str>, Item>;

/// All at once: that is quicker than one after the other, most of all where they are in order.
#[must_use]
pub fn of_files(files: Vec<(Box<str>, Item)>) -> Inventory {
    files.into_iter().collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// BLAKE3.
    pub digest: Digest,
    pub stamp: Stamp,
}

impl Item {
    /// Whether it is the same, whenever and wherever it was written.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.digest == other.digest
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    File,
    Executable,
    Link,
}

/// What a file system says of a file without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub inode: u64,
    pub bytes: u64,
    /// Nanoseconds of Unix time.
    pub modified: i64,
    pub changed: i64,
}

impl Known<'_> {
    /// What is known of a file that looks like this; none where it has to be read.
    #[must_use]
    pub fn unchanged(&self, name: &str, kind: ItemKind, stamp: &Stamp) -> Option<Item> {
        let known = self.files.get(name)?;
        let is_settled = self.at.saturating_sub(stamp.changed) >= SETTLED_NANOS;
        (known.kind == kind && known.stamp == *stamp && is_settled).then_some(*known)
    }
}

/// What is remembered of earlier runs.
pub trait Entries: Send + Sync + std::fmt::Debug {
    /// An entry that this machine has made; none where there is none, or somebody has touched it.
    fn load(&self, name: &Digest) -> Option<Vec<u8>>;

    /// A digest that says nothing about a short text to anybody else.
    fn digest(&self, parts: &[&[u8]]) -> Digest;

    /// The directory that inputs and outputs are below, without symlinks.
    fn project(&self) -> &std::path::Path;

    fn use_of(&self) -> EntryUse;
}

/// What entries are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryUse {
    Usual,
    /// Every block runs, and is remembered.
    Ignored,
    /// A contract: only what it says may be skipped is looked up or remembered.
    Contract,
}

/// Entries that can be written.
pub trait EntryStore: Entries {
    /// Replaces the entry of this name. An error says why that cannot be.
    fn store(&self, name: &Digest, bytes: &[u8]) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_trusted_only_where_it_was_old_enough() {
        let stamp = Stamp { inode: 1, bytes: 2, modified: 3, changed: 10 };
        let item = Item { kind: ItemKind::File, digest: Digest([7; 32]), stamp };
        let files = Inventory::from([("a".into(), item)]);
        let known = |at| Known { files: &files, at };
        let settled = 10 + SETTLED_NANOS;
        let unchanged = |at, kind, stamp: Stamp| known(at).unchanged("a", kind, &stamp);
        assert_eq!(unchanged(settled, ItemKind::File, stamp), Some(item));
        assert_eq!(unchanged(settled - 1, ItemKind::File, stamp), None);
        assert_eq!(unchanged(settled, ItemKind::Executable, stamp), None);
        assert_eq!(known(settled).unchanged("b", ItemKind::File, &stamp), None);
        for other in [
            Stamp { inode: 9, ..stamp },
            Stamp { bytes: 9, ..stamp },
            Stamp { modified: 9, ..stamp },
            Stamp { changed: 9, ..stamp },
        ] {
            assert_eq!(unchanged(settled, ItemKind::File, other), None, "{other:?}");
        }
    }
}
