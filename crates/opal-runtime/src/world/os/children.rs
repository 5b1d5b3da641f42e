//! Commands that run while a plan is made, and their end.
//!
//! They stay in the process group of opal. So Ctrl+C reaches them as it reaches opal, and a
//! command that asks for a passphrase on the terminal may do so; in a group of their own the
//! terminal would stop them at the first question and leave them running after Ctrl+C. The price
//! is that they cannot be ended as a group: see [`super::descendants`].
//!
//! Standard input is empty, and standard error is thrown away: it may hold what nobody should see,
//! and no scrubber knows a value that is still being read.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::resolver::{MAX_VALUE_BYTES, Trouble, TroubleKind};
use zeroize::Zeroizing;

use super::{OsWorld, descendants};
use crate::stop::{Order, Stop};
use crate::world::wiped;

/// How soon it is heard that planning is to stop.
const HEARING: Duration = Duration::from_millis(50);

/// What shall run.
pub(super) struct Work<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [&'a str],
    /// What it reads on standard input.
    pub(super) feed: Option<Zeroizing<String>>,
    /// What messages call it.
    pub(super) name: &'a str,
}

enum Event {
    Output(Option<Zeroizing<Vec<u8>>>),
    Exit(ExitStatus),
}

/// Runs it to its end; what it wrote to standard output.
pub(super) fn output(world: &OsWorld, work: Work<'_>) -> Result<Secret, Trouble> {
    let mut child = command(world, &work).spawn().map_err(|error| start_trouble(&work, &error))?;
    if let (Some(feed), Some(stdin)) = (work.feed, child.stdin.take()) {
        thread::spawn(move || write(stdin, &feed));
    }
    let stdout = child.stdout.take().expect("the standard output is a pipe");
    let pipe = rustix::fs::fstat(stdout.as_fd()).ok().map(|it| it.st_ino);
    let pid = rustix::process::Pid::from_child(&child);
    let (sender, events) = mpsc::channel();
    let reader = sender.clone();
    thread::spawn(move || read(stdout, &reader));
    thread::spawn(move || {
        if let Ok(status) = child.wait() {
            // Nobody listens any more after a time-out.
            let _ = sender.send(Event::Exit(status));
        }
    });
    world.stop.attend();
    let mut seen = Seen::default();
    let result = seen.wait(&events, (&world.stop, world.limits.command), work.name);
    if result.is_err() {
        let alive = seen.status.is_none().then_some(pid);
        descendants::end(alive, pipe);
    }
    result?;
    text(seen, work.name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that starts plan-time commands; each is waited for, or ended"
)]
fn command(world: &OsWorld, work: &Work<'_>) -> Command {
    let mut command = Command::new(work.program);
    command
        .args(work.arguments)
        .env_clear()
        .envs(&world.surroundings.environment)
        .current_dir(&world.surroundings.start)
        .stdin(if work.feed.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

fn write(mut stdin: ChildStdin, feed: &str) {
    // A shell that ends before it has read everything says so with its exit code.
    let _ = stdin.write_all(feed.as_bytes());
}

/// Reads up to the limit, and one byte more to know that it was exceeded.
fn read(mut stdout: ChildStdout, events: &Sender<Event>) {
    let bytes = wiped::read(&mut stdout, MAX_VALUE_BYTES + 1);
    let _ = events.send(Event::Output(bytes.ok()));
}

/// What has become known about a command.
#[derive(Default)]
struct Seen {
    bytes: Zeroizing<Vec<u8>>,
    status: Option<ExitStatus>,
    is_closed: bool,
}

impl Seen {
    /// Until the command has ended and everybody has closed its standard output.
    fn wait(
        &mut self,
        events: &Receiver<Event>,
        (stop, limit): (&Stop, Duration),
        name: &str,
    ) -> Result<(), Trouble> {
        let deadline = Instant::now() + limit;
        while self.status.is_none() || !self.is_closed {
            if stop.order() != Order::GoOn {
                return Err(stopped(name));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match events.recv_timeout(left.min(HEARING)) {
                Ok(Event::Exit(status)) => self.status = Some(status),
                Ok(Event::Output(Some(bytes))) if bytes.len() as u64 > MAX_VALUE_BYTES => {
                    return Err(too_large(name));
                }
                Ok(Event::Output(Some(bytes))) => {
                    self.bytes = bytes;
                    self.is_closed = true;
                }
                Ok(Event::Output(None)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(lost(name));
                }
                Err(RecvTimeoutError::Timeout) if left > HEARING => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.too_late(name, limit)),
            }
        }
        Ok(())
    }

    fn too_late(&self, name: &str, limit: Duration) -> Trouble {
        let (message, help) = if self.status.is_some() {
            (
                format!(
                    "{name} ended, but something it started kept its output open for {limit:?}"
                ),
                "let what stays in the background write elsewhere: `… >/dev/null 2>&1 &`",
            )
        } else {
            (
                format!("{name} did not end within {limit:?}, and was ended"),
                "run it by hand to see what it waits for; its standard input is empty",
            )
        };
        Trouble::new(TroubleKind::TimedOut, message, help)
    }
}

fn text(seen: Seen, name: &str) -> Result<Secret, Trouble> {
    if let Some(trouble) = seen.status.and_then(|status| exit_trouble(status, name)) {
        return Err(trouble);
    }
    match std::str::from_utf8(&seen.bytes) {
        Ok(text) if !text.contains('\0') => Ok(Secret::new(text)),
        _ => Err(Trouble::new(
            TroubleKind::NotText,
            format!("what {name} printed is not UTF-8 text"),
            "encode it, for example with `| base64`",
        )),
    }
}

fn exit_trouble(status: ExitStatus, name: &str) -> Option<Trouble> {
    let by_hand = "run it by hand to see what it says; its messages are not shown here, since they \
                   may hold secrets";
    let (kind, message, help) = match (status.code(), status.signal()) {
        (Some(0), _) => return None,
        (Some(127), _) => (
            TroubleKind::Missing,
            format!("{name} was not found, or ran something that was not (exit code 127)"),
            "install what it needs, or add its directory to `PATH`",
        ),
        (Some(126), _) => (
            TroubleKind::Denied,
            format!("{name} may not be executed, or ran something that may not (exit code 126)"),
            "make it executable with `chmod +x`, or name its interpreter",
        ),
        (Some(code), _) => {
            (TroubleKind::Failed, format!("{name} failed with exit code {code}"), by_hand)
        }
        (None, signal) => {
            let signal = signal.map_or_else(String::new, |number| format!(" {number}"));
            (TroubleKind::Failed, format!("{name} was ended by signal{signal}"), by_hand)
        }
    };
    Some(Trouble::new(kind, message, help))
}

fn start_trouble(work: &Work<'_>, error: &std::io::Error) -> Trouble {
    use std::io::ErrorKind as Kind;
    let (kind, help) = match error.kind() {
        Kind::NotFound | Kind::NotADirectory => (
            TroubleKind::Missing,
            "check that the directory where the steps start, and the interpreter, still exist",
        ),
        Kind::PermissionDenied => (TroubleKind::Denied, "make it executable with `chmod +x`"),
        Kind::ArgumentListTooLong => {
            (TroubleKind::TooLarge, "pass long text on standard input or in a file")
        }
        _ => (TroubleKind::Failed, "run it by hand to see why"),
    };
    Trouble::new(kind, format!("{} cannot be started: {}", work.name, error.kind()), help)
}

fn too_large(name: &str) -> Trouble {
    Trouble::new(
        TroubleKind::TooLarge,
        format!("{name} printed more than {} MiB", MAX_VALUE_BYTES >> 20),
        "let it print only what is needed, or write to a file in a step",
    )
}

fn stopped(name: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Failed,
        format!("{name} was ended: planning was interrupted"),
        "nothing has run; start again when you like",
    )
}

fn lost(name: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Failed,
        format!("the output of {name} could not be read"),
        "try again; if it happens again, run it by hand",
    )
}
