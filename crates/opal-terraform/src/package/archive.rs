//! An archive of a provider, unpacked into a directory of the cache: regular files, within limits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use zip::{CompressionMethod, ZipArchive};

use super::Rejected;
use super::dirhash::{self, MAX_BYTES, MAX_FILES};

/// The file type in the mode of an entry, and the types that may be there.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

/// What was unpacked.
#[derive(Clone, Debug)]
pub struct Unpacked {
    /// The digest of its files.
    pub h1: String,
    /// The file that is the provider, in the directory.
    pub program: String,
}

/// SHA-256 of an archive. It is read from its start.
pub fn digest(archive: &File) -> Result<[u8; 32], Rejected> {
    let failed = |error: io::Error| Rejected::failed("the archive", &error);
    let mut from = archive;
    from.seek(SeekFrom::Start(0)).map_err(failed)?;
    dirhash::of_file(archive, MAX_BYTES).map(|(digest, _)| digest).map_err(failed)
}

/// Unpacks an archive into a directory that does not exist yet. If it is refused, nothing stays.
pub fn unpack(archive: File, into: &Path, program: &str) -> Result<Unpacked, Rejected> {
    unpack_within(archive, into, program, MAX_BYTES)
}

/// The same with another limit of bytes.
pub fn unpack_within(
    archive: File,
    into: &Path,
    program: &str,
    most: u64,
) -> Result<Unpacked, Rejected> {
    let made = Made::new(into)?;
    let mut zip = ZipArchive::new(archive).map_err(|_| broken())?;
    if zip.len() > MAX_FILES {
        return Err(refused("has too many files"));
    }
    if zip.has_overlapping_entries().map_err(|_| broken())? {
        return Err(refused("has files that share bytes"));
    }
    let mut files = Files { left: most, ..Files::new(into, program) };
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(|_| broken())?;
        let name = entry.name().map_err(|_| broken())?.into_owned();
        let kind = entry.unix_mode().unwrap_or(REGULAR) & TYPE;
        let is_directory = name.ends_with('/');
        let fits = match kind {
            0 | REGULAR => !is_directory || entry.size() == 0,
            DIRECTORY => is_directory && entry.size() == 0,
            _ => false,
        };
        if !fits || entry.is_symlink() || entry.encrypted() {
            return Err(refused("contains something that is not a regular file"));
        }
        if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(refused("is compressed in an unknown way"));
        }
        if !is_directory {
            files.add(&name, &mut entry)?;
        }
    }
    let unpacked = files.finish()?;
    made.keep();
    Ok(unpacked)
}

/// Copies the files of a directory, in the same way.
pub fn copy(from: &Path, into: &Path, program: &str) -> Result<Unpacked, Rejected> {
    let made = Made::new(into)?;
    let mut files = Files::new(into, program);
    copy_below(from, "", &mut files)?;
    let unpacked = files.finish()?;
    made.keep();
    Ok(unpacked)
}

fn copy_below(from: &Path, below: &str, files: &mut Files<'_>) -> Result<(), Rejected> {
    let failed = |error: io::Error| Rejected::failed("the directory of the mirror", &error);
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name().into_string().map_err(|_| refused("has an invalid name"))?;
        let name = format!("{below}{name}");
        if kind.is_dir() {
            if below.matches('/').count() > 16 {
                return Err(refused("is nested too deeply"));
            }
            copy_below(&entry.path(), &format!("{name}/"), files)?;
        } else if kind.is_file() {
            let mut file = dirhash::open(&entry.path()).map_err(failed)?;
            files.add(&name, &mut file)?;
        } else {
            return Err(refused("contains something that is not a regular file"));
        }
    }
    Ok(())
}

fn broken() -> Rejected {
    refused("is damaged or not a zip file")
}

fn refused(why: &str) -> Rejected {
    Rejected::untrusted(format!("its archive {why}"))
}

/// A directory that is removed unless it is kept.
struct Made(Option<PathBuf>);

impl Made {
    fn new(path: &Path) -> Result<Self, Rejected> {
        let made = std::fs::DirBuilder::new().mode(0o700).create(path);
        made.map_err(|error| Rejected::failed(&format!("`{}`", path.display()), &error))?;
        Ok(Self(Some(path.to_owned())))
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Files on their way into the directory.
struct Files<'a> {
    into: &'a Path,
    program: &'a str,
    digests: BTreeMap<String, [u8; 32]>,
    /// Names without regard to case: some file systems do not tell them apart.
    names: BTreeSet<String>,
    left: u64,
}

impl<'a> Files<'a> {
    fn new(into: &'a Path, program: &'a str) -> Self {
        let (digests, names) = (BTreeMap::new(), BTreeSet::new());
        Self { into, program, digests, names, left: MAX_BYTES }
    }

    fn add(&mut self, name: &str, from: &mut impl Read) -> Result<(), Rejected> {
        if !is_inside(name) {
            return Err(refused("has a name that leads out of it"));
        }
        if self.digests.len() == MAX_FILES {
            return Err(refused("has too many files"));
        }
        if !self.names.insert(name.to_lowercase()) {
            return Err(refused("has a name twice"));
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => broken(),
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                refused("has a name twice")
            }
            _ => Rejected::failed("unpacking its archive", &error),
        };
        let path = self.into.join(name);
        if let Some(parent) = path.parent() {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent)
                .map_err(failed)?;
        }
        let mode = if self.is_program(name) { 0o555 } else { 0o444 };
        let options =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        let mut to = options.map_err(failed)?;
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 128 << 10];
        loop {
            let read = from.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                break;
            }
            self.left = self
                .left
                .checked_sub(read as u64)
                .ok_or_else(|| refused("has more than 1 GiB of files"))?;
            digest.update(&buffer[..read]);
            to.write_all(&buffer[..read]).map_err(failed)?;
        }
        self.digests.insert(name.to_owned(), digest.finalize().into());
        Ok(())
    }

    /// `terraform-provider-aws`, with anything after a `_`.
    fn is_program(&self, name: &str) -> bool {
        name.strip_prefix(self.program).is_some_and(|rest| {
            !rest.contains('/') && (rest.is_empty() || rest.starts_with(['_', '.']))
        })
    }

    fn finish(self) -> Result<Unpacked, Rejected> {
        let mut programs = self.digests.keys().filter(|name| self.is_program(name));
        let (Some(program), None) = (programs.next(), programs.next()) else {
            return Err(refused("does not have exactly one provider in it"));
        };
        Ok(Unpacked { h1: dirhash::h1(&self.digests), program: program.clone() })
    }
}

/// Whether a name stays in the directory, and is one line of plain characters.
fn is_inside(name: &str) -> bool {
    let part = |part: &str| !matches!(part, "" | "." | "..");
    name.len() <= 255
        && !name.chars().any(|c| c.is_control() || c == '\\')
        && name.split('/').all(part)
        && name.matches('/').count() <= 16
}
