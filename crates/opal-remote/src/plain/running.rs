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
use opal_session::reach::plain;
use opal_session::stop::{Order, Stop};
use opal_session::wire::frame::Loss;
use opal_session::{Ended, Input, Output, Taker, Transport, Work};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::PlainSession;
use super::trailer::Trailer;
use crate::dial::error::DialCause;
use crate::dial::nonce;
use crate::dial::said::Said;
use crate::dial::talk::Wires;
use crate::error::RemoteError;

const CHUNK_BYTES: usize = 64 * 1024;

/// What a login may print before the shell speaks.
const MAX_NOISE_BYTES: usize = 64 * 1024;

/// How long a transport may take to end.
pub(super) const LAST: Duration = Duration::from_secs(2);

/// How long a connection that signals may take.
pub(super) const SIGNAL_TIME: Duration = Duration::from_secs(20);

/// After a signal that ends, how long it may take until the command has.
const ENDING: Duration = Duration::from_secs(5);

pub(super) struct Connection {
    pub(super) wires: Wires,
    pub(super) transport: Transport,
}

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
    let nonce = nonce::draw().map_err(|error| session.failed(DialCause::System(error.kind())))?;
    let connection = session.connect(&plain::run(&nonce, session.shell))?;
    let mark = nonce.text();
    let outputs = [work.stdout, work.stderr];
    Running { session, connection, stop, taker, outputs, mark, began: None }.run(&text)
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
    began: Option<(u32, u64)>,
}

impl Running<'_> {
    fn run(mut self, text: &str) -> Result<Ended, Trouble> {
        let mut output = self.begin()?;
        let size = format!("{}\n", text.len());
        let whole = Wiped::new([size.as_bytes(), text.as_bytes()].concat());
        self.send(&whole)?;
        let mut trailer = Trailer::new(format!("{} end ", self.mark));
        let mut is_ending = None;
        let mut is_open = [true, true];
        loop {
            if let Some(code) = trailer.code() {
                self.hear_rest(&mut is_open);
                let is_reported = is_ending.is_some();
                return Ok(Ended { code, directory: None, previous: None, is_reported });
            }
            self.end(&mut is_ending)?;
            let passed = trailer.pass(&std::mem::take(&mut output));
            self.give(0, &passed);
            if !is_open[0] {
                let rest = trailer.rest();
                self.give(0, &rest);
                // The shell that says how a command ended is ended with it.
                return match is_ending {
                    Some(ending) => Ok(ending.ended()),
                    None => Err(self.lost(Loss::Ended)),
                };
            }
            output = self.hear(&mut is_open, is_ending.is_some())?;
        }
    }

    /// Reads up to the shell's first line, and what follows it.
    fn begin(&mut self) -> Result<Vec<u8>, Trouble> {
        let start = format!("{} run ", self.mark).into_bytes();
        let (mut bytes, mut is_open) = (Vec::new(), [true, true]);
        loop {
            let found = bytes.windows(start.len()).position(|it| *it == start);
            let line = found.and_then(|at| {
                let rest = &bytes[at + start.len()..];
                let end = rest.iter().position(|byte| *byte == b'\n')?;
                let line = String::from_utf8_lossy(&rest[..end]).into_owned();
                Some((line, rest[end + 1..].to_vec()))
            });
            if let Some((line, rest)) = line {
                let mut words = line.split(' ');
                let pid = words.next().and_then(|word| word.parse().ok());
                let began = words.next().and_then(|word| word.parse().ok());
                self.began = pid.zip(began);
                return Ok(rest);
            }
            if !is_open[0] || bytes.len() > MAX_NOISE_BYTES || self.stop.order() != Order::GoOn {
                let code = self.connection.transport.wait(LAST);
                return Err(self.session.failed(DialCause::Ended { code }));
            }
            bytes.extend(self.hear(&mut is_open, false)?);
        }
    }

    fn send(&self, mut bytes: &[u8]) -> Result<(), Trouble> {
        let input = &self.connection.wires.ends.input;
        while !bytes.is_empty() {
            // The shell reads it before anything else.
            match rustix::io::write(input, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(self.lost(Loss::Ended)),
            }
        }
        Ok(())
    }

    /// What comes on standard output; what comes on standard error is given at once.
    fn hear(&mut self, is_open: &mut [bool; 2], is_ending: bool) -> Result<Vec<u8>, Trouble> {
        let wires = &self.connection.wires;
        let fds = [wires.ends.output.as_fd(), wires.stderr.as_fd()];
        let all: Vec<_> = (0..2).filter(|at| is_open[*at]).collect();
        let waiting: Vec<_> = all.iter().map(|at| (fds[*at], PollFlags::IN)).collect();
        let seen = if is_ending { self.stop.order() } else { Order::GoOn };
        let timeout = is_ending.then_some(Duration::from_millis(50));
        let ready = self.stop.wait(&waiting, timeout, seen);
        let (mut output, mut error, mut chunk) = (Vec::new(), Vec::new(), vec![0; CHUNK_BYTES]);
        for (at, ready) in all.into_iter().zip(ready) {
            if ready.is_empty() {
                continue;
            }
            match rustix::io::read(fds[at], &mut chunk) {
                Ok(count @ 1..) if at == 0 => output = chunk[..count].to_vec(),
                Ok(count @ 1..) => error = chunk[..count].to_vec(),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(_) | Err(_) => is_open[at] = false,
            }
        }
        self.give(1, &error);
        Ok(output)
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
            self.began.is_some_and(|(pid, start)| self.session.signal(pid, start, is_last));
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

/// All that a connection prints, up to its end.
pub(super) fn read_all(wires: Wires, stop: &Stop, said: &mut Said) -> Result<Vec<u8>, DialCause> {
    let Wires { ends, stderr } = wires;
    drop(ends.input);
    let (mut printed, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    let mut is_open = [true, true];
    while is_open[0] || is_open[1] {
        if stop.order() != Order::GoOn {
            return Err(DialCause::Stopped);
        }
        let fds = [ends.output.as_fd(), stderr.as_fd()];
        let all: Vec<_> = (0..2).filter(|at| is_open[*at]).collect();
        let waiting: Vec<_> = all.iter().map(|at| (fds[*at], PollFlags::IN)).collect();
        let ready = stop.wait(&waiting, None, Order::GoOn);
        for (at, _) in all.into_iter().zip(ready).filter(|(_, ready)| !ready.is_empty()) {
            match rustix::io::read(fds[at], &mut chunk) {
                Ok(count @ 1..) if at == 0 => printed.extend_from_slice(&chunk[..count]),
                Ok(count @ 1..) => said.complaint(&chunk[..count]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(_) | Err(_) => is_open[at] = false,
            }
        }
        if printed.len() > MAX_NOISE_BYTES {
            return Err(DialCause::Noise);
        }
    }
    Ok(printed)
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
