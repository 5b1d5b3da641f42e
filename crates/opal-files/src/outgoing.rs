//! Opening what somebody named as the place to write to: a file, a device, or a pipe.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::error::FileError;

/// A new file, or what is there where it is not a regular file: a rename or a second file would put
/// something else in its place.
pub fn create(path: &Path) -> io::Result<File> {
    if is_special(path) { open_special(path) } else { File::create(path) }
}

/// Whether something is there that is neither a regular file nor a directory.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Opens a device or a named pipe. A pipe must have a reader: waiting for one would be waiting for
/// ever where none comes, and no signal would end it.
pub fn open_special(path: &Path) -> io::Result<File> {
    let waits_not = OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened =
        OpenOptions::new().write(true).custom_flags(waits_not.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) if is_pipe(path) => FileError::NoReader.into(),
        _ => error,
    })?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn pipe() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
        (folder, path)
    }

    #[test]
    fn nobody_waits_for_the_reader_of_a_pipe() {
        let (_folder, path) = pipe();
        assert_eq!(create(&path).unwrap_err().to_string(), "the named pipe has no reader");
    }

    #[test]
    fn a_pipe_with_a_reader_is_written_to_and_waits_where_it_is_full() {
        let (_folder, path) = pipe();
        let gently = OFlags::NONBLOCK.bits().cast_signed();
        let mut reader = OpenOptions::new().read(true).custom_flags(gently).open(&path).unwrap();
        let mut writer = create(&path).unwrap();
        let flags = rustix::fs::fcntl_getfl(&writer).unwrap();
        assert!(!flags.contains(OFlags::NONBLOCK));
        writer.write_all(b"text").unwrap();
        let mut read = [0; 4];
        reader.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"text");
        assert!(is_special(&path));
    }

    #[test]
    fn files_are_emptied_devices_stay_and_a_directory_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["a long text", "text"] {
            create(&path).unwrap().write_all(text.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        create(Path::new("/dev/null")).unwrap().write_all(b"x").unwrap();
        assert!(is_special(Path::new("/dev/null")));
        assert!(!is_special(&path) && !is_special(folder.path()));
        assert!(create(folder.path()).is_err());
    }
}
