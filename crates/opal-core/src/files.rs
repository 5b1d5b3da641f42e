//! Files of a machine: what is seen of them, and what may be done to them.
//!
//! Looking is part of [`crate::resolver::Probe`]; changing is [`Files`], which only an action gets.
//!
//! Paths are whole here. What writes never follows a link at the path itself, and on the way to it
//! follows only links that root or the user who runs opal has made: nobody else can turn a write to
//! another place.

use std::path::Path;

use crate::action::Pending;
use crate::resolver::Trouble;

/// What is at a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    /// The twelve permission bits.
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl EntryKind {
    /// With its article, for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symlink",
            Self::Other => "neither a file nor a directory",
        }
    }
}

/// What is to be said about an entry; what is not said stays as it is, or as it usually is where
/// the entry is new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    pub mode: Option<u32>,
    pub owner: Option<u32>,
    pub group: Option<u32>,
}

/// What to do with an existing file at the path that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Its content is.
    Replaced,
    /// Nothing was there when it was verified, so whatever is there now must not be lost.
    Refused,
}

/// Changes files. Everything here is whole or not done at all, but for a directory that is removed
/// with all that is in it: where a part of it cannot go, the rest may be gone.
pub trait Files: Sync {
    /// A file that takes its place when it is kept. A file that was there gives it mode and owner;
    /// a link or anything else that is at the path is trouble.
    ///
    /// Another step that writes the same file waits until this one is kept or dropped, so what is
    /// read from here on is what is replaced. What another program puts there or changes meanwhile
    /// is trouble, and stays.
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble>;

    /// Makes a directory, and those above it. One that is there gets the attributes.
    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble>;

    /// Makes a link that says `to`. A link that is there is replaced; a file or a directory only
    /// where that is said.
    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble>;

    /// Of a file or a directory; a link is trouble.
    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble>;

    /// Removes what is at the path, a link itself and never what it leads to. A directory that is
    /// not empty goes only where `recursive` says so. Nothing there is no trouble.
    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble>;

    /// The same for what is below a directory, which is held from here on, whatever takes its place;
    /// below it no link is followed at all. For whoever changes a tree piece by piece.
    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble>;
}

impl<F: Files + ?Sized> Files for &F {
    fn write(
        &self,
        path: &Path,
        attributes: &Attributes,
        existing: Existing,
    ) -> Result<Box<dyn Pending>, Trouble> {
        (**self).write(path, attributes, existing)
    }

    fn make_directory(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        (**self).make_directory(path, attributes)
    }

    fn make_link(&self, path: &Path, to: &Path, replace: bool) -> Result<(), Trouble> {
        (**self).make_link(path, to, replace)
    }

    fn set(&self, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
        (**self).set(path, attributes)
    }

    fn remove(&self, path: &Path, recursive: bool) -> Result<(), Trouble> {
        (**self).remove(path, recursive)
    }

    fn within<'f>(&'f self, directory: &Path) -> Result<Box<dyn Files + 'f>, Trouble> {
        (**self).within(directory)
    }
}
