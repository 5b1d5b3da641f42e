//! A small builder: files in, arguments in, what the binary did out.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use opal_testing::processes::eventually;
use tempfile::TempDir;

use crate::needs;

/// A project in a directory of its own, and one call of the binary in it.
pub(crate) struct Opal {
    folder: TempDir,
    args: Vec<OsString>,
    stdin: Option<Vec<u8>>,
    env: Vec<(String, String)>,
}

/// What the binary did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Opal {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, args: Vec::new(), stdin: None, env: Vec::new() }
    }

    /// A project whose `commands.opl` is `text`.
    pub(crate) fn project(text: &str) -> Self {
        Self::new().file("commands.opl", text)
    }

    /// A project on a machine of its own: without keys, and its home is `home` beside the project.
    pub(crate) fn machine(text: &str) -> Self {
        let opal = Self::project(text).file("home/.keep", "");
        let home = opal.path().join("home").display().to_string();
        opal.env("HOME", &home)
    }

    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().to_path_buf()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// An hour later for all calls from now on. A release build has only the clock of the system: it
    /// waits two seconds.
    pub(crate) fn later(self) -> Self {
        if !cfg!(debug_assertions) {
            std::thread::sleep(Duration::from_millis(2_100));
            return self;
        }
        let now = opal_session::clock::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.env("OPAL_TEST_CLOCK", &(now.as_secs() + 3_600).to_string())
    }

    pub(crate) fn command(&self) -> Command {
        self.started_by(&[binary().as_os_str()])
    }

    /// The same, with signals meaning what they usually mean: whoever runs the tests in the
    /// background may have them ignored, and opal then ignores them too.
    pub(crate) fn interruptible(&self) -> Command {
        let usual = "--default-signal=HUP,INT,QUIT,TERM";
        self.started_by(&["/usr/bin/env".as_ref(), usual.as_ref(), binary().as_os_str()])
    }

    #[expect(clippy::disallowed_methods, reason = "the binary under test is started here")]
    pub(crate) fn started_by(&self, words: &[&OsStr]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command.current_dir(self.folder.path()).args(&self.args).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self) -> Ran {
        let mut command = self.command();
        if let Some(text) = &self.stdin {
            use std::io::Write;
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(text).unwrap();
            return Ran::from(child.wait_with_output().unwrap());
        }
        Ran::from(command.output().unwrap())
    }

    /// One more call in the same place, as somebody who owns nothing; none where the tests may not
    /// become somebody else.
    #[expect(clippy::disallowed_methods, reason = "another user is only to be had by a program")]
    pub(crate) fn as_nobody(&self, args: &[&str]) -> Option<Ran> {
        let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut tried = Command::new(words[0]);
        let tried = tried.args(&words[1..]).arg("test").arg("-x").arg(binary()).status();
        let can = tried.is_ok_and(|status| status.success());
        if !needs::has("another user who may start the binary", can) {
            return None;
        }
        let mut command: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
        command.push(binary().as_os_str());
        Some(Ran::from(self.started_by(&command).args(args).output().unwrap()))
    }

    /// One more call in the same place.
    pub(crate) fn call(&self, args: &[&str]) -> Ran {
        self.call_with(&[], args)
    }

    /// The id of the run that goes on, once it is recorded.
    pub(crate) fn running(&self) -> String {
        let mut id = String::new();
        eventually("a run that goes on is recorded", || {
            let listed = self.call(&["runs", "list", "--json"]).json();
            let run = &listed["runs"][0];
            id = run["id"].as_str().unwrap_or_default().to_owned();
            run["status"] == "running"
        });
        id
    }

    /// One more call, with more in the environment.
    pub(crate) fn call_with(&self, env: &[(&str, &str)], args: &[&str]) -> Ran {
        let mut command = self.command();
        Ran::from(command.args(args).envs(env.iter().copied()).output().unwrap())
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).unwrap()
    }

    /// Runs `opal check --json` on `commands.opl` and lists the codes it reports, each once.
    pub(crate) fn codes(text: &str) -> Vec<String> {
        Self::project(text).codes_of()
    }

    /// The same for a project of several files.
    pub(crate) fn codes_of(&self) -> Vec<String> {
        let document = self.call(&["self", "check", "--json"]).json();
        let files = document["files"].as_array().unwrap().iter();
        let found = files.flat_map(|file| file["diagnostics"].as_array().unwrap());
        let mut codes: Vec<String> =
            found.map(|one| one["code"].as_str().unwrap().to_owned()).collect();
        codes.sort();
        codes.dedup();
        codes
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn code(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn stdout(&self, text: &str) -> &Self {
        assert_eq!(self.stdout, text, "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn stderr(&self, text: &str) -> &Self {
        assert_eq!(self.stderr, text, "{self:#?}");
        self
    }

    /// Standard output and standard error hold `text` somewhere.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.stdout.contains(text) || self.stderr.contains(text), "{text:?} in {self:#?}");
        self
    }

    /// Neither standard output nor standard error holds `text`.
    #[track_caller]
    pub(crate) fn hides(&self, text: &str) -> &Self {
        let shown = self.stdout.contains(text) || self.stderr.contains(text);
        assert!(!shown, "{text:?} in {self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_opal"))
}

/// Holds a plan as JSON against the schema that is published for it.
#[track_caller]
pub(crate) fn assert_plan_schema(plan: &serde_json::Value) {
    assert_schema("plan-1.json", plan);
}

/// Holds a document against a schema of `docs/schema`.
#[track_caller]
pub(crate) fn assert_schema(name: &str, document: &serde_json::Value) {
    let schema = std::fs::read_to_string(repository().join("docs/schema").join(name)).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?} in {document:#}");
}

/// Makes a directory with the same files as another one, which has no directories.
pub(crate) fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
