//! Directories and files as steps name them.
//!
//! A file is replaced in one move: it gets its name when all of it is there. What is not an
//! ordinary file, such as `/dev/null`, is written to.
//!
//! A path may be a value, too short to be hidden, so no message names one: the step does.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::{PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use opal_core::action::{Pending, Replace};
use opal_core::resolver::Trouble;
use rustix::fs::CWD;

use super::setup::Setup;
use crate::error::SessionError;
use opal_files::atomic::{self, Unfinished};

const NOT_WRITTEN: &str = "file cannot be written";

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
        fs::create_dir_all(&whole)
            .map_err(|error| unusable("directory cannot be created", &error))?;
    }
    let found =
        fs::metadata(&whole).map_err(|error| unusable("directory cannot be entered", &error))?;
    if !found.is_dir() {
        return Err(SessionError::NotADirectory.into());
    }
    Ok(whole)
}

pub(super) fn open(setup: &Setup, from: &Path, path: &str) -> Result<OwnedFd, Trouble> {
    let whole = whole(setup, from, path)?;
    let file = File::open(&whole).map_err(|error| unusable("file cannot be read", &error))?;
    match file.metadata() {
        Ok(found) if found.is_dir() => Err(SessionError::IsADirectory { done: "read" }.into()),
        _ => Ok(file.into()),
    }
}

pub(super) fn replace(
    setup: &Setup,
    from: &Path,
    replace: &Replace<'_>,
) -> Result<Box<dyn Pending>, Trouble> {
    let target = followed(whole(setup, from, replace.path)?);
    let found = fs::metadata(&target).ok();
    if found.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(SessionError::IsADirectory { done: "written" }.into());
    }
    let is_special = found.as_ref().is_some_and(|it| !it.is_file());
    let failed = |error| unusable(NOT_WRITTEN, &error);
    let beside = if is_special { std::env::temp_dir().join("file") } else { target.clone() };
    let file = Unfinished::beside(&beside).map_err(failed)?;
    let mode = match replace.mode.or(found.as_ref().map(|it| it.mode() & 0o7777)) {
        Some(mode) => mode,
        None => usual_mode(&target).map_err(failed)?,
    };
    let owner = found.map(|it| (it.uid(), it.gid()));
    let append = replace.append;
    Ok(Box::new(Replacement { file, target, mode, owner, append, is_special }))
}

/// A file that is not there yet.
struct Replacement {
    file: Unfinished,
    target: PathBuf,
    mode: u32,
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
        self.kept().map_err(|error| unusable(NOT_WRITTEN, &error))
    }
}

impl Replacement {
    fn kept(self) -> io::Result<()> {
        let mut written = self.file.file();
        written.rewind()?;
        if self.is_special {
            let mut target = fs::OpenOptions::new().write(true).open(&self.target)?;
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
        if let Some((user, group)) = self.owner {
            // Only root may give files away; others keep what they write.
            let _ = fchown(file.file(), Some(user), Some(group));
        }
        file.file().set_permissions(Permissions::from_mode(self.mode))?;
        file.file().sync_all()?;
        Ok(file.replace(CWD, &self.target)?)
    }
}

fn usual_mode(path: &Path) -> io::Result<u32> {
    Ok(atomic::usual_mode(atomic::directory_of(path)?)?)
}

fn whole(setup: &Setup, from: &Path, path: &str) -> Result<PathBuf, Trouble> {
    if path.is_empty() || path.contains('\0') {
        return Err(SessionError::InvalidPath.into());
    }
    let in_home = if path == "~" { Some("") } else { path.strip_prefix("~/") };
    let Some(rest) = in_home else { return Ok(from.join(path)) };
    let home = setup.home.as_ref().ok_or(SessionError::NoHome)?;
    Ok(home.join(rest))
}

/// Where links lead, a link to nothing included.
fn followed(mut path: PathBuf) -> PathBuf {
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("/")).join(link);
    }
    path
}

fn unusable(what: &'static str, error: &io::Error) -> Trouble {
    SessionError::Unusable { what, why: error.kind() }.into()
}
