//! Commands on a target without a helper: each is a connection of its own. Values cross on its standard
//! input; nothing but commands can be done, and whatever leaves the process group of one survives it.

mod probe;
mod running;
mod trailer;

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use opal_core::action::{Pending, Replace, TextFile};
use opal_core::files::Files;
use opal_core::message;
use opal_core::resolver::{Host, Probe, ScriptPart, Trouble, TroubleKind};
use opal_core::shell::Shell;
use opal_core::shell::syntax::Fault;
use opal_core::target::{Hop, Ssh, TargetName};
use opal_session::reach::plain;
use opal_session::stop::Stop;
use opal_session::{Ended, Place, Session, Taker, Work};

use crate::dial::error::{DialCause, DialError};
use crate::dial::origin::{Origin, drain};
use crate::dial::said::Said;
use crate::dial::ssh::{self, SshOptions};
use crate::dial::talk::Wires;
use crate::dial::{Identity, nonce};
use crate::files::NoFiles;
use probe::NoProbe;
use running::Connection;

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
}

/// Reaches a host by `ssh` without a helper.
pub fn dial_plain(
    target: &TargetName,
    ssh: &Ssh,
    origin: &Arc<Origin>,
    options: &SshOptions,
    stop: &Stop,
) -> Result<PlainSession, DialError> {
    let mut said = Said::default();
    let facts = facts(ssh, origin, options, stop, &mut said);
    let (shell, start, identity, arch) = facts.map_err(|cause| {
        let (target, hop) = (target.clone(), Hop::Ssh(ssh.clone()));
        DialError { target, hop, cause, said: Box::new(said) }
    })?;
    let host = Host { os: "linux".to_owned(), arch, name: target.as_str().to_owned() };
    let files = NoFiles(target.as_str().to_owned());
    let (target, ssh, options) = (target.clone(), ssh.clone(), options.clone());
    let origin = Arc::clone(origin);
    Ok(PlainSession { target, ssh, origin, options, shell, start, identity, host, files })
}

type Facts = (Shell, PathBuf, Identity, String);

fn facts(
    ssh: &Ssh,
    origin: &Origin,
    options: &SshOptions,
    stop: &Stop,
    said: &mut Said,
) -> Result<Facts, DialCause> {
    let nonce = nonce::draw().map_err(|error| DialCause::System(error.kind()))?;
    let words = ssh::arguments(ssh, options, &[], &plain::facts(&nonce));
    let (wires, mut transport) = origin.ssh(&words, false)?;
    let printed = running::read_all(wires, stop, said)?;
    let text = String::from_utf8_lossy(&printed).into_owned();
    let line = |word: &str| {
        let start = format!("{} {word} ", nonce.text());
        let rest = text.split(&start).nth(1)?;
        rest.split('\n').next().map(str::to_owned)
    };
    let mut ended = || DialCause::Ended { code: transport.wait(running::LAST) };
    let (Some(found), Some(start)) = (line("facts"), line("start")) else { return Err(ended()) };
    let words: Vec<&str> = found.split(' ').collect();
    let [shell, user, "Linux", arch, machine] = words[..] else {
        let system = words.get(2).copied().unwrap_or_default().to_owned();
        let machine = words.get(3).copied().unwrap_or_default().to_owned();
        return Err(DialCause::NoProgram { system, machine });
    };
    let shell = if shell == "bash" { Shell::Bash } else { Shell::Sh };
    let user = user.parse().map_err(|_| DialCause::Strange)?;
    let machine = machine.trim_start_matches('.').to_owned();
    let (os, arch) = ("linux".to_owned(), arch.to_owned());
    let identity = Identity { user, machine, os, arch: arch.clone(), host_key: None };
    Ok((shell, PathBuf::from(start), identity, arch))
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

    fn connect(&self, command: &str) -> Result<Connection, Trouble> {
        let words = ssh::arguments(&self.ssh, &self.options, &[], command);
        let (wires, transport) =
            self.origin.ssh(&words, false).map_err(|cause| self.failed(cause))?;
        Ok(Connection { wires, transport })
    }

    fn failed(&self, cause: DialCause) -> Trouble {
        let (target, hop) = (self.target.clone(), Hop::Ssh(self.ssh.clone()));
        DialError { target, hop, cause, said: Box::default() }.into()
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

    fn refused(&self, what: &str) -> Trouble {
        refused(self.target.as_str(), what)
    }
}

/// What needs a helper.
fn refused(target: &str, what: &str) -> Trouble {
    Trouble::new(
        TroubleKind::Denied,
        message!("`", target, "` has no target helper: ", message::Words(what), " is not possible"),
        "only commands run there; remove `helper=\"none\"`, or make room for the helper",
    )
}

impl Session for PlainSession {
    /// Nobody there reads a text without running it.
    fn check(&self, _: &[&[ScriptPart]]) -> Result<Vec<Fault>, Trouble> {
        Ok(Vec::new())
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        running::run(self, work, stop, taker)
    }

    fn directory(&self, from: &Path, path: &str, create: bool) -> Result<PathBuf, Trouble> {
        running::directory(self, from, path, create)
    }

    fn replace(&self, _: &Path, _: &Replace<'_>) -> Result<Box<dyn Pending>, Trouble> {
        Err(self.refused("writing a file in one move"))
    }

    fn folder(&self) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused("a directory for files"))
    }

    fn text_file(&self, _: &str, _: &str) -> Result<Box<dyn TextFile>, Trouble> {
        Err(self.refused("a file for a text"))
    }

    fn finds(&self, program: &str) -> bool {
        running::finds(self, program)
    }

    fn open(&self, _: &Path, _: &str) -> Result<OwnedFd, Trouble> {
        Err(self.refused("reading a file"))
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        let (target, directory) = (self.target.as_str(), place.directory.to_owned());
        Box::new(NoProbe { target, directory, host: &self.host })
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }
}

impl fmt::Debug for PlainSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainSession").field("target", &self.target).finish_non_exhaustive()
    }
}
