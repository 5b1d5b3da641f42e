//! One command, over a connection of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::action::Limits;
use opal_core::message;
use opal_core::resolver::{ScriptPart, Trouble, TroubleKind};
use opal_core::shell::{self, Shell};
use opal_core::stream::{Closed, Stream};
use opal_core::wiped::Wiped;
use opal_session::stop::{Order, Stop};
use opal_session::wire::frame::Loss;
use opal_session::{Ended, Input, Output, Taker, Work};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::PlainSession;
use super::opening::{self, Begun, Connection};
use super::trailer::Trailer;
use crate::error::RemoteError;

/// How long a connection that signals may take.
pub(super) const SIGNAL_TIME: Duration = Duration::from_secs(20);

/// After a signal that ends, how long it may take until the command has.
const ENDING: Duration = Duration::from_secs(5);

pub(super) fn run(
    session: &PlainSession,
    work: Work<'_>,
    stop: &Stop,
    taker: &mut dyn Taker,
) -> Result<Ended, Trouble> {
    if matches!(work.stdin, Input::From(_)) {
        return Err(session.refused("a command with an input"));
    }
    if work.interpreter.is_some() {
        return Err(session.refused("another interpreter"));
    }
    let text = text(&work, &session.environment, session.shell)?;
    let begin = || opening::begin(session, stop);
    let Begun { connection, mark, rest, process, user, machine } =
        session.pace.dial(false, stop, begin)?;
    // A connection of its own may lead elsewhere: nothing has been sent yet.
    if (user, &machine) != (session.identity.user, &session.identity.machine) {
        return Err(RemoteError::OtherMachine { target: session.target.as_str() }.into());
    }
    let outputs = [work.stdout, work.stderr];
    Running { session, connection, stop, taker, outputs, mark, process }.run(rest, &text)
}

/// The text with its values. It crosses on the standard input of the connection.
fn text(
    work: &Work<'_>,
    more: &BTreeMap<String, Secret>,
    shell: Shell,
) -> Result<Wiped<String>, Trouble> {
    let compiled = shell::compile(work.script)?.for_shell(shell)?;
    let mut text = Wiped::new(String::new());
    text.push_str("cd -- ");
    shell::single(&mut text, &work.directory.to_string_lossy());
    text.push_str(" || exit 1\n");
    if shell == Shell::Bash {
        text.push_str("set -o pipefail\n");
    }
    // What a step sets comes after what the block sets.
    for (name, value) in more.iter().chain(work.environment) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty()
            || name.starts_with(|c: char| c.is_ascii_digit())
            || !name.chars().all(is_name)
        {
            return Err(Trouble::new(
                TroubleKind::Invalid,
                message!("`", name.as_str(), "` is not the name of a variable"),
                "use letters, digits and `_`",
            ));
        }
        let _ = write!(text, "{name}=");
        shell::single(&mut text, value.expose());
        let _ = writeln!(text, "; export {name}");
    }
    text.push_str(&compiled.assignments());
    text.push('\n');
    text.push_str(compiled.text());
    Ok(text)
}

/// How far a command has been ended.
#[derive(Clone, Copy)]
enum Ending {
    Asked { until: Instant },
    Killed { until: Instant },
}

impl Ending {
    /// What a command ends with that has heeded the signal.
    fn ended(self) -> Ended {
        let code = match self {
            Self::Asked { .. } => 128 + 15,
            Self::Killed { .. } => 128 + 9,
        };
        Ended { code, directory: None, previous: None, is_reported: true }
    }
}

struct Running<'a> {
    session: &'a PlainSession,
    connection: Connection,
    stop: &'a Stop,
    taker: &'a mut dyn Taker,
    outputs: [Output; 2],
    mark: String,
    /// The process that leads the command, and when it began.
    process: Option<(u32, u64)>,
}

impl Running<'_> {
    /// `output` has come already.
    fn run(mut self, mut output: Vec<u8>, text: &str) -> Result<Ended, Trouble> {
        let size = format!("{}\n", text.len() + self.mark.len());
        let whole = Wiped::new([size.as_bytes(), text.as_bytes(), self.mark.as_bytes()].concat());
        if !self.send(&whole)? {
            // The shell runs nothing of what it has only a part of.
            return Ok(Ending::Asked { until: Instant::now() }.ended());
        }
        let mut trailer = Trailer::new(format!("{} end ", self.mark));
        let mut is_ending = None;
        let mut is_open = [true, true];
        loop {
            if let Some(code) = trailer.code() {
                self.hear_rest(&mut is_open);
                let is_reported = is_ending.is_some();
                return Ok(Ended { code, directory: None, previous: None, is_reported });
            }
            let ended = self.end(&mut is_ending);
            let passed = trailer.pass(&std::mem::take(&mut output));
            self.give(0, &passed);
            if let Err(trouble) = ended {
                return self.last_words(trailer, is_open).ok_or(trouble);
            }
            if !is_open[0] {
                let rest = trailer.rest();
                self.give(0, &rest);
                // The shell that says how a command ended is ended with it.
                return match is_ending {
                    Some(ending) => Ok(ending.ended()),
                    None => Err(self.lost(Loss::Ended)),
                };
            }
            output = self.hear(&mut is_open, is_ending.is_some());
        }
    }

    /// Sends the text, which the shell reads before anything else: whether all of it. An order to stop may
    /// come first.
    fn send(&self, mut bytes: &[u8]) -> Result<bool, Trouble> {
        let input = &self.connection.wires.ends.input;
        let lost = |error: Errno| self.lost(Loss::System(std::io::Error::from(error).kind()));
        rustix::io::ioctl_fionbio(input, true).map_err(lost)?;
        while !bytes.is_empty() {
            if self.stop.order() != Order::GoOn {
                return Ok(false);
            }
            match rustix::io::write(input, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN) => {
                    let room = [(input.as_fd(), PollFlags::OUT)];
                    let _ = self.stop.wait(&room, None, Order::GoOn);
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(self.lost(Loss::Ended)),
            }
        }
        Ok(true)
    }

    /// What became of a command that could not be signalled: it may have ended by itself, and that is on
    /// its way.
    fn last_words(mut self, mut trailer: Trailer, mut is_open: [bool; 2]) -> Option<Ended> {
        let end = Instant::now() + opening::LAST;
        loop {
            if let Some(code) = trailer.code() {
                self.hear_rest(&mut is_open);
                return Some(Ended { code, directory: None, previous: None, is_reported: true });
            }
            if !is_open[0] || Instant::now() >= end {
                let rest = trailer.rest();
                self.give(0, &rest);
                return None;
            }
            let output = self.hear(&mut is_open, true);
            let passed = trailer.pass(&output);
            self.give(0, &passed);
        }
    }

    /// What comes on standard output; what comes on standard error is given at once.
    fn hear(&mut self, is_open: &mut [bool; 2], is_ending: bool) -> Vec<u8> {
        let seen = if is_ending { self.stop.order() } else { Order::GoOn };
        let timeout = is_ending.then_some(Duration::from_millis(50));
        let [output, error] =
            opening::heard(self.connection.outputs(), is_open, (timeout, seen), self.stop);
        self.give(1, &error);
        output
    }

    /// What the command said on standard error before its end.
    fn hear_rest(&mut self, is_open: &mut [bool; 2]) {
        let end = Instant::now() + Duration::from_millis(200);
        is_open[0] = false;
        while is_open[1] && Instant::now() < end {
            let _ = self.hear(is_open, true);
        }
    }

    fn give(&mut self, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // Where nobody wants it, it is lost, as it is in a pipe that was closed.
        let _ = match &self.outputs[at] {
            Output::Taken => self.taker.take([Stream::Stdout, Stream::Stderr][at], bytes),
            Output::To(fd) => write_all(fd, bytes),
        };
    }

    /// Does what an order asks for: a second connection signals the command.
    fn end(&self, ending: &mut Option<Ending>) -> Result<(), Trouble> {
        let grace = match self.stop.order() {
            Order::GoOn => return Ok(()),
            Order::End { grace, .. } => grace,
            Order::Kill => Duration::ZERO,
        };
        let now = Instant::now();
        match *ending {
            Some(Ending::Killed { until }) if now >= until => Err(self.lost(Loss::Unanswered)),
            Some(Ending::Killed { .. }) => Ok(()),
            Some(Ending::Asked { until }) if now < until && !grace.is_zero() => Ok(()),
            None if !grace.is_zero() => {
                *ending = Some(Ending::Asked { until: now + grace });
                self.signal(false)
            }
            None | Some(Ending::Asked { .. }) => {
                *ending = Some(Ending::Killed { until: now + ENDING });
                self.signal(true)
            }
        }
    }

    fn signal(&self, is_last: bool) -> Result<(), Trouble> {
        let reached =
            self.process.is_some_and(|(pid, start)| self.session.signal(pid, start, is_last));
        match reached {
            true => Ok(()),
            false => Err(Trouble::new(
                TroubleKind::Lost,
                message!("a command on `", self.session.target.as_str(), "` cannot be stopped"),
                "check the target: without a helper it may still be running",
            )),
        }
    }

    fn lost(&self, loss: Loss) -> Trouble {
        RemoteError::Lost { target: self.session.target.as_str(), loss }.into()
    }
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8]) -> Result<(), Closed> {
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(_) => return Err(Closed),
        }
    }
    Ok(())
}

/// What a command of our own prints, and its code.
fn asked(
    session: &PlainSession,
    directory: &Path,
    script: &str,
    stop: &Stop,
) -> Result<(String, i32), Trouble> {
    struct Printed(Vec<u8>);
    impl Taker for Printed {
        fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
            if stream == Stream::Stdout {
                self.0.extend_from_slice(bytes);
            }
            Ok(())
        }
    }
    let environment: BTreeMap<String, Secret> = BTreeMap::new();
    let (mut printed, script) = (Printed(Vec::new()), [ScriptPart::Text(script.to_owned())]);
    let work = Work {
        script: &script,
        interpreter: None,
        arguments: &[],
        directory,
        previous: None,
        environment: &environment,
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    let ended = run(session, work, stop, &mut printed)?;
    Ok((String::from_utf8_lossy(&printed.0).into_owned(), ended.code))
}

pub(super) fn directory(
    session: &PlainSession,
    from: &Path,
    path: &str,
    create: bool,
    stop: &Stop,
) -> Result<PathBuf, Trouble> {
    let mut quoted = String::new();
    shell::single(&mut quoted, path);
    let make = if create { format!("mkdir -p -- {quoted} && ") } else { String::new() };
    let script = format!("{make}cd -- {quoted} >/dev/null && pwd");
    match asked(session, from, &script, stop)? {
        (printed, 0) => Ok(PathBuf::from(printed.trim_end_matches('\n'))),
        _ => Err(Trouble::new(
            TroubleKind::Missing,
            message!("the directory `", path, "` cannot be entered"),
            "create the directory first, for example with `mkdir -p`",
        )),
    }
}

pub(super) fn finds(session: &PlainSession, program: &str) -> bool {
    let mut quoted = String::new();
    shell::single(&mut quoted, program);
    let found =
        asked(session, Path::new("/"), &format!("command -v -- {quoted} >/dev/null"), &Stop::new());
    matches!(found, Ok((_, 0)))
}
