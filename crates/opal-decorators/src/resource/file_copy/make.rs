//! Making a copy what it should be.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use opal_core::action::Pending;
use opal_core::files::{Attributes, EntryKind, Existing, Files};
use opal_core::message::Reason;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::tree::{below, links};

use super::Wanted;
use super::trees::{Difference, Facts, How, Piece, unread, without_set_user};
use crate::resource::sides::Sides;

/// What a directory needs while it is filled.
const FILLING: u32 = 0o700;

/// Files of a tree that are written at a time, on a target.
const AT_ONCE: usize = 16;

pub(super) fn make(
    wanted: &Wanted,
    facts: &Facts,
    sides: &Sides<'_>,
    files: &dyn Files,
) -> Result<(), Trouble> {
    let copy = Copy { wanted, facts, sides };
    let is_whole = |it: &&Difference| it.path.as_os_str().is_empty();
    let whole = facts.differences.iter().find(is_whole);
    let parts = || facts.differences.iter().filter(|it| !is_whole(it));
    if let Some(whole) = whole {
        copy.fill(whole, files)?;
    }
    if facts.kind == EntryKind::Directory {
        let within = files.within(&wanted.destination)?;
        let (contents, others): (Vec<_>, Vec<_>) = parts().partition(|it| it.has_content());
        others.into_iter().try_for_each(|part| copy.fill(part, &*within))?;
        // A target is asked twice for each file: one after the other, a far one would take minutes.
        let at_once = if sides.is_one() { 1 } else { AT_ONCE };
        each(&contents, at_once, |part| copy.fill(part, &*within))?;
        // From the innermost out: a directory may be closed to its owner once it is full.
        parts().rev().try_for_each(|part| copy.close(part, &*within))?;
    }
    whole.map_or(Ok(()), |whole| copy.close(whole, files))
}

struct Copy<'a> {
    wanted: &'a Wanted,
    facts: &'a Facts,
    sides: &'a Sides<'a>,
}

impl Copy<'_> {
    /// Contents, and directories that may be filled.
    fn fill(&self, difference: &Difference, files: &dyn Files) -> Result<(), Trouble> {
        let to = below(&self.wanted.destination, &difference.path);
        match &difference.how {
            How::Missing(Piece::File { mode }) | How::Content { mode, .. } => {
                let from = below(&self.facts.source, &difference.path);
                let source = self.sides.source();
                let source = source.read(&from, links(&self.facts.source, &from))?;
                let existing = match difference.how {
                    How::Missing(_) => Existing::Refused,
                    _ => Existing::Replaced,
                };
                let mode = match existing {
                    Existing::Refused => without_set_user(*mode),
                    Existing::Replaced => *mode,
                };
                let pending = files.write(&to, &self.with(mode), existing)?;
                copy(&from, source, &to, pending)
            }
            How::Missing(Piece::Directory { mode }) => {
                files.make_directory(&to, &self.with(mode | FILLING))
            }
            How::Missing(Piece::Link(said)) => files.make_link(&to, said, false),
            How::Link { expected, .. } => files.make_link(&to, expected, false),
            How::Mode { .. } | How::Owner { .. } => Ok(()),
            How::Kind { expected, actual } => Err(other_kind(&to, *expected, *actual)),
        }
    }

    /// The modes of what has its content.
    fn close(&self, difference: &Difference, files: &dyn Files) -> Result<(), Trouble> {
        let to = below(&self.wanted.destination, &difference.path);
        match difference.how {
            How::Missing(Piece::Directory { mode }) if self.wanted.sets_mode() => {
                files.set(&to, &self.with(mode))
            }
            How::Missing(Piece::File { mode: said })
                if self.wanted.sets_mode() && said != without_set_user(said) =>
            {
                let from = below(&self.facts.source, &difference.path);
                match (self.sides.source().stat(&from)?, self.sides.here().stat(&to)?) {
                    (Some(source), Some(made)) => {
                        files.set(&to, &self.with(self.wanted.mode(&source, &made)))
                    }
                    _ => Ok(()),
                }
            }
            How::Mode { expected, .. } => files.set(&to, &self.with(expected)),
            How::Owner { expected: (owner, group), .. } => {
                files.set(&to, &Attributes { mode: None, owner, group })
            }
            _ => Ok(()),
        }
    }

    fn with(&self, mode: u32) -> Attributes {
        let mode = self.wanted.sets_mode().then_some(mode);
        Attributes { mode, ..self.wanted.attributes }
    }
}

/// Does the work for each, so many at a time. The first trouble in their order counts; after one
/// nothing else is begun.
fn each<'d>(
    all: &[&'d Difference],
    at_once: usize,
    work: impl Fn(&'d Difference) -> Result<(), Trouble> + Sync,
) -> Result<(), Trouble> {
    let (next, first) = (AtomicUsize::new(0), Mutex::new(None::<(usize, Trouble)>));
    let lock = || first.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while lock().is_none() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else { return };
            if let Err(trouble) = work(one) {
                let mut first = lock();
                if first.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    *first = Some((index, trouble));
                }
            }
        }
    };
    match at_once.min(all.len()) {
        0 | 1 => work(),
        more => thread::scope(|scope| (0..more).for_each(|_| drop(scope.spawn(work)))),
    }
    let first = lock().take();
    first.map_or(Ok(()), |(_, trouble)| Err(trouble))
}

/// Read at once.
const PIECE: usize = 512 * 1024;

/// In pieces: a file may be larger than the memory.
fn copy(
    from: &Path,
    mut source: Box<dyn Read>,
    to: &Path,
    mut pending: Box<dyn Pending>,
) -> Result<(), Trouble> {
    let mut buffer = vec![0; PIECE];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return pending.keep(),
            Ok(count) => {
                pending.write_all(&buffer[..count]).map_err(|error| unwritten(to, &error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(from, &error)),
        }
    }
}

fn unwritten(path: &Path, error: &io::Error) -> Trouble {
    use io::ErrorKind as Kind;
    let (kind, help) = match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
            (TroubleKind::TooLarge, "free some space, and run again")
        }
        _ => (TroubleKind::Failed, "check the disk"),
    };
    let message = format!("`{}` cannot be written: {}", path.display(), Reason(error.kind()));
    Trouble::new(kind, message, help)
}

pub(super) fn other_kind(path: &Path, expected: EntryKind, actual: EntryKind) -> Trouble {
    Trouble::new(
        TroubleKind::Invalid,
        format!(
            "`{}` is {} where the source has {}",
            path.display(),
            actual.name(),
            expected.name()
        ),
        format!("move it away, or remove it with `@file.absent(\"{}\")`", path.display()),
    )
}
