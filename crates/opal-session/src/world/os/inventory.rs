//! Files that patterns name, with digests of their content.
//!
//! Directories are walked from the part of a pattern that has no wildcards, each once. Nothing outside
//! the project is read: a symlink that leads there is trouble, and so is anything that is not a file.

mod ignored;
mod listing;
mod noted;
mod pattern;
mod walk;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use opal_core::hash::{Algorithm, Digest};
use opal_core::inventory::{Inventory, Item, ItemKind, MAX_FILES, Stamp, Wanted, Which, of_files};
use opal_core::resolver::Trouble;
use opal_files::{beneath, regular};
use rustix::fs::FileType;

use crate::error::InventoryError;
use crate::noted::Places;
use crate::stop::{Order, Stop};
use pattern::Patterns;
use walk::Walk;

type Result<T> = std::result::Result<T, InventoryError>;

/// Where files are taken from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    /// Where relative patterns begin.
    pub(crate) base: &'a Path,
    pub(crate) home: Option<&'a Path>,
    /// Without symlinks; the base where there is none.
    pub(crate) project: Option<&'a Path>,
    pub(crate) stop: &'a Stop,
    /// Paths that count too, wherever they are.
    pub(crate) places: Option<&'a Places>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        base: &'a Path,
        home: Option<&'a Path>,
        project: Option<&'a Path>,
        stop: &'a Stop,
    ) -> Self {
        Self { base, home, project, stop, places: None }
    }
}

pub(super) fn take(
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
) -> std::result::Result<Inventory, Trouble> {
    Ok(files(scene, wanted)?.0)
}

/// The same, and the directories in which such files are or can appear.
pub(crate) fn files_at(
    scene: &Scene<'_>,
    wanted: &Wanted<'_>,
) -> std::result::Result<(Inventory, BTreeSet<PathBuf>), Trouble> {
    Ok(files(scene, wanted)?)
}

fn files(scene: &Scene<'_>, wanted: &Wanted<'_>) -> Result<(Inventory, BTreeSet<PathBuf>)> {
    let base = scene.base.canonicalize().map_err(|error| unreadable(".", &error))?;
    let project = scene.project.unwrap_or(&base).to_owned();
    let patterns = Patterns::read(wanted.patterns, &base, scene.home, &project)?;
    let except = Patterns::read(wanted.except, &base, scene.home, &project)?;
    let mut taking = Taking {
        wanted,
        patterns,
        except,
        directories: BTreeSet::new(),
        base,
        project,
        stop: scene.stop,
        found: BTreeMap::new(),
        open: VecDeque::new(),
        walked: BTreeSet::new(),
    };
    for path in std::mem::take(&mut taking.patterns.files) {
        let (above, name) = (path.parent().unwrap_or(&path), path.file_name().unwrap_or_default());
        if let Some(real) = taking.real(above)? {
            taking.directories.insert(real.clone());
            taking.one(&real.join(name), &path)?;
        }
    }
    for root in std::mem::take(&mut taking.patterns.roots) {
        match taking.real(&root)? {
            Some(real) => taking.open.push_back((real, root)),
            None => taking.directories.extend(nearest(&root)),
        }
    }
    while let Some((real, shown)) = taking.open.pop_front() {
        taking.walk(&real, &shown)?;
    }
    for (path, depth) in scene.places.into_iter().flatten() {
        taking.place(path, *depth)?;
    }
    Ok((taking.found, taking.directories))
}

struct Taking<'a> {
    wanted: &'a Wanted<'a>,
    except: Patterns,
    /// Where files are or can appear.
    directories: BTreeSet<PathBuf>,
    base: PathBuf,
    project: PathBuf,
    patterns: Patterns,
    stop: &'a Stop,
    found: Inventory,
    /// Directories to be walked: where they are, and by which path they are known.
    open: VecDeque<(PathBuf, PathBuf)>,
    walked: BTreeSet<PathBuf>,
}

impl Taking<'_> {
    fn walk(&mut self, real: &Path, shown: &Path) -> Result<()> {
        if !self.walked.insert(real.to_owned()) {
            return Ok(());
        }
        let walk = Walk {
            real,
            shown,
            base: &self.base,
            project: &self.project,
            patterns: &self.patterns,
            except: &self.except,
            which: self.wanted.which,
            known: self.wanted.known,
            stop: self.stop,
            room: MAX_FILES - self.found.len(),
        };
        let found = walk.found()?;
        self.directories.extend(found.directories);
        self.found.append(&mut of_files(found.unchanged));
        for (path, known) in found.others {
            self.one(&path, &known)?;
        }
        Ok(())
    }

    /// A file, a symlink, or something that cannot be an input.
    fn one(&mut self, path: &Path, shown: &Path) -> Result<()> {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            // Removed meanwhile, so it is not there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unreadable(&self.name(shown)?, &error)),
        };
        let name = self.name(shown)?;
        let item = match FileType::from_raw_mode(found.mode()) {
            FileType::RegularFile => self.file(&name, path, &found)?,
            FileType::Symlink => self.link(&name, path, shown)?,
            other => return Err(InventoryError::Special { name, found: regular::kind(other) }),
        };
        let Some(item) = item else { return Ok(()) };
        if self.found.len() == MAX_FILES {
            return Err(InventoryError::TooMany);
        }
        self.found.insert(name.into(), item);
        Ok(())
    }

    fn file(&self, name: &str, path: &Path, found: &Metadata) -> Result<Option<Item>> {
        let (kind, stamp) = (kind(found), stamp(found));
        let known = self.wanted.known.and_then(|known| known.unchanged(name, kind, &stamp));
        if known.is_some() {
            return Ok(known);
        }
        let read = self.digest(path);
        match read {
            Ok(digest) => Ok(Some(Item { kind, digest, stamp })),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(InventoryError::Stopped),
            Err(_) if self.wanted.which == Which::Watched => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => match regular::irregular(&error) {
                Some(found) => Err(InventoryError::Special { name: name.to_owned(), found }),
                None => Err(unreadable(name, &error)),
            },
        }
    }

    /// What a symlink says, and for an input also the file that it leads to.
    fn link(&mut self, name: &str, path: &Path, shown: &Path) -> Result<Option<Item>> {
        let to = fs::read_link(path).map_err(|error| unreadable(name, &error))?;
        let text = to.as_os_str().as_bytes();
        let length = (text.len() as u64).to_le_bytes();
        let mut digest = Algorithm::Blake3.digest(&[&length, text]);
        if self.wanted.which == Which::Inputs {
            match path.canonicalize() {
                Ok(real) if !real.starts_with(&self.project) => return Err(self.leads_out(name)),
                Ok(real) if real.is_dir() => self.open.push_back((real, shown.to_owned())),
                Ok(real) => {
                    let found = real.metadata().map_err(|error| unreadable(name, &error))?;
                    if !found.is_file() {
                        let found = regular::kind(FileType::from_raw_mode(found.mode()));
                        return Err(InventoryError::Special { name: name.to_owned(), found });
                    }
                    let content = self.digest(&real).map_err(|error| unreadable(name, &error))?;
                    let mode = [u8::from(found.mode() & 0o111 != 0)];
                    digest = Algorithm::Blake3.digest(&[&length, text, &mode, &content.0]);
                }
                // It leads nowhere, or in a cycle.
                Err(_) => {}
            }
        }
        let relative = shown.strip_prefix(&self.project).unwrap_or(shown);
        let matches = self.patterns.match_file(relative) || !path.is_dir();
        let stamp = Stamp::default();
        Ok(matches.then_some(Item { kind: ItemKind::Link, digest, stamp }))
    }

    /// No symlink is followed from the project on: nobody can lead this elsewhere meanwhile.
    fn digest(&self, path: &Path) -> io::Result<Digest> {
        let rest = path.strip_prefix(&self.project).unwrap_or(path);
        content(beneath::open(beneath::directory(&self.project)?, rest)?.file, self.stop)
    }

    /// Where the root of a pattern is; none where nothing is.
    fn real(&self, root: &Path) -> Result<Option<PathBuf>> {
        match root.canonicalize() {
            Ok(real) if real.starts_with(&self.project) => Ok(Some(real)),
            Ok(_) => Err(self.leads_out(&self.name(root)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(unreadable(&self.name(root)?, &error)),
        }
    }

    fn name(&self, path: &Path) -> Result<String> {
        name_of(path, &self.base)
    }

    fn leads_out(&self, name: &str) -> InventoryError {
        let project = self.project.display().to_string();
        InventoryError::LeadsOutside { name: name.to_owned(), project }
    }
}

/// A path as people know it: as seen from where its pattern begins.
fn name_of(path: &Path, base: &Path) -> Result<String> {
    let seen = match path.strip_prefix(base) {
        Ok(rest) => rest.to_owned(),
        Err(_) => pattern::seen_from(base, path),
    };
    match seen.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => Err(InventoryError::NotText(seen.display().to_string())),
    }
}

/// The nearest directory above something that is not there.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|above| above.canonicalize().ok().filter(|it| it.is_dir()))
}

/// The digest of a file.
fn content(mut file: File, stop: &Stop) -> io::Result<Digest> {
    let mut hasher = Algorithm::Blake3.hasher();
    let mut bytes = vec![0; 64 * 1024];
    loop {
        if stop.order() != Order::GoOn {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match file.read(&mut bytes)? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(&bytes[..count]),
        }
    }
}

fn kind(found: &Metadata) -> ItemKind {
    match found.mode() & 0o111 != 0 {
        true => ItemKind::Executable,
        false => ItemKind::File,
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

fn stamp(found: &Metadata) -> Stamp {
    Stamp {
        inode: found.ino(),
        bytes: found.size(),
        modified: nanos(found.mtime(), found.mtime_nsec()),
        changed: nanos(found.ctime(), found.ctime_nsec()),
    }
}

fn unreadable(name: &str, error: &io::Error) -> InventoryError {
    InventoryError::Unreadable { name: name.to_owned(), why: error.kind() }
}
