//! The archive of a contract's sources: the same files, the same bytes.
//!
//! | what | where |
//! |---|---|
//! | which files of a project are sent | [`listing`] |
//! | the files of a project, and the archive | [`gather`], [`write`] |
//! | reading one that somebody sent: regular files only, as opal writes them | [`read`] |
//! | writing them into a new directory | [`unpack`] |

mod listing;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use opal_core::message::Reason;
use opal_files::regular;
use opal_trust::order::is_path;
use tar::EntryType;

use listing::Listing;

/// Bytes of all files together, and files.
pub(crate) const MAX_BYTES: usize = 64 << 20;
pub(crate) const MAX_FILES: usize = 10_000;

/// Bytes of an archive, compressed or not: a header and padding for each file.
pub(crate) const MAX_PACKED: usize = MAX_BYTES + MAX_FILES * 4 * 512 + (1 << 20);

/// Names that are said of those that are left out.
const MAX_SHOWN: usize = 8;

/// 2 to this: bytes that a decompressor remembers.
const WINDOW: u32 = 27;

/// Files by their paths, each with whether it may be executed.
pub(crate) type Files = BTreeMap<String, (bool, Vec<u8>)>;

/// Why sources cannot be sent, or an archive is not taken.
#[derive(Debug)]
pub(crate) enum BundleError {
    /// The contract does not say where its source was.
    NoSource,
    Unreadable {
        path: PathBuf,
        why: std::io::ErrorKind,
    },
    /// What git says.
    Git(String),
    /// A link, a pipe or a device.
    Irregular(String),
    /// A name that not every system can have.
    Name(String),
    /// The source of the contract is not among the files that are sent.
    SourceLeftOut(String),
    TooLarge,
    TooMany,
    /// It is damaged, or not as opal writes it.
    Foreign,
}

/// The directory of a project and the source in it.
pub(crate) fn project(source: &Path) -> Result<(PathBuf, String), BundleError> {
    let above = || source.ancestors().skip(1);
    let has = |name: &'static str| above().find(|it| it.join(name).exists());
    let top = has("opal.mod").or_else(|| has(".git")).or_else(|| above().next());
    let top = top.ok_or(BundleError::NoSource)?;
    let inside = source.strip_prefix(top).ok().and_then(Path::to_str);
    let inside = inside.filter(|it| is_path(it));
    let inside = inside.ok_or_else(|| BundleError::Name(source.display().to_string()))?;
    Ok((top.to_owned(), inside.to_owned()))
}

/// The files of a project that are sent, and the names of others.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) files: Files,
    out: Vec<String>,
}

impl Gathered {
    /// What was left out; none where nothing was.
    pub(crate) fn left_out(&self) -> Option<String> {
        let shown: Vec<String> =
            self.out.iter().take(MAX_SHOWN).map(|it| format!("`{it}`")).collect();
        let more = match self.out.len().saturating_sub(MAX_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!shown.is_empty()).then(|| format!("not sent to the runners: {}{more}", shown.join(", ")))
    }
}

/// Reads the files of a project. `root` is the runtime root, which is never sent.
pub(crate) fn gather(top: &Path, root: &Path) -> Result<Gathered, BundleError> {
    let listing = Listing::of(top, root)?;
    let plain = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
    let mut out: Vec<String> = listing.out.iter().map(plain).collect();
    let names: BTreeSet<&Vec<u8>> = listing.tracked.iter().chain(&listing.others).collect();
    if names.len() > MAX_FILES {
        return Err(BundleError::TooMany);
    }
    let (mut files, mut total, mut lower) = (Files::new(), 0, BTreeSet::new());
    for bytes_of_name in names {
        let path = top.join(OsStr::from_bytes(bytes_of_name));
        let unreadable =
            |why: std::io::Error| BundleError::Unreadable { path: path.clone(), why: why.kind() };
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            // Removed, and git still knows it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(error)),
        };
        let name = plain(bytes_of_name);
        if !found.is_file() {
            return Err(BundleError::Irregular(name));
        }
        let mut bytes = Vec::new();
        let file = regular::open(&path).map_err(unreadable)?;
        file.take((MAX_BYTES + 1) as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        if !listing.tracked.contains(bytes_of_name) && listing::is_private_key(&bytes) {
            out.push(name);
            continue;
        }
        if !is_path(&name) || !lower.insert(name.to_ascii_lowercase()) {
            return Err(BundleError::Name(name));
        }
        total += bytes.len();
        if total > MAX_BYTES {
            return Err(BundleError::TooLarge);
        }
        files.insert(name, (found.permissions().mode() & 0o100 != 0, bytes));
    }
    out.sort_unstable();
    Ok(Gathered { files, out })
}

/// The archive of files.
pub(crate) fn write(files: &Files) -> Vec<u8> {
    zstd::encode_all(tar_of(files).as_slice(), 3).expect("memory takes all bytes")
}

fn tar_of(files: &Files) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (path, (is_program, bytes)) in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if *is_program { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(bytes.len() as u64);
        let added = out.append_data(&mut header, path, bytes.as_slice());
        added.expect("memory takes all bytes, and the paths of an archive are plain");
    }
    out.into_inner().expect("memory takes all bytes")
}

/// The files of an archive.
pub(crate) fn read(bytes: &[u8]) -> Result<Files, BundleError> {
    let mut decoder = zstd::Decoder::new(bytes).map_err(|_| BundleError::Foreign)?;
    decoder.window_log_max(WINDOW).map_err(|_| BundleError::Foreign)?;
    let mut unpacked = Vec::new();
    decoder
        .take((MAX_PACKED + 1) as u64)
        .read_to_end(&mut unpacked)
        .map_err(|_| BundleError::Foreign)?;
    if unpacked.len() > MAX_PACKED {
        return Err(BundleError::TooLarge);
    }
    let mut files = Files::new();
    let (mut total, mut lower) = (0, BTreeSet::new());
    let mut archive = tar::Archive::new(unpacked.as_slice());
    for entry in archive.entries().map_err(|_| BundleError::Foreign)? {
        let mut entry = entry.map_err(|_| BundleError::Foreign)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() != EntryType::Regular {
            return Err(BundleError::Irregular(name));
        }
        let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|_| BundleError::Foreign)?;
        total += content.len();
        if total > MAX_BYTES {
            return Err(BundleError::TooLarge);
        }
        if files.len() == MAX_FILES {
            return Err(BundleError::TooMany);
        }
        if !is_path(&name) || !lower.insert(name.to_ascii_lowercase()) {
            return Err(BundleError::Name(name));
        }
        files.insert(name, (is_program, content));
    }
    // Nothing hides in a header, in an order or after the end.
    match tar_of(&files) == unpacked {
        true => Ok(files),
        false => Err(BundleError::Foreign),
    }
}

/// Writes files into an empty directory that nobody else can write.
pub(crate) fn unpack(files: &Files, into: &Path) -> std::io::Result<()> {
    for (path, (is_program, bytes)) in files {
        let path = into.join(path);
        if let Some(folder) = path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mode = if *is_program { 0o700 } else { 0o600 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
        file.write_all(bytes)?;
    }
    Ok(())
}

impl BundleError {
    pub(crate) fn help(&self) -> String {
        match self {
            Self::NoSource => "make a contract of a source in a file",
            Self::Unreadable { .. } => "check its permissions",
            Self::Git(_) => "check the repository with `git status`",
            Self::Irregular(_) | Self::Name(_) => {
                "rename it or remove it, or list it in `.opalignore` if the tasks do not need it"
            }
            Self::SourceLeftOut(_) => "remove the rule that ignores it, from `.gitignore` or `.opalignore`",
            Self::TooLarge | Self::TooMany => {
                "list what the tasks do not need in `.opalignore`; a bundle has at most 64 MiB and 10,000 files"
            }
            Self::Foreign => "dispatch the contract again",
        }
        .to_owned()
    }
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSource => f.write_str("the contract does not say where its source is"),
            Self::Unreadable { path, why } => {
                write!(f, "`{}` cannot be read: {}", path.display(), Reason(*why))
            }
            Self::Git(why) => write!(f, "`git` does not list the files of the project: {why}"),
            Self::Irregular(name) => {
                write!(f, "`{name}` is not a regular file, and only those are sent to runners")
            }
            Self::Name(name) => write!(
                f,
                "`{name}` cannot be sent to runners: a path has letters, digits and `._+@-`, at most 255 bytes, \
                 and differs from others not only by case"
            ),
            Self::SourceLeftOut(name) => {
                write!(
                    f,
                    "`{name}`, the source of the contract, is not among the files that are sent"
                )
            }
            Self::TooLarge => f.write_str("the sources have more than 64 MiB"),
            Self::TooMany => f.write_str("the sources have more than 10,000 files"),
            Self::Foreign => {
                f.write_str("the archive of the sources is damaged, or opal did not write it")
            }
        }
    }
}

#[cfg(test)]
mod tests;
