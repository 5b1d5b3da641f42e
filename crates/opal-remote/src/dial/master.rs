//! Connections by `ssh` that stay open from run to run, where a user has set `[ssh] persist`.
//!
//! Opal starts a master of its own for each set of options, in a directory that only this user can
//! enter. Where no master can be started, the connection is made as usual: errors and questions are those of
//! an ordinary connection.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use opal_core::hash::Algorithm;
use opal_core::target::Ssh;
use opal_session::stop::{Order, Stop};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use super::origin::Origin;
use super::ssh::{self, KeyPolicy, SshOptions};

/// The path of a socket has at most 107 bytes, and `ssh` adds 17 while it makes one.
const MAX_PATH_BYTES: usize = 90;

/// Digits of the name of a master.
const NAME_DIGITS: usize = 24;

/// Between two questions about something that others hold.
const PAUSE: Duration = Duration::from_millis(20);

/// Where masters are, and how long they wait for another connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Persist {
    pub directory: PathBuf,
    pub time: Duration,
}

/// The socket of a master for these options, which is started where there is none; none where there
/// can be none, or none may be used.
pub(crate) fn socket(
    origin: &Origin,
    ssh: &Ssh,
    options: &SshOptions,
    stop: &Stop,
) -> Option<PathBuf> {
    let persist = options.persist.as_ref()?;
    // A master has what it was started with: whoever shares it shares the agent, and nobody checks the key of
    // the host again.
    if options.forward_agent || options.keys != KeyPolicy::Users {
        return None;
    }
    let name = name(origin, ssh, options, persist);
    let path = persist.directory.join(&name);
    let text = path.to_str().filter(|text| text.len() <= MAX_PATH_BYTES && is_plain(text))?;
    prepare(&persist.directory).ok()?;
    let limit = options.connect_timeout.saturating_mul(2);
    let deadline = Instant::now() + limit;
    // Two that start one at the same time would both think that the other one's is theirs.
    let lock = private(&persist.directory.join(format!("{name}.lock"))).ok()?;
    while flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        wait(stop, deadline)?;
    }
    if is_alive(&path) {
        return Some(path);
    }
    let _ = fs::remove_file(&path);
    let words = ssh::master_arguments(origin.client(), ssh, options, text, persist.time);
    // It stays, and what it says belongs to no run.
    let log = private(&persist.directory.join(format!("{name}.log"))).ok()?;
    log.set_len(0).ok()?;
    let mut transport = origin.master(&words, Stdio::from(log)).ok()?;
    let code = loop {
        match transport.wait(PAUSE) {
            Some(code) => break code,
            None => wait(stop, deadline)?,
        }
    };
    (code == 0 && is_alive(&path)).then_some(path)
}

/// None where nobody waits any longer.
fn wait(stop: &Stop, deadline: Instant) -> Option<()> {
    let _ = stop.wait(&[], Some(PAUSE), Order::GoOn);
    (stop.order() == Order::GoOn && Instant::now() < deadline).then_some(())
}

/// Whether `ssh` reads a path as it is: in quotes, without something that it replaces.
fn is_plain(path: &str) -> bool {
    !path.contains(['"', '\\', '%', '$', '\n'])
}

/// All that a connection depends on, as far as opal says it: a block with other options has another
/// master.
fn name(origin: &Origin, ssh: &Ssh, options: &SshOptions, persist: &Persist) -> String {
    let same = SshOptions { is_batch: true, control: None, silence: None, ..options.clone() };
    let words = ssh::arguments(origin.client(), ssh, &same, &[], "");
    let environment = ["HOME", "SSH_AUTH_SOCK", "PATH"];
    let environment = environment.map(|it| origin.environment.get(&OsString::from(it)).cloned());
    let text = format!("{words:?} {environment:?} {:?} {}", persist.time, options.block);
    Algorithm::Sha256.digest(&[b"opal ssh master v1\n", text.as_bytes()]).hex()[..NAME_DIGITS]
        .to_owned()
}

/// Makes the directory, for this user alone.
fn prepare(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = directory.symlink_metadata()?;
    let is_own = found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0;
    if is_own { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

/// Whether somebody listens there.
fn is_alive(path: &Path) -> bool {
    UnixStream::connect(path).is_ok()
}
