//! A connection without a helper, up to the moment in which the shell waits for its command.
//!
//! Each command has a connection of its own, so each says who answers before anything is sent to it.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use opal_session::Transport;
use opal_session::reach::plain;
use opal_session::stop::{Order, Stop};
use rustix::event::PollFlags;
use rustix::io::Errno;

use super::PlainSession;
use crate::dial::error::{DialCause, DialError};
use crate::dial::nonce;
use crate::dial::said::Said;
use crate::dial::talk::Wires;

const CHUNK_BYTES: usize = 64 * 1024;

/// What a login may print before the shell speaks.
const MAX_NOISE_BYTES: usize = 64 * 1024;

/// How long a transport may take to end, and to say why.
pub(super) const LAST: Duration = Duration::from_secs(2);

pub(super) struct Connection {
    pub(super) wires: Wires,
    pub(super) transport: Transport,
}

impl Connection {
    /// Standard output and standard error.
    pub(super) fn outputs(&self) -> [BorrowedFd<'_>; 2] {
        [self.wires.ends.output.as_fd(), self.wires.stderr.as_fd()]
    }
}

/// A shell that waits for its command.
pub(super) struct Begun {
    pub(super) connection: Connection,
    /// What its lines begin with.
    pub(super) mark: String,
    /// What it has printed after its first line.
    pub(super) rest: Vec<u8>,
    /// The process that leads the command, and when it began; none where the system does not say.
    pub(super) process: Option<(u32, u64)>,
    /// The number of the user, and the machine ID.
    pub(super) user: Option<u32>,
    pub(super) machine: String,
}

/// Waits for a shell. A login may print something before, which nobody sees.
pub(super) fn begin(session: &PlainSession, stop: &Stop) -> Result<Begun, DialError> {
    let (mut said, since) = (Said::default(), Instant::now());
    let begun = spoken(session, stop, &mut said);
    begun.map_err(|cause| {
        let cause = session.refused_key(cause, since, stop);
        session.error(cause, said)
    })
}

fn spoken(session: &PlainSession, stop: &Stop, said: &mut Said) -> Result<Begun, DialCause> {
    let nonce = nonce::draw().map_err(|error| DialCause::System(error.kind()))?;
    let mark = nonce.text();
    let start = format!("{mark} run ").into_bytes();
    let mut connection = session.connect(&plain::run(&nonce, session.shell))?;
    let patience = session.patience;
    let mut deadline = Instant::now() + patience;
    let (mut printed, mut is_open) = (Vec::new(), [true, true]);
    loop {
        if let Some((line, rest)) = first_line(&printed, &start) {
            let words: Vec<&str> = line.split(' ').collect();
            let [pid, began, user, machine] = words[..] else { return Err(DialCause::Strange) };
            let process = pid.parse().ok().zip(began.parse().ok());
            let machine = machine.trim_start_matches('.').to_owned();
            let user = user.parse().ok();
            return Ok(Begun { connection, mark, rest, process, user, machine });
        }
        if printed.len() > MAX_NOISE_BYTES {
            said.noise(&printed);
            return Err(DialCause::Noise);
        }
        if !is_open[0] {
            // Why it has ended is what it complains about last.
            deadline = deadline.min(Instant::now() + LAST);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        match (stop.order(), is_open, left.is_zero()) {
            (Order::GoOn, [false, false], _) | (Order::GoOn, [false, _], true) => {
                said.noise(&printed);
                return Err(DialCause::Ended { code: connection.transport.wait(LAST) });
            }
            (Order::GoOn, [true, _], true) => return Err(DialCause::Silent { after: patience }),
            (Order::GoOn, _, false) => {}
            _ => return Err(DialCause::Stopped),
        }
        let fds = connection.outputs();
        let [output, error] = heard(fds, &mut is_open, (Some(left), Order::GoOn), stop);
        said.complaint(&error);
        printed.extend(output);
    }
}

/// The shell's first line without what it begins with, and what follows it.
fn first_line(printed: &[u8], start: &[u8]) -> Option<(String, Vec<u8>)> {
    let at = printed.windows(start.len()).position(|it| it == start)?;
    let rest = &printed[at + start.len()..];
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some((String::from_utf8_lossy(&rest[..end]).into_owned(), rest[end + 1..].to_vec()))
}

/// All that a connection prints, up to its end.
pub(super) fn read_all(
    wires: Wires,
    patience: Duration,
    stop: &Stop,
    said: &mut Said,
) -> Result<Vec<u8>, DialCause> {
    let Wires { ends, stderr } = wires;
    drop(ends.input);
    let deadline = Instant::now() + patience;
    let (mut printed, mut is_open) = (Vec::new(), [true, true]);
    while is_open != [false, false] {
        let left = deadline.saturating_duration_since(Instant::now());
        if stop.order() != Order::GoOn {
            return Err(DialCause::Stopped);
        }
        if left.is_zero() {
            return Err(DialCause::Silent { after: patience });
        }
        let fds = [ends.output.as_fd(), stderr.as_fd()];
        let [output, error] = heard(fds, &mut is_open, (Some(left), Order::GoOn), stop);
        said.complaint(&error);
        printed.extend(output);
        if printed.len() > MAX_NOISE_BYTES {
            said.noise(&printed);
            return Err(DialCause::Noise);
        }
    }
    Ok(printed)
}

/// What comes next on standard output and on standard error; nothing where there is nothing in time, or an
/// order that is not `seen` yet.
pub(super) fn heard(
    fds: [BorrowedFd<'_>; 2],
    is_open: &mut [bool; 2],
    (timeout, seen): (Option<Duration>, Order),
    stop: &Stop,
) -> [Vec<u8>; 2] {
    let open: Vec<usize> = (0..2).filter(|at| is_open[*at]).collect();
    let waiting: Vec<_> = open.iter().map(|at| (fds[*at], PollFlags::IN)).collect();
    let ready = stop.wait(&waiting, timeout, seen);
    let (mut heard, mut chunk) = ([Vec::new(), Vec::new()], vec![0; CHUNK_BYTES]);
    for (at, ready) in open.into_iter().zip(ready) {
        if ready.is_empty() {
            continue;
        }
        match rustix::io::read(fds[at], &mut chunk) {
            Ok(count @ 1..) => heard[at] = chunk[..count].to_vec(),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => is_open[at] = false,
        }
    }
    heard
}
