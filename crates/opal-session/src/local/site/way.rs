//! The way to a path, part by part.
//!
//! Each part is opened from the one before and never by a longer path, so nothing that is put in
//! the way afterwards counts. A link is followed only where root or the user who runs opal has made
//! it: of all others nobody knows where they will lead in a moment.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use opal_core::files::{Entry, EntryKind};
use opal_core::resolver::Trouble;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{ChangeError, Obstacle, WayOut, refused};

/// As many as the system follows.
const MAX_LINKS: usize = 40;

/// A descriptor that stands for a thing and needs no permission to read it, where there is that.
#[cfg(target_os = "linux")]
const ONLY_THERE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_THERE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// What a path names: a directory, held open, and a name in it.
pub(super) struct Way {
    pub(super) path: PathBuf,
    pub(super) parent: OwnedFd,
    pub(super) name: OsString,
    /// Directories that were made on the way.
    made: Vec<(OwnedFd, OsString)>,
    /// What was to be done, for messages.
    pub(super) done: &'static str,
}

/// What is to become of directories that are missing on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Refuse,
    Make,
}

/// Where ways begin.
#[derive(Debug)]
pub(super) enum Beginning {
    Root,
    /// In a directory that is held; from there on no link is followed.
    Within(PathBuf, OwnedFd),
}

impl Beginning {
    /// The directory at a path, to be held.
    pub(super) fn within(&self, path: &Path) -> Result<Self, Trouble> {
        let way = Way::to(self, path, "entered", Gaps::Refuse)?;
        let held = way.hold().map_err(|error| way.refused(error))?;
        let found = rustix::fs::fstat(&held).map_err(|error| way.refused(error))?;
        match entry(&found).kind {
            EntryKind::Directory => Ok(Self::Within(path.to_owned(), held)),
            by => Err(way.failed(Obstacle::Occupied { by, way_out: WayOut::Directory })),
        }
    }

    /// Where a way begins, and what is left of it.
    fn of<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p Path), Errno> {
        match self {
            Self::Root => Ok((root()?, path)),
            Self::Within(directory, held) => {
                let rest = path.strip_prefix(directory).map_err(|_| Errno::INVAL)?;
                Ok((rustix::io::fcntl_dupfd_cloexec(held, 0)?, rest))
            }
        }
    }
}

impl Way {
    pub(super) fn to(
        from: &Beginning,
        path: &Path,
        done: &'static str,
        gaps: Gaps,
    ) -> Result<Self, Trouble> {
        let failed = |error| refused(done, path, error);
        let (mut at, rest) = from.of(path).map_err(failed)?;
        let Some(name) = rest.file_name().filter(|_| path.is_absolute()) else {
            return Err(ChangeError::new(done, path, Obstacle::NoName).into());
        };
        let may_leave = matches!(from, Beginning::Root);
        let (todo, made) = (VecDeque::new(), Vec::new());
        let mut walk = Walk { path, done, may_leave, links: 0, todo, made };
        walk.push(rest.parent().unwrap_or(rest));
        while let Some(part) = walk.todo.pop_front() {
            match walk.step(&at, &part, gaps) {
                Ok(next) => at = next,
                Err(trouble) => {
                    undo(&walk.made);
                    return Err(trouble);
                }
            }
        }
        let (path, name) = (path.to_owned(), name.to_owned());
        Ok(Self { path, parent: at, name, made: walk.made, done })
    }

    /// What is there now, links not followed.
    pub(super) fn stat(&self) -> Result<Option<Stat>, Trouble> {
        match rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.refused(error)),
        }
    }

    /// What is there, held open, without a link being followed.
    pub(super) fn hold(&self) -> Result<OwnedFd, Errno> {
        hold(&self.parent, &self.name)
    }

    /// What a link at the path says.
    pub(super) fn link(&self) -> Option<PathBuf> {
        let to = rustix::fs::readlinkat(&self.parent, &self.name, Vec::new()).ok()?;
        Some(OsString::from_vec(to.into_bytes()).into())
    }

    pub(super) fn refused(&self, error: Errno) -> Trouble {
        refused(self.done, &self.path, error)
    }

    pub(super) fn failed(&self, why: Obstacle) -> Trouble {
        ChangeError::new(self.done, &self.path, why).into()
    }

    /// The directories that were made on the way go again.
    pub(super) fn undo(&self) {
        undo(&self.made);
    }

    /// What was changed in the directory outlives a loss of power.
    pub(super) fn sync(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A directory that may be written and not read cannot be synchronised.
        if let Ok(directory) = rustix::fs::openat(&self.parent, ".", flags, Mode::empty()) {
            let _ = rustix::fs::fsync(directory);
        }
    }
}

/// A walk under way.
struct Walk<'p> {
    path: &'p Path,
    done: &'static str,
    /// Whether links and `..` may lead out of where it began.
    may_leave: bool,
    links: usize,
    todo: VecDeque<OsString>,
    made: Vec<(OwnedFd, OsString)>,
}

impl Walk<'_> {
    /// What is to be walked before everything else.
    fn push(&mut self, path: &Path) {
        let parts = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        });
        for (index, part) in parts.enumerate() {
            self.todo.insert(index, part);
        }
    }

    fn step(&mut self, at: &OwnedFd, part: &OsStr, gaps: Gaps) -> Result<OwnedFd, Trouble> {
        let (done, path) = (self.done, self.path);
        let failed = |error| refused(done, path, error);
        if part == ".." && !self.may_leave {
            return Err(failed(Errno::INVAL));
        }
        let next = match hold(at, part) {
            Err(Errno::NOENT) if gaps == Gaps::Make => {
                self.make(at, part).and_then(|()| hold(at, part)).map_err(failed)?
            }
            held => held.map_err(failed)?,
        };
        let found = rustix::fs::fstat(&next).map_err(failed)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Ok(next),
            FileType::Symlink => self.follow(at, &next, &found, part),
            _ => Err(failed(Errno::NOTDIR)),
        }
    }

    fn make(&mut self, at: &OwnedFd, part: &OsStr) -> Result<(), Errno> {
        match rustix::fs::mkdirat(at, part, Mode::from_raw_mode(0o777)) {
            Ok(()) => self.made.push((rustix::io::fcntl_dupfd_cloexec(at, 0)?, part.to_owned())),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn follow(
        &mut self,
        at: &OwnedFd,
        link: &OwnedFd,
        found: &Stat,
        part: &OsStr,
    ) -> Result<OwnedFd, Trouble> {
        let (done, path) = (self.done, self.path);
        let failed = |error| refused(done, path, error);
        if !self.may_leave || self.links == MAX_LINKS {
            return Err(failed(Errno::LOOP));
        }
        let own = rustix::process::geteuid().as_raw();
        if found.st_uid != 0 && found.st_uid != own {
            let why = Obstacle::ForeignLink { name: part.to_owned(), user: found.st_uid };
            return Err(ChangeError::new(self.done, self.path, why).into());
        }
        self.links += 1;
        // The very symlink that was checked.
        #[cfg(target_os = "linux")]
        let to = rustix::fs::readlinkat(link, "", Vec::new()).map_err(failed)?;
        #[cfg(not(target_os = "linux"))]
        let to = rustix::fs::readlinkat(at, part, Vec::new()).map_err(failed)?;
        let to = PathBuf::from(OsString::from_vec(to.into_bytes()));
        self.push(&to);
        let from = if to.is_absolute() { root() } else { rustix::io::fcntl_dupfd_cloexec(at, 0) };
        from.map_err(failed)
    }
}

fn root() -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, "/", ONLY_THERE | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn hold(at: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = ONLY_THERE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}

fn undo(made: &[(OwnedFd, OsString)]) {
    for (at, name) in made.iter().rev() {
        // One that someone has put something into stays.
        let _ = rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR);
    }
}

pub(super) fn entry(found: &Stat) -> Entry {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    };
    let mode = found.st_mode & 0o7777;
    let bytes = u64::try_from(found.st_size).unwrap_or(0);
    Entry { kind, mode, owner: found.st_uid, group: found.st_gid, bytes }
}
