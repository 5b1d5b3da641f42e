//! A world of plain data.

mod asked;
mod network;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use asked::written;
use opal_core::Secret;
use opal_core::crossing::Crossing;
use opal_core::files::{Attributes, Entry, EntryKind};
use opal_core::message;
use opal_core::message::Words;
use opal_core::resolver::{
    Answer, Ask, Host, Links, MAX_VALUE_BYTES, Port, Probe, Request, Run, Trouble, TroubleKind,
};
use tree::Content;

pub use asked::Asked;
pub(crate) use tree::Tree;

/// Where relative paths begin, and what `~` stands for.
const BASE: &str = "/p";
const HOME: &str = "/home/op";

/// Answers with what it was given, and remembers what it was asked.
///
/// What it was not given is missing, unless it has an answer to everything. The clock is at
/// 2025-01-31T14:05:00Z. Relative paths begin in `/p`, and `~` is `/home/op`.
pub struct MemoryWorld {
    env: BTreeMap<String, Secret>,
    /// Shared with what is being written by a session.
    tree: Arc<Mutex<Tree>>,
    commands: BTreeMap<String, Result<Secret, Trouble>>,
    answers: BTreeMap<String, Vec<Result<Answer, Trouble>>>,
    pages: BTreeMap<String, Result<Secret, Trouble>>,
    ports: BTreeSet<String>,
    otherwise: Option<Vec<u8>>,
    clock: SystemTime,
    host: Host,
    caller: PathBuf,
    /// By their names, with `/` between those of a way.
    targets: BTreeMap<String, MemoryWorld>,
    delay: Duration,
    asked: Mutex<Vec<Asked>>,
    busy: AtomicUsize,
    most_busy: AtomicUsize,
}

impl Default for MemoryWorld {
    fn default() -> Self {
        crate::render_here();
        Self {
            env: BTreeMap::new(),
            tree: Arc::default(),
            commands: BTreeMap::new(),
            answers: BTreeMap::new(),
            pages: BTreeMap::new(),
            ports: BTreeSet::new(),
            otherwise: None,
            clock: SystemTime::UNIX_EPOCH + Duration::from_secs(1_738_332_300),
            host: Host { os: "linux".into(), arch: "x86_64".into(), name: "host".into() },
            caller: PathBuf::from(BASE),
            targets: BTreeMap::new(),
            delay: Duration::ZERO,
            asked: Mutex::default(),
            busy: AtomicUsize::default(),
            most_busy: AtomicUsize::default(),
        }
    }
}

impl MemoryWorld {
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), Secret::new(value));
        self
    }

    #[must_use]
    pub fn file(self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.with(path, Content::File(content.into()))
    }

    /// A file that is there and cannot be opened.
    #[must_use]
    pub fn closed_file(self, path: &str, trouble: Trouble) -> Self {
        self.with(path, Content::Closed(trouble))
    }

    #[must_use]
    pub fn directory(self, path: &str) -> Self {
        self.with(path, Content::Directory)
    }

    #[must_use]
    pub fn link(self, path: &str, to: &str) -> Self {
        self.with(path, Content::Link(to.into()))
    }

    /// A pipe, a socket, a device.
    #[must_use]
    pub fn special(self, path: &str) -> Self {
        self.with(path, Content::Other)
    }

    /// Something of which nobody can tell whether it is there, nor what is below it.
    #[must_use]
    pub fn hidden(self, path: &str, trouble: Trouble) -> Self {
        self.with(path, Content::Hidden(trouble))
    }

    /// Of a file or a directory that was given before.
    #[must_use]
    pub fn attributes(self, path: &str, attributes: Attributes) -> Self {
        let set = self.tree().set(&whole(path), &attributes);
        set.expect("what gets attributes was given before");
        self
    }

    fn with(self, path: &str, content: Content) -> Self {
        self.tree().put(whole(path), content);
        self
    }

    pub(crate) fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn share_tree(&self) -> Arc<Mutex<Tree>> {
        Arc::clone(&self.tree)
    }

    /// A program is written with a blank between its words, a script as its text, with `{}` for
    /// each value in it.
    #[must_use]
    pub fn command(mut self, command: &str, output: &str) -> Self {
        self.commands.insert(command.to_owned(), Ok(Secret::new(output)));
        self
    }

    #[must_use]
    pub fn failing_command(mut self, command: &str, trouble: Trouble) -> Self {
        self.commands.insert(command.to_owned(), Err(trouble));
        self
    }

    /// What a command answers that is asked, whatever its exit code. Given several times, it
    /// answers one after the other, and the last from then on.
    #[must_use]
    pub fn answer(self, command: &str, answer: Answer) -> Self {
        self.answers_with(command, Ok(answer))
    }

    /// A command that cannot be asked: its program is missing, it takes too long.
    #[must_use]
    pub fn failing_answer(self, command: &str, trouble: Trouble) -> Self {
        self.answers_with(command, Err(trouble))
    }

    fn answers_with(mut self, command: &str, answer: Result<Answer, Trouble>) -> Self {
        self.answers.entry(command.to_owned()).or_default().push(answer);
        self
    }

    /// What every variable, file, command and page holds that was not given.
    #[must_use]
    pub fn otherwise(mut self, content: impl Into<Vec<u8>>) -> Self {
        self.otherwise = Some(content.into());
        self
    }

    #[must_use]
    pub fn at(mut self, clock: SystemTime) -> Self {
        self.clock = clock;
        self
    }

    #[must_use]
    pub fn on(mut self, host: Host) -> Self {
        self.host = host;
        self
    }

    /// Where opal was called; `/p` by default.
    #[must_use]
    pub fn called_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.caller = directory.into();
        self
    }

    /// Lets every command and every page take this long.
    #[must_use]
    pub fn slow(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Everything that was asked so far, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many commands and pages were under way at the same time, at most.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.most_busy.load(Ordering::SeqCst)
    }

    fn note(&self, asked: Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    fn content(&self, path: &Path, name: &str) -> Result<Box<dyn Read>, Trouble> {
        let missing = || self.otherwise.clone().ok_or_else(|| absent(name, "file"));
        let content = self.tree().read(path)?.map_or_else(missing, Ok)?;
        Ok(Box::new(Cursor::new(content)))
    }

    /// The answer to everything, refused as an operating system would.
    fn unknown(&self, key: &str, what: &str) -> Result<Secret, Trouble> {
        let content = self.otherwise.as_ref().ok_or_else(|| absent(key, what))?;
        if content.len() as u64 > MAX_VALUE_BYTES {
            let message = message!("the ", Words(what), " `", key, "` holds too much");
            return Err(Trouble::new(TroubleKind::TooLarge, message, "let it hold less"));
        }
        std::str::from_utf8(content).map(Secret::new).map_err(|_| {
            let message = message!("the ", Words(what), " `", key, "` holds no text");
            Trouble::new(TroubleKind::NotText, message, "let it hold text")
        })
    }

    fn take_a_while(&self) {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_busy.fetch_max(busy, Ordering::SeqCst);
        thread::sleep(self.delay);
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Probe for MemoryWorld {
    fn reach(&self, way: &[Crossing]) -> Result<Box<dyn Probe + '_>, Trouble> {
        let names: Vec<&str> = way.iter().map(|it| it.target.name.as_str()).collect();
        let name = names.join("/");
        self.note(Asked::Reach(name.clone()));
        match self.targets.get(&name) {
            Some(world) => Ok(Box::new(world)),
            None => {
                let message = message!("host unreachable: `", name.as_str(), "`");
                Err(Trouble::new(TroubleKind::Unreachable, message, "start it"))
            }
        }
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        self.note(Asked::Env(name.to_owned()));
        match (self.env.get(name), &self.otherwise) {
            (Some(value), _) => Ok(Some(value.clone())),
            (None, Some(_)) => self.unknown(name, "variable").map(Some),
            (None, None) => Ok(None),
        }
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        self.note(Asked::Open(path.to_owned()));
        self.content(&whole(path), path)
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        let command = written(run);
        self.note(Asked::Run(command.clone()));
        self.take_a_while();
        let unknown = || self.unknown(&command, "command");
        self.commands.get(&command).cloned().unwrap_or_else(unknown)
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        self.note(Asked::Get(request.url.to_owned()));
        self.take_a_while();
        let unknown = || self.unknown(request.url, "page");
        self.pages.get(request.url).cloned().unwrap_or_else(unknown)
    }

    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        let place = format!("{}:{}", port.host, port.port);
        self.note(Asked::Connect(place.clone()));
        self.take_a_while();
        if self.ports.contains(&place) { Ok(()) } else { self.unknown(&place, "port").map(drop) }
    }

    fn now(&self) -> SystemTime {
        self.note(Asked::Now);
        self.clock
    }

    fn host(&self) -> Host {
        self.note(Asked::Host);
        self.host.clone()
    }

    fn caller(&self) -> PathBuf {
        self.note(Asked::Caller);
        self.caller.clone()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        Ok(whole(path))
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        self.note(Asked::Stat(path.to_owned()));
        let found = self.tree().stat(path)?;
        let unknown = self.otherwise.as_ref().map(|content| Entry {
            kind: EntryKind::File,
            mode: 0o644,
            owner: 0,
            group: 0,
            bytes: content.len() as u64,
        });
        Ok(found.or(unknown))
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        self.note(Asked::Read(path.to_owned()));
        if let Links::FollowedTo(top) = links {
            self.tree().refuse_links(top, path)?;
        }
        self.content(path, &path.to_string_lossy())
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        self.note(Asked::ReadLink(path.to_owned()));
        self.tree().read_link(path)
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        self.note(Asked::List(path.to_owned()));
        self.tree().list(path)
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        let command = written(&ask.run);
        let asked = Asked::Ask(command.clone());
        let before = self.asked().iter().filter(|earlier| **earlier == asked).count();
        self.note(asked);
        self.take_a_while();
        let answers = self.answers.get(&command).map_or(&[][..], Vec::as_slice);
        if let Some(answer) = answers.get(before).or(answers.last()) {
            return answer.clone();
        }
        let unknown = || self.unknown(&command, "command");
        let stdout = self.commands.get(&command).cloned().unwrap_or_else(unknown)?;
        Ok(Answer { code: 0, stdout, stderr: Secret::new("") })
    }

    /// All of its relative paths begin in one directory.
    fn within(&self, _: &str) -> Box<dyn Probe + '_> {
        Box::new(self)
    }
}

/// As the world has it: whole, without `.` and `..`.
fn whole(path: &str) -> PathBuf {
    let path = match path {
        "~" => PathBuf::from(HOME),
        _ => path.strip_prefix("~/").map_or_else(|| path.into(), |rest| Path::new(HOME).join(rest)),
    };
    tree::plain(&Path::new(BASE).join(path))
}

fn absent(key: &str, what: &str) -> Trouble {
    let message = message!("there is no ", Words(what), " `", key, "`");
    Trouble::new(TroubleKind::Missing, message, message!("give this world the ", Words(what)))
}

/// The names of what there is, and nothing of what it holds.
impl fmt::Debug for MemoryWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWorld")
            .field("env", &self.env.keys())
            .field("files", &self.tree().paths().collect::<Vec<_>>())
            .field("commands", &self.commands.keys())
            .field("answers", &self.answers.keys())
            .field("pages", &self.pages.keys())
            .field("ports", &self.ports)
            .field("asked", &self.asked())
            .finish_non_exhaustive()
    }
}
