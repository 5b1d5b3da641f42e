//! Tar (POSIX ustar), with a pax header for a name that does not fit. Owner 0, time 0, files in the order of
//! their paths.

use opal_plugins::package::{Mode, Package};

use super::ArchiveError;

pub(super) const BLOCK: usize = 512;

const NAME: usize = 100;
const PREFIX: usize = 155;
/// The name that a pax header has itself; nobody reads it.
const PAX_NAME: &str = "pax";
/// Bytes of a pax header: a path and its key.
const MAX_PAX: usize = 512;

// Where a field of a header begins, and its length.
const AT_NAME: (usize, usize) = (0, NAME);
const AT_MODE: (usize, usize) = (100, 8);
const AT_UID: (usize, usize) = (108, 8);
const AT_GID: (usize, usize) = (116, 8);
const AT_SIZE: (usize, usize) = (124, 12);
const AT_TIME: (usize, usize) = (136, 12);
const AT_SUM: (usize, usize) = (148, 8);
const AT_KIND: usize = 156;
const AT_MAGIC: (usize, usize) = (257, 8);
const AT_PREFIX: (usize, usize) = (345, PREFIX);

const MAGIC: &[u8; 8] = b"ustar\x0000";
const FILE: u8 = b'0';
const PAX: u8 = b'x';

pub(super) fn write(package: &Package) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, mode, bytes) in package.files() {
        let path = path.as_str();
        let (prefix, name) = split(path).unwrap_or_else(|| {
            let record = pax_record(path);
            out.extend(header("", PAX_NAME, Mode::Plain, record.len(), PAX));
            padded(&mut out, record.as_bytes());
            // For tools that do not know pax.
            ("", &path[..NAME])
        });
        out.extend(header(prefix, name, mode, bytes.len(), FILE));
        padded(&mut out, bytes);
    }
    out.extend([0; 2 * BLOCK]);
    out
}

/// A path as its prefix and name, where it fits into both.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= NAME {
        return Some(("", path));
    }
    let parts = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
    parts.into_iter().find(|(prefix, name)| prefix.len() <= PREFIX && name.len() <= NAME)
}

/// `LENGTH path=PATH`, where the length counts itself.
fn pax_record(path: &str) -> String {
    let rest = format!(" path={path}\n");
    let digits = if rest.len() + 2 < 100 { 2 } else { 3 };
    format!("{}{rest}", rest.len() + digits)
}

fn header(prefix: &str, name: &str, mode: Mode, size: usize, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |(at, _): (usize, usize), text: &[u8]| {
        block[at..at + text.len()].copy_from_slice(text);
    };
    put(AT_NAME, name.as_bytes());
    put(AT_MODE, format!("0000{}\0", mode.text()).as_bytes());
    put(AT_UID, b"0000000\0");
    put(AT_GID, b"0000000\0");
    put(AT_SIZE, format!("{size:011o}\0").as_bytes());
    put(AT_TIME, b"00000000000\0");
    put(AT_MAGIC, MAGIC);
    put(AT_PREFIX, prefix.as_bytes());
    put((AT_KIND, 1), &[kind]);
    let sum = sum(&block);
    let (at, _) = AT_SUM;
    block[at..at + 8].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// The sum of a header, in which its own field counts as spaces.
fn sum(block: &[u8]) -> u32 {
    let (at, length) = AT_SUM;
    let own = at..at + length;
    let value = |(index, byte): (usize, &u8)| match own.contains(&index) {
        true => u32::from(b' '),
        false => u32::from(*byte),
    };
    block.iter().enumerate().map(value).sum()
}

fn padded(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}

pub(super) fn read(bytes: &[u8]) -> Result<Package, ArchiveError> {
    let mut package = Package::default();
    let mut blocks = Blocks { rest: bytes };
    while let Some(header) = blocks.header()? {
        let (header, path) = match header.kind {
            PAX => {
                let path = pax_path(blocks.content(header.size, MAX_PAX)?)?;
                let next = blocks.header()?.ok_or(ArchiveError::Tar("a long name has no file"))?;
                (next, path)
            }
            _ => {
                let path = header.path()?;
                (header, path)
            }
        };
        if let Some(kind) = irregular(header.kind) {
            return Err(ArchiveError::Irregular { name: path, kind });
        }
        // The path first: a name that is not allowed is the better message.
        let path = path.parse()?;
        let content = blocks.content(header.size, usize::MAX)?;
        package.add(path, header.mode()?, content.to_vec())?;
    }
    Ok(package)
}

fn irregular(kind: u8) -> Option<&'static str> {
    Some(match kind {
        FILE => return None,
        b'1' => "a hard link",
        b'2' => "a symlink",
        b'3' | b'4' => "a device",
        b'5' => "a directory",
        b'6' => "a pipe",
        _ => "an unknown kind of entry",
    })
}

/// The path in a pax header, which says nothing else.
fn pax_path(record: &[u8]) -> Result<String, ArchiveError> {
    let path = std::str::from_utf8(record).ok().and_then(|text| {
        let (_, path) = text.strip_suffix('\n')?.split_once(" path=")?;
        (pax_record(path) == text && split(path).is_none()).then(|| path.to_owned())
    });
    path.ok_or(ArchiveError::Tar("a long name is not written as one"))
}

struct Blocks<'a> {
    rest: &'a [u8],
}

struct Header<'a> {
    block: &'a [u8],
    kind: u8,
    size: usize,
}

impl<'a> Blocks<'a> {
    /// The next header; none at the end, after which there is nothing but zeros.
    fn header(&mut self) -> Result<Option<Header<'a>>, ArchiveError> {
        let wrong = |why| Err(ArchiveError::Tar(why));
        let Some((block, rest)) = self.rest.split_at_checked(BLOCK) else {
            return wrong("it is cut off");
        };
        if block.iter().all(|byte| *byte == 0) {
            return match rest.len() >= BLOCK && rest.iter().all(|byte| *byte == 0) {
                true => Ok(None),
                false => wrong("data follows its end"),
            };
        }
        self.rest = rest;
        if field(block, AT_MAGIC) != MAGIC {
            return wrong("an entry is not in the ustar format");
        }
        // Six digits, a zero byte and a space.
        if octal(&field(block, AT_SUM)[..7]) != Some(u64::from(sum(block))) {
            return wrong("the sum of an entry is wrong");
        }
        let size = octal(field(block, AT_SIZE)).and_then(|size| usize::try_from(size).ok());
        let Some(size) = size else { return wrong("a size is not a number") };
        Ok(Some(Header { block, kind: block[AT_KIND], size }))
    }

    fn content(&mut self, size: usize, most: usize) -> Result<&'a [u8], ArchiveError> {
        let padded = size.checked_next_multiple_of(BLOCK).filter(|_| size <= most);
        let found = padded.and_then(|padded| self.rest.split_at_checked(padded));
        let (content, rest) = found.ok_or(ArchiveError::Tar("it is cut off"))?;
        self.rest = rest;
        let (content, padding) = content.split_at(size);
        match padding.iter().all(|byte| *byte == 0) {
            true => Ok(content),
            false => Err(ArchiveError::Tar("data is hidden after a file")),
        }
    }
}

impl Header<'_> {
    fn path(&self) -> Result<String, ArchiveError> {
        let text = |at| {
            let bytes = field(self.block, at);
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            let (text, rest) = bytes.split_at(end);
            let is_clean = rest.iter().all(|byte| *byte == 0);
            let text = is_clean.then(|| String::from_utf8_lossy(text).into_owned());
            text.ok_or(ArchiveError::Tar("data is hidden after a name"))
        };
        let (prefix, name) = (text(AT_PREFIX)?, text(AT_NAME)?);
        Ok(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
    }

    fn mode(&self) -> Result<Mode, ArchiveError> {
        match octal(field(self.block, AT_MODE)) {
            Some(0o644) => Ok(Mode::Plain),
            Some(0o755) => Ok(Mode::Executable),
            _ => Err(ArchiveError::Tar("a mode is neither 644 nor 755")),
        }
    }
}

fn field(block: &[u8], (at, length): (usize, usize)) -> &[u8] {
    &block[at..at + length]
}

/// Octal digits up to a zero byte.
fn octal(field: &[u8]) -> Option<u64> {
    let digits = field.strip_suffix(b"\0")?;
    if digits.is_empty() || !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}
