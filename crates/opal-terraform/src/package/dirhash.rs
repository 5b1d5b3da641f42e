//! `h1:`, the digest of a directory: SHA-256 of the sorted lines `DIGEST  NAME`, in base64.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base64ct::{Base64, Encoding as _};
use sha2::{Digest as _, Sha256};

use super::hex;

/// Files of a package, at most, and all of their bytes.
pub const MAX_FILES: usize = 10_000;
pub const MAX_BYTES: u64 = 1 << 30;

/// The digest of files whose digests are known.
#[must_use]
pub fn h1(files: &BTreeMap<String, [u8; 32]>) -> String {
    let mut all = Sha256::new();
    for (name, digest) in files {
        all.update(format!("{}  {name}\n", hex(digest)));
    }
    format!("h1:{}", Base64::encode_string(&all.finalize()))
}

/// The digest of a directory. Anything but a regular file or a directory in it is an error.
pub fn of_directory(directory: &Path) -> io::Result<String> {
    let mut files = BTreeMap::new();
    let mut left = MAX_BYTES;
    walk(directory, "", &mut files, &mut left)?;
    Ok(h1(&files))
}

fn walk(
    directory: &Path,
    below: &str,
    files: &mut BTreeMap<String, [u8; 32]>,
    left: &mut u64,
) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name().into_string();
        let name = name.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
        if name.contains('\n') {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let name = format!("{below}{name}");
        if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), files, left)?;
        } else if kind.is_file() && files.len() < MAX_FILES {
            let (digest, bytes) = of_file(&open(&entry.path())?, *left)?;
            *left -= bytes;
            files.insert(name, digest);
        } else {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(())
}

/// Opens a file for reading, if it is not a symlink.
pub fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// SHA-256 of a file from where it is read, and the number of its bytes, which has a limit.
pub fn of_file(mut file: &File, most: u64) -> io::Result<([u8; 32], u64)> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((digest.finalize().into(), bytes));
        }
        bytes += read as u64;
        if bytes > most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        digest.update(&buffer[..read]);
    }
}
