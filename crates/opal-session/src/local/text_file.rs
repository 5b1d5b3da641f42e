//! Texts that programs read from a file: scripts.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::action::TextFile;
use opal_core::resolver::Trouble;
use tempfile::{Builder, NamedTempFile};

use crate::error::SessionError;

/// Where there is no other place for it.
const USUAL: &str = "/tmp";

/// Nobody but this user reads it.
const PRIVATE: u32 = 0o600;

#[derive(Debug)]
struct Temporary {
    /// Removes it in the end.
    _file: NamedTempFile,
    path: String,
}

impl TextFile for Temporary {
    fn path(&self) -> &str {
        &self.path
    }
}

/// Makes it in the directory that `$TMPDIR` names.
pub(super) fn make(
    wanted: Option<&OsStr>,
    text: &str,
    extension: &str,
) -> Result<Box<dyn TextFile>, Trouble> {
    let wanted = wanted.and_then(OsStr::to_str).filter(|path| Path::new(path).is_absolute());
    let made = write(Path::new(wanted.unwrap_or(USUAL)), text, extension);
    made.map_err(|error| SessionError::NoTextFile(error.kind()).into())
}

fn write(directory: &Path, text: &str, extension: &str) -> io::Result<Box<dyn TextFile>> {
    let dot = if extension.is_empty() || extension.starts_with('.') { "" } else { "." };
    let mut file = Builder::new()
        .prefix("opal-")
        .suffix(&format!("{dot}{extension}"))
        .permissions(Permissions::from_mode(PRIVATE))
        .tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    let path = file.path().to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
    Ok(Box::new(Temporary { _file: file, path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_reads_it_and_it_is_gone_when_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = Some(folder.path().as_os_str());
        for (extension, ending) in [("py", ".py"), (".sh", ".sh"), ("", "")] {
            let file = make(wanted, "text", extension).unwrap();
            let path = Path::new(file.path()).to_owned();
            assert!(path.starts_with(folder.path()) && file.path().ends_with(ending));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, PRIVATE);
            drop(file);
            assert!(!path.exists());
        }
        let gone = folder.path().join("gone");
        let trouble = make(Some(gone.as_os_str()), "text", "").err().unwrap();
        assert!(trouble.message.to_string().contains("script"), "{trouble:?}");
        // A relative directory would be another one in every step.
        let file = make(Some(OsStr::new(".")), "text", "").unwrap();
        assert!(file.path().starts_with(USUAL));
    }
}
