//! Directories, links, modes and owners.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::resolver::Trouble;
use rustix::fs::{AtFlags, CWD, Gid, Mode, RenameFlags, Uid};
use rustix::io::Errno;

use super::remove;
use super::way::{Beginning, Gaps, Way, entry};
use crate::error::{ChangeError, Obstacle, WayOut};
use opal_files::atomic;

const MADE: &str = "made";
const CHANGED: &str = "changed";

/// Of a directory that is to get a mode of its own, until it has it.
const PRIVATE: u32 = 0o700;

pub(super) fn make_directory(
    from: &Beginning,
    path: &Path,
    attributes: &Attributes,
) -> Result<(), Trouble> {
    if path.parent().is_none() {
        // It is always there.
        return Ok(());
    }
    let way = Way::to(from, path, MADE, Gaps::Make)?;
    let mode = if attributes.mode.is_some() { PRIVATE } else { 0o777 };
    let made = match rustix::fs::mkdirat(&way.parent, &way.name, Mode::from_raw_mode(mode)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => {
            way.undo();
            return Err(way.refused(error));
        }
    };
    let changed = change(&way, attributes, &[EntryKind::Directory]);
    if changed.is_err() && made {
        let _ = rustix::fs::unlinkat(&way.parent, &way.name, AtFlags::REMOVEDIR);
        way.undo();
    }
    changed?;
    if made {
        way.sync();
    }
    Ok(())
}

pub(super) fn set(from: &Beginning, path: &Path, attributes: &Attributes) -> Result<(), Trouble> {
    let way = Way::to(from, path, CHANGED, Gaps::Refuse)?;
    change(&way, attributes, &[EntryKind::File, EntryKind::Directory])
}

fn change(way: &Way, attributes: &Attributes, lawful: &[EntryKind]) -> Result<(), Trouble> {
    let failed = |error| way.refused(error);
    let held = way.hold().map_err(failed)?;
    let stat = rustix::fs::fstat(&held).map_err(failed)?;
    let found = entry(&stat);
    if !lawful.contains(&found.kind) {
        let to = way.link().filter(|_| found.kind == EntryKind::Link);
        let way_out = to.map_or(WayOut::AnotherPath, WayOut::Target);
        return Err(way.failed(Obstacle::Occupied { by: found.kind, way_out }));
    }
    let Change { owner, group, mode } = Change::between(&found, attributes);
    if owner.is_none() && group.is_none() && mode.is_none() {
        return Ok(());
    }
    if found.kind == EntryKind::File && stat.st_nlink > 1 && is_open_to_others(&way.parent) {
        return Err(way.failed(Obstacle::SharedFile));
    }
    if owner.is_some() || group.is_some() {
        let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
        chown(&held, way, owner, group).map_err(|error| match error {
            Errno::PERM => way.failed(Obstacle::NotGivenAway),
            error => failed(error),
        })?;
    }
    mode.map_or(Ok(()), |mode| chmod(&held, way, Mode::from_raw_mode(mode)).map_err(failed))
}

/// What is to become different.
struct Change {
    owner: Option<u32>,
    group: Option<u32>,
    mode: Option<u32>,
}

impl Change {
    fn between(found: &Entry, attributes: &Attributes) -> Self {
        let owner = attributes.owner.filter(|owner| *owner != found.owner);
        let group = attributes.group.filter(|group| *group != found.group);
        // Giving a file away takes its set-uid bit.
        let loses = found.mode & 0o6000 != 0 && (owner.is_some() || group.is_some());
        let mode = attributes.mode.unwrap_or(found.mode);
        Self { owner, group, mode: (mode != found.mode || loses).then_some(mode) }
    }
}

/// Whether someone besides root and the user who runs opal can put names into a directory.
fn is_open_to_others(directory: &OwnedFd) -> bool {
    let own = rustix::process::geteuid().as_raw();
    rustix::fs::fstat(directory)
        .map_or(true, |found| found.st_mode & 0o022 != 0 || ![0, own].contains(&found.st_uid))
}

#[cfg(target_os = "linux")]
fn chown(held: &OwnedFd, _: &Way, owner: Option<Uid>, group: Option<Gid>) -> Result<(), Errno> {
    rustix::fs::chownat(held, "", owner, group, AtFlags::EMPTY_PATH)
}

#[cfg(not(target_os = "linux"))]
fn chown(held: &OwnedFd, _: &Way, owner: Option<Uid>, group: Option<Gid>) -> Result<(), Errno> {
    rustix::fs::fchown(held, owner, group)
}

/// By the descriptor's own name: there is no other way to the very thing that needs no permission
/// to read it.
#[cfg(target_os = "linux")]
fn chmod(held: &OwnedFd, way: &Way, mode: Mode) -> Result<(), Errno> {
    use rustix::fs::OFlags;
    let own = format!("/proc/self/fd/{}", held.as_raw_fd());
    match rustix::fs::chmodat(CWD, own, mode, AtFlags::empty()) {
        // There is no `/proc`.
        Err(Errno::NOENT) => {
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = rustix::fs::openat(&way.parent, &way.name, flags, Mode::empty())?;
            rustix::fs::fchmod(open, mode)
        }
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn chmod(held: &OwnedFd, _: &Way, mode: Mode) -> Result<(), Errno> {
    rustix::fs::fchmod(held, mode)
}

pub(super) fn make_link(
    from: &Beginning,
    path: &Path,
    to: &Path,
    replace: bool,
) -> Result<(), Trouble> {
    let way = Way::to(from, path, MADE, Gaps::Refuse)?;
    let failed = |error| way.refused(error);
    let found = way.stat()?.as_ref().map(entry).map(|it| it.kind);
    match found {
        // Fails where something has come meanwhile.
        None => rustix::fs::symlinkat(to, &way.parent, &way.name).map_err(failed)?,
        Some(EntryKind::Link) => instead(&way, to)?,
        Some(EntryKind::File | EntryKind::Other) if replace => instead(&way, to)?,
        Some(EntryKind::Directory) if replace => instead_of_directory(&way, to)?,
        Some(kind) => {
            let why = Obstacle::Occupied { by: kind, way_out: WayOut::Force };
            return Err(ChangeError::new("made a symlink", path, why).into());
        }
    }
    way.sync();
    Ok(())
}

/// In one move, in place of a link or a file.
fn instead(way: &Way, to: &Path) -> Result<(), Trouble> {
    let parent = &way.parent;
    let name = link_aside(way, to)?;
    let renamed = rustix::fs::renameat(parent, &name, parent, &way.name);
    if renamed.is_err() {
        let _ = rustix::fs::unlinkat(parent, &name, AtFlags::empty());
    }
    renamed.map_err(|error| way.refused(error))
}

/// The link and the directory change places; what cannot be removed then comes back.
fn instead_of_directory(way: &Way, to: &Path) -> Result<(), Trouble> {
    let parent = &way.parent;
    remove::demand_removable(parent, &way.name, &way.path)?;
    let name = link_aside(way, to)?;
    let exchange =
        || rustix::fs::renameat_with(parent, &name, parent, &way.name, RenameFlags::EXCHANGE);
    match exchange() {
        Ok(()) => {
            let removed = remove::all(parent, &name, &way.path);
            if removed.is_err() && exchange().is_ok() {
                let _ = rustix::fs::unlinkat(parent, &name, AtFlags::empty());
            }
            removed
        }
        Err(error) => {
            let _ = rustix::fs::unlinkat(parent, &name, AtFlags::empty());
            Err(way.refused(error))
        }
    }
}

/// The link, under a name that nothing had.
fn link_aside(way: &Way, to: &Path) -> Result<OsString, Trouble> {
    atomic::link_to(to, &way.parent).map_err(|error| way.refused(error))
}
