//! The process of a provider: started, asked for its socket, checked, stopped.
//!
//! ```text
//! helper ──▶ opal-terraform exec ──▶ the provider ──▶ one line on its output: where its socket is
//! helper ──▶ the socket, in our directory, of our child ──▶ calls
//! ```
//!
//! | what | where |
//! |---|---|
//! | its environment | [`environment`] |
//! | the line | `handshake` |
//! | who answers on the socket | `peer` |
//! | what it prints | `log` |
//! | what ends it together with its helper | [`exec`] |
//! | directories that it does not see | [`cover`] |
//! | a directory that only we can enter | `scratch` |

pub mod cover;
pub mod environment;
pub mod exec;
mod handshake;
mod log;
mod peer;
mod scratch;

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use opal_core::data::Secret;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep, timeout};

use crate::trouble::Trouble;
use crate::trusted::Program;
use crate::wire::Protocol;
use handshake::Handshake;
use log::Log;
use peer::Family;
use scratch::Scratch;
pub use scratch::{base, sweep};

/// How long a provider may take to print its line.
const START: Duration = Duration::from_secs(10);

/// How long it may take to end after a `TERM`.
const TERM: Duration = Duration::from_secs(2);

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// What is started, and how.
#[derive(Clone, Debug)]
pub struct Start {
    /// The helper itself, which executes the provider.
    pub launcher: PathBuf,
    pub program: Program,
    /// Where it runs: the directory of the source.
    pub directory: PathBuf,
    /// Everything it gets, but for what the protocol adds.
    pub environment: Vec<(OsString, OsString)>,
    /// Where its directory is made.
    pub temporary: PathBuf,
    /// Directories that it is not to see.
    pub covered: Vec<PathBuf>,
}

/// A provider that runs. It is killed, with its group, when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: RefCell<Child>,
    group: Pid,
    log: Log,
    socket: PathBuf,
    pub protocol: Protocol,
    _scratch: Scratch,
}

impl Process {
    /// Starts a provider and reads its line.
    pub async fn start(start: &Start) -> Result<Self, Trouble> {
        let failed = |error: io::Error| Trouble::start(format!("cannot be started: {error}"));
        let scratch = Scratch::new(&start.temporary).map_err(failed)?;
        let mut child = spawn(start, &scratch).map_err(failed)?;
        let group = Pid::from_child(&child);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        // From here on, whatever fails, the process is killed.
        let mut process = Self {
            child: RefCell::new(child),
            group,
            log: Log::default(),
            socket: PathBuf::new(),
            protocol: Protocol::Five,
            _scratch: scratch,
        };
        let receiver = |fd: Option<std::os::fd::OwnedFd>| {
            fd.ok_or(io::ErrorKind::BrokenPipe.into()).and_then(Receiver::from_owned_fd)
        };
        let mut output = receiver(output.map(Into::into)).map_err(failed)?;
        process.log.keep(receiver(errors.map(Into::into)).map_err(failed)?);
        let line = timeout(START, handshake::line(&mut output)).await;
        let line = match line {
            Err(_) => return Err(Trouble::start(format!("no handshake line within {START:?}"))),
            Ok(Ok(line)) => line,
            Ok(Err(why)) => return Err(process.not_a_provider(why).await),
        };
        process.log.keep(output);
        let handshake = Handshake::read(&line, process._scratch.path()).map_err(Trouble::start)?;
        process.socket = handshake.socket;
        process.protocol = handshake.protocol;
        Ok(process)
    }

    /// Why there was no line: it may have ended.
    async fn not_a_provider(&self, why: handshake::NoLine) -> Trouble {
        let ended = match why {
            handshake::NoLine::End => self.ended(Duration::from_secs(1)).await,
            handshake::NoLine::Long => None,
        };
        match ended {
            None => Trouble::start(why.to_string()),
            Some((how, lines)) if lines.expose().is_empty() => {
                Trouble::start(format!("it ended before its handshake line ({how})"))
            }
            // Whatever it printed, no environment with secrets was used yet but its own.
            Some((how, lines)) => Trouble::start(format!(
                "it ended before its handshake line ({how}):\n{}",
                lines.expose()
            )),
        }
    }

    /// Connects to its socket, if it is one, in our directory, and ours.
    pub async fn connect(&self) -> Result<UnixStream, Trouble> {
        let failed =
            |error: io::Error| Trouble::start(format!("its socket cannot be used: {error}"));
        let found = std::fs::symlink_metadata(&self.socket).map_err(failed)?;
        let user = rustix::process::geteuid().as_raw();
        if !found.file_type().is_socket() || found.uid() != user {
            return Err(Trouble::start("what it says is its socket is not a socket of its own"));
        }
        let stream = UnixStream::connect(&self.socket).await.map_err(failed)?;
        let peer = stream.peer_cred().map_err(failed)?;
        let child = self.group.as_raw_nonzero().get();
        let is_ours =
            peer.uid() == user && peer.pid().is_some_and(|pid| peer::descends(pid, child));
        if is_ours {
            Ok(stream)
        } else {
            Err(Trouble::start("another process answers on its socket"))
        }
    }

    /// How it ended and its last lines, if it ends within a time.
    pub async fn ended(&self, within: Duration) -> Option<(String, Secret)> {
        let until = Instant::now() + within;
        loop {
            let status = self.child.borrow_mut().try_wait();
            if let Ok(Some(status)) = status {
                self.log.finish().await;
                return Some((word(status), self.log.last_lines()));
            }
            if Instant::now() >= until {
                return None;
            }
            sleep(LOOK).await;
        }
    }

    /// What it printed since the last time.
    #[must_use]
    pub fn take_log(&self) -> Option<Secret> {
        self.log.take()
    }

    /// The number of the process, for messages and tests.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.borrow().id()
    }

    /// Ends it and its group: first in peace.
    pub async fn stop(self) {
        // Its children are nobody's once it has ended, so they are noted first.
        let family = Family::of(self.group.as_raw_nonzero().get());
        let _ = kill_process_group(self.group, Signal::TERM);
        let _ = self.ended(TERM).await;
        family.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group may outlive the process that it is named after.
        let family = Family::of(self.group.as_raw_nonzero().get());
        let _ = kill_process_group(self.group, Signal::KILL);
        family.kill();
        let _ = self.child.borrow_mut().wait();
    }
}

fn word(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "unknown".to_owned(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where providers start; they end with their helper, by `exec`"
)]
fn spawn(start: &Start, scratch: &Scratch) -> io::Result<Child> {
    // The file that was checked, by its descriptor. No path is opened again.
    let (how, input) = match start.program.descriptor()? {
        Some(file) => (exec::HELD, Stdio::from(file)),
        None => (exec::NAMED, Stdio::null()),
    };
    Command::new(&start.launcher)
        .arg(exec::WORD)
        .arg(std::process::id().to_string())
        .arg(how)
        .arg(start.covered.len().to_string())
        .args(&start.covered)
        .arg(start.program.path())
        .env_clear()
        .envs(start.environment.iter().map(|(name, value)| (name, value)))
        .envs(environment::protocol())
        .env("PLUGIN_UNIX_SOCKET_DIR", scratch.path())
        .env("TMPDIR", scratch.temporary())
        .current_dir(&start.directory)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Whether a path is directly in a directory.
fn is_in(path: &Path, directory: &Path) -> bool {
    path.parent() == Some(directory) && path.file_name().is_some()
}
