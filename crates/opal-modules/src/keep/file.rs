//! The one way to write: the owner's alone, whole or not at all, and never through a link. One file
//! is written over where all else fails, so that it does not go on saying what is no longer true.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use opal_vault::Shown;
use rustix::fs::OFlags;

/// A file or a directory below the runtime root that cannot be used.
#[derive(Debug)]
pub struct Unkept {
    pub path: PathBuf,
    pub error: io::Error,
}

impl Unkept {
    pub(super) fn new(path: &Path, error: io::Error) -> Self {
        Self { path: path.into(), error }
    }

    /// One whose content or place is the trouble; `why` holds no value.
    pub(super) fn because(path: &Path, why: impl Into<String>) -> Self {
        Self::new(path, io::Error::new(io::ErrorKind::InvalidData, why.into()))
    }

    /// Another user could have written it, so it is not trusted; this is not an error of the
    /// system.
    #[must_use]
    pub fn is_unsafe(&self) -> bool {
        self.error.kind() == io::ErrorKind::PermissionDenied && self.error.get_ref().is_some()
    }

    /// The way forward.
    #[must_use]
    pub fn help(&self) -> String {
        self.help_with("--root DIR")
    }

    /// The same for what this option names the place of.
    #[must_use]
    pub fn help_with(&self, option: &str) -> String {
        let path = self.path.display();
        match self.error.kind() {
            io::ErrorKind::StorageFull => "free some space and try again".to_owned(),
            io::ErrorKind::InvalidData => format!("check `{path}`; move it away, or fix it"),
            _ => format!(
                "check the permissions of `{path}`, or choose another directory with `{option}`"
            ),
        }
    }
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be used: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for Unkept {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Writes a file (0600) in place of whatever has its name; directories on the way are made (0700).
pub fn write(path: &Path, bytes: &Shown<'_>) -> Result<(), Unkept> {
    let written = Draft::create(path).and_then(|mut draft| {
        let kept = draft.append(bytes).and_then(|()| draft.keep());
        if kept.is_err() {
            let _ = fs::remove_file(&draft.temporary);
        }
        kept
    });
    written.map_err(|error| Unkept::new(path, error))
}

/// Writes over a file where it is, if it has the room on its disk already: the last resort where a
/// second one has none. Whoever reads meanwhile may find neither the old nor the new.
pub(crate) fn write_over(path: &Path, bytes: &Shown<'_>) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut file = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    let length = bytes.bytes().len() as u64;
    // A block is of 512 bytes here, whatever the disk has.
    if !metadata.is_file() || length > metadata.blocks().saturating_mul(512) {
        return Err(io::ErrorKind::StorageFull.into());
    }
    file.write_all(bytes.bytes())?;
    file.set_len(length)?;
    file.sync_data()
}

/// Makes a directory and those on the way to it, for the owner alone. What is there stays as it is.
pub(super) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a directory that is not there yet.
pub(super) fn new_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Reads a plain file of at most `most` bytes; none where nothing has that name.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, Unkept> {
    // Nobody waits for the other end of a pipe.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Unkept::new(path, error)),
    };
    let failed = |error| Unkept::new(path, error);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Unkept::because(path, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(Unkept::because(path, format!("it is larger than {most} bytes")));
    }
    Ok(Some(bytes))
}

/// A file that gets its name when it is whole.
#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

impl Draft {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            folder(parent)?;
        }
        let mut options = OpenOptions::new();
        let options = options.append(true).create_new(true).mode(0o600);
        let (temporary, file) = unused(path, |temporary| options.open(temporary))?;
        Ok(Self { path: path.into(), temporary, file })
    }

    /// Takes back what has its name already, to go on with it.
    pub(super) fn again(path: &Path) -> io::Result<Self> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let file = OpenOptions::new().append(true).custom_flags(flags).open(path)?;
        let (temporary, ()) = unused(path, |temporary| match temporary.symlink_metadata() {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(path, temporary),
        })?;
        Ok(Self { path: path.into(), temporary, file })
    }

    pub(super) fn append(&mut self, bytes: &Shown<'_>) -> io::Result<()> {
        self.file.write_all(bytes.bytes())
    }

    pub(super) fn keep(&self) -> io::Result<()> {
        self.file.sync_data()?;
        fs::rename(&self.temporary, &self.path)
    }
}

/// What a file is called until it is whole: this, the number of a process, that of the file, its name.
const UNFINISHED: &str = ".new-";

/// Whether a file is one that did not become whole.
pub(super) fn is_unfinished(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED));
    let mut parts = rest.unwrap_or_default().splitn(3, '-');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    parts.by_ref().take(2).filter(|part| is_number(part)).count() == 2 && parts.next().is_some()
}

/// Finds a name beside `path` that nobody uses, other processes included.
fn unused<T>(path: &Path, claim: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // Names are taken only where a process of the same number was killed.
    const MOST_TRIES: usize = 1000;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    for _ in 0..MOST_TRIES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary =
            path.with_file_name(format!("{UNFINISHED}{}-{count}-{name}", std::process::id()));
        match claim(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            claimed => return claimed.map(|claimed| (temporary, claimed)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use opal_vault::Vault;

    use super::*;

    #[test]
    fn only_what_was_named_here_is_unfinished() {
        for name in [".new-12-0-shell_apply.stdout.txt", ".new-1-22-a-b"] {
            assert!(is_unfinished(name.as_ref()), "{name}");
        }
        for name in
            [".new-", ".new-1-2", ".new-1-x-a", ".new--1-a", ".new-a", "new-1-2-a", "meta.json"]
        {
            assert!(!is_unfinished(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn a_file_is_written_over_only_within_the_room_that_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("latest.json");
        let shown = |text: &str| Vault::new().scrub(text);
        assert!(write_over(&path, &shown("new")).is_err(), "there is nothing to write over");
        let old = "long ".repeat(100);
        write(&path, &shown(&old)).unwrap();
        let room = usize::try_from(path.metadata().unwrap().blocks() * 512).unwrap();
        let error = write_over(&path, &shown(&"x".repeat(room + 1))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), old);
        for text in ["short", &"x".repeat(room)] {
            write_over(&path, &shown(text)).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(write_over(&link, &shown("new")).is_err());
    }
}
