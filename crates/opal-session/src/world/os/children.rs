//! Commands that only look, and their end.
//!
//! They stay in the process group of opal. So Ctrl+C reaches them as it reaches opal, and a
//! command that asks for a passphrase on the terminal may do so; in a group of their own the
//! terminal would stop them at the first question and leave them running after Ctrl+C. The price
//! is that they cannot be ended as a group: see [`super::descendants`].
//!
//! Standard input is empty. Standard error is thrown away where a value is read: it may hold what
//! nobody should see, and no scrubber knows a value that is still being read. Who asks for an answer
//! gets both, to decide by.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::action::Why;
use opal_core::resolver::{Answer, MAX_VALUE_BYTES, Trouble};
use opal_core::script::runs_at_start;
use opal_core::starting;
use opal_core::wiped::Wiped;

use super::{View, descendants};
use crate::error::{CommandEnd, CommandError, CommandName};
use crate::stop::{Order, Stop};
use opal_core::wiped;

/// How soon it is heard that it is to stop.
const HEARING: Duration = Duration::from_millis(50);

/// How long output may be held open after the end of a command of which only the exit code counts.
const LEFT_OPEN: Duration = Duration::from_millis(200);

/// What shall run.
pub(super) struct Work<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [&'a str],
    pub(super) feed: Feed,
    pub(super) name: CommandName,
    pub(super) directory: &'a Path,
    /// On top of the environment of the view.
    pub(super) environment: &'a BTreeMap<String, Secret>,
    /// Variables that it does not get, wherever they come from.
    pub(super) without: &'a [&'a str],
}

/// What a command reads on standard input.
pub(super) enum Feed {
    Nothing,
    /// Values, through a pipe: they are in no file.
    Values(Wiped<String>),
    /// Text of a source. A shell reads a pipe byte by byte, and a file in blocks.
    Source(String),
}

impl From<Option<Wiped<String>>> for Feed {
    fn from(values: Option<Wiped<String>>) -> Self {
        values.map_or(Self::Nothing, Self::Values)
    }
}

impl Feed {
    /// What the command starts with, and what is written to it afterwards.
    fn opened(self) -> (Stdio, Option<Wiped<String>>) {
        match self {
            Self::Nothing => (Stdio::null(), None),
            Self::Values(values) => (Stdio::piped(), Some(values)),
            Self::Source(text) => match in_memory(&text) {
                Some(file) => (file.into(), None),
                None => (Stdio::piped(), Some(Wiped::new(text))),
            },
        }
    }
}

/// A file without a name, at its start. None where the system has no such files.
#[cfg(target_os = "linux")]
fn in_memory(text: &str) -> Option<File> {
    use std::io::Seek as _;

    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create("opal", MemfdFlags::CLOEXEC).ok()?);
    file.write_all(text.as_bytes()).ok()?;
    file.rewind().ok()?;
    Some(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(_: &str) -> Option<File> {
    None
}

/// How a command is listened to.
struct Listening {
    stderr: Stdio,
    /// A time of its own, besides that of who looks.
    limit: Option<Duration>,
    /// Whether what is too much is dropped, rather than trouble.
    drops_excess: bool,
}

/// A stream of the command, by its place in [`Seen::printed`].
#[derive(Clone, Copy)]
enum Source {
    Stdout,
    Stderr,
}

enum Event {
    Output(Source, Option<Wiped<Vec<u8>>>),
    Exit(ExitStatus),
}

/// Runs it to its end; what it wrote to standard output.
pub(super) fn output(view: &View<'_>, work: Work<'_>) -> Result<Secret, Trouble> {
    let name = work.name.clone();
    let limit = Some(view.world.limits.command);
    let listening = Listening { stderr: Stdio::null(), limit, drops_excess: false };
    let ended = finished(view, work, listening).and_then(|finished| text(&finished));
    ended.map_err(|why| CommandError { name, why }.into())
}

/// Runs it to its end, whatever that is. It has the time of who asks.
pub(super) fn answer(
    view: &View<'_>,
    work: Work<'_>,
    drops_excess: bool,
) -> Result<Answer, Trouble> {
    let listening = Listening { stderr: Stdio::piped(), limit: None, drops_excess };
    let name = work.name.clone();
    let Finished { status, printed: [stdout, stderr] } =
        finished(view, work, listening).map_err(|why| CommandError { name, why })?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    let text = |bytes: Wiped<Vec<u8>>| match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => Secret::new(text),
        Cow::Owned(text) => Secret::new(text),
    };
    Ok(Answer { code, stdout: text(stdout), stderr: text(stderr) })
}

fn finished(view: &View<'_>, work: Work<'_>, listening: Listening) -> Result<Finished, CommandEnd> {
    let Listening { stderr, limit, drops_excess } = listening;
    let mut command = command(view, &work);
    let (stdin, feed) = work.feed.opened();
    let started = starting::shared(|| command.stdin(stdin).stderr(stderr).spawn());
    let mut child = started.map_err(|error| CommandEnd::NotStarted(error.kind()))?;
    if let (Some(feed), Some(stdin)) = (feed, child.stdin.take()) {
        thread::spawn(move || write(stdin, &feed));
    }
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, events) = mpsc::channel();
    let stdout = child.stdout.take().map(|it| (Source::Stdout, OwnedFd::from(it)));
    let stderr = child.stderr.take().map(|it| (Source::Stderr, OwnedFd::from(it)));
    let mut seen = Seen { only_code: drops_excess, ..Seen::default() };
    let mut pipes = Vec::new();
    for (from, fd) in stdout.into_iter().chain(stderr) {
        pipes.extend(rustix::fs::fstat(&fd).ok().map(|it| it.st_ino));
        seen.open += 1;
        let reader = sender.clone();
        thread::spawn(move || read(from, fd, drops_excess, &reader));
    }
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            // Nobody listens any more after a time-out.
            let _ = sender.send(Event::Exit(status));
        }
    });
    view.stop.attend();
    let result = seen.wait(&events, view.stop, limit);
    if result.is_err() || seen.open > 0 {
        let alive = seen.status.is_none().then_some(pid);
        descendants::end(alive, &pipes);
    }
    Ok(Finished { status: result?, printed: seen.printed })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that starts commands that look; each is waited for, or ended"
)]
fn command(view: &View<'_>, work: &Work<'_>) -> Command {
    let mut command = Command::new(work.program);
    command
        .args(work.arguments)
        .env_clear()
        .envs(quiet(&view.world.surroundings.environment))
        .envs(exposed(view.environment))
        .envs(exposed(work.environment))
        .current_dir(work.directory)
        .stdout(Stdio::piped());
    for name in work.without {
        command.env_remove(name);
    }
    command
}

/// Without what a shell runs before its own text: nothing runs because a plan is made.
fn quiet<V>(environment: &BTreeMap<OsString, V>) -> impl Iterator<Item = (&OsString, &V)> {
    environment.iter().filter(|(name, _)| !name.to_str().is_some_and(runs_at_start))
}

fn exposed(environment: &BTreeMap<String, Secret>) -> impl Iterator<Item = (&String, &str)> {
    environment.iter().map(|(name, value)| (name, value.expose()))
}

fn write(mut stdin: ChildStdin, feed: &str) {
    // A shell that ends before it has read everything says so with its exit code.
    let _ = stdin.write_all(feed.as_bytes());
}

/// Reads up to the limit, and then to the end for nobody, or one byte more to know that it was
/// exceeded.
fn read(from: Source, fd: OwnedFd, drops_excess: bool, events: &Sender<Event>) {
    let mut file = File::from(fd);
    let mut bytes = wiped::read(&mut file, MAX_VALUE_BYTES + u64::from(!drops_excess));
    if drops_excess && let Err(error) = io::copy(&mut file, &mut io::sink()) {
        bytes = Err(error);
    }
    let _ = events.send(Event::Output(from, bytes.ok()));
}

/// A command that has ended, with what it printed on standard output and standard error.
struct Finished {
    status: ExitStatus,
    printed: [Wiped<Vec<u8>>; 2],
}

/// What has become known about a command.
#[derive(Default)]
struct Seen {
    printed: [Wiped<Vec<u8>>; 2],
    status: Option<ExitStatus>,
    /// Streams that someone still writes to.
    open: usize,
    /// Whether only its exit code counts, and not who else holds its output.
    only_code: bool,
}

impl Seen {
    /// Until the command has ended and everybody has closed its output; where only its exit code
    /// counts, what it left in the background does not.
    fn wait(
        &mut self,
        events: &Receiver<Event>,
        stop: &Stop,
        limit: Option<Duration>,
    ) -> Result<ExitStatus, CommandEnd> {
        let deadline = limit.map(|limit| (Instant::now() + limit, limit));
        let mut ended = None;
        loop {
            if let Some(status) = self.status {
                let since = *ended.get_or_insert_with(Instant::now);
                if self.open == 0 || self.only_code && since.elapsed() >= LEFT_OPEN {
                    return Ok(status);
                }
            }
            if stop.order() != Order::GoOn {
                return Err(match stop.why() {
                    Some(Why::TimedOut) => CommandEnd::OutOfTime,
                    _ => CommandEnd::Stopped,
                });
            }
            let left = deadline.map(|(end, _)| end.saturating_duration_since(Instant::now()));
            match events.recv_timeout(left.unwrap_or(HEARING).min(HEARING)) {
                Ok(Event::Exit(status)) => self.status = Some(status),
                Ok(Event::Output(_, Some(bytes))) if bytes.len() as u64 > MAX_VALUE_BYTES => {
                    return Err(CommandEnd::TooLarge);
                }
                Ok(Event::Output(from, Some(bytes))) => {
                    self.printed[from as usize] = bytes;
                    self.open -= 1;
                }
                Ok(Event::Output(_, None)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(CommandEnd::Lost);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Some((_, limit)) = deadline.filter(|(end, _)| *end <= Instant::now()) {
                        return Err(self.too_late(limit));
                    }
                }
            }
        }
    }

    fn too_late(&self, limit: Duration) -> CommandEnd {
        if self.status.is_some() {
            CommandEnd::LeftOpen(limit)
        } else {
            CommandEnd::TimedOut(limit)
        }
    }
}

fn text(finished: &Finished) -> Result<Secret, CommandEnd> {
    match (finished.status.code(), finished.status.signal()) {
        (Some(0), _) => {}
        (Some(code), _) => return Err(CommandEnd::Code(code)),
        (None, signal) => return Err(CommandEnd::Signal(signal)),
    }
    match std::str::from_utf8(&finished.printed[Source::Stdout as usize]) {
        Ok(text) => Ok(Secret::new(text)),
        Err(_) => Err(CommandEnd::NotText),
    }
}
