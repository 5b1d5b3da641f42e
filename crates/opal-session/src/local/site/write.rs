//! Writing a file in one move: it gets its name when it is complete, and nobody else can read it
//! before.

use std::io::{self, Write};
use std::path::Path;

use opal_core::action::Pending;
use opal_core::files::{Attributes, EntryKind, Existing};
use opal_core::resolver::Trouble;
use rustix::fs::{Gid, Mode, Stat, Uid};
use rustix::io::Errno;

use super::extended;
use super::turn::Turn;
use super::way::{Beginning, Gaps, Way, entry};
use crate::error::{Obstacle, WayOut};
use opal_files::atomic::{self, Unfinished};

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
        (None, None) => atomic::usual_mode(&way.parent).map_err(|error| way.refused(error))?,
    };
    let owner = attributes.owner.or(found.map(|it| it.owner));
    let group = attributes.group.or(found.map(|it| it.group));
    let file = Unfinished::within(&way.parent).map_err(|error| way.refused(error))?;
    Ok(Box::new(Writing { way, file, mode, owner, group, replaced, like: None, _turn: turn }))
}

/// The file that is there; none where the path is free.
fn replaceable(way: &Way) -> Result<Option<Stat>, Trouble> {
    let Some(found) = way.stat()? else { return Ok(None) };
    let kind = entry(&found).kind;
    let way_out = match kind {
        EntryKind::File => return Ok(Some(found)),
        EntryKind::Link => WayOut::LinkedFile(way.link()),
        EntryKind::Directory => WayOut::FileWithin,
        EntryKind::Other => WayOut::File,
    };
    Err(way.failed(Obstacle::Occupied { by: kind, way_out }))
}

/// A file that is not there yet.
struct Writing {
    way: Way,
    file: Unfinished,
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

    fn keep(self: Box<Self>) -> Result<(), Trouble> {
        self.own()?;
        let failed = |error| self.way.refused(error);
        let like = self.like.as_ref().or(self.replaced.is_some().then_some(&self.way));
        if let Some(like) = like {
            extended::carry_over(like, self.file.file()).map_err(failed)?;
        }
        // Giving a file away takes its set-uid bit: the mode comes last.
        rustix::fs::fchmod(self.file.file(), Mode::from_raw_mode(self.mode)).map_err(failed)?;
        rustix::fs::fsync(self.file.file()).map_err(failed)?;
        self.take_place()
    }
}

impl Writing {
    fn take_place(self) -> Result<(), Trouble> {
        let there = replaceable(&self.way)?;
        let (parent, name) = (&self.way.parent, Path::new(&self.way.name));
        let moved = match (&self.replaced, &there) {
            (None, _) => self.file.add(parent, name),
            (Some(before), Some(now)) if is_untouched(before, now) => {
                self.file.replace(parent, name)
            }
            _ => return Err(self.way.failed(Obstacle::Changed)),
        };
        moved.map_err(|error| self.way.refused(error))?;
        self.way.sync();
        Ok(())
    }

    /// A file that cannot keep its owner is not written: it would become another's.
    fn own(&self) -> Result<(), Trouble> {
        let failed = |error| self.way.refused(error);
        let found = rustix::fs::fstat(self.file.file()).map_err(failed)?;
        let owner = self.owner.filter(|owner| *owner != found.st_uid);
        let group = self.group.filter(|group| *group != found.st_gid);
        if owner.is_none() && group.is_none() {
            return Ok(());
        }
        let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
        rustix::fs::fchown(self.file.file(), owner, group).map_err(|error| match error {
            Errno::PERM => self.way.failed(Obstacle::NotGivenAway),
            error => failed(error),
        })
    }
}

fn is_untouched(before: &Stat, now: &Stat) -> bool {
    let marks = |it: &Stat| {
        let (written, changed) = ((it.st_mtime, it.st_mtime_nsec), (it.st_ctime, it.st_ctime_nsec));
        (it.st_dev, it.st_ino, it.st_size, written, changed)
    };
    marks(before) == marks(now)
}
