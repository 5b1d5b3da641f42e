//! What the tools of a run have put out.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use opal_core::Secret;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::inputs::{self, Unread};
use crate::run::active::{Reported, ReportedOutputs, Run};

/// Outputs of tools are read up to here.
const MOST_BYTES: u64 = 8 << 20;

/// The outputs of a file. It is removed, whatever it is: some of it may be secret.
pub(super) fn read(run: &Run, file: Option<&String>) -> Reported {
    let Some(name) = file else { return Ok(Default::default()) };
    let path = run.stack().join(name);
    let read = match text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        read => read,
    };
    if let Err(error) = std::fs::remove_file(&path) {
        let what = format!("`{name}` may contain a secret, but cannot be removed: {error}");
        run.in_clear.stays(what);
    }
    parsed(run, name, read)
}

/// The outputs of a file that stays where it is.
pub(super) fn peek(run: &Run, file: Option<&String>) -> Reported {
    let Some(name) = file else { return Ok(Default::default()) };
    match text(&run.stack().join(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Default::default()),
        read => parsed(run, name, read),
    }
}

/// The text of a file that a tool leaves for the driver.
pub(super) fn report(run: &Run, file: Option<&String>) -> Result<Option<Secret>, String> {
    let Some(name) = file else { return Ok(None) };
    match text(&run.stack().join(name)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{name}` cannot be read: {error}")),
    }
}

fn parsed(run: &Run, name: &str, read: io::Result<Secret>) -> Reported {
    let text = read.map_err(|error| format!("`{name}` cannot be read: {error}"))?;
    if text.expose().trim().is_empty() {
        return Ok(Default::default());
    }
    let outputs = run.prepared.driver.outputs(text.expose())?;
    let lost = match inputs::json(text.expose()) {
        Err(Unread::Lossy(why)) => Some(why),
        Ok(_) | Err(Unread::NoJson) => None,
    };
    Ok(ReportedOutputs { outputs, lost })
}

/// A plain file: a link would name what the tools may not read, and nobody waits for a pipe.
fn text(path: &Path) -> io::Result<Secret> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other("it is a symlink"),
        _ => error,
    })?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(Secret::new(text))
}
