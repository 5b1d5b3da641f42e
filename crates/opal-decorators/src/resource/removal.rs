//! What must not go with a directory: what others have mounted there, and the directory that opal
//! runs in.
//!
//! The system is asked for all its mounts, which takes one file and no walk. Where it does not tell,
//! what removes still sees them, and removes nothing then.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use opal_core::resolver::{Links, Probe, Trouble, TroubleKind};

use super::{content, links};

const MOUNTS: &str = "/proc/self/mountinfo";

/// Fails where a directory, or anything else that is not a link, cannot go with all that is in it.
pub(super) fn demand_removable(path: &Path, probe: &dyn Probe) -> Result<(), Trouble> {
    let real = links::resolved(path, probe)?;
    if links::resolved(&probe.place(".")?, probe)?.starts_with(&real) {
        return Err(Trouble::new(
            TroubleKind::Invalid,
            format!(
                "`{}` cannot be removed: it contains the directory that opal runs in",
                path.display()
            ),
            "name its content instead, or run from another directory",
        ));
    }
    match mounts(probe)?.into_iter().find(|mount| mount.starts_with(&real)) {
        None => Ok(()),
        Some(mount) => Err(Trouble::new(
            TroubleKind::Denied,
            format!(
                "`{}` cannot be removed: a file system is mounted at `{}`",
                path.display(),
                mount.display()
            ),
            "unmount it first; `findmnt` lists mounts",
        )),
    }
}

/// Where file systems are mounted; none where the system does not tell.
fn mounts(probe: &dyn Probe) -> Result<Vec<PathBuf>, Trouble> {
    match content::read(probe, Path::new(MOUNTS), Links::Followed) {
        Ok(text) => Ok(text.split(|byte| *byte == b'\n').filter_map(mount).collect()),
        Err(trouble) if trouble.kind == TroubleKind::TimedOut => Err(trouble),
        Err(_) => Ok(Vec::new()),
    }
}

/// `36 35 98:0 /root /mnt/a\040b rw,noatime …`: the fifth.
fn mount(line: &[u8]) -> Option<PathBuf> {
    let place = line.split(|byte| *byte == b' ').nth(4)?;
    let mut bytes = Vec::with_capacity(place.len());
    let mut rest = place;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use opal_testing::MemoryWorld;

    const LINES: &str = "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n\
                         36 22 8:1 /store /srv/old\\040one/data rw shared:1 - ext4 /dev/sda1 rw\n\
                         odd\n";

    fn world() -> MemoryWorld {
        MemoryWorld::default()
            .file(MOUNTS, LINES)
            .directory("/srv/old one/data")
            .directory("/srv/old one/other")
            .link("/way", "/srv")
    }

    #[test]
    fn what_holds_a_mount_cannot_go() {
        for path in ["/srv", "/srv/old one", "/srv/old one/data", "/way/old one"] {
            let trouble = demand_removable(Path::new(path), &world()).unwrap_err();
            assert!(trouble.message.contains("mounted at `/srv/old one/data`"), "{trouble:?}");
        }
        for path in ["/srv/old one/other", "/srv/old one/data/below", "/srv/old"] {
            demand_removable(Path::new(path), &world()).unwrap();
        }
        demand_removable(Path::new("/srv"), &MemoryWorld::default().directory("/srv")).unwrap();
    }

    #[test]
    fn the_directory_that_paths_begin_in_stays_with_those_above_it() {
        let world = MemoryWorld::default();
        let base = world.place(".").unwrap();
        for path in base.ancestors() {
            let trouble = demand_removable(path, &world).unwrap_err();
            assert!(
                trouble.message.contains("it contains the directory that opal runs in"),
                "{trouble:?}"
            );
        }
        demand_removable(&base.join("below"), &world).unwrap();
    }

    #[test]
    fn a_place_is_read_as_the_system_writes_it() {
        let place = |text: &str| mount(format!("1 2 3:4 / {text} rw").as_bytes()).unwrap();
        assert_eq!(place("/a\\134b\\012c"), Path::new("/a\\b\nc"));
        assert_eq!(place("/a\\9x"), Path::new("/a\\9x"));
        assert_eq!(place("/a\\377").as_os_str(), OsStr::from_bytes(b"/a\xff"));
        assert_eq!(mount(b"too short"), None);
    }
}
