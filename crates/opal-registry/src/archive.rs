//! The archive of a package, `plugin.tar.gz`: the same package, the same bytes.
//!
//! ```text
//! Package ──tar──▶ blocks of 512 bytes ──gzip──▶ plugin.tar.gz
//! ```
//!
//! Every tool that knows tar reads it. What opal reads must be as opal writes it: regular files only, in one
//! gzip member. The rules of paths, modes, sizes and counts are those of [`Package`].

mod gzip;
mod tar;

use std::error::Error;
use std::fmt;

use opal_plugins::error::PackageError;
use opal_plugins::package::{MAX_BYTES, MAX_FILES, Package};

/// Bytes of an archive without compression: for each file at most a header, a long name with its header,
/// and padding.
const MAX_UNPACKED: u64 = MAX_BYTES + MAX_FILES as u64 * 5 * tar::BLOCK as u64 + 32 * 1024;

/// Bytes of an archive. Compression never makes a package much larger.
pub const MAX_PACKED: u64 = MAX_UNPACKED + (1 << 20);

/// Why bytes are not the archive of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchiveError {
    /// More than a package can have, compressed or not.
    TooLarge,
    /// Not one whole gzip member.
    Gzip(&'static str),
    /// Not an archive as opal writes it.
    Tar(&'static str),
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
            Self::Tar(why) => write!(f, "the archive is not a valid tar file: {why}"),
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
    gzip::compress(&tar::write(package))
}

/// The package in an archive.
///
/// # Errors
/// Whatever is not as [`write`] writes it.
pub fn read(bytes: &[u8]) -> Result<Package, ArchiveError> {
    if bytes.len() as u64 > MAX_PACKED {
        return Err(ArchiveError::TooLarge);
    }
    tar::read(&gzip::decompress(bytes, MAX_UNPACKED)?)
}

#[cfg(test)]
mod tests;
