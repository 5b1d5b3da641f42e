//! A world of plain data.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Cursor, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use opal_core::Secret;
use opal_core::resolver::{
    Host, MAX_VALUE_BYTES, Probe, Request, Run, ScriptPart, Trouble, TroubleKind,
};

/// Answers with what it was given, and remembers what it was asked.
///
/// What it was not given is missing, unless it has an answer to everything. The clock stands at
/// 2025-01-31T14:05:00Z.
pub struct MemoryWorld {
    env: BTreeMap<String, Secret>,
    files: BTreeMap<String, Result<Vec<u8>, Trouble>>,
    commands: BTreeMap<String, Result<Secret, Trouble>>,
    pages: BTreeMap<String, Result<Secret, Trouble>>,
    otherwise: Option<Vec<u8>>,
    clock: SystemTime,
    host: Host,
    delay: Duration,
    asked: Mutex<Vec<Asked>>,
    busy: AtomicUsize,
    most_busy: AtomicUsize,
}

/// One look at a [`MemoryWorld`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    Env(String),
    Open(String),
    /// See [`MemoryWorld::command`] for how commands are written.
    Run(String),
    Get(String),
    Now,
    Host,
}

impl Default for MemoryWorld {
    fn default() -> Self {
        let host = Host { os: "linux".into(), arch: "x86_64".into(), name: "host".into() };
        Self {
            env: BTreeMap::new(),
            files: BTreeMap::new(),
            commands: BTreeMap::new(),
            pages: BTreeMap::new(),
            otherwise: None,
            clock: SystemTime::UNIX_EPOCH + Duration::from_secs(1_738_332_300),
            host,
            delay: Duration::ZERO,
            asked: Mutex::default(),
            busy: AtomicUsize::new(0),
            most_busy: AtomicUsize::new(0),
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
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_owned(), Ok(content.into()));
        self
    }

    /// A file that cannot be opened.
    #[must_use]
    pub fn closed_file(mut self, path: &str, trouble: Trouble) -> Self {
        self.files.insert(path.to_owned(), Err(trouble));
        self
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

    #[must_use]
    pub fn page(mut self, url: &str, body: &str) -> Self {
        self.pages.insert(url.to_owned(), Ok(Secret::new(body)));
        self
    }

    #[must_use]
    pub fn failing_page(mut self, url: &str, trouble: Trouble) -> Self {
        self.pages.insert(url.to_owned(), Err(trouble));
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

    /// The answer to everything, refused as an operating system would.
    fn unknown(&self, key: &str, what: &str) -> Result<Secret, Trouble> {
        let content = self.otherwise.as_ref().ok_or_else(|| absent(key, what))?;
        if content.len() as u64 > MAX_VALUE_BYTES {
            let message = format!("the {what} `{key}` holds too much");
            return Err(Trouble::new(TroubleKind::TooLarge, message, "let it hold less"));
        }
        std::str::from_utf8(content).map(Secret::new).map_err(|_| {
            let message = format!("the {what} `{key}` holds no text");
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
        let missing = || self.otherwise.clone().ok_or_else(|| absent(path, "file"));
        let content = self.files.get(path).cloned().unwrap_or_else(missing)?;
        Ok(Box::new(Cursor::new(content)))
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

    fn now(&self) -> SystemTime {
        self.note(Asked::Now);
        self.clock
    }

    fn host(&self) -> Host {
        self.note(Asked::Host);
        self.host.clone()
    }
}

fn absent(key: &str, what: &str) -> Trouble {
    let message = format!("there is no {what} `{key}`");
    Trouble::new(TroubleKind::Missing, message, format!("give this world the {what}"))
}

fn written(run: &Run<'_>) -> String {
    match run {
        Run::Program(words) => words.join(" "),
        Run::Script(parts) => parts
            .iter()
            .map(|part| match part {
                ScriptPart::Text(text) => text.as_str(),
                ScriptPart::Data(..) | ScriptPart::Raw(_) => "{}",
            })
            .collect(),
    }
}

/// The names of what there is, and nothing of what it holds.
impl fmt::Debug for MemoryWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryWorld")
            .field("env", &self.env.keys())
            .field("files", &self.files.keys())
            .field("commands", &self.commands.keys())
            .field("pages", &self.pages.keys())
            .field("asked", &self.asked())
            .finish_non_exhaustive()
    }
}
