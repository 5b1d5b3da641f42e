//! Files of the project that the commands write: whole, or not at all.

use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use opal_files::atomic::{self, Unfinished};
use rustix::io::Errno;

use crate::failure::Failure;

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

pub(super) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = (|| -> io::Result<()> {
        let usual = atomic::usual_mode(atomic::directory_of(path)?)?;
        let mut file = Unfinished::beside(path)?;
        file.write_all(bytes)?;
        file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
        file.replace(rustix::fs::CWD, path).map_err(Errno::into)
    })();
    written.map_err(|error| Failure::unwritable(&format!("`{}`", path.display()), &error))
}
