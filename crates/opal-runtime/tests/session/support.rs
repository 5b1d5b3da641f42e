//! A session in a directory of its own, and somebody who listens.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use opal_core::Secret;
use opal_core::record::Stream;
use opal_core::resolver::{ScriptPart, Trouble};
use opal_runtime::session::{
    Closed, Ended, Input, LocalSession, Output, Session, Setup, Taker, Work,
};
use opal_runtime::stop::Stop;
use tempfile::TempDir;

/// Which shell a session finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    Bash,
    Dash,
    None,
}

pub const SHELLS: [Only; 2] = [Only::Bash, Only::Dash];

pub struct Place {
    pub session: LocalSession,
    pub directory: TempDir,
    /// Where the programs are that a session finds.
    pub programs: TempDir,
}

static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// What tests use beside the shell.
const PROGRAMS: [&str; 22] = [
    "cat", "chmod", "dd", "env", "head", "kill", "ls", "mkdir", "mv", "printenv", "ps", "rm", "rmdir",
    "seq", "setsid", "sleep", "sort", "touch", "tr", "wc", "yes", "nohup",
];

impl Place {
    pub fn new(only: Only) -> Self {
        Self::with(only, &[])
    }

    pub fn with(only: Only, more: &[(&str, &str)]) -> Self {
        let (directory, programs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let real = |name: &str| {
            ["/usr/bin", "/bin"].map(|it| Path::new(it).join(name)).into_iter().find(|it| it.exists())
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
        let session = LocalSession::new(Setup {
            environment,
            start: directory.path().canonicalize().unwrap(),
            home: Some(directory.path().join("home")),
            marker: format!("test-{}-{number}", std::process::id()),
        });
        Self { session, directory, programs }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub fn parts(&self, parts: &[ScriptPart]) -> Done {
        self.work(parts, &self.path(), &BTreeMap::new(), &Stop::new())
    }

    pub fn run(&self, text: &str) -> Done {
        self.parts(&[ScriptPart::Text(text.to_owned())])
    }

    pub fn run_in(&self, directory: &Path, text: &str) -> Done {
        let parts = [ScriptPart::Text(text.to_owned())];
        self.work(&parts, directory, &BTreeMap::new(), &Stop::new())
    }

    pub fn stopped(&self, text: &str, stop: &Stop) -> Done {
        let parts = [ScriptPart::Text(text.to_owned())];
        self.work(&parts, &self.path(), &BTreeMap::new(), stop)
    }

    pub fn work(
        &self,
        script: &[ScriptPart],
        directory: &Path,
        environment: &BTreeMap<String, Secret>,
        stop: &Stop,
    ) -> Done {
        let work = Work {
            script,
            interpreter: None,
            directory,
            environment,
            stdin: Input::Nothing,
            stdout: Output::Taken,
            stderr: Output::Taken,
        };
        let mut heard = Heard::default();
        let ended = self.session.run(work, stop, &mut heard);
        Done { ended, stdout: heard.stdout, stderr: heard.stderr }
    }
}

pub struct Done {
    pub ended: Result<Ended, Trouble>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Done {
    #[track_caller]
    pub fn code(&self) -> i32 {
        self.ended.as_ref().unwrap().code
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

#[derive(Default)]
pub struct Heard {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
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

/// Waits until something holds; a test that waits in vain fails.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is there and has not ended.
pub fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
