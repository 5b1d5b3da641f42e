//! Paths that count by themselves, wherever they are.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use opal_core::hash::{Algorithm, Digest};
use opal_core::inventory::{Item, MAX_FILES};
use opal_files::regular;
use rustix::fs::FileType;

use super::ignored::Rules;
use super::listing::Listing;
use super::walk;
use super::{InventoryError, Result, Taking, content, nearest, stamp};
use crate::noted::Depth;

impl Taking<'_> {
    /// What cannot be read is as if it were not there: it may be there later.
    pub(super) fn place(&mut self, path: &Path, depth: Depth) -> Result<()> {
        // The directory may have another name than the project has here.
        let above = path.parent().and_then(|above| above.canonicalize().ok());
        let same = above.zip(path.file_name()).map(|(above, name)| above.join(name));
        let path = same.as_deref().unwrap_or(path);
        if self.except.hold(path, &self.project) {
            return Ok(());
        }
        self.directories.extend(nearest(path));
        let Ok(real) = path.canonicalize() else { return Ok(()) };
        self.directories.extend(nearest(&real));
        let (Ok(found), Some(name)) = (real.metadata(), self.place_name(path)) else {
            return Ok(());
        };
        if found.is_dir() && depth == Depth::Content {
            self.directories.insert(real.clone());
        }
        let Some(item) = self.place_item(&name, &real, &found, depth)? else { return Ok(()) };
        if self.found.len() == MAX_FILES {
            return Err(InventoryError::TooMany);
        }
        self.found.insert(name.into(), item);
        Ok(())
    }

    fn place_item(
        &self,
        name: &str,
        real: &Path,
        found: &Metadata,
        depth: Depth,
    ) -> Result<Option<Item>> {
        let (kind, stamp) = (super::kind(found), stamp(found));
        let digest = match depth {
            Depth::Kind => Ok(of_kind(found)),
            Depth::Content if found.is_dir() => self.names(real),
            Depth::Content if found.is_file() => {
                let known = self.wanted.known.and_then(|it| it.unchanged(name, kind, &stamp));
                if known.is_some() {
                    return Ok(known);
                }
                regular::open(real).and_then(|file| content(file, self.stop))
            }
            Depth::Content => Ok(of_kind(found)),
        };
        match digest {
            Ok(digest) => Ok(Some(Item { kind, digest, stamp })),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(InventoryError::Stopped),
            Err(_) => Ok(None),
        }
    }

    /// The names in a directory, without those that git ignores: what a task writes there must not
    /// start it again.
    fn names(&self, directory: &Path) -> io::Result<Digest> {
        let mut listing = Listing::default();
        listing.read(&walk::open(directory)?)?;
        let rules = Rules::above(directory).below(directory, listing.has);
        let mut names = Vec::new();
        for (name, kind) in listing.iter() {
            let name = OsStr::from_bytes(name.to_bytes());
            let path = directory.join(name);
            let is_ignored = rules.ignore(&path, kind == FileType::Directory);
            if !is_ignored && !self.except.hold(&path, &self.project) {
                names.push(name);
            }
        }
        names.sort();
        let mut hasher = Algorithm::Blake3.hasher();
        for name in names {
            hasher.update(name.as_encoded_bytes());
            hasher.update(b"\0");
        }
        Ok(hasher.finish())
    }

    /// A path of the project as its files are named, another one whole.
    fn place_name(&self, path: &Path) -> Option<String> {
        match path.starts_with(&self.project) {
            true => self.name(path).ok(),
            false => path.to_str().map(str::to_owned),
        }
    }
}

fn of_kind(found: &fs::Metadata) -> Digest {
    let kind = [u8::from(found.is_file()), u8::from(found.is_dir())];
    Algorithm::Blake3.digest(&[&kind])
}
