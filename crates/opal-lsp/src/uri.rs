//! Names of documents: paths for `file:`, and whatever a client calls a document without a file.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

/// The path that a `file:` address names; none for other documents.
#[must_use]
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_ref().strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (left.next()?, left.next()?);
        bytes.push(digit(high)? << 4 | digit(low)?);
    }
    let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    (!path.as_os_str().as_bytes().contains(&0)).then_some(path)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// The address of a file.
#[must_use]
pub(crate) fn of(path: &Path) -> Uri {
    let mut out = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_its_address() {
        for name in ["/a/b.opl", "/with space/ü%41#?.opl"] {
            assert_eq!(path(&of(Path::new(name))).as_deref(), Some(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn what_is_no_file_has_no_path() {
        for name in ["untitled:Untitled-1", "file://host/share", "file://", "file:///%G0", "x"] {
            assert_eq!(path(&Uri::from(name)), None, "{name}");
        }
        assert_eq!(path(&Uri::from("file:///a%20b")), Some(PathBuf::from("/a b")));
    }
}
