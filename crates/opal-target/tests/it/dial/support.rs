//! A target to dial, and a command on it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use opal_core::Secret;
use opal_core::action::Limits;
use opal_core::resolver::{ScriptPart, Trouble};
use opal_core::stream::{Closed, Stream};
use opal_core::target::{Hop, TargetName};
use opal_remote::dial::error::DialError;
use opal_remote::dial::ssh::{KeyPolicy, SshOptions};
use opal_remote::dial::{Asker, Base};
use opal_remote::helper::{Program, Programs};
use opal_remote::{Dialled, Mode, Options, Origin, RemoteSession, Terms, dial};
use opal_session::stop::Stop;
use opal_session::wire::Timing;
use opal_session::world::{OsWorld, Surroundings};
use opal_session::{Input, Output, Session, Taker, Work};
use opal_testing::processes;
use opal_testing::sshd::Sshd;

use crate::served::{PROGRAM, PROGRAMS};

/// opal's machine, in a test.
pub(crate) struct Caller {
    pub(crate) origin: Origin,
    pub(crate) password: Option<Secret>,
    pub(crate) timing: Timing,
    pub(crate) keys: KeyPolicy,
    /// The key that a block names.
    pub(crate) key_file: Option<String>,
    pub(crate) asker: Option<Box<dyn Asker>>,
    pub(crate) programs: Programs,
}

impl Caller {
    pub(crate) fn new(environment: BTreeMap<OsString, OsString>) -> Self {
        let (directory, helper) = (PathBuf::from("/"), (PathBuf::from(PROGRAM), Vec::new()));
        let origin = Origin { environment, directory, helper };
        let (timing, keys) = (Timing::default(), KeyPolicy::Users);
        let programs = PROGRAMS.clone();
        Self { origin, password: None, timing, keys, key_file: None, asker: None, programs }
    }

    pub(crate) fn with_keys(self, keys: KeyPolicy) -> Self {
        Self { keys, ..self }
    }

    pub(crate) fn of(sshd: &Sshd) -> Self {
        Self::new(sshd.environment())
    }

    pub(crate) fn dial_from(
        &self,
        base: Base<'_>,
        hop: &Hop,
        mode: Mode,
    ) -> Result<Dialled, DialError> {
        self.dial_from_until(base, hop, mode, &Stop::new())
    }

    fn dial_from_until(
        &self,
        base: Base<'_>,
        hop: &Hop,
        mode: Mode,
        stop: &Stop,
    ) -> Result<Dialled, DialError> {
        let (connect_timeout, keys) = (Duration::from_secs(20), self.keys.clone());
        let is_batch = self.asker.is_none();
        let mut ssh = SshOptions::default();
        (ssh.connect_timeout, ssh.keys, ssh.is_batch) = (connect_timeout, keys, is_batch);
        ssh.key_file.clone_from(&self.key_file);
        let (origin, programs, timing) = (&self.origin, &self.programs, self.timing);
        let password = self.password.as_ref();
        let options =
            Options { origin, programs, timing, ssh, password, asker: self.asker.as_deref() };
        let target: TargetName = "web1".parse().unwrap();
        dial(&target, base, hop, mode, &options, stop)
    }

    pub(crate) fn dial_until(
        &self,
        hop: &Hop,
        mode: Mode,
        stop: &Stop,
    ) -> Result<Dialled, DialError> {
        self.dial_from_until(Base::Here, hop, mode, stop)
    }

    pub(crate) fn dial(&self, hop: &Hop, mode: Mode) -> Result<Dialled, DialError> {
        self.dial_from(Base::Here, hop, mode)
    }

    /// Dials to act, while something else happens.
    pub(crate) fn dial_and(
        &self,
        hop: &Hop,
        meanwhile: impl FnOnce() + Send,
    ) -> Result<Dialled, DialError> {
        std::thread::scope(|scope| {
            scope.spawn(meanwhile);
            self.dial(hop, Mode::Effect)
        })
    }
}

pub(crate) fn ssh(address: &str) -> Hop {
    Hop::Ssh(address.parse().unwrap())
}

pub(crate) fn world() -> Arc<OsWorld> {
    Arc::new(OsWorld::new(Surroundings::default()))
}

/// A session with a marker of its own: who ends what another one has left ends all that has the same.
pub(crate) fn act(dialled: Dialled) -> RemoteSession {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    act_as(dialled, &format!("dial-{}-{number}", std::process::id()))
}

pub(crate) fn act_as(dialled: Dialled, marker: &str) -> RemoteSession {
    let terms = Terms { marker: marker.to_owned(), ..Terms::default() };
    dialled.act(terms, world()).unwrap()
}

/// What a command prints there, and its code.
pub(crate) fn run(session: &dyn Session, directory: &Path, script: &str) -> (String, i32) {
    try_run(session, directory, script).unwrap()
}

/// The same where it may not come to its end.
pub(crate) fn try_run(
    session: &dyn Session,
    directory: &Path,
    script: &str,
) -> Result<(String, i32), Trouble> {
    let mut printed = Printed(Vec::new());
    let work = Work {
        script: &[ScriptPart::Text(script.to_owned())],
        interpreter: None,
        arguments: &[],
        directory,
        previous: None,
        environment: &BTreeMap::new(),
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    };
    let ended = session.run(work, &Stop::new(), &mut printed)?;
    Ok((String::from_utf8(printed.0).unwrap(), ended.code))
}

/// Waits until no process of a user is left.
#[track_caller]
pub(crate) fn nothing_runs_as(uid: u32) {
    processes::eventually("nothing is left running", || pids_of(uid).is_empty());
}

pub(crate) fn pids_of(uid: u32) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let own = all.filter(|it| it.metadata().is_ok_and(|found| found.uid() == uid));
    let names = own.map(|it| it.file_name().to_string_lossy().into_owned());
    names.filter(|name| processes::is_alive(name)).collect()
}

/// The helper as a release has it.
pub(crate) fn packed() -> Programs {
    let folder = tempfile::tempdir().unwrap();
    let packed = folder.path().join("opal-target.gz");
    let file = std::fs::File::create(&packed).unwrap();
    let mut gzip = std::process::Command::new("gzip");
    assert!(gzip.args(["-1", "-n", "-c", PROGRAM]).stdout(file).status().unwrap().success());
    let programs = Programs::of(Program::read(&packed).unwrap());
    assert_eq!(programs.digests(), PROGRAMS.digests());
    programs
}

/// All that a command prints.
pub(crate) struct Printed(pub(crate) Vec<u8>);

impl Taker for Printed {
    fn take(&mut self, _: Stream, bytes: &[u8]) -> Result<(), Closed> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}
