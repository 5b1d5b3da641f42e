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
//! runs, as in a shell.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use opal_core::Data;
use opal_core::action::{Failure, Halt};
use opal_core::context::{Context, Place};
use opal_core::plan::Step;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use rustix::event::PollFlags;
use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::call::Begun;
use super::here::{Here, In, Out};
use super::show::Show;
use super::walk::{bug, failed, go_on, unable};
use super::{STACK_BYTES, Walk};
use crate::session::{Ended, Work};
use crate::stop::Order;

/// How often it is looked whether the helper is still there.
const LOOK: Duration = Duration::from_millis(20);

type Helper<'scope> = ScopedJoinHandle<'scope, Result<Ended, Trouble>>;

pub(super) struct Detour<'scope> {
    helper: Helper<'scope>,
    /// Keeps the pipes open until the steps have ended.
    open: Vec<OwnedFd>,
    _folder: tempfile::TempDir,
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
        let folder = tempfile::tempdir().map_err(unable)?;
        let mut pipes = Pipes::new(folder.path()).map_err(unable)?;
        let script = script(folder.path(), touched, text);
        let number = begun.number;
        let outer = inner.clone();
        let work = move || help(walk, &outer, &script, number);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let helper = thread.spawn_scoped(scope, work).map_err(unable)?;
        let is_ready = wait_until_ready(&pipes.ready, &helper, inner);
        if !matches!(is_ready, Ok(true)) {
            drop(pipes);
            let ended = ended(begun.step, helper);
            is_ready?;
            ended?;
            return Err(bug(begun.step, "a redirection ended before its step".to_owned()));
        }
        if touched.stdin {
            inner.stdin = In::of(pipes.end("0", OFlags::RDONLY).map_err(unable)?);
        }
        if touched.stdout {
            inner.stdout = Out::to(pipes.end("1", OFlags::WRONLY).map_err(unable)?);
        }
        if touched.stderr {
            inner.stderr = Out::to(pipes.end("2", OFlags::WRONLY).map_err(unable)?);
        }
        // Who reads must see the end of what the helper writes.
        pipes.keep.truncate(2);
        Ok(Self { helper, open: pipes.keep, _folder: folder })
    }

    /// The steps have ended: waits until all that they wrote has arrived.
    pub(super) fn close(self, step: &Step) -> Result<(), Halt> {
        drop(self.open);
        ended(step, self.helper)
    }
}

fn ended(step: &Step, helper: Helper<'_>) -> Result<(), Halt> {
    let ended = helper.join().map_err(|_| bug(step, "a redirection panicked".to_owned()))?;
    match ended.map_err(|trouble| failed(step, 1, trouble))?.code {
        0 => Ok(()),
        code => {
            let path = step.path.clone();
            Err(Halt::Failed(Box::new(Failure { path, code, trouble: None })))
        }
    }
}

/// Named pipes, each held open so that nobody waits for the other end.
struct Pipes<'f> {
    folder: &'f Path,
    ready: File,
    keep: Vec<OwnedFd>,
}

impl<'f> Pipes<'f> {
    fn new(folder: &'f Path) -> io::Result<Self> {
        let mut held = Vec::new();
        for name in ["1", "2", "0", "ready"] {
            let path = folder.join(name);
            rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            held.push(rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?);
        }
        let ready = held.pop().map(File::from).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { folder, ready, keep: held })
    }

    fn end(&self, name: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let path = self.folder.join(name);
        Ok(rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())?)
    }
}

/// The helper: copies until its pipes have ended.
fn script(folder: &Path, touched: Touched, text: Vec<ScriptPart>) -> Vec<ScriptPart> {
    let pipe = |name: &str| {
        let path = folder.join(name).to_string_lossy().into_owned();
        ScriptPart::Data(Data::text(path), Context::new(Place::Redirection))
    };
    let words = |text: &str| ScriptPart::Text(text.to_owned());
    // Without job control a command in the background reads nothing, unless it is told to.
    let mut parts = vec![words("{ exec 9<&0\n__opal_e= __opal_i=\ncommand -p cat <"), pipe("1")];
    parts.push(words(" & __opal_o=$!\n"));
    if touched.stderr {
        parts.extend([words("command -p cat <"), pipe("2"), words(" >&2 & __opal_e=$!\n")]);
    }
    if touched.stdin {
        // Open before anybody reads, so that they see its end and not that it has not begun.
        parts.extend([words("exec 8>"), pipe("0"), words("\n")]);
        parts.push(words("command -p cat <&9 >&8 & __opal_i=$!\nexec 8>&-\n"));
    }
    parts.extend([words("echo >"), pipe("ready"), words("\n")]);
    parts.push(words(
        "wait $__opal_o $__opal_e || __opal_o=\n\
         [ -z \"$__opal_i\" ] || kill $__opal_i 2>/dev/null\n\
         [ -n \"$__opal_o\" ]\n} ",
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
) -> Result<Ended, Trouble> {
    let unable = |error: io::Error| {
        let message = format!("the redirection cannot be made: {}", error.kind());
        Trouble::new(TroubleKind::Failed, message, "close programs that hold many files")
    };
    let work = Work {
        script,
        interpreter: None,
        directory: &outer.directory,
        environment: &outer.environment,
        stdin: outer.stdin.input().map_err(unable)?,
        stdout: outer.stdout.output().map_err(unable)?,
        stderr: outer.stderr.output().map_err(unable)?,
    };
    let mut show = Show::new(walk, &outer.screen, number);
    // It ends by itself when the steps do, so that all they printed until then arrives.
    let ended = walk.job.session.run(work, &outer.stop.deaf(), &mut show);
    show.finish();
    ended
}

/// Whether the redirections were made; the helper ends where they were not.
fn wait_until_ready(ready: &File, helper: &Helper<'_>, here: &Here<'_>) -> Result<bool, Halt> {
    loop {
        go_on(&here.stop)?;
        let fds = [(ready.as_fd(), PollFlags::IN)];
        let found = here.stop.wait(&fds, Some(LOOK), Order::GoOn);
        if found.first().is_some_and(|flags| flags.contains(PollFlags::IN)) {
            return Ok(true);
        }
        if helper.is_finished() {
            return Ok(false);
        }
    }
}
