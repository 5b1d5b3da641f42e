//! How a value decorator gets its value: from the world through a [`Probe`], or from a seed.
//!
//! A probe only looks. There is no function here that changes anything, so planning cannot.

mod borrowed;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::context::Context;
use crate::crossing::{Crossing, Facts};
use crate::data::{Data, Secret};
use crate::files::Entry;
use crate::hash::Digest;
use crate::inventory::{Entries, Inventory, Wanted};
use crate::message::Message;
use crate::tree::{self, Found, Part, TreeEntry, TreeLimits};

/// What plans call the text of a block; no parameter has this name.
pub const BLOCK_TEXT: &str = "block_text";

/// What plans call the arguments of the block around a step; no parameter has this name.
pub const SETTINGS: &str = "provider_settings";

/// Bytes of one value that may be read while planning.
pub const MAX_VALUE_BYTES: u64 = 8 * 1024 * 1024;

/// Gives a value at plan time.
pub trait Resolver: Sync + fmt::Debug {
    /// The same inputs and the same world give the same answer; nothing is changed.
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble>;
}

/// Gives a value out of a stream of random bytes that the contract's seed determines.
pub trait Generator: Sync + fmt::Debug {
    /// Whether the inputs make sense, before there is any seed.
    fn check(&self, inputs: &Inputs) -> Result<(), Trouble>;

    /// Whether some stream gives a text that begins with `-`: said before one is drawn, so that a
    /// plan never depends on what was drawn.
    fn may_begin_with_dash(&self, inputs: &Inputs) -> bool;

    /// The same inputs and the same stream give the same value.
    fn generate(&self, inputs: &Inputs, stream: &mut dyn Stream) -> Result<Data, Trouble>;
}

/// Random bytes without end.
pub trait Stream {
    fn fill(&mut self, bytes: &mut [u8]);
}

/// What a call was given: checked against the descriptor, defaults filled in.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// `HOME` in `@env.HOME`.
    pub subject: Option<String>,
    /// By the parameters' own names, aliases resolved.
    pub args: BTreeMap<&'static str, Input>,
    /// `NAME=value` of a decorator that takes any name, such as `@environ`.
    pub open: BTreeMap<String, Data>,
    /// What the block of a resource does; none where that does not matter.
    pub block: Option<Identity>,
    /// The target that the block around it runs on; none on opal's machine.
    pub target: Option<Arc<Facts>>,
    /// The member of a fleet that the step runs on.
    pub member: Option<Arc<str>>,
    /// The path of the step; none for a value that is read while planning.
    pub step: Option<Arc<str>>,
    /// The directory of the imported project that the step is in, seen from that of the source.
    pub project: Option<Arc<str>>,
}

/// What a block does: its steps in their canonical form, without values, and the values by their keys.
#[derive(Clone, Debug)]
pub struct Identity {
    pub steps: Vec<u8>,
    pub values: BTreeMap<String, Data>,
    /// Where it starts.
    pub directory: PathBuf,
}

#[derive(Clone, Debug)]
pub enum Input {
    Data(Data),
    /// A parameter that is text of the shell.
    Script(Vec<ScriptPart>),
}

/// Shell text and the data in it. Data never becomes text of the shell.
#[derive(Clone, Debug)]
pub enum ScriptPart {
    Text(String),
    Data(Data, Context),
    /// Pasted with `@raw`.
    Raw(Secret),
}

impl Inputs {
    #[must_use]
    pub fn data(&self, name: &str) -> Option<&Data> {
        match self.args.get(name)? {
            Input::Data(data) => Some(data),
            Input::Script(_) => None,
        }
    }

    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.data(name)?.as_text()
    }

    /// The text of the block.
    #[must_use]
    pub fn block_text(&self) -> Option<&str> {
        self.open.get(BLOCK_TEXT)?.as_text()
    }

    /// The arguments of the block around it that it gets.
    #[must_use]
    pub fn settings(&self) -> Option<&BTreeMap<String, Data>> {
        match self.open.get(SETTINGS)? {
            Data::Map(settings) => Some(settings),
            _ => None,
        }
    }

    #[must_use]
    pub fn is_true(&self, name: &str) -> bool {
        matches!(self.data(name), Some(Data::Bool(true)))
    }

    #[must_use]
    pub fn script(&self, name: &str) -> Option<&[ScriptPart]> {
        match self.args.get(name)? {
            Input::Script(parts) => Some(parts),
            Input::Data(_) => None,
        }
    }
}

/// The world, read-only. Relative paths start where the steps start.
pub trait Probe: Sync {
    /// A variable of the environment; none where it is not set.
    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble>;

    /// The variables that files of the project set, in order; a contract compares all of them.
    fn declared(&self) -> Vec<String> {
        Vec::new()
    }

    /// A file, to be read from its beginning. `~/` is the home directory.
    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble>;

    /// Runs a command that only looks; its standard output, at most [`MAX_VALUE_BYTES`].
    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble>;

    /// The body of a page, at most [`MAX_VALUE_BYTES`].
    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble>;

    /// Opens a connection to a port and closes it at once; nothing is sent.
    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble>;

    fn now(&self) -> SystemTime;

    fn host(&self) -> Host;

    /// The directory in which opal was called, wherever the source is.
    fn caller(&self) -> PathBuf;

    /// A path as it is written, whole: `~` is the home directory, and a relative one begins beside
    /// the file that names it.
    fn place(&self, path: &str) -> Result<PathBuf, Trouble>;

    /// What is at a whole path, links not followed; none where nothing is.
    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble>;

    /// A file at a whole path, to be read from its beginning.
    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble>;

    /// What a link says.
    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble>;

    /// The names in a directory, in order.
    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble>;

    /// The SHA-256 of a file at a whole path. Of a target, only this crosses.
    fn digest(&self, path: &Path, links: Links<'_>) -> Result<Digest, Trouble> {
        tree::digest(self, path, links)
    }

    /// What is at some paths of the tree at a whole path, in their order; none where nothing is. Of a
    /// target it is one question.
    fn parts(&self, root: &Path, parts: &[Part]) -> Result<Vec<Option<Found>>, Trouble> {
        tree::parts(self, root, parts)
    }

    /// A file, or a directory with all that is in it: each directory before what is in it, links not
    /// followed. More than the limits is trouble.
    fn tree(&self, path: &Path, limits: &TreeLimits) -> Result<Vec<TreeEntry>, Trouble> {
        tree::walk(self, path, limits)
    }

    /// Runs a command that only looks, to its end, whatever its exit code. Trouble of the kind
    /// `Missing` says that there is no such program.
    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble>;

    /// Files with digests of their content; none where the world has no such files.
    fn inventory(&self, _: &Wanted<'_>) -> Result<Inventory, Trouble> {
        Ok(Inventory::new())
    }

    /// What is remembered of earlier runs; none where nothing is.
    fn entries(&self) -> Option<&dyn Entries> {
        None
    }

    /// The same world, seen from a directory: relative paths begin there, and commands run there.
    fn within(&self, directory: &str) -> Box<dyn Probe + '_>;

    /// Whether nobody waits for an answer any more.
    fn is_stopped(&self) -> bool {
        false
    }

    /// The world of opal's machine, where this is that of a target.
    fn origin(&self) -> Option<Box<dyn Probe + '_>> {
        None
    }

    /// The world at the end of a way from opal's machine, one crossing after the other.
    fn reach(&self, _: &[Crossing]) -> Result<Box<dyn Probe + '_>, Trouble> {
        Err(Trouble::no_targets())
    }
}

/// Which links lead on when a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links<'a> {
    /// All of them, one at the path itself too.
    Followed,
    /// Those on the way to this directory, and none from there on: what was seen as a file is read
    /// as one, whoever swaps it for a link meanwhile.
    FollowedTo(&'a Path),
}

impl<'a> Links<'a> {
    /// All but one at the path itself.
    #[must_use]
    pub fn followed_above(path: &'a Path) -> Self {
        Self::FollowedTo(path.parent().unwrap_or(path))
    }
}

/// A command that only looks, and what holds for it.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    pub run: Run<'a>,
    /// Another program than the shell, for a script.
    pub interpreter: Option<&'a str>,
    /// Seen from where the step is.
    pub directory: Option<&'a str>,
    /// On top of the environment of the step.
    pub environment: &'a BTreeMap<String, Secret>,
    /// Whether only its exit code counts: what it prints beyond [`MAX_VALUE_BYTES`] is dropped then,
    /// and trouble otherwise.
    pub drops_excess: bool,
}

impl<'a> Ask<'a> {
    /// A program with its arguments.
    #[must_use]
    pub fn program(words: &'a [&'a str]) -> Self {
        static NONE: BTreeMap<String, Secret> = BTreeMap::new();
        Self {
            run: Run::Program(words),
            interpreter: None,
            directory: None,
            environment: &NONE,
            drops_excess: false,
        }
    }
}

/// What a command that looked has said: at most [`MAX_VALUE_BYTES`] of each.
#[derive(Clone, Debug)]
pub struct Answer {
    /// 0, its exit code, or 128 and the number of the signal that ended it.
    pub code: i32,
    /// What is not UTF-8 is replaced.
    pub stdout: Secret,
    pub stderr: Secret,
}

#[derive(Clone, Copy, Debug)]
pub enum Run<'a> {
    /// By the shell.
    Script(&'a [ScriptPart]),
    /// A program with its arguments; the first is the program.
    Program(&'a [&'a str]),
    /// A program that does not get these variables of the environment.
    ProgramWithout { words: &'a [&'a str], variables: &'a [&'a str] },
}

#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub url: &'a str,
    pub headers: &'a BTreeMap<String, Data>,
    pub timeout: std::time::Duration,
}

/// A port of a host, to connect to.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// A name, or an address.
    pub host: &'a str,
    pub port: u16,
    pub timeout: std::time::Duration,
}

/// What the machine says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// `linux`, `macos`.
    pub os: String,
    /// `x86_64`, `aarch64`.
    pub arch: String,
    pub name: String,
}

/// Why there is no value. The words never hold one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// Lower case, without a full stop, with the thing in backticks.
    pub message: Message,
    pub help: Vec<Message>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// What it reads is not there.
    Missing,
    /// It is there, and may not be read.
    Denied,
    /// It was asked, and failed.
    Failed,
    TimedOut,
    /// A server that it is to be had from does not answer.
    Unreachable,
    TooLarge,
    NotText,
    /// What it was asked for makes no sense.
    Invalid,
    /// The connection to the machine is gone: nobody knows what became of it.
    Lost,
    /// Another machine or user answers than the one that is meant.
    Mutated,
}

impl Trouble {
    #[must_use]
    pub fn new(kind: TroubleKind, message: impl Into<Message>, help: impl Into<Message>) -> Self {
        Self { kind, message: message.into(), help: vec![help.into()] }
    }

    /// There is nobody who could open a session on a target.
    #[must_use]
    pub fn no_targets() -> Self {
        let message = "targets cannot be reached from here";
        Self::new(TroubleKind::Invalid, message, "use the block in a task that `opal` runs")
    }

    /// A container that is made when its block runs cannot be read before.
    #[must_use]
    pub fn not_yet() -> Self {
        let message = "the container is created when the block runs";
        let help = "capture the value in a step of the block: `let.NAME = …`";
        Self::new(TroubleKind::Invalid, message, help)
    }

    /// The same without a trace of these texts, which a decorator may have been given.
    #[must_use]
    pub fn without(&self, hidden: &[&str]) -> Self {
        let help = self.help.iter().map(|help| help.without(hidden)).collect();
        Self { kind: self.kind, message: self.message.without(hidden), help }
    }
}
