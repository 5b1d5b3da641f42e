//! What a file has besides mode and owner: access lists, labels, attributes of its users.

use std::fs::File;

use rustix::fs::{Mode, OFlags, XattrFlags};
use rustix::io::Errno;

use super::way::Way;

/// What holds for the content it was given to, and not for another.
const OF_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// Gives a new file what the one at the end of a way has.
pub(super) fn carry_over(way: &Way, to: &File) -> Result<(), Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let from = match rustix::fs::openat(&way.parent, &way.name, flags, Mode::empty()) {
        Ok(from) => File::from(from),
        // What may be replaced and not read keeps these to itself.
        Err(Errno::ACCESS) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (old, new) = (names(&from)?, names(to)?);
    for name in old.iter().filter(|name| !OF_CONTENT.contains(&name.as_slice())) {
        let value = read(
            |into| rustix::fs::fgetxattr(&from, name, into),
            || rustix::fs::fgetxattr_query(&from, name),
        )?;
        match rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty()) {
            // Labels are the system's to give.
            Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) if is_of_system(name) => {}
            // A backup may be on a disk without these notes, but not without an access list.
            Err(Errno::NOTSUP) if name.starts_with(b"user.") => {}
            set => set?,
        }
    }
    // A directory may hand on an access list of its own, which would open the file to others.
    for name in new.iter().filter(|name| name.starts_with(b"system.") && !old.contains(name)) {
        rustix::fs::fremovexattr(to, name)?;
    }
    Ok(())
}

fn is_of_system(name: &[u8]) -> bool {
    name.starts_with(b"security.") || name.starts_with(b"trusted.")
}

fn names(file: &File) -> Result<Vec<Vec<u8>>, Errno> {
    let listed =
        read(|into| rustix::fs::flistxattr(file, into), || rustix::fs::flistxattr_query(file));
    match listed {
        Ok(bytes) => {
            Ok(bytes.split(|byte| *byte == 0).filter(|it| !it.is_empty()).map(Vec::from).collect())
        }
        // A file system without any.
        Err(Errno::NOTSUP | Errno::NOSYS) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn read(
    get: impl Fn(&mut [u8]) -> Result<usize, Errno>,
    length: impl Fn() -> Result<usize, Errno>,
) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; length()?];
    let filled = get(&mut bytes)?;
    bytes.truncate(filled);
    Ok(bytes)
}
