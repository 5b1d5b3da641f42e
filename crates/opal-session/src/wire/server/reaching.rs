//! A target inside this one: the program that leads there is started here, and its pipes are streams.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use opal_core::message;
use opal_core::message::Words as Text;
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::stream::Stream;
use rustix::event::PollFlags;

use super::requests::{Helper, Open};
use super::running::{Sending, feed};
use crate::local::{Starting, Transport};
use crate::reach::words::{self, Programs, ReachError, Words};
use crate::stop::{Order, Stop};
use crate::wire::WINDOW;
use crate::wire::frame::{Channel, StreamId};
use crate::wire::reaching::Reaching;
use crate::wire::reply::Reply;
use crate::{Ended, Taker as _, pipe};

const CHUNK_BYTES: usize = 64 * 1024;

/// How long an engine may take to say whether it knows a container.
const INSPECTION: Duration = Duration::from_secs(20);

/// How long the program may take to end after its pipes have.
const LAST: Duration = Duration::from_secs(5);

/// The same where it is to stop. Whoever is at its other end hears of the end of its input, and cleans
/// up; what leads there is ended last.
const STOPPED: Duration = Duration::from_millis(1_500);
const KILLED: Duration = Duration::from_millis(500);

pub(super) fn reach(
    helper: &Arc<Helper>,
    number: u32,
    open: &Arc<Open>,
    reaching: &Reaching,
) -> Reply {
    let windows = &reaching.windows;
    for (channel, window) in [(Channel::Output, windows.output), (Channel::Error, windows.error)] {
        let _ = open.outlet(channel).grant(window.min(WINDOW));
    }
    let machine = Machine { helper, stop: &open.stop };
    let started = words::words(&reaching.hop, &reaching.dialling, reaching.has_password, &machine)
        .map_err(|error| trouble(&error))
        .and_then(|words| {
            let stdin = feed(helper, number, open).map_err(|error| failed(&words, &error))?;
            machine.start(&words, Stdio::from(stdin)).map_err(|error| failed(&words, &error))
        });
    let (transport, output, error) = match started {
        Ok(started) => started,
        Err(trouble) => return Reply::Trouble { trouble },
    };
    let mut sending = Sending::new(helper, number, open);
    carry(&mut sending, [output, error], &open.stop);
    open.inlet.give_up();
    for (channel, count) in [Channel::Output, Channel::Error].into_iter().zip(sending.sent()) {
        let _ = helper.sender.end(StreamId::new(number, channel), count);
    }
    let patience = match open.stop.order() {
        Order::GoOn => LAST,
        Order::End { .. } => STOPPED,
        Order::Kill => KILLED,
    };
    let code = transport.finish(patience).unwrap_or(137);
    Reply::Ended { ended: Ended { code, directory: None, previous: None, is_reported: false } }
}

/// Sends what the program prints until it prints no more, or nobody wants it.
fn carry(sending: &mut Sending<'_>, fds: [OwnedFd; 2], stop: &Stop) {
    let streams = [Stream::Stdout, Stream::Stderr];
    let mut fds = fds.map(Some);
    let mut chunk = vec![0; CHUNK_BYTES];
    while fds.iter().any(Option::is_some) && stop.order() == Order::GoOn {
        let open: Vec<usize> = (0..2).filter(|at| fds[*at].is_some()).collect();
        let waiting: Vec<_> = fds.iter().flatten().map(|fd| (fd.as_fd(), PollFlags::IN)).collect();
        let ready = stop.wait(&waiting, None, Order::GoOn);
        for (at, ready) in open.into_iter().zip(ready) {
            let Some(fd) = fds[at].as_ref().filter(|_| !ready.is_empty()) else { continue };
            let goes_on = match rustix::io::read(fd, &mut chunk) {
                Ok(0) => false,
                Ok(count) => sending.take(streams[at], &chunk[..count]).is_ok(),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => true,
                Err(_) => false,
            };
            if !goes_on {
                fds[at] = None;
            }
        }
    }
}

struct Machine<'a> {
    helper: &'a Helper,
    stop: &'a Stop,
}

impl Machine<'_> {
    fn start(&self, words: &Words, stdin: Stdio) -> std::io::Result<(Transport, OwnedFd, OwnedFd)> {
        let (stderr, inner) = pipe()?;
        let (environment, directory) = self.helper.session.surroundings();
        let stderr_to = Stdio::from(inner);
        let own = self.helper.own.split_first();
        let own = own.map(|(program, before)| (Path::new(program), before));
        let starting = Starting {
            program: &words.program,
            arguments: &words.arguments,
            environment,
            directory,
            stderr: stderr_to,
            seated_by: own.filter(|_| words.wants_terminal),
        };
        let (transport, output) = Transport::start_with(starting, stdin)?;
        Ok((transport, output, stderr))
    }
}

impl Programs for Machine<'_> {
    fn directory(&self) -> &Path {
        self.helper.session.surroundings().1
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let (environment, directory) = self.helper.session.surroundings();
        let path = environment.get(std::ffi::OsStr::new("PATH"));
        opal_files::program::find(path.map(std::ffi::OsString::as_os_str), directory, name)
    }

    fn succeeds(&self, program: &Path, arguments: &[&str]) -> bool {
        let arguments = arguments.iter().map(std::ffi::OsString::from).collect();
        let words = Words { program: program.to_owned(), arguments, wants_terminal: false };
        let Ok((transport, output, error)) = self.start(&words, Stdio::null()) else {
            return false;
        };
        let limited = self.stop.limited(INSPECTION, Duration::ZERO);
        skip([output, error], &limited);
        transport.finish(LAST) == Some(0)
    }
}

/// Reads to the end what interests nobody.
fn skip(fds: [OwnedFd; 2], stop: &Stop) {
    let mut chunk = vec![0; CHUNK_BYTES];
    for fd in fds {
        while stop.order() == Order::GoOn {
            let ready = stop.wait(&[(fd.as_fd(), PollFlags::IN)], None, Order::GoOn);
            if ready.iter().any(|it| !it.is_empty())
                && matches!(rustix::io::read(&fd, &mut chunk), Ok(0) | Err(_))
            {
                break;
            }
        }
    }
}

fn trouble(error: &ReachError) -> Trouble {
    let help = match error {
        ReachError::Missing { .. } => "install it on the target",
        ReachError::NoContainer { .. } => "check its name with `docker ps` or `podman ps` there",
        _ => "check how the block reaches its target",
    };
    Trouble::new(TroubleKind::Unreachable, message!(Text(&error.to_string())), help)
}

fn failed(words: &Words, error: &std::io::Error) -> Trouble {
    let program = words.program.to_string_lossy();
    Trouble::new(
        TroubleKind::Unreachable,
        message!("`", &*program, "` cannot be started: ", error.kind()),
        "check that it is installed and executable on the target",
    )
}
