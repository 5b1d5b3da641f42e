//! Where steps run: a shell with an environment, a working directory and files.
//!
//! The executor knows sessions by this trait alone. What comes out of one is raw: the executor
//! scrubs it before anybody sees it.
//!
//! | what | where |
//! |---|---|
//! | this machine | `local` |
//! | the time | [`clock`] |
//! | telling work to stop | [`stop`] |
//! | sessions on targets | [`targets`] |
//! | the outside world: this machine | [`world`] |
//! | serving all of this to opal on another machine | [`wire`] |
//! | reaching a target: what is started, and what the shell there does | [`reach`] |
//! | which of its paths planning reads | [`noted`] |
//! | why this machine did not do something: all messages of this crate | `error` |

pub mod clock;
mod error;
mod local;
pub mod noted;
pub mod reach;
pub mod stop;
pub mod targets;
#[cfg(feature = "origin")]
pub mod watching;
pub mod wire;
pub mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::Secret;
use opal_core::action::{Limits, Pending, Replace, TextFile};
use opal_core::files::Files;
use opal_core::inventory::EntryStore;
use opal_core::journal::{Entry, Opening};
use opal_core::message::Message;
use opal_core::resolver::{Probe, ScriptPart, Trouble};
use opal_core::stream::{Closed, Stream};

use crate::error::JournalError;
use crate::stop::Stop;
use opal_core::shell::syntax::Fault;

pub use local::{Ends, Face, Hold, LocalSession, OnSignal, Resized, Setup, Size, Starting};
pub use local::{Terminal, Transport, lead};

pub trait Session: Sync + fmt::Debug {
    /// Reads the texts of commands with the shell's parser and runs nothing: the texts that it
    /// rejects, with what it says.
    fn check(&self, scripts: &[&[ScriptPart]], stop: &Stop) -> Result<Vec<Fault>, Trouble>;

    /// Runs a command to its end, or until it is stopped. When this returns, nothing that a stopped
    /// command has started is left. Trouble of the kind `Missing` says that there is no program to
    /// run it: no shell, or no such interpreter.
    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble>;

    /// A directory as steps name it, seen from `from`, whole and known to be there.
    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        stop: &Stop,
    ) -> Result<PathBuf, Trouble>;

    /// A file to be written in one move. On a target, writing ends when it is to stop.
    fn replace(
        &self,
        from: &Path,
        replace: &Replace<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn Pending>, Trouble>;

    /// A file with a text that only this user can read, outside of every project. It is gone when it
    /// is dropped.
    fn text_file(
        &self,
        text: &str,
        extension: &str,
        stop: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble>;

    /// A new directory that only this user can enter, outside of every project. It is gone with all
    /// that is in it when it is dropped.
    fn folder(&self, stop: &Stop) -> Result<Box<dyn TextFile>, Trouble>;

    /// Whether there is a program of this name or path.
    fn finds(&self, program: &str) -> bool;

    /// A file to be read from its beginning.
    fn open(&self, from: &Path, path: &str, stop: &Stop) -> Result<OwnedFd, Trouble>;

    /// The machine of the session, as seen from where a step is.
    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's>;

    /// What whoever runs a block in it has to know; none where it can do everything.
    fn note(&self) -> Option<Message> {
        None
    }

    /// Whether nobody answers any more: whoever has more to do opens another one.
    fn is_lost(&self) -> bool {
        false
    }

    /// Its files, to change.
    fn files<'s>(&'s self, stop: &Stop) -> Box<dyn Files + 's>;

    /// The journal of an order on this machine, with its lock, and what is in it.
    fn journal(
        &self,
        opening: &Opening,
        stop: &Stop,
    ) -> Result<(Box<dyn Journal>, Vec<Entry>), Trouble> {
        let _ = (opening, stop);
        Err(JournalError::NoHelper.into())
    }

    /// What is remembered of earlier runs in it, to add to; none where nothing is.
    fn entries(&self) -> Option<&dyn EntryStore> {
        None
    }
}

/// The journal of an order: an entry has its number when it is on the disk of the target.
pub trait Journal: Send + fmt::Debug {
    /// What the entries of this session say that a step was begun by.
    fn marker(&self) -> &str;

    /// A step is about to begin.
    fn begun(&self, path: &str, stop: &Stop) -> Result<u64, Trouble>;

    /// A step has ended with this code.
    fn ended(&self, path: &str, code: i32, stop: &Stop) -> Result<u64, Trouble>;
}

/// Where a resource is verified from.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Where relative paths begin: the directory of the file that names them.
    pub base: &'a Path,
    /// Where commands run: where the step is.
    pub directory: &'a Path,
    /// On top of the environment of the session.
    pub environment: &'a BTreeMap<String, Secret>,
    /// Where relative paths of opal's machine begin, where this is a target: the directory of the
    /// file that names them.
    pub sources: Option<&'a Path>,
    pub stop: &'a Stop,
}

/// Takes what a command prints, raw, as it comes.
pub trait Taker {
    /// An error says that nobody wants more of this stream: it is closed, and who writes to it
    /// gets to know.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed>;

    /// Nothing has come for a while: what is held back only to see what follows may be shown.
    fn idle(&mut self) {}

    /// The command has opal's terminal, on a target: from now on it draws on it.
    fn has_terminal(&mut self) {}
}

/// A command and what holds for it.
#[derive(Debug)]
pub struct Work<'a> {
    pub script: &'a [ScriptPart],
    /// Another program than the shell of the session, by name or path; it gets `-c` and the text.
    pub interpreter: Option<&'a str>,
    /// What the interpreter gets before these two.
    pub arguments: &'a [String],
    /// Absolute.
    pub directory: &'a Path,
    /// What `cd -` goes back to.
    pub previous: Option<&'a Path>,
    /// On top of the environment of the session.
    pub environment: &'a BTreeMap<String, Secret>,
    /// What its processes may use.
    pub limits: Limits,
    pub stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
}

#[derive(Debug)]
pub enum Input {
    /// What opal itself reads, the terminal included.
    Own,
    Nothing,
    From(OwnedFd),
    /// A terminal that opal has, on another machine.
    Terminal(Arc<Terminal>),
}

#[derive(Debug)]
pub enum Output {
    /// To the [`Taker`].
    Taken,
    To(OwnedFd),
}

/// A command that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// 0, its exit code, or 128 and the number of the signal that ended it.
    pub code: i32,
    /// Where it ended, where its text can move.
    pub directory: Option<PathBuf>,
    /// What `cd -` goes back to from there.
    pub previous: Option<PathBuf>,
    /// Whether it was asked to end before it had: what it ends with then says nothing.
    pub is_reported: bool,
}

/// A pipe whose ends no program inherits by accident.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}
