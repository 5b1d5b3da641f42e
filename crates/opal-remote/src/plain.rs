//! Commands on a target without a helper: each is a connection of its own. Values cross on its standard
//! input; nothing but commands can be done, and whatever leaves the process group of one survives it.

mod opening;
mod probe;
mod running;
mod trailer;

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::action::{Pending, Replace, TextFile};
use opal_core::files::Files;
use opal_core::message;
use opal_core::message::{Message, Words};
use opal_core::resolver::{Host, Probe, ScriptPart, Trouble, TroubleKind};
use opal_core::shell::Shell;
use opal_core::shell::syntax::Fault;
use opal_core::target::{Hop, Ssh, TargetName};
use opal_session::reach::plain;
use opal_session::stop::Stop;
use opal_session::{Ended, Place, Session, Taker, Work};

use crate::dial::connect;
use crate::dial::error::{DialCause, DialError, SSH_FAILED};
use crate::dial::master;
use crate::dial::origin::{Origin, drain};
use crate::dial::pace::Pace;
use crate::dial::said::Said;
use crate::dial::ssh::{self, SshOptions};
use crate::dial::talk::Wires;
use crate::dial::{Identity, Mode, nonce};
use crate::error::RemoteError;
use crate::files::NoFiles;
use opening::Connection;
use probe::NoProbe;

/// Commands on a host that has no helper.
pub struct PlainSession {
    target: TargetName,
    ssh: Ssh,
    origin: Arc<Origin>,
    options: SshOptions,
    shell: Shell,
    start: PathBuf,
    identity: Identity,
    host: Host,
    files: NoFiles,
    /// How many connections are made at the same time.
    pace: Arc<Pace>,
    /// How long a shell may take to speak.
    patience: Duration,
    /// On top of the environment there.
    environment: BTreeMap<String, Secret>,
    mode: Mode,
    why: Why,
}

/// Why a target has no helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The block wants none.
    Chosen,
    /// It cannot be stored or run there.
    NoPlace,
    /// It has not the programs with which it would be stored.
    Lacks,
    /// There is none for such a machine.
    NoProgram,
}

/// What a block wants of a target without a helper.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub options: SshOptions,
    pub environment: BTreeMap<String, Secret>,
    pub mode: Mode,
    pub why: Why,
    /// Each command is a connection of its own.
    pub pace: Arc<Pace>,
    /// How long a shell may take to speak.
    pub patience: Duration,
}

/// Reaches a host by `ssh` without a helper.
pub fn dial_plain(
    target: &TargetName,
    ssh: &Ssh,
    origin: &Arc<Origin>,
    wanted: Wanted,
    stop: &Stop,
) -> Result<PlainSession, DialError> {
    let Wanted { mut options, environment, mode, why, pace, patience } = wanted;
    options.control = master::socket(origin, ssh, &options, stop);
    let (mut said, since) = (Said::default(), Instant::now());
    let facts = facts(ssh, origin, &options, (patience, stop), &mut said);
    let Facts { shell, start, identity, host } = facts.map_err(|cause| {
        let cause = refused_key(cause, (origin, ssh, &options), since, stop);
        let (target, hop) = (target.clone(), Hop::Ssh(ssh.clone()));
        DialError { target, hop, cause, gives_password: false, said: Box::new(said) }
    })?;
    let host = Host { name: target.as_str().to_owned(), ..host };
    let files = NoFiles(target.as_str().to_owned());
    let (target, ssh, origin) = (target.clone(), ssh.clone(), Arc::clone(origin));
    Ok(PlainSession {
        target,
        ssh,
        origin,
        options,
        shell,
        start,
        identity,
        host,
        files,
        pace,
        patience,
        environment,
        mode,
        why,
    })
}

/// What a connection has failed for, where it is the key of the host.
fn refused_key(
    cause: DialCause,
    (origin, ssh, options): (&Origin, &Ssh, &SshOptions),
    since: Instant,
    stop: &Stop,
) -> DialCause {
    match cause {
        DialCause::Ended { code: Some(SSH_FAILED) } => {
            connect::refused_key(origin, ssh, options, since, stop).unwrap_or(cause)
        }
        cause => cause,
    }
}

/// What is there. Nothing of it is proven.
struct Facts {
    shell: Shell,
    start: PathBuf,
    identity: Identity,
    host: Host,
}

fn facts(
    ssh: &Ssh,
    origin: &Origin,
    options: &SshOptions,
    (patience, stop): (Duration, &Stop),
    said: &mut Said,
) -> Result<Facts, DialCause> {
    let nonce = nonce::draw().map_err(|error| DialCause::System(error.kind()))?;
    let words = ssh::arguments(origin.client(), ssh, options, &[], &plain::facts(&nonce));
    let (wires, mut transport) = origin.ssh(&words, false)?;
    let printed = opening::read_all(wires, patience, stop, said)?;
    let text = String::from_utf8_lossy(&printed).into_owned();
    let line = |word: &str| {
        let start = format!("{} {word} ", nonce.text());
        let rest = text.split(&start).nth(1)?;
        rest.split('\n').next().map(str::to_owned)
    };
    let mut ended = || DialCause::Ended { code: transport.wait(opening::LAST) };
    let (Some(found), Some(start)) = (line("facts"), line("start")) else { return Err(ended()) };
    let words: Vec<&str> = found.split(' ').collect();
    let [shell, user, system, arch, machine] = words[..] else { return Err(DialCause::Strange) };
    if ["MSYS", "MINGW", "CYGWIN", "Windows"].iter().any(|it| system.starts_with(it)) {
        return Err(DialCause::Windows);
    }
    let os = if system == "Darwin" { "macos".to_owned() } else { system.to_ascii_lowercase() };
    let shell = if shell == "bash" { Shell::Bash } else { Shell::Sh };
    let user = Some(user.parse().map_err(|_| DialCause::Strange)?);
    let machine = machine.trim_start_matches('.').to_owned();
    let arch = arch.to_owned();
    let identity = Identity { user, machine, os: os.clone(), arch: arch.clone(), host_key: None };
    let host = Host { os, arch, name: String::new() };
    Ok(Facts { shell, start: PathBuf::from(start), identity, host })
}

impl PlainSession {
    /// Who answers. Nothing of it is proven.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Where steps start.
    #[must_use]
    pub fn start(&self) -> &Path {
        &self.start
    }

    fn connect(&self, command: &str) -> Result<Connection, DialCause> {
        let words = ssh::arguments(self.origin.client(), &self.ssh, &self.options, &[], command);
        let (wires, transport) = self.origin.ssh(&words, false)?;
        Ok(Connection { wires, transport })
    }

    fn refused_key(&self, cause: DialCause, since: Instant, stop: &Stop) -> DialCause {
        refused_key(cause, (&self.origin, &self.ssh, &self.options), since, stop)
    }

    fn error(&self, cause: DialCause, said: Said) -> DialError {
        let (target, hop) = (self.target.clone(), Hop::Ssh(self.ssh.clone()));
        DialError { target, hop, cause, gives_password: false, said: Box::new(said) }
    }

    /// Whether a signal has reached the command that it was for.
    fn signal(&self, pid: u32, start: u64, is_last: bool) -> bool {
        let Ok(connection) = self.connect(&plain::signal(pid, start, is_last)) else {
            return false;
        };
        let Connection { wires: Wires { ends, stderr }, transport } = connection;
        drop(ends.input);
        let drained = drain(ends.output).and_then(|()| drain(stderr));
        drained.is_ok() && transport.finish(running::SIGNAL_TIME) == Some(0)
    }

    /// The state of the machine, from where steps start: nothing of it can be read.
    #[must_use]
    pub fn standing(&self) -> Box<dyn Probe> {
        let (target, directory) = (self.target.as_str().to_owned(), self.start.clone());
        Box::new(NoProbe { target, directory, host: self.host.clone() })
    }

    fn refused(&self, what: &str) -> Trouble {
        refused(self.target.as_str(), what)
    }
}

/// What needs a helper.
fn refused(target: &str, what: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Denied,
        message!("`", target, "` has no target helper: ", Words(what), " is not possible"),
        "only commands run there; remove `helper=\"none\"`, or make room for the helper",
    )
}

impl Session for PlainSession {
    /// Nobody there reads a text without running it.
    fn check(&self, _: &[&[ScriptPart]], _: &Stop) -> Result<Vec<Fault>, Trouble> {
        Ok(Vec::new())
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        if self.mode == Mode::ReadOnly {
            return Err(RemoteError::OnlyReads { target: self.target.as_str() }.into());
        }
        running::run(self, work, stop, taker)
    }

    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        stop: &Stop,
    ) -> Result<PathBuf, Trouble> {
        if create && self.mode == Mode::ReadOnly {
            return Err(RemoteError::OnlyReads { target: self.target.as_str() }.into());
        }
        running::directory(self, from, path, create, stop)
    }

    fn replace(&self, _: &Path, _: &Replace<'_>, _: &Stop) -> Result<Box<dyn Pending>, Trouble> {
        Err(self.refused("writing a file in one move"))
    }

    fn folder(&self, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused("a directory for files"))
    }

    fn text_file(&self, _: &str, _: &str, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused("a file for a text"))
    }

    fn finds(&self, program: &str) -> bool {
        running::finds(self, program)
    }

    fn open(&self, _: &Path, _: &str, _: &Stop) -> Result<OwnedFd, Trouble> {
        Err(self.refused("reading a file"))
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        let (target, directory) = (self.target.as_str().to_owned(), place.directory.to_owned());
        Box::new(NoProbe { target, directory, host: self.host.clone() })
    }

    fn note(&self) -> Option<Message> {
        let why = match self.why {
            Why::Chosen => "as `helper=\"none\"` says",
            Why::NoPlace => "it has no directory in which the helper can be stored and run",
            Why::Lacks => "it has not the programs that storing the helper needs",
            Why::NoProgram => "opal has no helper for such a machine",
        };
        let target = self.target.as_str();
        Some(message!("only commands run on `", target, "`, without a helper: ", Words(why)))
    }

    fn files<'s>(&'s self, _: &Stop) -> Box<dyn Files + 's> {
        Box::new(&self.files)
    }
}

impl fmt::Debug for PlainSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainSession").field("target", &self.target).finish_non_exhaustive()
    }
}
