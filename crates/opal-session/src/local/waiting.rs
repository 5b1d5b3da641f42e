//! A shell that waits for commands, and runs each in a fork of itself.
//!
//! Requests and answers have a channel of their own, which no command sees:
//!
//! ```text
//! opal  ── 00000042 text NUL ──▶  bash: eval "$text"; printf '%s:%s\0' "$turn" "$?" >&channel
//!       ◀── 7:0 NUL ────────────
//! ```
//!
//! The NUL is for shells that cannot read a number of bytes; others pass over it. A shell that is
//! not bash has no descriptor above 9, and reads its requests as its script.
//!
//! What the shell itself has to say, such as `Killed` with the text of the command, goes nowhere:
//! commands have their standard error on another descriptor.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use opal_core::wiped::{Wipe, Wiped};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::children::{self, Running};
use super::mark::{self, Mark};
use super::{processes, slots};
use opal_core::shell::Shell;
use opal_files::program;

/// An answer is a few numbers, or a path.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// What a shell ends with that is killed: 128 and the number of `KILL`.
const KILLED: i32 = 137;

/// How long a leader may take to end after its shell, and a shell after it has closed its channel.
const MAX_LEAVING_SECONDS: i64 = 2;

/// Those that were started on terminals.
static SHELLS: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) running: Running,
    /// Whether what is running is not the shell itself, but what leads its session.
    pub(super) is_led: bool,
    pub(super) descriptors: Descriptors,
    /// Where it is.
    pub(super) directory: PathBuf,
    /// What `cd -` goes back to.
    pub(super) previous: Option<PathBuf>,
    requests: OwnedFd,
    answers: OwnedFd,
    turn: u64,
    unsent: Wiped<Vec<u8>>,
    sent: usize,
    received: Vec<u8>,
}

/// The numbers of what a command does not get to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptors {
    /// What a shell that is not bash reads its requests from until it has begun.
    pub(super) script: Option<i32>,
    pub(super) channel: i32,
    /// The standard error of commands.
    pub(super) error: i32,
    /// The number of the shell, where the output of a command needs a mark at its end.
    pub(super) mark: Option<usize>,
}

/// What became of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Code(i32),
    Directory(PathBuf),
    /// What `cd -` goes back to from there.
    Previous(PathBuf),
    /// The shell itself has ended.
    Lost(i32),
}

/// Which program the shell is.
#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    pub(super) path: PathBuf,
    pub(super) shell: Shell,
}

impl Interpreter {
    pub(super) fn find(path: Option<&OsStr>, directory: &Path) -> Option<Self> {
        [("bash", Shell::Bash), ("sh", Shell::Sh)].into_iter().find_map(|(name, shell)| {
            let path = directory.join(program::find(path, directory, name)?);
            Some(Self { path, shell })
        })
    }
}

impl Waiting {
    /// `prepare` gives the shell its environment, directory and standard descriptors. `leader` is
    /// what starts it, where something else has to.
    pub(super) fn start(
        interpreter: &Interpreter,
        leader: &[OsString],
        directory: &Path,
        previous: Option<&Path>,
        prepare: impl FnOnce(&mut Command),
    ) -> io::Result<Self> {
        let is_led = !leader.is_empty();
        let mark = is_led.then(|| SHELLS.fetch_add(1, Ordering::Relaxed));
        let make = |arguments: &[&str]| {
            let mut words = leader.iter().map(OsString::as_os_str).collect::<Vec<_>>();
            words.push(interpreter.path.as_os_str());
            let mut command = children::command(Path::new(words[0]));
            command.args(&words[1..]).args(arguments);
            prepare(&mut command);
            command
        };
        let (requests, answers, running, descriptors) = match interpreter.shell {
            Shell::Bash => {
                let kind = (AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC);
                let (own, other) = socketpair(kind.0, kind.1, kind.2, None)?;
                let mut numbers = Descriptors { script: None, channel: 0, error: 0, mark };
                let running = children::start_with(other.as_fd(), |channel| {
                    numbers = Descriptors { channel, error: channel + 1, ..numbers };
                    make(&["-c", &bash_loop(numbers), "bash"])
                })?;
                (own.try_clone()?, own, running, numbers)
            }
            Shell::Sh => {
                let (reads, requests) = crate::pipe()?;
                let (answers, writes) = crate::pipe()?;
                let (running, descriptors) =
                    slots::start(reads.as_fd(), writes.as_fd(), |script| make(&[script]))?;
                (requests, answers, running, Descriptors { mark, ..descriptors })
            }
        };
        rustix::io::ioctl_fionbio(&requests, true)?;
        rustix::io::ioctl_fionbio(&answers, true)?;
        let mut waiting = Self {
            running,
            is_led,
            descriptors,
            directory: directory.to_owned(),
            previous: previous.map(Path::to_owned),
            requests,
            answers,
            turn: 0,
            unsent: Wiped::default(),
            sent: 0,
            received: Vec::new(),
        };
        if let Some(script) = descriptors.script {
            let opening = format!("exec {script}<&-\n{}\n", opening(descriptors, "set +aeu"));
            waiting.unsent.extend_from_slice(opening.as_bytes());
            waiting.send()?;
        }
        Ok(waiting)
    }

    /// Hands a request over, as far as it goes without waiting.
    pub(super) fn ask(&mut self, text: &str) -> io::Result<()> {
        self.turn += 1;
        let turn = format!("__opal_turn={}; ", self.turn);
        let bytes = turn.len() + text.len();
        let (head, tail) = match self.descriptors.script {
            None => (format!("{bytes:08}"), "\0".to_owned()),
            Some(_) => (String::new(), format!("\n{}\n", report(self.descriptors))),
        };
        // A buffer that grows leaves copies that nothing wipes.
        self.unsent.reserve_exact(head.len() + bytes + tail.len());
        for piece in [&head, &turn, text, &tail] {
            self.unsent.extend_from_slice(piece.as_bytes());
        }
        self.send()
    }

    /// What the shell writes after the output of this turn, where it writes something.
    pub(super) fn mark(&self) -> Option<Mark> {
        self.descriptors.mark.map(|shell| Mark::new(shell, self.turn))
    }

    /// Ends it, whatever it is doing; what it ended with.
    pub(super) fn end(&mut self) -> Option<i32> {
        if let Ok(Some(code)) = self.running.ended() {
            return Some(code);
        }
        if self.is_led {
            processes::kill_led(self.running.pid());
            self.let_leave();
        }
        self.running.kill();
        self.running.wait().ok()
    }

    /// Waits until it has ended by itself, for a limited time.
    fn let_leave(&self) {
        let mut end = [PollFd::from_borrowed_fd(self.running.end(), PollFlags::IN)];
        let time = Timespec { tv_sec: MAX_LEAVING_SECONDS, tv_nsec: 0 };
        let _ = poll(&mut end, Some(&time));
    }

    pub(super) fn polled(&self) -> [(BorrowedFd<'_>, PollFlags); 3] {
        let wants = if self.unsent.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        [
            (self.answers.as_fd(), PollFlags::IN),
            (self.requests.as_fd(), wants),
            (self.running.end(), PollFlags::IN),
        ]
    }

    fn send(&mut self) -> io::Result<()> {
        while self.sent < self.unsent.len() {
            match rustix::io::write(&self.requests, &self.unsent[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        self.unsent.wipe();
        self.sent = 0;
        Ok(())
    }

    /// What it has answered in this turn, if anything.
    pub(super) fn answer(&mut self) -> io::Result<Option<Answer>> {
        // Broken where the shell has ended, which is seen below.
        let _ = self.send();
        let mut bytes = [0; 4096];
        loop {
            if let Some(answer) = self.next() {
                return Ok(Some(answer));
            }
            match rustix::io::read(&self.answers, &mut bytes) {
                Ok(count) if count > 0 && self.received.len() < MAX_ANSWER_BYTES => {
                    self.received.extend_from_slice(&bytes[..count]);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                // An answer without an end: nothing that follows can be understood.
                Ok(1..) => return Ok(Some(Answer::Lost(self.end().unwrap_or(KILLED)))),
                _ => {
                    self.let_leave();
                    return Ok(Some(Answer::Lost(self.end().unwrap_or(KILLED))));
                }
            }
        }
        Ok(self.running.ended()?.map(Answer::Lost))
    }

    /// The next whole answer that belongs to this turn; anything else is none of ours.
    fn next(&mut self) -> Option<Answer> {
        use std::os::unix::ffi::OsStringExt;
        let start = format!("{}:", self.turn);
        loop {
            let end = self.received.iter().position(|byte| *byte == 0)?;
            let message: Vec<u8> = self.received.drain(..=end).take(end).collect();
            let Some(rest) = message.strip_prefix(start.as_bytes()) else { continue };
            let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
            match rest {
                [b'/', ..] => return Some(Answer::Directory(path(rest))),
                [b'-', previous @ ..] if previous.starts_with(b"/") => {
                    return Some(Answer::Previous(path(previous)));
                }
                _ => {}
            }
            if let Some(code) = std::str::from_utf8(rest).ok().and_then(|it| it.parse().ok()) {
                return Some(Answer::Code(code));
            }
        }
    }
}

/// A leader has something to do at its end, for which it must not be killed.
impl Drop for Waiting {
    fn drop(&mut self) {
        self.end();
    }
}

/// What bash runs: one line, so that its messages name line 1 of a command.
fn bash_loop(descriptors: Descriptors) -> String {
    let read = format!("IFS= builtin read -r -u {}", descriptors.channel);
    let opening = opening(descriptors, "set +aeu -o pipefail");
    let report = report(descriptors).replace("printf", "builtin printf");
    format!(
        "{opening}; if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 400)); then \
         while {read} -N 8 __opal_bytes && LC_ALL=C {read} -N \"$__opal_bytes\" __opal_text; \
         do builtin eval \"$__opal_text\"; {report}; done; \
         else while {read} -d '' __opal_text; \
         do builtin eval \"${{__opal_text:8}}\"; {report}; done; fi"
    )
}

/// A signal to everybody in the group ends the command and not the shell.
fn opening(descriptors: Descriptors, settings: &str) -> String {
    format!("exec {}>&2 2>/dev/null; {settings}; trap : INT TERM HUP", descriptors.error)
}

fn report(descriptors: Descriptors) -> String {
    let Descriptors { channel, error, mark, .. } = descriptors;
    let mark = mark.map(mark::printing);
    let marks = mark.map(|mark| format!("{mark}; {mark} >&{error}; ")).unwrap_or_default();
    format!(
        "__opal_code=$?; {marks}printf '%s:%s\\0' \"$__opal_turn\" \"$__opal_code\" >&{channel}"
    )
}
