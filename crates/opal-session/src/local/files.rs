//! Directories and files as steps name them.
//!
//! A file is replaced in one move: it gets its name when all of it is there. A device, such as
//! `/dev/null`, is written to. Nothing here waits for another process, which no stop would end: a
//! named pipe is refused, and a device that is not ready is an error.
//!
//! A path may be a value, so messages name it as something given, which whoever knows the values
//! can hide.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use opal_core::action::{Pending, Replace};
use opal_core::resolver::Trouble;
use rustix::fs::{CWD, OFlags};

use super::setup::Setup;
use crate::error::{SessionError, Use};
use crate::world;
use opal_files::atomic::{self, Unfinished};
use opal_files::regular;

/// As many links as the system follows.
const MAX_LINKS: usize = 40;

/// Two branches that add to the same file do so one after the other.
static APPENDING: Mutex<()> = Mutex::new(());

pub(super) fn directory(
    setup: &Setup,
    from: &Path,
    path: &str,
    create: bool,
) -> Result<PathBuf, Trouble> {
    let whole = whole(setup, from, path)?;
    if create {
        fs::create_dir_all(&whole).map_err(|error| unusable(path, Use::CreateDirectory, &error))?;
    }
    let found = fs::metadata(&whole).map_err(|error| unusable(path, Use::Enter, &error))?;
    if !found.is_dir() {
        return Err(SessionError::NotADirectory { path: path.to_owned() }.into());
    }
    Ok(whole)
}

pub(super) fn open(setup: &Setup, from: &Path, path: &str) -> Result<OwnedFd, Trouble> {
    let whole = whole(setup, from, path)?;
    let file = regular::open_or_device(&whole, OpenOptions::new().read(true))
        .map_err(|error| unusable(path, Use::Read, &error))?;
    // The command that reads it waits, and can be stopped.
    let flags = rustix::fs::fcntl_getfl(&file);
    flags
        .and_then(|flags| rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK))
        .map_err(|error| unusable(path, Use::Read, &error.into()))?;
    Ok(file.into())
}

pub(super) fn replace(
    setup: &Setup,
    from: &Path,
    replace: &Replace<'_>,
) -> Result<Box<dyn Pending>, Trouble> {
    let target = followed(whole(setup, from, replace.path)?);
    let found = fs::metadata(&target).ok();
    let path = replace.path.to_owned();
    let failed = |error| unusable(&path, Use::Write, &error);
    if let Some(found) = &found {
        regular::check_or_device(found.mode()).map_err(failed)?;
    }
    let is_special = found.as_ref().is_some_and(|it| !it.is_file());
    let beside = if is_special { std::env::temp_dir().join("file") } else { target.clone() };
    let file = Unfinished::beside(&beside).map_err(failed)?;
    let mode = match replace.mode.or(found.as_ref().map(|it| it.mode() & 0o7777)) {
        Some(mode) => mode,
        None => usual_mode(&target).map_err(failed)?,
    };
    let owner = found.map(|it| (it.uid(), it.gid()));
    let (append, is_asked) = (replace.append, replace.mode.is_some());
    Ok(Box::new(Replacement { path, file, target, mode, is_asked, owner, append, is_special }))
}

/// A file that is not there yet.
struct Replacement {
    /// As the step names it.
    path: String,
    file: Unfinished,
    target: PathBuf,
    mode: u32,
    /// Whether the step asks for the mode. Otherwise it is that of the file that is replaced.
    is_asked: bool,
    owner: Option<(u32, u32)>,
    append: bool,
    is_special: bool,
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Pending for Replacement {
    fn keep(self: Box<Self>) -> Result<(), Trouble> {
        let path = self.path.clone();
        self.kept().map_err(|error| unusable(&path, Use::Write, &error))
    }
}

impl Replacement {
    fn kept(self) -> io::Result<()> {
        let mut written = self.file.file();
        written.rewind()?;
        if self.is_special {
            let mut target = regular::open_or_device(&self.target, OpenOptions::new().write(true))?;
            return io::copy(&mut written, &mut target).map(drop);
        }
        let _one = self.append.then(|| APPENDING.lock().unwrap_or_else(PoisonError::into_inner));
        let file = if self.append && self.target.exists() {
            let mut whole = Unfinished::beside(&self.target)?;
            io::copy(&mut File::open(&self.target)?, &mut whole)?;
            io::copy(&mut written, &mut whole)?;
            whole
        } else {
            self.file
        };
        let mode = match self.owner {
            Some(owner) if self.is_asked => {
                give(file.file(), owner)?;
                self.mode
            }
            Some(owner) => self.mode & !give(file.file(), owner)?,
            None => self.mode,
        };
        file.file().set_permissions(Permissions::from_mode(mode))?;
        file.file().sync_all()?;
        Ok(file.replace(CWD, &self.target)?)
    }
}

/// Gives a file to the user and the group of the one it replaces, as far as the system lets us: only
/// root gives files away, and others may choose among their own groups. What comes back are the
/// permissions that would now be those of somebody else.
fn give(file: &File, (user, group): (u32, u32)) -> io::Result<u32> {
    if fchown(file, Some(user), Some(group)).is_err() {
        let _ = fchown(file, None, Some(group));
    }
    let found = file.metadata()?;
    let of_user = if found.uid() == user { 0 } else { 0o4000 };
    let of_group = if found.gid() == group { 0 } else { 0o2070 };
    Ok(of_user | of_group)
}

fn usual_mode(path: &Path) -> io::Result<u32> {
    Ok(atomic::usual_mode(atomic::directory_of(path)?)?)
}

fn whole(setup: &Setup, from: &Path, path: &str) -> Result<PathBuf, Trouble> {
    if path.is_empty() || path.contains('\0') {
        return Err(SessionError::InvalidPath.into());
    }
    world::place(from, setup.home.as_deref(), path)
}

/// Where links lead, a link to nothing included.
fn followed(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(link);
    }
    path
}

fn unusable(path: &str, to: Use, error: &io::Error) -> Trouble {
    let path = path.to_owned();
    match (error.kind(), regular::irregular(error)) {
        (_, Some(found)) => SessionError::NotAFile { path, to, found }.into(),
        (io::ErrorKind::IsADirectory, _) => SessionError::IsADirectory { path, to }.into(),
        (why, _) => SessionError::Unusable { path, to, why }.into(),
    }
}
