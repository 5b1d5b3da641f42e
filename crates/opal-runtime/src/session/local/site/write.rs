//! Writing a file in one move: beside its place, under another name, readable for nobody else
//! until it is complete.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;

use opal_core::action::Pending;
use opal_core::files::{Attributes, EntryKind, Existing};
use opal_core::resolver::{Trouble, TroubleKind};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::extended;
use super::refusal::in_the_way;
use super::turn::Turn;
use super::way::{Beginning, Gaps, Way, entry};

/// Names that were taken, until it is said.
const MAX_TRIES: usize = 32;

pub(super) fn begin(
    from: &Beginning,
    path: &Path,
    attributes: &Attributes,
    existing: Existing,
) -> Result<Box<dyn Pending>, Trouble> {
    let way = Way::to(from, path, "written", Gaps::Refuse)?;
    let turn = Turn::wait(&way).map_err(|error| way.refused(error))?;
    let replaced = replaceable(&way)?;
    if replaced.is_some() && existing == Existing::Refused {
        return Err(way.refused(Errno::EXIST));
    }
    let found = replaced.as_ref().map(entry);
    let mode = match (attributes.mode, found) {
        (Some(mode), _) => mode,
        (None, Some(found)) => found.mode,
        (None, None) => usual_mode(&way).map_err(|error| way.refused(error))?,
    };
    let owner = attributes.owner.or(found.map(|it| it.owner));
    let group = attributes.group.or(found.map(|it| it.group));
    let (name, file) = temporary(&way, 0o600).map_err(|error| way.refused(error))?;
    Ok(Box::new(Writing {
        way,
        temporary: Some(name),
        file,
        mode,
        owner,
        group,
        replaced,
        like: None,
        _turn: turn,
    }))
}

/// The file that is there; none where the path is free.
fn replaceable(way: &Way) -> Result<Option<Stat>, Trouble> {
    let Some(found) = way.look()? else { return Ok(None) };
    let kind = entry(&found).kind;
    let help = match kind {
        EntryKind::File => return Ok(Some(found)),
        EntryKind::Link => match way.link() {
            Some(to) => format!("name the file it leads to: `{}`", to.display()),
            None => "name the file it leads to".to_owned(),
        },
        EntryKind::Directory => "name a file in it".to_owned(),
        EntryKind::Other => "name a file".to_owned(),
    };
    Err(in_the_way("written", &way.path, kind, help))
}

/// What a new file gets there, found with one that never holds anything: nobody can have opened
/// what is written later.
fn usual_mode(way: &Way) -> Result<u32, Errno> {
    let (name, file) = temporary(way, 0o666)?;
    let mode = rustix::fs::fstat(&file).map(|found| entry(&found).mode);
    let removed = rustix::fs::unlinkat(&way.parent, &name, AtFlags::empty());
    removed.and(mode)
}

fn temporary(way: &Way, mode: u32) -> Result<(OsString, File), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    new_name(|name| {
        let file = rustix::fs::openat(&way.parent, name, flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(file))
    })
}

/// Does something under a name that nothing has.
pub(super) fn new_name<T>(
    mut make: impl FnMut(&OsString) -> Result<T, Errno>,
) -> Result<(OsString, T), Errno> {
    for _ in 0..MAX_TRIES {
        let name = OsString::from(format!(".opal-{:016x}", RandomState::new().hash_one(0)));
        match make(&name) {
            Err(Errno::EXIST) => {}
            made => return made.map(|made| (name, made)),
        }
    }
    Err(Errno::EXIST)
}

/// A file that is not there yet.
struct Writing {
    way: Way,
    /// None once it has its own name.
    temporary: Option<OsString>,
    file: File,
    mode: u32,
    owner: Option<u32>,
    group: Option<u32>,
    /// The file in whose place this one comes.
    replaced: Option<Stat>,
    /// The way to a file that it takes after.
    like: Option<Way>,
    /// Last, to be dropped when all is done.
    _turn: Turn,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Pending for Writing {
    fn resemble(&mut self, path: &Path) -> Result<(), Trouble> {
        self.like = Some(Way::to(&Beginning::Root, path, "read", Gaps::Refuse)?);
        Ok(())
    }

    fn keep(mut self: Box<Self>) -> Result<(), Trouble> {
        self.own()?;
        let failed = |error| self.way.refused(error);
        let like = self.like.as_ref().or(self.replaced.is_some().then_some(&self.way));
        if let Some(like) = like {
            extended::carry_over(like, &self.file).map_err(failed)?;
        }
        // Giving a file away takes its set-uid bit: the mode comes last.
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(self.mode)).map_err(failed)?;
        rustix::fs::fsync(&self.file).map_err(failed)?;
        self.take_place()?;
        self.temporary = None;
        self.way.sync();
        Ok(())
    }
}

impl Writing {
    fn take_place(&self) -> Result<(), Trouble> {
        let there = replaceable(&self.way)?;
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let Way { parent, name, .. } = &self.way;
        let moved = match (&self.replaced, &there) {
            (None, _) => add(&self.way, temporary),
            (Some(before), Some(now)) if is_untouched(before, now) => {
                rustix::fs::renameat(parent, temporary, parent, name)
            }
            _ => return Err(changed(&self.way.path)),
        };
        moved.map_err(|error| self.way.refused(error))
    }

    /// A file that cannot keep its owner is not written: it would become another's.
    fn own(&self) -> Result<(), Trouble> {
        let failed = |error| self.way.refused(error);
        let found = rustix::fs::fstat(&self.file).map_err(failed)?;
        let owner = self.owner.filter(|owner| *owner != found.st_uid);
        let group = self.group.filter(|group| *group != found.st_gid);
        if owner.is_none() && group.is_none() {
            return Ok(());
        }
        let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
        rustix::fs::fchown(&self.file, owner, group).map_err(|error| match error {
            Errno::PERM => not_given_away(&self.way.path),
            error => failed(error),
        })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = rustix::fs::unlinkat(&self.way.parent, temporary, AtFlags::empty());
        }
    }
}

/// Gives a file its name where nothing has it.
fn add(way: &Way, temporary: &OsString) -> Result<(), Errno> {
    let Way { parent, name, .. } = way;
    match rustix::fs::renameat_with(parent, temporary, parent, name, RenameFlags::NOREPLACE) {
        // The file system cannot do it in one call.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(parent, temporary, parent, name, AtFlags::empty())?;
            rustix::fs::unlinkat(parent, temporary, AtFlags::empty())
        }
        moved => moved,
    }
}

fn is_untouched(before: &Stat, now: &Stat) -> bool {
    let marks = |it: &Stat| {
        let (written, changed) = ((it.st_mtime, it.st_mtime_nsec), (it.st_ctime, it.st_ctime_nsec));
        (it.st_dev, it.st_ino, it.st_size, written, changed)
    };
    marks(before) == marks(now)
}

fn changed(path: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Failed,
        format!("`{}` was changed by somebody else meanwhile", path.display()),
        "see who else writes there, and run again",
    )
}

pub(super) fn not_given_away(path: &Path) -> Trouble {
    Trouble::new(
        TroubleKind::Denied,
        format!("`{}` cannot belong to its owner and group: permission denied", path.display()),
        "run as root, or as its owner and a member of its group",
    )
}
