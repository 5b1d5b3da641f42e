//! Requests that only read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opal_core::Secret;
use opal_core::resolver::{Ask, Links, Probe, Run, ScriptPart, Trouble};
use opal_core::target::Hop;
use opal_core::tree::TreeLimits;
use rustix::event::PollFlags;

use super::requests::{Helper, Open};
use crate::stop::Order;
use crate::wire::MAX_NAMES;
use crate::wire::codec::{Malformed, Name, encoded};
use crate::wire::facts::{Follow, Names};
use crate::wire::frame::{Channel, Kind, StreamId};
use crate::wire::look::{Asked, Command, Look};
use crate::wire::reply::Reply;
use crate::wire::trees::Tree;
use crate::{Place, Session};

/// Sent at once.
const CHUNK_BYTES: usize = 128 * 1024;

pub(super) fn begin(helper: &Arc<Helper>, number: u32, look: Look) -> Result<(), Malformed> {
    let open = helper.enter(number)?;
    let inner = Arc::clone(helper);
    helper.pool.run(move || inner.answer(number, || answer(&inner, number, &open, look)));
    Ok(())
}

/// The reply; none where it was sent before a stream.
fn answer(
    helper: &Arc<Helper>,
    number: u32,
    open: &Arc<Open>,
    look: Look,
) -> Result<Option<Reply>, Trouble> {
    let root = Path::new("/");
    let world = probe(helper, open, root, root, &NOTHING);
    let reply = match look {
        Look::Env { name } => Reply::Text { text: world.env(&name)? },
        Look::Place { base, path } => {
            Reply::Path { path: probe(helper, open, &base, root, &NOTHING).place(&path)? }
        }
        Look::Open { base, path, window } => {
            let file = probe(helper, open, &base, root, &NOTHING).open(&path)?;
            return content(helper, number, open, window, Source::File(file));
        }
        Look::Read { path, links, window } => {
            let file = world.read(&path, links.as_links())?;
            return content(helper, number, open, window, Source::File(file));
        }
        Look::Stat { path } => Reply::Entry { entry: world.stat(&path)? },
        Look::ReadLink { path } => Reply::Path { path: world.read_link(&path)? },
        Look::List { path } => {
            let mut names: Vec<Name> = world.list(&path)?.into_iter().map(Name).collect();
            names.sort_unstable();
            Reply::Names { names: Names(names) }
        }
        Look::Ask { asked } => ask(helper, open, &asked, false)?,
        Look::Value { asked } => ask(helper, open, &asked, true)?,
        Look::Check { scripts } => {
            let scripts: Vec<&[ScriptPart]> = scripts.iter().map(Vec::as_slice).collect();
            Reply::Faults { faults: helper.session.check(&scripts, &open.stop)? }
        }
        Look::Directory { from, path } => {
            Reply::Path { path: helper.session.directory(&from, &path, false, &open.stop)? }
        }
        Look::Shell => Reply::Shell { shell: helper.session.shell() },
        // Whatever is asked for: what is reached from here can only be read.
        Look::Reach { reaching } if matches!(reaching.hop, Hop::NewContainer(_)) => {
            return Err(Trouble::not_yet());
        }
        Look::Reach { mut reaching } => {
            reaching.dialling.is_read_only = true;
            super::reaching::reach(helper, number, open, &reaching)
        }
        Look::Digest { path, links } => {
            Reply::Digest { digest: world.digest(&path, links.as_links())? }
        }
        Look::Parts { root, parts } => Reply::Parts { found: world.parts(&root, &parts)? },
        Look::Tree { path, entries, bytes, window } => {
            let limits = TreeLimits { entries: (entries as usize).min(MAX_NAMES), bytes };
            let tree = encoded(&Tree(world.tree(&path, &limits)?));
            let tree = Cursor::new(tree.to_vec());
            return content(helper, number, open, window, Source::File(Box::new(tree)));
        }
        Look::Finds { program } => Reply::Flag { flag: helper.session.finds(&program) },
    };
    Ok(Some(reply))
}

static NOTHING: BTreeMap<String, Secret> = BTreeMap::new();

fn probe<'h>(
    helper: &'h Helper,
    open: &'h Open,
    base: &'h Path,
    directory: &'h Path,
    environment: &'h BTreeMap<String, Secret>,
) -> Box<dyn Probe + 'h> {
    helper.session.probe(&Place { base, directory, environment, sources: None, stop: &open.stop })
}

fn ask(helper: &Helper, open: &Open, asked: &Asked, is_value: bool) -> Result<Reply, Trouble> {
    let (words, without);
    let run = match &asked.command {
        Command::Script { parts } => Run::Script(parts),
        Command::Program { words: all, without: none } => {
            words = all.iter().map(String::as_str).collect::<Vec<&str>>();
            without = none.iter().map(String::as_str).collect::<Vec<&str>>();
            match without.is_empty() {
                true => Run::Program(&words),
                false => Run::ProgramWithout { words: &words, variables: &without },
            }
        }
    };
    let probe = probe(helper, open, &asked.base, &asked.directory, &asked.around);
    if is_value {
        return Ok(Reply::Text { text: Some(probe.run(&run)?) });
    }
    let answer = probe.ask(&Ask {
        run,
        interpreter: asked.interpreter.as_deref(),
        directory: asked.inner.as_deref(),
        environment: &asked.environment,
        drops_excess: asked.drops_excess,
    })?;
    Ok(Reply::Answer { answer })
}

impl Follow {
    fn as_links(&self) -> Links<'_> {
        match self {
            Self::All => Links::Followed,
            Self::To { top } => Links::FollowedTo(top),
        }
    }
}

/// What a stream is read from.
pub(super) enum Source {
    /// A file, which never has one wait.
    File(Box<dyn Read>),
    /// Anything that a step may read.
    Any(File),
}

/// Says that the content follows, and sends it.
pub(super) fn content(
    helper: &Helper,
    number: u32,
    open: &Open,
    window: u32,
    mut source: Source,
) -> Result<Option<Reply>, Trouble> {
    let stream = StreamId::new(number, Channel::Output);
    let outlet = open.outlet(Channel::Output);
    // A window that is too large is the client's mistake: it gets the largest one.
    let _ = outlet.grant(window.min(crate::wire::WINDOW));
    helper.say(number, &Reply::Done);
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut sent = 0;
    let goes_on = || open.stop.order() == Order::GoOn;
    let failed = loop {
        let most = match outlet.wait(bytes.len(), goes_on) {
            Ok(most) => most,
            // Nobody wants the rest.
            Err(ErrorKind::BrokenPipe) => break None,
            Err(_) => break Some(ErrorKind::TimedOut),
        };
        match source.read(&mut bytes[..most], open) {
            Ok(0) => break None,
            Ok(count) => {
                outlet.refund(most - count);
                if helper.sender.data(stream, &bytes[..count]).is_err() {
                    break None;
                }
                sent += count as u64;
            }
            Err(error) => break Some(error),
        }
    };
    let _ = match failed {
        None => helper.sender.end(stream, sent),
        Some(why) => helper.sender.message(Kind::Fail, stream, &why),
    };
    Ok(None)
}

impl Source {
    fn read(&mut self, bytes: &mut [u8], open: &Open) -> Result<usize, ErrorKind> {
        loop {
            let read = match self {
                Self::File(file) => file.read(bytes),
                Self::Any(file) => {
                    while !is_ready(file, open)? {}
                    file.read(bytes)
                }
            };
            match read {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read.map_err(|error| error.kind()),
            }
        }
    }
}

/// Whether there is something to read, or the end. Trouble says that nobody waits for it any more.
fn is_ready(file: &File, open: &Open) -> Result<bool, ErrorKind> {
    const TICK: Duration = Duration::from_millis(50);
    let ready = open.stop.wait(&[(file.as_fd(), PollFlags::IN)], Some(TICK), Order::GoOn);
    if open.stop.order() != Order::GoOn || open.outlet(Channel::Output).closed().is_some() {
        return Err(ErrorKind::TimedOut);
    }
    Ok(ready.iter().any(|it| !it.is_empty()))
}
