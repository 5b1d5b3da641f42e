//! A session in a directory of its own, and a listener.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opal_core::Secret;
use opal_core::action::Limits;
use opal_core::resolver::{ScriptPart, Trouble};
use opal_core::stream::{Closed, Stream};
use opal_session::stop::Stop;
use opal_session::{Ended, Input, Output, Session, Setup, Taker, Terminal, Work};
use tempfile::TempDir;

use crate::served::{Served, serve};

/// Which shell a session finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    Bash,
    Dash,
    None,
}

pub(crate) const SHELLS: [Only; 2] = [Only::Bash, Only::Dash];

pub(crate) struct Place {
    pub(crate) session: Served,
    pub(crate) directory: TempDir,
    /// Where the programs are that the session finds; it goes with the rest.
    _programs: TempDir,
}

static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// What tests use beside the shell.
const PROGRAMS: [&str; 24] = [
    "cat", "chmod", "dd", "env", "head", "kill", "ls", "mkdir", "mv", "printenv", "printf", "stty",
    "ps", "rm", "rmdir", "seq", "setsid", "sleep", "sort", "touch", "tr", "wc", "yes", "nohup",
];

impl Place {
    pub(crate) fn new(only: Only) -> Self {
        Self::with(only, &[])
    }

    pub(crate) fn with(only: Only, more: &[(&str, &str)]) -> Self {
        Self::on(only, more, None)
    }

    pub(crate) fn on(only: Only, more: &[(&str, &str)], terminal: Option<Arc<Terminal>>) -> Self {
        let (directory, programs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let real = |name: &str| {
            ["/usr/bin", "/bin"]
                .map(|it| Path::new(it).join(name))
                .into_iter()
                .find(|it| it.exists())
        };
        for name in PROGRAMS {
            symlink(real(name).unwrap(), programs.path().join(name)).unwrap();
        }
        match only {
            Only::Bash => symlink(real("bash").unwrap(), programs.path().join("bash")).unwrap(),
            Only::Dash => symlink(real("dash").unwrap(), programs.path().join("sh")).unwrap(),
            Only::None => {}
        }
        let mut environment: BTreeMap<OsString, OsString> =
            more.iter().map(|(name, value)| (name.into(), value.into())).collect();
        environment.entry("PATH".into()).or_insert_with(|| programs.path().into());
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let session = serve(Setup {
            environment: environment.into(),
            start: directory.path().canonicalize().unwrap(),
            home: Some(directory.path().join("home")),
            marker: format!("test-{}-{number}", std::process::id()),
            terminal,
            entries: None,
            pages: None,
        });
        Self { session, directory, _programs: programs }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn parts(&self, parts: &[ScriptPart]) -> Done {
        self.work(parts, &self.path(), &BTreeMap::new(), &Stop::new())
    }

    pub(crate) fn run(&self, text: &str) -> Done {
        self.parts(&[ScriptPart::Text(text.to_owned())])
    }

    pub(crate) fn run_in(&self, directory: &Path, text: &str) -> Done {
        let parts = [ScriptPart::Text(text.to_owned())];
        self.work(&parts, directory, &BTreeMap::new(), &Stop::new())
    }

    /// In a directory that `cd -` leaves for `previous`.
    pub(crate) fn run_after(&self, previous: &Path, directory: &Path, text: &str) -> Done {
        let parts = [ScriptPart::Text(text.to_owned())];
        let mut heard = Heard::default();
        let work = Work { previous: Some(previous), ..work(&parts, directory) };
        let ended = self.session.run(work, &Stop::new(), &mut heard);
        Done { ended, stdout: heard.stdout, stderr: heard.stderr }
    }

    pub(crate) fn stopped(&self, text: &str, stop: &Stop) -> Done {
        let parts = [ScriptPart::Text(text.to_owned())];
        self.work(&parts, &self.path(), &BTreeMap::new(), stop)
    }

    pub(crate) fn work(
        &self,
        script: &[ScriptPart],
        directory: &Path,
        environment: &BTreeMap<String, Secret>,
        stop: &Stop,
    ) -> Done {
        let mut work = work(script, directory);
        work.environment = environment;
        let mut heard = Heard::default();
        let ended = self.session.run(work, stop, &mut heard);
        Done { ended, stdout: heard.stdout, stderr: heard.stderr }
    }
}

/// Nothing to read, and everything taken.
pub(crate) fn work<'a>(script: &'a [ScriptPart], directory: &'a Path) -> Work<'a> {
    static NONE: BTreeMap<String, Secret> = BTreeMap::new();
    Work {
        script,
        interpreter: None,
        arguments: &[],
        directory,
        previous: None,
        environment: &NONE,
        limits: Limits::default(),
        stdin: Input::Nothing,
        stdout: Output::Taken,
        stderr: Output::Taken,
    }
}

pub(crate) struct Done {
    pub(crate) ended: Result<Ended, Trouble>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Done {
    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        self.ended.as_ref().unwrap().code
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Taker for Heard {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(bytes),
            Stream::Stderr => self.stderr.extend_from_slice(bytes),
        }
        Ok(())
    }
}
