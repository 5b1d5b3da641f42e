//! Sessions on a target.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use opal_core::Secret;
use opal_core::action::{Pending, Replace, TextFile};
use opal_core::files::Files;
use opal_core::journal::{Entry, Opening};
use opal_core::resolver::{Probe, ScriptPart, Trouble};
use opal_core::shell::Shell;
use opal_core::shell::syntax::Fault;
use opal_session::stop::Stop;
use opal_session::wire::effect::Effect;
use opal_session::wire::look::Look;
use opal_session::wire::reply::Reply;
use opal_session::world::OsWorld;
use opal_session::{Ended, Journal, Place, Session, Taker, Terminal, Work};

use crate::connection::{Acting, Base, Looking};
use crate::content::Content;
use crate::error::RemoteError;
use crate::files::{self, HeldText, RemoteFiles};
use crate::journal::RemoteJournal;
use crate::link::Shape;
use crate::probe::RemoteProbe;
use crate::run;

/// Steps on a target.
pub struct RemoteSession {
    acting: Acting,
    origin: Arc<OsWorld>,
    /// Of opal, for commands that read what opal reads.
    terminal: Option<Arc<Terminal>>,
    /// What a block gives its steps. It is sent with each of them, as data: in the environment of a
    /// shell everybody who may read that could see it.
    given: Arc<BTreeMap<String, Secret>>,
}

/// A target that is only read: its connection cannot express an effect.
pub struct ReadOnlySession {
    looking: Looking,
    files: files::NoFiles,
    origin: Arc<OsWorld>,
    given: Arc<BTreeMap<String, Secret>>,
}

impl RemoteSession {
    /// `origin` is opal's machine.
    #[must_use]
    pub fn new(acting: Acting, origin: Arc<OsWorld>) -> Self {
        Self { acting, origin, terminal: None, given: Arc::default() }
    }

    /// The same with more in the environment of commands.
    #[must_use]
    pub fn giving(self, given: BTreeMap<String, Secret>) -> Self {
        Self { given: Arc::new(given), ..self }
    }

    /// The same for commands that one sits in front of.
    #[must_use]
    pub fn on(self, terminal: Option<Arc<Terminal>>) -> Self {
        Self { terminal, ..self }
    }

    /// Ends what the commands have left running, as in a local session. A helper that is lost does
    /// it by itself.
    pub fn end_all(&self, grace: Duration, stop: &Stop) {
        let _ = self.acting.ask(&Effect::EndAll { grace }, stop);
    }

    /// After a loss: ends what the lost session has left, and waits until its helper is gone.
    pub(crate) fn take_over(&self, patience: Duration, stop: &Stop) -> Result<(), Trouble> {
        match self.acting.ask(&Effect::TakeOver { patience }, stop)? {
            Reply::Done => Ok(()),
            _ => Err(self.looking().nonsense()),
        }
    }

    /// The shell that steps get; none where there is none, or the target is lost.
    #[must_use]
    pub fn shell(&self) -> Option<Shell> {
        match self.looking().ask(&Look::Shell, &Stop::new()) {
            Ok(Reply::Shell { shell }) => shell,
            _ => None,
        }
    }

    /// Where the way to a target inside this one begins.
    #[must_use]
    pub fn inside(&self) -> Base<'_> {
        Base::Acting(&self.acting)
    }

    /// The connection, for who wants to know what has become of it.
    #[must_use]
    pub fn looking(&self) -> &Looking {
        self.acting.looking()
    }
}

impl ReadOnlySession {
    #[must_use]
    pub fn new(looking: Looking, origin: Arc<OsWorld>) -> Self {
        let files = files::NoFiles(looking.inner().target.clone());
        Self { looking, files, origin, given: Arc::default() }
    }

    /// The same with more in the environment of what is asked.
    #[must_use]
    pub fn giving(self, given: BTreeMap<String, Secret>) -> Self {
        Self { given: Arc::new(given), ..self }
    }

    /// Where the way to a target inside this one begins: one that is only read, too.
    #[must_use]
    pub fn inside(&self) -> Base<'_> {
        Base::Reading(&self.looking)
    }

    /// The connection, for who wants to know what has become of it.
    #[must_use]
    pub fn looking(&self) -> &Looking {
        &self.looking
    }

    /// The target as values see it, from where steps start.
    #[must_use]
    pub fn standing(&self) -> RemoteProbe<'static> {
        let start = self.looking.hello().start.clone();
        RemoteProbe {
            looking: self.looking.clone(),
            origin: Arc::clone(&self.origin),
            base: start.clone(),
            directory: start,
            environment: Cow::Owned(BTreeMap::clone(&self.given)),
            sources: None,
            stop: Cow::Owned(Stop::new()),
        }
    }

    fn refused(&self) -> Trouble {
        RemoteError::OnlyReads { target: &self.looking.inner().target }.into()
    }
}

fn check(looking: &Looking, scripts: &[&[ScriptPart]], stop: &Stop) -> Result<Vec<Fault>, Trouble> {
    let scripts = scripts.iter().map(|parts| parts.to_vec()).collect();
    match looking.ask(&Look::Check { scripts }, stop)? {
        Reply::Faults { faults } => Ok(faults),
        _ => Err(looking.nonsense()),
    }
}

/// Where the target is lost there is nothing; the first step says so.
fn finds(looking: &Looking, program: &str) -> bool {
    let look = Look::Finds { program: program.to_owned() };
    matches!(looking.ask(&look, &Stop::new()), Ok(Reply::Flag { flag: true }))
}

fn directory(looking: &Looking, from: &Path, path: &str, stop: &Stop) -> Result<PathBuf, Trouble> {
    let look = Look::Directory { from: from.to_owned(), path: path.to_owned() };
    match looking.ask(&look, stop)? {
        Reply::Path { path } => Ok(path),
        _ => Err(looking.nonsense()),
    }
}

/// What a block gives, and a step has instead or besides.
fn together<'e>(
    given: &BTreeMap<String, Secret>,
    own: &'e BTreeMap<String, Secret>,
) -> Cow<'e, BTreeMap<String, Secret>> {
    if given.is_empty() {
        return Cow::Borrowed(own);
    }
    let all = given.iter().chain(own).map(|(name, value)| (name.clone(), value.clone()));
    Cow::Owned(all.collect())
}

fn probe<'s>(
    looking: &Looking,
    origin: &Arc<OsWorld>,
    given: &BTreeMap<String, Secret>,
    place: &Place<'s>,
) -> Box<dyn Probe + 's> {
    Box::new(RemoteProbe {
        looking: looking.clone(),
        origin: Arc::clone(origin),
        base: place.base.to_owned(),
        directory: place.directory.to_owned(),
        environment: together(given, place.environment),
        sources: place.sources.map(Path::to_owned),
        stop: Cow::Borrowed(place.stop),
    })
}

impl Session for RemoteSession {
    fn is_lost(&self) -> bool {
        self.looking().lost().is_some()
    }

    fn check(&self, scripts: &[&[ScriptPart]], stop: &Stop) -> Result<Vec<Fault>, Trouble> {
        check(self.looking(), scripts, stop)
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        let environment = together(&self.given, work.environment);
        let work = Work { environment: &environment, ..work };
        run::run(&self.acting, self.terminal.as_deref(), work, stop, taker)
    }

    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        stop: &Stop,
    ) -> Result<PathBuf, Trouble> {
        if !create {
            return directory(self.looking(), from, path, stop);
        }
        let effect = Effect::Directory { from: from.to_owned(), path: path.to_owned() };
        match self.acting.ask(&effect, stop)? {
            Reply::Path { path } => Ok(path),
            _ => Err(self.looking().nonsense()),
        }
    }

    fn replace(
        &self,
        from: &Path,
        replace: &Replace<'_>,
        stop: &Stop,
    ) -> Result<Box<dyn Pending>, Trouble> {
        let &Replace { path, mode, append } = replace;
        let (from, path) = (from.to_owned(), path.to_owned());
        files::pending(&self.acting, &Effect::Replace { from, path, mode, append }, stop)
    }

    fn folder(&self, stop: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        HeldText::make(&self.acting, &Effect::Folder, stop)
    }

    fn text_file(
        &self,
        text: &str,
        extension: &str,
        stop: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble> {
        let (text, extension) = (Secret::new(text), extension.to_owned());
        HeldText::make(&self.acting, &Effect::TextFile { text, extension }, stop)
    }

    fn finds(&self, program: &str) -> bool {
        finds(self.looking(), program)
    }

    fn open(&self, from: &Path, path: &str, stop: &Stop) -> Result<OwnedFd, Trouble> {
        let inner = self.looking().inner();
        let window = inner.budget.take();
        let shape = Shape { output: Some(window), ..Shape::default() };
        let effect = Effect::Open { from: from.to_owned(), path: path.to_owned(), window };
        let content = Content::new(self.acting.begin(&effect, shape, stop)?, window, stop)?;
        content.into_pipe().map_err(|error| {
            RemoteError::NotStarted { target: &inner.target, why: error.kind() }.into()
        })
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        probe(self.looking(), &self.origin, &self.given, place)
    }

    fn files<'s>(&'s self, stop: &Stop) -> Box<dyn Files + 's> {
        Box::new(RemoteFiles::root(self.acting.clone(), stop.clone()))
    }

    fn journal(
        &self,
        opening: &Opening,
        stop: &Stop,
    ) -> Result<(Box<dyn Journal>, Vec<Entry>), Trouble> {
        let (journal, entries) = RemoteJournal::open(&self.acting, opening, stop)?;
        Ok((Box::new(journal), entries))
    }
}

impl Session for ReadOnlySession {
    fn check(&self, scripts: &[&[ScriptPart]], stop: &Stop) -> Result<Vec<Fault>, Trouble> {
        check(&self.looking, scripts, stop)
    }

    fn run(&self, _: Work<'_>, _: &Stop, _: &mut dyn Taker) -> Result<Ended, Trouble> {
        Err(self.refused())
    }

    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        stop: &Stop,
    ) -> Result<PathBuf, Trouble> {
        match create {
            true => Err(self.refused()),
            false => directory(&self.looking, from, path, stop),
        }
    }

    fn replace(&self, _: &Path, _: &Replace<'_>, _: &Stop) -> Result<Box<dyn Pending>, Trouble> {
        Err(self.refused())
    }

    fn folder(&self, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused())
    }

    fn text_file(&self, _: &str, _: &str, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused())
    }

    fn finds(&self, program: &str) -> bool {
        finds(&self.looking, program)
    }

    fn open(&self, _: &Path, _: &str, _: &Stop) -> Result<OwnedFd, Trouble> {
        Err(self.refused())
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        probe(&self.looking, &self.origin, &self.given, place)
    }

    fn files<'s>(&'s self, _: &Stop) -> Box<dyn Files + 's> {
        Box::new(&self.files)
    }
}

impl fmt::Debug for RemoteSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteSession").field(&self.acting).finish()
    }
}

impl fmt::Debug for ReadOnlySession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadOnlySession").field(&self.looking).finish()
    }
}
