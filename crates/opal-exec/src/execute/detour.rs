//! Redirections as the shell writes them, around something that no single shell runs: a block, a
//! call, `@to.display`.
//!
//! The text is for a shell to understand, so a shell does it. It runs a helper whose descriptors are
//! redirected by the text, and which copies between them and named pipes; the steps are connected to
//! the other ends. Only streams that the text may mean take this way.
//!
//! ```text
//! steps ── stdout ──▶ pipe `1` ──▶ { cat <1 & cat <2 >&2 & … } > log 2>&1
//!       ── stderr ──▶ pipe `2` ──▶
//! ```
//!
//! The steps begin when the helper says that its redirections are made: where they cannot be, nothing
//! runs, as in a shell. When they have ended, the helper waits until all that they wrote has arrived.
//! Where something that they left in the background still holds a pipe, the copying goes on in the
//! background too, and nobody waits for it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use opal_core::Data;
use opal_core::action::{Failure, Halt, Why};
use opal_core::context::{Context, Place};
use opal_core::plan::Step;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use rustix::event::PollFlags;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use tempfile::TempDir;

use super::call::Begun;
use super::here::{Here, In, Out};
use super::show::Show;
use super::walk::{bug, failed, go_on, unable};
use super::{STACK_BYTES, Walk};
use opal_session::stop::{Order, Stop};
use opal_session::{Ended, Work};

/// How often it is looked at the pipes of steps that have ended.
const LOOK: Duration = Duration::from_millis(20);

/// After so much silence whoever still holds a pipe was left in the background.
const SILENCE: Duration = Duration::from_millis(100);

/// How long what was printed may take to arrive, once the steps are told to stop.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct Detour<'scope> {
    helper: Helper<'scope>,
    pipes: Pipes,
    /// One for each pipe that steps write to, by its name: it stays open until they have ended.
    writers: Vec<(&'static str, OwnedFd)>,
}

/// The shell that makes the redirections, and the thread that it has.
struct Helper<'scope> {
    thread: ScopedJoinHandle<'scope, Result<Ended, Trouble>>,
    /// Deaf to what the steps are told, so that all they printed until then arrives.
    stop: Stop,
    /// What the steps are told.
    outer: Stop,
    /// Ends with the thread.
    over: OwnedFd,
}

/// The streams that a text of redirections may mean. One too many does no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touched {
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl<'scope> Detour<'scope> {
    /// Connects the streams of `inner` to a helper that has made the redirections of `text`.
    pub(super) fn open<'p: 'scope>(
        walk: &'p Walk<'p>,
        begun: &Begun<'p>,
        text: Vec<ScriptPart>,
        inner: &mut Here<'p>,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<Self, Halt> {
        let unable = |error: io::Error| unable(begun.step, &error);
        let touched = touched(&text);
        let mut pipes = Pipes::new().map_err(unable)?;
        let script = script(pipes.folder.path(), touched, text);
        let helper =
            Helper::start(walk, begun.number, script, inner.clone(), scope).map_err(unable)?;
        let connected = match helper.is_ready(&pipes) {
            Ok(false) => {
                helper.ended(begun.step)?;
                return Err(bug(begun.step, "a redirection ended before its step".to_owned()));
            }
            Ok(true) => pipes.connect(touched, inner).map_err(unable),
            Err(halt) => Err(halt),
        };
        match connected {
            Ok(writers) => Ok(Self { helper, pipes, writers }),
            Err(halt) => {
                helper.stop.ask(Why::Cancelled);
                Err(halt)
            }
        }
    }

    /// The steps have ended: waits until all that they wrote has arrived.
    pub(super) fn close(self, step: &Step) -> Result<(), Halt> {
        let Self { helper, pipes, writers } = self;
        // As long as there are writers, or else it cannot be seen when there are no more.
        let reader = |(name, _): &(&str, _)| pipes.end(name, OFlags::RDONLY | OFlags::NONBLOCK);
        let mut held: Vec<OwnedFd> = writers.iter().filter_map(|it| reader(it).ok()).collect();
        drop(writers);
        let (mut is_told, mut heard, mut stopped) = (false, Instant::now(), None);
        loop {
            let order = helper.outer.order();
            if order != Order::GoOn
                && stopped.get_or_insert_with(Instant::now).elapsed() >= PATIENCE
            {
                helper.stop.ask(Why::Cancelled);
            }
            if !is_told && (held.is_empty() || heard.elapsed() >= SILENCE) {
                is_told = true;
                pipes.tell(if held.is_empty() { "wait" } else { "leave" });
            }
            let mut polled = vec![(helper.over.as_fd(), PollFlags::IN)];
            polled.extend(held.iter().map(|reader| (reader.as_fd(), PollFlags::empty())));
            let pause = (!is_told || stopped.is_some()).then_some(LOOK);
            let found = helper.outer.wait(&polled, pause, order);
            let mut found = found.into_iter();
            if found.next().is_some_and(|flags| !flags.is_empty()) {
                break;
            }
            held.retain(|_| !found.next().is_some_and(|flags| flags.contains(PollFlags::HUP)));
            if held.iter().any(|reader| rustix::io::ioctl_fionread(reader).is_ok_and(|it| it > 0)) {
                heard = Instant::now();
            }
        }
        if helper.stop.order() != Order::GoOn {
            go_on(&helper.outer)?;
        }
        helper.ended(step)
    }
}

impl<'scope> Helper<'scope> {
    fn start<'p: 'scope>(
        walk: &'p Walk<'p>,
        number: u64,
        script: Vec<ScriptPart>,
        outer: Here<'p>,
        scope: &'scope Scope<'scope, '_>,
    ) -> io::Result<Self> {
        let (over, is_over) = opal_session::pipe()?;
        let (stop, told) = (outer.stop.deaf(), outer.stop.clone());
        let own = stop.clone();
        let work = move || {
            let ended = help(walk, &outer, &script, number, &own);
            drop(is_over);
            ended
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work)?;
        Ok(Self { thread, stop, outer: told, over })
    }

    /// Whether the redirections were made; it ends where they were not.
    fn is_ready(&self, pipes: &Pipes) -> Result<bool, Halt> {
        loop {
            go_on(&self.outer)?;
            let fds = [(pipes.ready.as_fd(), PollFlags::IN), (self.over.as_fd(), PollFlags::IN)];
            let found = self.outer.wait(&fds, None, Order::GoOn);
            if let Some(at) = found.iter().position(|flags| !flags.is_empty()) {
                return Ok(at == 0);
            }
        }
    }

    fn ended(self, step: &Step) -> Result<(), Halt> {
        let ended =
            self.thread.join().map_err(|_| bug(step, "a redirection panicked".to_owned()))?;
        match ended.map_err(|trouble| failed(step, 1, trouble))?.code {
            0 => Ok(()),
            code => {
                let path = step.path.clone();
                Err(Halt::Failed(Box::new(Failure::new(path, code, None))))
            }
        }
    }
}

/// Named pipes between the helper and opal.
struct Pipes {
    folder: TempDir,
    /// The helper says here that its redirections are made.
    ready: File,
    /// And hears here what to do about the copying when the steps have ended.
    end: File,
    /// Keeps the others open until they are connected, so that nobody waits for the other end.
    keep: Vec<OwnedFd>,
}

impl Pipes {
    fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let make = |name: &str| -> io::Result<OwnedFd> {
            let path = folder.path().join(name);
            rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            Ok(rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
        };
        let keep = vec![make("0")?, make("1")?, make("2")?];
        let (ready, end) = (make("ready")?.into(), make("end")?.into());
        Ok(Self { folder, ready, end, keep })
    }

    /// Gives steps their ends. From here on each side sees when the other one has gone.
    fn connect(
        &mut self,
        touched: Touched,
        inner: &mut Here<'_>,
    ) -> io::Result<Vec<(&'static str, OwnedFd)>> {
        let mut writers = Vec::new();
        if touched.stdin {
            inner.stdin = In::of(self.end("0", OFlags::RDONLY)?);
        }
        for (name, is_touched, out) in
            [("1", touched.stdout, &mut inner.stdout), ("2", touched.stderr, &mut inner.stderr)]
        {
            if is_touched {
                let end = self.end(name, OFlags::WRONLY)?;
                *out = Out::to(end.try_clone()?);
                writers.push((name, end));
            }
        }
        self.keep.clear();
        Ok(writers)
    }

    fn end(&self, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let path = self.folder.path().join(name);
        Ok(rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())?)
    }

    fn tell(&self, word: &str) {
        // It is a pipe that opal itself holds open: a word always fits.
        let _ = writeln!(&self.end, "{word}");
    }
}

/// The helper: copies until its pipes have ended.
fn script(folder: &Path, touched: Touched, text: Vec<ScriptPart>) -> Vec<ScriptPart> {
    let pipe = |name: &str| {
        let path = folder.join(name).to_string_lossy().into_owned();
        ScriptPart::Data(Data::text(path), Context::new(Place::Redirection))
    };
    let words = |text: &str| ScriptPart::Text(text.to_owned());
    // Each pipe is open before the steps begin. Without job control a command in the background
    // reads nothing, unless it is told to.
    let mut parts = vec![words("{ exec 9<&0\n__opal_e= __opal_i= __opal_f=\nexec 7<"), pipe("1")];
    parts.push(words("\ncommand -p cat <&7 7<&- 9<&- & __opal_o=$!\n"));
    if touched.stderr {
        parts.extend([words("exec 7<"), pipe("2")]);
        parts.push(words("\ncommand -p cat <&7 >&2 7<&- 9<&- & __opal_e=$!\n"));
    }
    parts.push(words("exec 7<&-\n"));
    if touched.stdin {
        // Open before anybody reads, so that they see its end and not that it has not begun.
        parts.extend([words("exec 8>"), pipe("0"), words("\n")]);
        parts.push(words("command -p cat <&9 >&8 8>&- & __opal_i=$!\nexec 8>&-\n"));
    }
    parts.extend([words("echo >"), pipe("ready"), words("\nread -r __opal_w <"), pipe("end")]);
    parts.push(words(
        "\n[ \"$__opal_w\" = leave ] || {\n\
         wait $__opal_o || __opal_f=1\n\
         [ -z \"$__opal_e\" ] || wait $__opal_e || __opal_f=1\n}\n\
         [ -z \"$__opal_i\" ] || kill $__opal_i 2>/dev/null\n\
         [ -z \"$__opal_f\" ]\n} ",
    ));
    parts.extend(text);
    parts
}

/// A digit before an arrow names a descriptor; `&` before or behind it may mean any.
fn touched(text: &[ScriptPart]) -> Touched {
    let mut touched = Touched { stdin: false, stdout: false, stderr: false };
    let mut previous = ' ';
    for part in text {
        let ScriptPart::Text(text) = part else {
            previous = '_';
            continue;
        };
        for (at, c) in text.char_indices() {
            let copies = text[at..].starts_with(">&");
            match c {
                '<' => touched.stdin |= !matches!(previous, '1'..='9'),
                '>' => {
                    touched.stdout |= !matches!(previous, '0' | '2'..='9');
                    touched.stderr |=
                        matches!(previous, '2' | '&') || (copies && !previous.is_ascii_digit());
                }
                _ => {}
            }
            previous = c;
        }
    }
    touched
}

fn help<'p>(
    walk: &'p Walk<'p>,
    outer: &Here<'p>,
    script: &[ScriptPart],
    number: u64,
    stop: &Stop,
) -> Result<Ended, Trouble> {
    let unable = |error: io::Error| {
        let message = format!("the redirection cannot be made: {}", error.kind());
        Trouble::new(TroubleKind::Failed, message, "close programs that hold many files")
    };
    let work = Work {
        script,
        interpreter: None,
        directory: &outer.directory,
        previous: outer.previous.as_deref(),
        environment: &outer.environment,
        limits: outer.limits,
        stdin: outer.stdin.input().map_err(unable)?,
        stdout: outer.stdout.output().map_err(unable)?,
        stderr: outer.stderr.output().map_err(unable)?,
    };
    let mut show = Show::new(walk, &outer.screen, number);
    let ended = walk.job.session.run(work, stop, &mut show);
    show.finish();
    ended
}
