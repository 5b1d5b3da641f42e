//! The archive of a package, `plugin.tar.gz`: the same package, the same bytes.
//!
//! ```text
//! Package ──tar──▶ blocks of 512 bytes ──gzip──▶ plugin.tar.gz
//! ```
//!
//! Every tool that knows tar reads it. What opal reads must be what it would write itself, byte for byte
//! before compression, so nothing can hide in a header, in a name or after the end. The rules of paths,
//! modes, sizes and counts are those of [`Package`].

use std::error::Error;
use std::fmt;
use std::io::{Read as _, Write as _};

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use opal_plugins::error::PackageError;
use opal_plugins::package::{MAX_BYTES, MAX_FILES, Mode, Package};
use tar::EntryType;

const BLOCK: u64 = 512;

/// Bytes of an archive without compression: for each file at most a header, a long name with its header,
/// and padding.
const MAX_UNPACKED: u64 = MAX_BYTES + MAX_FILES as u64 * 5 * BLOCK + 32 * 1024;

/// Bytes of an archive. Compression never makes a package much larger.
pub const MAX_PACKED: u64 = MAX_UNPACKED + (1 << 20);

/// Why bytes are not the archive of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveError {
    /// More than a package can have, compressed or not.
    TooLarge,
    /// Not one whole gzip member.
    Gzip(&'static str),
    /// Not a tar file at all.
    Tar,
    /// A tar file, and not as opal writes it.
    Foreign,
    /// A link, a device, a directory: the name as the archive has it.
    Irregular {
        name: String,
        kind: &'static str,
    },
    Package(PackageError),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the archive is larger than a package can be"),
            Self::Gzip(why) => write!(f, "the archive is not one whole gzip file: {why}"),
            Self::Tar => f.write_str("the archive is not a tar file, or it is damaged"),
            Self::Foreign => f.write_str(
                "the archive is not what `opal plugin pack` writes: headers, order or padding differ",
            ),
            Self::Irregular { name, kind } => {
                write!(f, "the archive contains {kind}, {name:?}: only regular files are allowed")
            }
            Self::Package(error) => error.fmt(f),
        }
    }
}

impl Error for ArchiveError {}

impl From<PackageError> for ArchiveError {
    fn from(error: PackageError) -> Self {
        Self::Package(error)
    }
}

/// The archive of a package.
#[must_use]
pub fn write(package: &Package) -> Vec<u8> {
    compress(&tar_of(package))
}

/// The package in an archive.
///
/// # Errors
/// Whatever is not as [`write`] writes it.
pub fn read(bytes: &[u8]) -> Result<Package, ArchiveError> {
    if bytes.len() as u64 > MAX_PACKED {
        return Err(ArchiveError::TooLarge);
    }
    package_of(&decompress(bytes)?)
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    // An unknown system, no name and no time.
    let gzip = GzBuilder::new().mtime(0).operating_system(255);
    let mut out = gzip.write(Vec::new(), Compression::best());
    let written = out.write_all(bytes).and_then(|()| out.finish());
    written.expect("memory takes all bytes")
}

/// The bytes of one gzip member, and nothing after it.
fn decompress(bytes: &[u8]) -> Result<Vec<u8>, ArchiveError> {
    let mut member = GzDecoder::new(bytes);
    let mut out = Vec::new();
    let read = (&mut member).take(MAX_UNPACKED + 1).read_to_end(&mut out);
    if out.len() as u64 > MAX_UNPACKED {
        return Err(ArchiveError::TooLarge);
    }
    read.map_err(|_| ArchiveError::Gzip("it has another format, or it is damaged or cut off"))?;
    match member.into_inner().is_empty() {
        true => Ok(out),
        false => Err(ArchiveError::Gzip("something follows its end")),
    }
}

fn tar_of(package: &Package) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (path, mode, bytes) in package.files() {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if mode == Mode::Executable { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(bytes.len() as u64);
        let added = out.append_data(&mut header, path.as_str(), bytes);
        added.expect("memory takes all bytes, and the paths of a package are plain");
    }
    out.into_inner().expect("memory takes all bytes")
}

fn package_of(bytes: &[u8]) -> Result<Package, ArchiveError> {
    let mut package = Package::default();
    let mut archive = tar::Archive::new(bytes);
    for entry in archive.entries().map_err(|_| ArchiveError::Tar)? {
        let mut entry = entry.map_err(|_| ArchiveError::Tar)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if let Some(kind) = irregular(entry.header().entry_type()) {
            return Err(ArchiveError::Irregular { name, kind });
        }
        let mode = match entry.header().mode() {
            Ok(0o755) => Mode::Executable,
            Ok(0o644) => Mode::Plain,
            _ => return Err(ArchiveError::Foreign),
        };
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|_| ArchiveError::Tar)?;
        package.add(name.parse()?, mode, content)?;
    }
    match tar_of(&package) == bytes {
        true => Ok(package),
        false => Err(ArchiveError::Foreign),
    }
}

fn irregular(kind: EntryType) -> Option<&'static str> {
    Some(match kind {
        EntryType::Regular => return None,
        EntryType::Link => "a hard link",
        EntryType::Symlink => "a symlink",
        EntryType::Char | EntryType::Block => "a device",
        EntryType::Directory => "a directory",
        EntryType::Fifo => "a pipe",
        _ => "an unknown kind of entry",
    })
}

#[cfg(test)]
mod tests;
