//! Files, by the paths that sources write.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use opal_core::resolver::{Trouble, TroubleKind};
use rustix::fs::OFlags;

/// Opens a regular file, with the name that messages have for it. Anything else could block for
/// ever, never end, or do something when it is opened: a pipe, `/dev/zero`, a watchdog device.
pub(super) fn open(place: &Path, path: &str) -> Result<File, Trouble> {
    let failed = |error: io::Error| trouble(path, &error);
    regular(path, &fs::metadata(place).map_err(failed)?)?;
    // Between the two looks another process may have put a pipe there.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(place);
    let file = file.map_err(failed)?;
    regular(path, &file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// A path as it is written, whole.
pub(super) fn place(base: &Path, home: Option<&Path>, path: &str) -> Result<PathBuf, Trouble> {
    let rest = match path {
        "~" => Some(""),
        _ => path.strip_prefix("~/"),
    };
    let Some(rest) = rest else { return Ok(base.join(path)) };
    let home = home.ok_or_else(|| {
        Trouble::new(
            TroubleKind::Missing,
            format!("`{path}` cannot be found, since there is no home directory"),
            "set `HOME`, or write the whole path",
        )
    })?;
    Ok(home.join(rest.trim_start_matches('/')))
}

fn regular(path: &str, metadata: &Metadata) -> Result<(), Trouble> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let what = match () {
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(Trouble::new(
        TroubleKind::Invalid,
        format!("`{path}` is {what} and not a file"),
        "name a file; what a program gives is read with `@shell.output(…)`",
    ))
}

fn trouble(path: &str, error: &io::Error) -> Trouble {
    use io::ErrorKind as Kind;
    let (kind, message, help) = match error.kind() {
        Kind::NotFound | Kind::NotADirectory => (
            TroubleKind::Missing,
            format!("there is no file `{path}`"),
            "check the path: a relative one begins in the directory where the steps start",
        ),
        Kind::PermissionDenied => (
            TroubleKind::Denied,
            format!("the file `{path}` may not be read"),
            "let this user read it, or run as one who may",
        ),
        Kind::InvalidInput => (
            TroubleKind::Invalid,
            "a path with a NUL character names no file".to_owned(),
            "leave the NUL out",
        ),
        other => (
            TroubleKind::Failed,
            format!("the file `{path}` cannot be opened: {other}"),
            "try it by hand, with `cat`",
        ),
    };
    Trouble::new(kind, message, help)
}
