//! Requests that change something.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use opal_core::action::Replace;
use opal_core::files::Files;
use opal_core::journal::Opening;
use opal_core::resolver::{Trouble, TroubleKind};

use super::inlet::Wish;
use super::journal::Here;
use super::looking::{Source, content};
use super::requests::{Held, Helper, Open, Thing};
use super::{running, writing};
use crate::Session;
use crate::local::{FILES, LocalFiles};
use crate::wire::codec::Malformed;
use crate::wire::effect::{Effect, Handle};
use crate::wire::reply::Reply;

/// What a request of the reader's own thread does at once, and what it leaves to another one.
pub(super) fn begin(
    helper: &Arc<Helper>,
    held: &Held,
    number: u32,
    effect: Effect,
) -> Result<(), Malformed> {
    let open = helper.enter(number)?;
    match effect {
        // In the order in which they come: after all that was sent to be written.
        Effect::Resemble { file, path } => {
            return wish(held, file, number, Wish::Resemble(path));
        }
        Effect::Keep { file } => return wish(held, file, number, Wish::Keep),
        // In order, too: the last size counts.
        Effect::Resize { command, size } => {
            // A command that has ended has none.
            let command = helper.find(command)?;
            let terminal = command.as_ref().and_then(|it| it.terminal.get());
            terminal.into_iter().for_each(|terminal| terminal.resize(size));
            helper.reply(number, &Reply::Done);
            return Ok(());
        }
        Effect::Release { handle } => {
            let let_go = match held.lock().remove(&handle) {
                Some(Thing::File(file)) => {
                    file.inlet.wish(number, Wish::Release);
                    return Ok(());
                }
                thing => thing.ok_or(NOTHING_HELD)?,
            };
            // Removing may take a moment.
            let inner = Arc::clone(helper);
            helper.pool.run(move || {
                drop(let_go);
                inner.reply(number, &Reply::Done);
            });
            return Ok(());
        }
        _ => {}
    }
    let inner = Arc::clone(helper);
    helper.pool.run(move || {
        let Some(held) = &inner.held else { return };
        inner.answer(number, || act(&inner, held, number, &open, effect));
    });
    Ok(())
}

/// How long what a lost session has left may take to end by itself.
const LEFT_GRACE: Duration = Duration::from_millis(500);

const NOTHING_HELD: Malformed = Malformed("a number that nothing is held by");

fn wish(held: &Held, file: Handle, number: u32, wish: Wish) -> Result<(), Malformed> {
    let mut things = held.lock();
    let Some(Thing::File(open)) = things.get(&file) else { return Err(NOTHING_HELD) };
    open.inlet.wish(number, wish);
    // What is kept cannot be wished for again.
    if !open.inlet.takes_wishes() {
        things.remove(&file);
    }
    Ok(())
}

/// The reply; none where it was sent already.
fn act(
    helper: &Arc<Helper>,
    held: &Held,
    number: u32,
    open: &Arc<Open>,
    effect: Effect,
) -> Result<Option<Reply>, Trouble> {
    let session = &helper.session;
    let files = |within| Within::of(held, within);
    let guard = helper.guard.as_ref();
    match effect {
        Effect::Run { work } => return Ok(Some(running::run(helper, number, open, &work))),
        Effect::Reach { reaching } => {
            return Ok(Some(super::reaching::reach(helper, number, open, &reaching)));
        }
        Effect::Directory { from, path } => {
            let path = session.directory(&from, &path, true, &open.stop)?;
            return Ok(Some(Reply::Path { path }));
        }
        Effect::Replace { from, path, mode, append } => {
            let pending =
                session.replace(&from, &Replace { path: &path, mode, append }, &open.stop)?;
            return Ok(writing::write(helper, held, number, open, pending));
        }
        Effect::Write { within, path, attributes, existing } => {
            let pending = files(within)?.files().write(&path, &attributes, existing)?;
            return Ok(writing::write(helper, held, number, open, pending));
        }
        Effect::Open { from, path, window } => {
            let file = File::from(session.open(&from, &path, &open.stop)?);
            return content(helper, number, open, window, Source::Any(file));
        }
        Effect::TextFile { text, extension } => {
            let file = session.text_file(text.expose(), &extension, &open.stop)?;
            let path: PathBuf = file.path().into();
            guard.into_iter().for_each(|guard| guard.holds(&path));
            held.lock().insert(number, Thing::Text(file));
            return Ok(Some(Reply::Path { path }));
        }
        Effect::Folder => {
            let folder = session.folder(&open.stop)?;
            let path: PathBuf = folder.path().into();
            guard.into_iter().for_each(|guard| guard.holds(&path));
            held.lock().insert(number, Thing::Text(folder));
            return Ok(Some(Reply::Path { path }));
        }
        Effect::Within { within, path } => {
            let directory = files(within)?.files().held(&path)?;
            held.lock().insert(number, Thing::Directory(Arc::new(directory)));
        }
        Effect::MakeDirectory { within, path, attributes } => {
            files(within)?.files().make_directory(&path, &attributes)?;
        }
        Effect::MakeLink { within, path, to, replace } => {
            files(within)?.files().make_link(&path, &to, replace)?;
        }
        Effect::Set { within, path, attributes } => {
            files(within)?.files().set(&path, &attributes)?;
        }
        Effect::Remove { within, path, recursive } => {
            files(within)?.files().remove(&path, recursive)?;
        }
        Effect::TakeOver { patience } => {
            session.end_all(LEFT_GRACE, &open.stop);
            helper.claim.wait(patience, &open.stop)?;
            // It may have started something until it was gone.
            session.end_all(LEFT_GRACE, &open.stop);
        }
        Effect::EndAll { grace } => session.end_all(grace, &open.stop),
        Effect::Journal { opening } => return journal(helper, held, number, &opening, open),
        Effect::Begun { journal, path } => return noted(held, journal, &path, None),
        Effect::Ended { journal, path, code } => return noted(held, journal, &path, Some(code)),
        Effect::Resemble { .. }
        | Effect::Keep { .. }
        | Effect::Release { .. }
        | Effect::Resize { .. } => {}
    }
    Ok(Some(Reply::Done))
}

fn journal(
    helper: &Helper,
    held: &Held,
    number: u32,
    opening: &Opening,
    open: &Open,
) -> Result<Option<Reply>, Trouble> {
    let (home, machine) = (helper.home.as_deref(), &super::machine());
    let here = Here { home, machine, marker: &helper.marker };
    let (marker, entries) = held.desk.open(number, opening, here, &open.stop)?;
    Ok(Some(Reply::Journal { marker, entries }))
}

fn noted(
    held: &Held,
    journal: Handle,
    path: &str,
    code: Option<i32>,
) -> Result<Option<Reply>, Trouble> {
    Ok(Some(Reply::Noted { number: held.desk.add(journal, path, code)? }))
}

/// The files that a request may change: all, or those in a directory that is held.
enum Within {
    Root,
    Directory(Arc<LocalFiles>),
}

impl Within {
    fn of(held: &Held, handle: Handle) -> Result<Self, Trouble> {
        if handle == 0 {
            return Ok(Self::Root);
        }
        match held.lock().get(&handle) {
            Some(Thing::Directory(files)) => Ok(Self::Directory(Arc::clone(files))),
            _ => Err(Trouble::new(
                TroubleKind::Invalid,
                "the directory is not held any more",
                "this is a mistake in opal: report it",
            )),
        }
    }

    fn files(&self) -> &LocalFiles {
        match self {
            Self::Root => &FILES,
            Self::Directory(files) => files,
        }
    }
}
