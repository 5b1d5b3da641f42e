//! Steps on this machine.
//!
//! ```text
//! run ─▶ route ─┬─▶ a plain program: started by itself          children
//!               ├─▶ echo, true, test …: by the waiting shell    waiting, request
//!               └─▶ anything else: in a fork of that shell
//!        lane: pipes or a terminal, kept from command to command
//!        flow: output, answers and orders, until nothing is left   ending, processes, orphans
//! ```
//!
//! | what | where |
//! |---|---|
//! | what a session is made of | `setup` |
//! | which of the three ways a command goes | `route` |
//! | starting programs with the descriptors they need | `children`, `slots` |
//! | the shell that waits, and the requests to it | `waiting`, `request` |
//! | a terminal for it, and who leads its session | `terminal`, `mark`, `leader` |
//! | what a command prints and how it ends | `lane`, `flow`, `ending` |
//! | what its processes may use | `limits` |
//! | texts that programs read from a file | `text_file` |
//! | programs that lead to another session | `transport` |
//! | whose process is whose | `processes`, `orphans` |
//!
//! Deliberately not here: signals of the process and what is printed; both are the command line's.

mod checking;
mod children;
mod counted;
mod ending;
mod files;
mod flow;
mod interpreters;
mod lane;
pub(crate) mod leader;
mod limits;
pub(crate) mod login;
mod mark;
mod orphans;
mod processes;
mod request;
mod route;
pub(crate) mod seat;
mod setup;
mod site;
mod slots;
mod terminal;
mod text_file;
mod transport;
mod waiting;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use opal_core::action::{Pending, Replace, TextFile};
use opal_core::files::Files;
use opal_core::inventory::EntryStore;
use opal_core::resolver::{Probe, ScriptPart, Trouble};

use super::{Ended, Input, Output, Place, Session, Taker, Work};
use crate::error::SessionError;
use crate::stop::Stop;
use crate::world::OsWorld;
use counted::{Counted, RUNNING};
use flow::{Flow, Outcome};
use lane::{Group, Lane, Source};
use limits::Enforced;
use opal_core::shell::{Shell, syntax::Fault};
use processes::{MARKER, Moment};
use setup::{NO_PIPES, failed};
use terminal::Attached;

use waiting::{Interpreter, Waiting};

pub(crate) use children::{Running, command, start};
pub use leader::lead;
pub use setup::Setup;
pub(crate) use site::{FILES, LocalFiles};
pub use terminal::{Face, Hold, OnSignal, Resized, Size, Terminal};
pub use transport::{Ends, Starting, Transport};

/// Shells and programs on this machine.
pub struct LocalSession {
    setup: Setup,
    shell: OnceLock<Option<Interpreter>>,
    /// Lanes that wait for their next command: with the input of opal, and without any.
    idle: [Mutex<Vec<Lane>>; 2],
    lanes: AtomicUsize,
    /// Builtins that were run as programs.
    alone: AtomicUsize,
    began: Moment,
    world: OnceLock<OsWorld>,
}

impl LocalSession {
    /// Starts nothing yet.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        orphans::adopt();
        // A shell that needs them says so when it is started.
        let _ = slots::reserve();
        Self {
            setup,
            shell: OnceLock::new(),
            idle: [Mutex::default(), Mutex::default()],
            lanes: AtomicUsize::new(0),
            alone: AtomicUsize::new(0),
            began: Moment::now(),
            world: OnceLock::new(),
        }
    }

    /// Starts the shell, which gets ready while other things are done.
    fn start(&self) {
        let lane = self.new_lane(Input::Own, Output::Taken, Output::Taken);
        if let Ok(mut lane) = lane {
            // The first step says what is wrong.
            if self.boot(&mut lane, &self.setup.start, None, &BTreeMap::new()).is_ok() {
                self.give_back(lane);
            }
        }
    }

    /// The shell that steps get; none where there is none. `Sh` has no `pipefail`.
    #[must_use]
    pub fn shell(&self) -> Option<Shell> {
        self.interpreter().map(|it| it.shell)
    }

    /// Ends what the commands have left running, servers in the background included: for a run that
    /// was interrupted. After any other run they stay. An order to kill leaves them no time.
    pub fn end_all(&self, grace: Duration, stop: &Stop) {
        for idle in &self.idle {
            idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        ending::end(|| processes::left(&self.setup.marker, self.began), grace, stop);
        orphans::bury();
    }

    /// The environment of its commands, and where they start.
    pub(crate) fn surroundings(&self) -> (&BTreeMap<OsString, OsString>, &Path) {
        (&self.setup.environment, &self.setup.start)
    }

    /// The terminal that a command is for, as long as opal is in front of it.
    fn terminal(&self, stdin: &Input) -> Option<Arc<Terminal>> {
        match stdin {
            Input::Own => self.setup.terminal.clone().filter(|terminal| terminal.is_in_front()),
            Input::Terminal(terminal) => Some(Arc::clone(terminal)),
            Input::Nothing | Input::From(_) => None,
        }
    }

    fn interpreter(&self) -> Option<&Interpreter> {
        let find = || Interpreter::find(self.variable("PATH"), &self.setup.start);
        self.shell.get_or_init(find).as_ref()
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.setup.environment.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    fn lane(&self, stdin: Input, stdout: Output, stderr: Output) -> Result<Lane, Trouble> {
        let idle = match (&stdin, &stdout, &stderr) {
            (Input::Own | Input::Terminal(_), Output::Taken, Output::Taken) => self.idle[0].lock(),
            (Input::Nothing, Output::Taken, Output::Taken) => self.idle[1].lock(),
            _ => return self.new_lane(stdin, stdout, stderr),
        };
        let mut idle = idle.unwrap_or_else(PoisonError::into_inner);
        // One of before may be on a terminal that is not ours now, or on none though there is one.
        let is_on_terminal = self.terminal(&stdin).is_some();
        idle.retain(|lane| lane.pty.is_some() == is_on_terminal);
        let lane = idle.pop();
        drop(idle);
        lane.map_or_else(|| self.new_lane(stdin, stdout, stderr), Ok)
    }

    fn new_lane(&self, stdin: Input, stdout: Output, stderr: Output) -> Result<Lane, Trouble> {
        let is_whole = matches!((&stdout, &stderr), (Output::Taken, Output::Taken));
        if let (Some(terminal), true) = (self.terminal(&stdin), is_whole) {
            return Lane::on_terminal(self.marker(), &terminal)
                .map_err(|error| failed("cannot create a pseudo-terminal", &error));
        }
        self.piped(stdin, stdout, stderr)
    }

    fn marker(&self) -> OsString {
        let number = self.lanes.fetch_add(1, Ordering::Relaxed);
        format!("{}.{number}", self.setup.marker).into()
    }

    fn piped(&self, stdin: Input, stdout: Output, stderr: Output) -> Result<Lane, Trouble> {
        let marker = self.marker();
        let group = match stdin {
            Input::Own if has_terminal() => Group::Shared,
            _ => Group::Own,
        };
        Lane::new(marker, stdin, stdout, stderr, group).map_err(|error| failed(NO_PIPES, &error))
    }

    fn give_back(&self, lane: Lane) {
        let idle = match lane.stdin {
            Source::Own | Source::Given(_) => &self.idle[0],
            Source::Nothing => &self.idle[1],
        };
        if lane.is_reusable {
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
        }
    }

    /// Gives a lane its shell.
    fn boot(
        &self,
        lane: &mut Lane,
        directory: &Path,
        previous: Option<&Path>,
        more: &BTreeMap<String, opal_core::Secret>,
    ) -> Result<(), Trouble> {
        let interpreter = self.interpreter().ok_or(SessionError::NoShell)?;
        let mut connected = Ok(());
        let leader = lane.pty.as_ref().map_or(&[][..], |pty| &pty.leader);
        let shell = Waiting::start(interpreter, leader, directory, previous, |command| {
            self.surround(command, lane, directory, previous);
            command.envs(more.iter().map(|(name, value)| (name, value.expose())));
            connected = lane.connect(command);
        });
        connected.map_err(|error| failed(NO_PIPES, &error))?;
        lane.shell = Some(shell.map_err(|error| failed("the shell cannot be started", &error))?);
        Ok(())
    }

    /// What holds for every process of a lane.
    fn surround(
        &self,
        command: &mut Command,
        lane: &Lane,
        directory: &Path,
        previous: Option<&Path>,
    ) {
        // `SHELLOPTS` would change how the waiting shell itself reads and runs.
        let is_passed = |name: &&OsString| !["OLDPWD", "SHELLOPTS"].iter().any(|it| **name == **it);
        let environment = &self.setup.environment;
        command
            .env_clear()
            .envs(environment.iter().filter(|(name, _)| is_passed(name)))
            .env("PWD", directory)
            .envs(previous.map(|previous| ("OLDPWD", previous)))
            .env(MARKER, &lane.marker)
            .current_dir(directory);
        if self.variable("TERM").is_none() {
            command.envs(lane.pty.iter().filter_map(|pty| Some(("TERM", pty.kind.as_ref()?))));
        }
        if lane.group == Group::Own {
            command.process_group(0);
        }
    }
}

impl Session for LocalSession {
    fn check(&self, scripts: &[&[ScriptPart]], _: &Stop) -> Result<Vec<Fault>, Trouble> {
        if scripts.iter().any(|parts| route::wants_shell(parts)) {
            self.start();
        }
        checking::check(self, scripts)
    }

    fn run(&self, work: Work<'_>, stop: &Stop, taker: &mut dyn Taker) -> Result<Ended, Trouble> {
        if !work.directory.is_dir() {
            return Err(SessionError::WorkingDirectoryGone.into());
        }
        let Work { script, interpreter, directory, previous, environment, .. } = work;
        let limits = Enforced::new(work.limits, || self.marker())?;
        let (stdin, stdout, stderr) = (work.stdin, work.stdout, work.stderr);
        let task = route::Task { script, directory, previous, environment, limits: &limits };
        let terminal = self.terminal(&stdin);
        let mut lane = match interpreter {
            // Nobody would make another program the leader of a terminal.
            Some(_) => self.piped(stdin, stdout, stderr)?,
            None => self.lane(stdin, stdout, stderr)?,
        };
        let attached = terminal.as_deref().zip(lane.pty.as_ref());
        let attached = attached.map(|(terminal, pty)| Attached::new(terminal, pty)).transpose();
        let attached = attached.map_err(|error| failed("the terminal cannot be used", &error))?;
        let counted = Counted::new();
        let since = Moment::now();
        let program = match interpreter {
            Some(name) => Some(interpreters::begin(self, &task, (name, work.arguments), &lane)?),
            None => route::begin(self, &task, &mut lane)?,
        };
        let outcome = Flow::new(&mut lane, program, since, taker, attached).run(stop);
        drop(counted);
        let outcome = outcome.map_err(|error| failed("the command was lost", &error))?;
        // Where several run in parallel, the last one does it for all: reading every process takes
        // time.
        if RUNNING.load(Ordering::SeqCst) == 0 {
            orphans::bury();
        }
        self.give_back(lane);
        let Outcome { code, directory, previous, is_reported } = outcome;
        Ok(Ended { code, directory, previous, is_reported })
    }

    fn directory(
        &self,
        from: &Path,
        path: &str,
        create: bool,
        _: &Stop,
    ) -> Result<PathBuf, Trouble> {
        files::directory(&self.setup, from, path, create)
    }

    fn replace(
        &self,
        from: &Path,
        replace: &Replace<'_>,
        _: &Stop,
    ) -> Result<Box<dyn Pending>, Trouble> {
        files::replace(&self.setup, from, replace)
    }

    fn folder(&self, _: &Stop) -> Result<Box<dyn TextFile>, Trouble> {
        text_file::folder(self.variable("TMPDIR"))
    }

    fn text_file(
        &self,
        text: &str,
        extension: &str,
        _: &Stop,
    ) -> Result<Box<dyn TextFile>, Trouble> {
        text_file::make(self.variable("TMPDIR"), text, extension)
    }

    fn finds(&self, program: &str) -> bool {
        route::program(self, &self.setup.start, program).is_some()
    }

    fn open(&self, from: &Path, path: &str, _: &Stop) -> Result<OwnedFd, Trouble> {
        files::open(&self.setup, from, path)
    }

    fn probe<'s>(&'s self, place: &Place<'s>) -> Box<dyn Probe + 's> {
        Box::new(site::probe(self.world(), place))
    }

    fn files<'s>(&'s self, _: &Stop) -> Box<dyn Files + 's> {
        Box::new(&site::FILES)
    }

    fn entries(&self) -> Option<&dyn EntryStore> {
        self.setup.entries.as_deref()
    }
}

fn has_terminal() -> bool {
    use rustix::stdio::{stderr, stdin, stdout};
    [stdin(), stdout(), stderr()].into_iter().any(rustix::termios::isatty)
}

impl fmt::Debug for LocalSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSession").field("setup", &self.setup).finish_non_exhaustive()
    }
}
