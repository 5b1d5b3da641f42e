//! Directories that a provider is not to see: empty ones cover them, in a view of the files that only this
//! process and its children have.
//!
//! Where the system does not allow that, a provider sees them: it is code of the user.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// The word that only tries it: the exit code says whether it works here.
pub const WORD: &str = "cover";

/// Covers what exists of these.
pub fn cover(directories: &[PathBuf]) -> io::Result<()> {
    let directories: Vec<&PathBuf> = directories.iter().filter(|it| it.is_dir()).collect();
    if directories.is_empty() {
        return Ok(());
    }
    own_view()?;
    for directory in directories {
        let flags =
            MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("none", directory.as_path(), "tmpfs", flags, Some(c"mode=0500,size=4k"))?;
    }
    Ok(())
}

/// Whether it works on this machine.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "it ends at once")]
pub fn works(launcher: &Path) -> bool {
    let tried = Command::new(launcher)
        .arg(WORD)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// In a process of its own.
pub fn try_it() -> io::Result<()> {
    let directory = std::env::temp_dir();
    cover(&[directory])
}

/// Mounts from now on are only for this process. Whoever is not root has to be root in a namespace of
/// users first, for this one thing: the next program is not.
fn own_view() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    match user.is_root() {
        true => unshare(UnshareFlags::NEWNS)?,
        false => {
            unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
            std::fs::write("/proc/self/setgroups", "deny")?;
            let (user, group) = (user.as_raw(), group.as_raw());
            std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        }
    }
    // What is mounted here stays here; what is mounted elsewhere is seen.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    Ok(())
}

#[expect(unsafe_code, reason = "a system call that could separate tables of descriptors")]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: descriptors stay shared: `FILES` is not among the flags.
    Ok(unsafe { unshare_unsafe(flags) }?)
}
