//! Texts that programs read from a file, such as scripts, and directories for files that are sent.

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_core::action::TextFile;
use opal_core::resolver::Trouble;
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::error::SessionError;

/// Where there is no other place for it.
const USUAL: &str = "/tmp";

/// Nobody but this user reads it.
const PRIVATE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

#[derive(Debug)]
struct Temporary {
    /// Removes it in the end.
    _file: NamedTempFile,
    path: String,
}

#[derive(Debug)]
struct Folder {
    /// Removes it in the end, with all that is in it.
    _folder: TempDir,
    path: String,
}

impl TextFile for Folder {
    fn path(&self) -> &str {
        &self.path
    }
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
    let made = write(directory(wanted), text, extension);
    made.map_err(|error| SessionError::NoTextFile(error.kind()).into())
}

fn directory(wanted: Option<&OsStr>) -> &Path {
    let wanted = wanted.and_then(OsStr::to_str).filter(|path| Path::new(path).is_absolute());
    Path::new(wanted.unwrap_or(USUAL))
}

/// A directory in the directory that `$TMPDIR` names.
pub(super) fn folder(wanted: Option<&OsStr>) -> Result<Box<dyn TextFile>, Trouble> {
    let made = Builder::new()
        .prefix("opal-")
        .permissions(Permissions::from_mode(PRIVATE_FOLDER))
        .tempdir_in(directory(wanted))
        .and_then(|folder| {
            let path = folder.path().to_str().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
            Ok(Folder { _folder: folder, path })
        });
    made.map(|folder| Box::new(folder) as Box<dyn TextFile>)
        .map_err(|error| SessionError::NoTextFile(error.kind()).into())
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
    fn only_this_user_enters_a_folder_and_it_goes_with_all_that_is_in_it() {
        let outer = tempfile::tempdir().unwrap();
        let made = folder(Some(outer.path().as_os_str())).unwrap();
        let path = Path::new(made.path()).to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, PRIVATE_FOLDER);
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        drop(made);
        assert!(!path.exists());
    }

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
