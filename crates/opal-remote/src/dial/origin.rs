//! opal's own machine, where the first hop begins.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use opal_core::target::{Carrier, Hop};
use opal_core::withheld;
use opal_session::reach::Dialling;
use opal_session::reach::words::{self, Programs, ReachError};
use opal_session::stop::{Order, Stop};
use opal_session::wire::BUILD;
use opal_session::{Starting, Transport, pipe};
use rustix::event::PollFlags;

use super::client::Client;
use super::error::DialCause;
use super::talk::Wires;

/// How long an engine may take to say whether it knows a container.
const INSPECTION: Duration = Duration::from_secs(20);

/// The same for `ssh` to say its release.
const RELEASE: Duration = Duration::from_secs(5);

/// Of each `ssh` that this process has used.
static CLIENTS: Mutex<BTreeMap<PathBuf, Client>> = Mutex::new(BTreeMap::new());

/// Of the programs that are asked about a host.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// What transports are started with.
pub struct Origin {
    pub environment: BTreeMap<OsString, OsString>,
    /// Absolute.
    pub directory: PathBuf,
    /// The helper of this machine, with the arguments that come before its own: `opal self target`.
    pub helper: (PathBuf, Vec<OsString>),
}

impl Origin {
    /// `ssh` with these words; `asks` is whether it has a terminal to ask questions on.
    pub(crate) fn ssh(
        &self,
        words: &[OsString],
        asks: bool,
    ) -> Result<(Wires, Transport), DialCause> {
        let missing = DialCause::Reach(ReachError::Missing { program: "ssh" });
        let program = self.find("ssh").ok_or(missing)?;
        let (own, before) = &self.helper;
        self.run(&program, words, asks.then_some((&**own, &**before)))
    }

    /// A connection by `ssh` that stays, once it has ended. It complains to `log`.
    pub(super) fn master(&self, words: &[OsString], log: Stdio) -> io::Result<Transport> {
        let program = self.find("ssh").ok_or(io::ErrorKind::NotFound)?;
        let mut environment = self.passed_on();
        environment.extend([Transport::stays()]);
        let starting = Starting {
            program: &program,
            arguments: words,
            environment: &environment,
            directory: &self.directory,
            stderr: log,
            seated_by: None,
        };
        // It reads and prints nothing.
        Transport::start(starting).map(|(transport, _)| transport)
    }

    /// Whether the helper in a file runs on this machine and is of the build of opal.
    #[must_use]
    pub fn accepts(&self, helper: &Path) -> bool {
        self.succeeds(helper, &["--check", BUILD])
    }

    /// What leads to another user, a container or a pod.
    pub(super) fn start(
        &self,
        hop: &Hop,
        dialling: &Dialling,
        has_password: bool,
    ) -> Result<(Wires, Transport), DialCause> {
        let words = words::words(hop, dialling, has_password, self).map_err(DialCause::Reach)?;
        let (program, before) = &self.helper;
        let seated_by = words.wants_terminal.then_some((&**program, &**before));
        self.run(&words.program, &words.arguments, seated_by)
    }

    /// What a package names as the way to a target. It is looked up in the absolute directories of `PATH`, and
    /// has the user's agent only where the package was granted it.
    pub(super) fn carrier(&self, carrier: &Carrier) -> Result<(Wires, Transport), DialCause> {
        let program = &carrier.program;
        let path = self.environment.get(OsStr::new("PATH"));
        let path = path.map(|path| {
            let whole = std::env::split_paths(path).filter(|place| place.is_absolute());
            std::env::join_paths(whole).unwrap_or_default()
        });
        let found = opal_files::program::find(path.as_deref(), &self.directory, program.name());
        let found = found.ok_or_else(|| DialCause::NoCarrier(program.name().to_owned()))?;
        let mut environment = self.passed_on();
        if !carrier.has_agent {
            environment.remove(OsStr::new("SSH_AUTH_SOCK"));
        }
        let words: Vec<OsString> = program.arguments().iter().map(OsString::from).collect();
        self.run_with(&found, &words, None, &environment)
    }

    /// The helper itself.
    pub(super) fn helper(&self, more: &[String]) -> Result<(Wires, Transport), DialCause> {
        let (program, before) = &self.helper;
        let more = more.iter().map(OsString::from);
        let arguments: Vec<OsString> = before.iter().cloned().chain(more).collect();
        // Its steps have the environment of this machine, as all steps here.
        self.run_with(program, &arguments, None, &self.environment)
    }

    /// The environment of whatever leads to a target: without what was read as a secret.
    fn passed_on(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.environment.clone();
        for name in withheld::names() {
            environment.remove(OsStr::new(&name));
        }
        environment
    }

    fn run(
        &self,
        program: &Path,
        words: &[OsString],
        seated_by: Option<(&Path, &[OsString])>,
    ) -> Result<(Wires, Transport), DialCause> {
        self.run_with(program, words, seated_by, &self.passed_on())
    }

    fn run_with(
        &self,
        program: &Path,
        words: &[OsString],
        seated_by: Option<(&Path, &[OsString])>,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<(Wires, Transport), DialCause> {
        let system = |error: io::Error| DialCause::System(error.kind());
        let (stderr, complaints) = pipe().map_err(system)?;
        let starting = Starting {
            program,
            arguments: words,
            environment,
            directory: &self.directory,
            stderr: Stdio::from(complaints),
            seated_by,
        };
        let (transport, ends) = Transport::start(starting).map_err(|error| {
            DialCause::NotStarted { program: program.to_owned(), why: error.kind() }
        })?;
        Ok((Wires { ends, stderr }, transport))
    }
}

impl Origin {
    /// What a program prints that succeeds in time.
    pub(crate) fn answer(
        &self,
        name: &str,
        words: &[OsString],
        limit: Duration,
    ) -> Option<Vec<u8>> {
        let (wires, transport) = self.run(&self.find(name)?, words, None).ok()?;
        let Wires { ends, stderr } = wires;
        drop(ends.input);
        drain(stderr).ok()?;
        whole(&ends.output, transport, limit)
    }

    /// The `ssh` that connections are made with. It is asked once.
    pub(crate) fn client(&self) -> Client {
        let Some(program) = self.find("ssh") else { return Client::default() };
        let mut known = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known.get(&program) {
            return *client;
        }
        let said = self.release(&program).unwrap_or_default();
        let client = Client::read(&String::from_utf8_lossy(&said));
        known.insert(program, client);
        client
    }

    /// What `ssh -V` prints, on standard error.
    fn release(&self, program: &Path) -> Option<Vec<u8>> {
        let (wires, transport) = self.run(program, &["-V".into()], None).ok()?;
        let Wires { ends, stderr } = wires;
        drop(ends.input);
        drain(ends.output).ok()?;
        whole(&stderr, transport, RELEASE)
    }
}

/// All that comes from a program which succeeds in time.
fn whole(from: &OwnedFd, mut transport: Transport, limit: Duration) -> Option<Vec<u8>> {
    let (stop, mut printed) = (Stop::new().limited(limit, Duration::ZERO), Vec::new());
    let mut chunk = vec![0; 64 * 1024];
    while printed.len() <= MAX_ANSWER_BYTES {
        let _ = stop.wait(&[(from.as_fd(), PollFlags::IN)], None, Order::GoOn);
        if stop.order() != Order::GoOn {
            return None;
        }
        match rustix::io::read(from, &mut chunk) {
            Ok(0) => return (transport.wait(limit) == Some(0)).then_some(printed),
            Ok(count) => printed.extend_from_slice(&chunk[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    None
}

impl Programs for Origin {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.get(OsStr::new("PATH"));
        opal_files::program::find(path.map(OsString::as_os_str), &self.directory, name)
    }

    fn succeeds(&self, program: &Path, arguments: &[&str]) -> bool {
        let words: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let Ok((wires, transport)) = self.run(program, &words, None) else { return false };
        let Wires { ends, stderr } = wires;
        drop(ends.input);
        let drained = drain(ends.output).and_then(|()| drain(stderr));
        drained.is_ok() && transport.finish(INSPECTION) == Some(0)
    }
}

/// Reads to the end what interests nobody, so that nobody waits for it to be read.
pub(crate) fn drain(fd: OwnedFd) -> io::Result<()> {
    let read = move || {
        let mut bytes = [0; 4096];
        loop {
            match rustix::io::read(&fd, &mut bytes) {
                Ok(0) => return,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
    };
    thread::Builder::new().name("drain".to_owned()).stack_size(64 * 1024).spawn(read).map(drop)
}

/// The names of the variables and never their values.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin")
            .field("environment", &self.environment.keys())
            .field("directory", &self.directory)
            .field("helper", &self.helper)
            .finish()
    }
}
