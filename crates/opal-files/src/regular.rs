//! Opening the files that opal reads as settings, keys, sources, contracts and records.
//!
//! They are regular files. Anything else could block for ever, never end, or do something when it is
//! opened: a pipe, `/dev/zero`, a watchdog device. Nothing here waits for another process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FileType, OFlags};

use crate::error::FileError;

/// Between two looks another process may have put a pipe there.
pub(crate) const GENTLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Opens a regular file; links are followed.
pub fn open(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// The file, and how many bytes it says it has.
fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    check(path.metadata()?.mode())?;
    let file = gently(path)?;
    let metadata = file.metadata()?;
    check(metadata.mode())?;
    Ok((file, metadata.len()))
}

/// The same for a file that was named on the command line: it may also be a descriptor that opal was
/// started with, as in `--env-file <(decrypt .env)`, or `/dev/null` for none.
pub fn open_given(path: &Path) -> io::Result<File> {
    if path == Path::new("/dev/null") {
        return File::open(path);
    }
    if !is_descriptor(path) {
        return open(path);
    }
    let file = gently(path)?;
    let metadata = file.metadata()?;
    if FileType::from_raw_mode(metadata.mode()) != FileType::Fifo {
        check(metadata.mode())?;
    }
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// What a step reads or writes: a regular file or a device, such as `/dev/null`. The descriptor does
/// not wait; a file does not care.
pub fn open_or_device(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    if let Ok(found) = path.metadata() {
        check_or_device(found.mode())?;
    }
    let file = how.custom_flags(GENTLY.bits().cast_signed()).open(path)?;
    check_or_device(file.metadata()?.mode())?;
    Ok(file)
}

/// Refuses what is neither a regular file nor a device.
pub fn check_or_device(mode: u32) -> io::Result<()> {
    match FileType::from_raw_mode(mode) {
        FileType::CharacterDevice | FileType::BlockDevice => Ok(()),
        _ => check(mode),
    }
}

/// A regular file as text, at most `limit` bytes of it; one that is longer is an error.
pub fn read_to_string(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read_start(path, limit)?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge { limit }.into());
    }
    let what = "stream did not contain valid UTF-8";
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, what))
}

/// The first `limit` bytes of a regular file, and one more where it is longer.
pub fn read_start(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_sized(path)?;
    // With room for all of it, and a byte to see that it ends, it is read at once.
    let mut bytes = Vec::with_capacity(size.min(limit) as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether it failed because it is not a regular file.
#[must_use]
pub fn is_irregular(error: &io::Error) -> bool {
    irregular(error).is_some()
}

/// What it is, where it failed because it is not a regular file.
#[must_use]
pub fn irregular(error: &io::Error) -> Option<&'static str> {
    match error.get_ref()?.downcast_ref()? {
        FileError::NotRegular { what } => Some(what),
        _ => None,
    }
}

fn gently(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(GENTLY.bits().cast_signed()).open(path)
}

pub(crate) fn check(mode: u32) -> io::Result<()> {
    let what = match FileType::from_raw_mode(mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        other => kind(other),
    };
    Err(FileError::NotRegular { what }.into())
}

/// What people call a kind of file.
#[must_use]
pub const fn kind(found: FileType) -> &'static str {
    match found {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symlink",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// `/dev/stdin`, `/dev/fd/3`, `/proc/self/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    let is_number = |name: &str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    path == Path::new("/dev/stdin")
        || ["/dev/fd", "/proc/self/fd"].iter().any(|folder| {
            path.strip_prefix(folder).is_ok_and(|name| name.to_str().is_some_and(is_number))
        })
}
