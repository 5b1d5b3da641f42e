//! A target as resources and values see it. It owns a connection that cannot express an effect.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use opal_core::Secret;
use opal_core::files::Entry;
use opal_core::hash::Digest;
use opal_core::resolver::{Answer, Ask, Host, Links, Port, Probe, Request, Run, Trouble};
use opal_core::tree::{Found, Part, TreeEntry, TreeLimits};
use opal_session::stop::Stop;
use opal_session::wire::codec::decoded;
use opal_session::wire::facts::Follow;
use opal_session::wire::look::{Asked, Command, Look};
use opal_session::wire::reply::Reply;
use opal_session::wire::trees::Tree;
use opal_session::world::OsWorld;

use crate::connection::Looking;
use crate::content::Content;
use crate::link::Shape;

/// Of one answer.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// Of a tree in one question: its files are read before there is an answer.
const MAX_PARTS: usize = 1_000;

/// A target, seen from one place.
#[derive(Clone, Debug)]
pub struct RemoteProbe<'a> {
    pub(crate) looking: Looking,
    /// Opal's machine, which reads pages and ports.
    pub(crate) origin: Arc<OsWorld>,
    /// Where relative paths begin, there.
    pub(crate) base: PathBuf,
    /// Where commands run, there.
    pub(crate) directory: PathBuf,
    /// On top of the environment there.
    pub(crate) environment: Cow<'a, BTreeMap<String, Secret>>,
    /// Where relative paths of opal's machine begin, unless it is where the source is.
    pub(crate) sources: Option<PathBuf>,
    pub(crate) stop: Cow<'a, Stop>,
}

impl RemoteProbe<'_> {
    fn look(&self, look: &Look) -> Result<Reply, Trouble> {
        self.looking.ask(look, &self.stop)
    }

    fn content(&self, look: impl FnOnce(u32) -> Look) -> Result<Box<dyn Read>, Trouble> {
        let window = self.looking.inner().budget.take();
        let shape = Shape { output: Some(window), ..Shape::default() };
        let sent = self.looking.begin(&look(window), shape, &self.stop)?;
        Ok(Box::new(Content::new(sent, window, &self.stop)?))
    }

    fn asked(&self, run: &Run<'_>) -> Asked {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let command = match run {
            Run::Script(parts) => Command::Script { parts: parts.to_vec() },
            Run::Program(words) => Command::Program { words: owned(words), without: Vec::new() },
            Run::ProgramWithout { words, variables } => {
                Command::Program { words: owned(words), without: owned(variables) }
            }
        };
        Asked {
            command,
            interpreter: None,
            base: self.base.clone(),
            directory: self.directory.clone(),
            inner: None,
            around: self.environment.clone().into_owned(),
            environment: BTreeMap::new(),
            drops_excess: false,
        }
    }

    fn path(&self, look: &Look) -> Result<PathBuf, Trouble> {
        match self.look(look)? {
            Reply::Path { path } => Ok(path),
            _ => Err(self.looking.nonsense()),
        }
    }
}

fn follow(links: Links<'_>) -> Follow {
    match links {
        Links::Followed => Follow::All,
        Links::FollowedTo(top) => Follow::To { top: top.to_owned() },
    }
}

impl Probe for RemoteProbe<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.order() != opal_session::stop::Order::GoOn
    }

    fn env(&self, name: &str) -> Result<Option<Secret>, Trouble> {
        if let Some(value) = self.environment.get(name) {
            return Ok(Some(value.clone()));
        }
        match self.look(&Look::Env { name: name.to_owned() })? {
            Reply::Text { text } => Ok(text),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read>, Trouble> {
        let (base, path) = (self.base.clone(), path.to_owned());
        self.content(|window| Look::Open { base, path, window })
    }

    fn run(&self, run: &Run<'_>) -> Result<Secret, Trouble> {
        match self.look(&Look::Value { asked: self.asked(run) })? {
            Reply::Text { text: Some(text) } => Ok(text),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn get(&self, request: &Request<'_>) -> Result<Secret, Trouble> {
        self.origin.get(request)
    }

    fn connect(&self, port: &Port<'_>) -> Result<(), Trouble> {
        self.origin.connect(port)
    }

    fn now(&self) -> SystemTime {
        self.origin.now()
    }

    fn host(&self) -> Host {
        let hello = self.looking.hello();
        let (os, arch) = (hello.os.clone(), hello.arch.clone());
        Host { os, arch, name: hello.name.clone() }
    }

    fn caller(&self) -> PathBuf {
        self.looking.hello().start.clone()
    }

    fn place(&self, path: &str) -> Result<PathBuf, Trouble> {
        // Only for a home directory has the target to be asked.
        if !path.starts_with('~') {
            // With a slash at its end a link would be what it leads to.
            return Ok(self.base.join(path).components().collect());
        }
        self.path(&Look::Place { base: self.base.clone(), path: path.to_owned() })
    }

    fn stat(&self, path: &Path) -> Result<Option<Entry>, Trouble> {
        match self.look(&Look::Stat { path: path.to_owned() })? {
            Reply::Entry { entry } => Ok(entry),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn read(&self, path: &Path, links: Links<'_>) -> Result<Box<dyn Read>, Trouble> {
        let (path, links) = (path.to_owned(), follow(links));
        self.content(|window| Look::Read { path, links, window })
    }

    fn read_link(&self, path: &Path) -> Result<PathBuf, Trouble> {
        self.path(&Look::ReadLink { path: path.to_owned() })
    }

    fn list(&self, path: &Path) -> Result<Vec<OsString>, Trouble> {
        match self.look(&Look::List { path: path.to_owned() })? {
            Reply::Names { names } => Ok(names.0.into_iter().map(|name| name.0).collect()),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn ask(&self, ask: &Ask<'_>) -> Result<Answer, Trouble> {
        let asked = Asked {
            interpreter: ask.interpreter.map(str::to_owned),
            inner: ask.directory.map(str::to_owned),
            environment: ask.environment.clone(),
            drops_excess: ask.drops_excess,
            ..self.asked(&ask.run)
        };
        match self.look(&Look::Ask { asked })? {
            Reply::Answer { answer } => Ok(answer),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn within(&self, directory: &str) -> Box<dyn Probe + '_> {
        let base = self.base.join(directory);
        Box::new(Self { directory: base.clone(), base, ..self.clone() })
    }

    fn digest(&self, path: &Path, links: Links<'_>) -> Result<Digest, Trouble> {
        let look = Look::Digest { path: path.to_owned(), links: follow(links) };
        match self.look(&look)? {
            Reply::Digest { digest } => Ok(digest),
            _ => Err(self.looking.nonsense()),
        }
    }

    fn parts(&self, root: &Path, parts: &[Part]) -> Result<Vec<Option<Found>>, Trouble> {
        let mut all = Vec::with_capacity(parts.len());
        for asked in parts.chunks(MAX_PARTS) {
            let look = Look::Parts { root: root.to_owned(), parts: asked.to_vec() };
            let Reply::Parts { found } = self.look(&look)? else {
                return Err(self.looking.nonsense());
            };
            let answers =
                |(it, part): (&Option<Found>, &Part)| it.as_ref().is_none_or(|it| it.answers(part));
            if found.len() != asked.len() || !found.iter().zip(asked).all(answers) {
                return Err(self.looking.nonsense());
            }
            all.extend(found);
        }
        Ok(all)
    }

    fn tree(&self, path: &Path, limits: &TreeLimits) -> Result<Vec<TreeEntry>, Trouble> {
        let entries = u32::try_from(limits.entries).unwrap_or(u32::MAX);
        let (bytes, path) = (limits.bytes, path.to_owned());
        let tree = self.content(|window| Look::Tree { path, entries, bytes, window })?;
        let mut read = Vec::new();
        let count = tree.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut read);
        if !count.is_ok_and(|count| count as u64 <= MAX_ANSWER_BYTES) {
            return Err(self.looking.nonsense());
        }
        let tree: Tree = decoded(&read).map_err(|why| self.looking.malformed(why))?;
        // Who was asked for so many may not answer with more.
        match tree.0.len() <= limits.entries {
            true => Ok(tree.0),
            false => Err(self.looking.nonsense()),
        }
    }

    fn origin(&self) -> Option<Box<dyn Probe + '_>> {
        Some(match &self.sources {
            Some(sources) => Box::new(self.origin.seen_from(sources).stopped_by(&self.stop)),
            None => Box::new(&*self.origin),
        })
    }
}
