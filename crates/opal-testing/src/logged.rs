//! A session that runs nothing: it gives prepared answers, and remembers what it was asked.

mod answer;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use opal_core::action::{Pending, Replace, TextFile, Why};
use opal_core::files::Files;
use opal_core::journal::{Entry, Opening};
use opal_core::message;
use opal_core::message::Message;
use opal_core::resolver::{Probe, ScriptPart, Trouble, TroubleKind};
use opal_core::stream::Stream;

use crate::{LoggedJournal, MemoryWorld};
pub use answer::Answer;
use files::{LoggedFile, LoggedText};
use opal_core::shell::syntax::Fault;
use opal_core::shell::{Movement, movement};
use opal_session::stop::{Order, Stop};
use opal_session::{Ended, Input, Journal, Output, Place, Session, Taker, Work, pipe};

/// Commands that were given no answer succeed at once and print nothing.
///
/// The log has a line for everything, in order:
///
/// ```text
/// run `cargo build` in /p/web with CI
/// stop `sleep 60`: signal 2
/// kill `sleep 60`
/// replace dist/VERSION
/// keep dist/VERSION
/// drop dist/VERSION
/// open VERSION
/// make web
/// ```
#[derive(Clone, Default)]
pub struct LoggedSession {
    answers: BTreeMap<String, Vec<Answer>>,
    wrong: BTreeMap<String, String>,
    absent: BTreeSet<String>,
    files: BTreeMap<String, Vec<u8>>,
    world: Arc<MemoryWorld>,
    journal: Option<LoggedJournal>,
    /// Which connection of the journal this is, from 0.
    connection: u64,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    log: Vec<String>,
    /// How often each command has run.
    runs: BTreeMap<String, usize>,
    at_work: usize,
    most_at_work: usize,
    /// What was kept in files.
    kept: BTreeMap<String, Vec<u8>>,
}

impl LoggedSession {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What `command` does, its text written with `{}` for each value in it. Given several times,
    /// it does one after the other, and the last from then on.
    #[must_use]
    pub fn on(mut self, command: &str, answer: Answer) -> Self {
        self.answers.entry(command.to_owned()).or_default().push(answer);
        self
    }

    /// A text that the shell does not understand.
    #[must_use]
    pub fn wrong(mut self, command: &str, said: &str) -> Self {
        self.wrong.insert(command.to_owned(), said.to_owned());
        self
    }

    /// A directory that is not there; all others are.
    #[must_use]
    pub fn without(mut self, directory: &str) -> Self {
        self.absent.insert(directory.to_owned());
        self
    }

    #[must_use]
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.to_owned(), content.into());
        self
    }

    /// What steps have done under an order.
    #[must_use]
    pub fn keeping(mut self, journal: &LoggedJournal) -> Self {
        self.journal = Some(journal.clone());
        self
    }

    /// The same over another connection, where the last one was lost.
    pub(crate) fn connected(&self) -> Self {
        let connection = self.journal.as_ref().map_or(0, LoggedJournal::connection);
        Self { connection, ..self.clone() }
    }

    #[must_use]
    pub fn log(&self) -> Vec<String> {
        lock(&self.state).log.clone()
    }

    /// What was written to a file and kept.
    #[must_use]
    pub fn kept(&self, path: &str) -> Option<Vec<u8>> {
        lock(&self.state).kept.get(path).cloned()
    }

    /// How many commands ran at a time, at most.
    #[must_use]
    pub fn most_at_work(&self) -> usize {
        lock(&self.state).most_at_work
    }

    fn note(&self, line: String) {
        lock(&self.state).log.push(line);
    }

    fn answer(&self, command: &str) -> Answer {
        let mut state = lock(&self.state);
        let runs = state.runs.entry(command.to_owned()).or_default();
        *runs += 1;
        let answers = self.answers.get(command).map_or(&[][..], Vec::as_slice);
        answers.get(*runs - 1).or(answers.last()).cloned().unwrap_or_default()
    }

    /// Takes its time, unless it is stopped: then what it ends with.
    fn take_time(&self, command: &str, answer: &Answer, stop: &Stop) -> Option<i32> {
        let since = Instant::now();
        let mut seen = Order::GoOn;
        let mut asked = None;
        loop {
            match stop.order() {
                Order::GoOn => {}
                Order::Kill => return Some(self.killed(command)),
                Order::End { why, grace } => {
                    let first = *asked.get_or_insert_with(Instant::now);
                    if seen == Order::GoOn {
                        self.note(format!("stop `{command}`: {}", words(why)));
                    }
                    if !answer.is_stubborn {
                        return Some(143);
                    }
                    if first.elapsed() >= grace {
                        return Some(self.killed(command));
                    }
                    seen = stop.order();
                }
            }
            let left = answer.takes.saturating_sub(since.elapsed());
            if left.is_zero() {
                return None;
            }
            let pause = if seen == Order::GoOn { left } else { Duration::from_millis(1) };
            let _ = stop.wait(&[], Some(pause), seen);
        }
    }

    fn killed(&self, command: &str) -> i32 {
        self.note(format!("kill `{command}`"));
        137
    }

    /// The machine that resources see.
    #[must_use]
    pub fn world(mut self, world: MemoryWorld) -> Self {
        self.world = Arc::new(world);
        self
    }
}

impl Session for LoggedSession {
    fn check(&self, scripts: &[&[ScriptPart]], _: &Stop) -> Result<Vec<Fault>, Trouble> {
        let said = |script: &&[ScriptPart]| self.wrong.get(&written(script)).cloned();
        let fault = |(text, script)| Some(Fault { text, line: 1, message: said(script)? });
        Ok(scripts.iter().enumerate().filter_map(fault).collect())
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        if self.is_lost() {
            return Err(LoggedJournal::lost());
        }
        let command = written(work.script);
        let names: Vec<&str> = work.environment.keys().map(String::as_str).collect();
        let with = if names.is_empty() { "" } else { &format!(" with {}", names.join(", ")) };
        let by = work.interpreter.map_or_else(String::new, |program| format!(" by {program}"));
        {
            let mut state = lock(&self.state);
            state.log.push(format!("run `{command}` in {}{with}{by}", work.directory.display()));
            state.at_work += 1;
            state.most_at_work = state.most_at_work.max(state.at_work);
        }
        let answer = self.answer(&command);
        let printed = print(&answer, work.stdin, [work.stdout, work.stderr], taker);
        let stopped = self.take_time(&command, &answer, stop);
        lock(&self.state).at_work -= 1;
        if let Some(trouble) = answer.trouble {
            return Err(trouble);
        }
        let directory = answer.directory.or_else(|| match movement(work.script) {
            Movement::Only(to) => Some(whole(work.directory, to.expose())),
            Movement::Stays | Movement::May => None,
        });
        let code = stopped.unwrap_or(if printed { answer.code } else { 141 });
        let previous = directory.as_ref().map(|_| work.directory.to_owned());
        Ok(Ended { code, directory, previous, is_reported: stopped.is_some() })
    }

    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        _: &Stop,
    ) -> Result<PathBuf, Trouble> {
        if create {
            self.note(format!("make {path}"));
        } else if self.absent.contains(path) {
            let message = message!("the directory `", path, "` does not exist");
            return Err(Trouble::new(TroubleKind::Missing, message, "make it first"));
        }
        Ok(whole(from, path))
    }

    fn replace(
        &self,
        _: &Path,
        replace: &Replace<'_>,
        _: &Stop,
    ) -> Result<Box<dyn Pending>, Trouble> {
        let appends = if replace.append { " at its end" } else { "" };
        let mode = replace.mode.map_or_else(String::new, |mode| format!(" as {mode:o}"));
        self.note(format!("replace {}{appends}{mode}", replace.path));
        let (path, state) = (replace.path.to_owned(), Arc::clone(&self.state));
        Ok(Box::new(LoggedFile { path, bytes: Some(Vec::new()), state, tree: None }))
    }

    fn folder(&self, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        self.note("folder".to_owned());
        Ok(Box::new(LoggedText))
    }

    fn text_file(
        &self,
        text: &str,
        extension: &str,
        _: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble> {
        self.note(format!("text `{}` .{extension}", text.trim_end()));
        Ok(Box::new(LoggedText))
    }

    fn finds(&self, program: &str) -> bool {
        !self.absent.contains(program)
    }

    fn open(&self, _: &Path, path: &str, _: &Stop) -> Result<OwnedFd, Trouble> {
        self.note(format!("open {path}"));
        let missing =
            |why: Message| Trouble::new(TroubleKind::Missing, why, "give this session the file");
        let content =
            self.files.get(path).ok_or_else(|| missing(message!("`", path, "` does not exist")))?;
        let (read, write) = pipe().map_err(|_| missing("there is no pipe".into()))?;
        // What fits into a pipe needs nobody who reads it at once.
        File::from(write).write_all(content).map_err(|_| missing("it is too long".into()))?;
        Ok(read)
    }

    fn is_lost(&self) -> bool {
        self.journal.as_ref().is_some_and(|it| it.connection() > self.connection)
    }

    fn probe<'s>(&'s self, _: &Place<'s>) -> Box<dyn Probe + 's> {
        Box::new(&*self.world)
    }

    fn journal(&self, _: &Opening, _: &Stop) -> Result<(Box<dyn Journal>, Vec<Entry>), Trouble> {
        self.journal.as_ref().expect("this session keeps a journal").open(self.connection)
    }

    fn files<'s>(&'s self, _: &Stop) -> Box<dyn Files + 's> {
        Box::new(self)
    }
}

/// False where nobody wanted it.
fn print(answer: &Answer, stdin: Input, outputs: [Output; 2], taker: &mut dyn Taker) -> bool {
    let mut stdout = answer.stdout.clone();
    if let (true, Input::From(fd)) = (answer.passes, stdin) {
        let _ = File::from(fd).read_to_end(&mut stdout);
    }
    let streams = [(Stream::Stdout, stdout), (Stream::Stderr, answer.stderr.clone())];
    let mut wanted = true;
    for ((stream, bytes), output) in streams.into_iter().zip(outputs) {
        wanted &= match output {
            Output::To(fd) => File::from(fd).write_all(&bytes).is_ok(),
            Output::Taken if bytes.is_empty() => true,
            Output::Taken => taker.take(stream, &bytes).is_ok(),
        };
    }
    wanted
}

/// With `..` taken back, as a shell does it.
fn whole(from: &Path, path: &str) -> PathBuf {
    from.join(path).components().fold(PathBuf::new(), |mut whole, component| {
        match component {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            other => whole.push(other),
        }
        whole
    })
}

fn written(script: &[ScriptPart]) -> String {
    let part = |part: &ScriptPart| match part {
        ScriptPart::Text(text) => text.clone(),
        _ => "{}".to_owned(),
    };
    script.iter().map(part).collect()
}

fn words(why: Why) -> String {
    match why {
        Why::Signal(number) => format!("signal {number}"),
        Why::TimedOut => "out of time".to_owned(),
        Why::Cancelled => "cancelled".to_owned(),
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was asked, and nothing of the answers.
impl fmt::Debug for LoggedSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggedSession").field("log", &self.log()).finish_non_exhaustive()
    }
}
