//! A key that replaces the runner key for one run. Nothing of it is written anywhere.

use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use opal_core::wiped::Wiped;
use opal_core::{Secret, starting};
use rustix::process::{Pid, Signal, kill_process_group};

use super::error::{KeyFault, Origin, ProgramFault};
use super::{KeyError, MAX_KEY_BYTES, Runner};
use opal_vault::root;

/// How long a program may take to print a key.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Where the key comes from.
#[derive(Clone)]
pub enum IdentitySource {
    File(PathBuf),
    /// A program and its arguments, as they were written, split at blanks. No shell sees them.
    Command(Vec<String>),
    /// The key itself.
    Text(Secret),
}

impl IdentitySource {
    /// What `--identity` says: `cmd:PROGRAM ARGS…`, or a file.
    pub fn from_option(text: &str) -> Result<Self, KeyError> {
        if looks_like_a_key(text) {
            return Err(KeyFault::IdentityIsAKey.into());
        }
        match text.strip_prefix("cmd:") {
            Some(command) => Self::command(command),
            None => Ok(Self::File(text.into())),
        }
    }

    /// What `$OPAL_IDENTITY` says: `cmd:PROGRAM ARGS…`, a path that begins with `/`, `./`, `../`
    /// or `~/`, or else the key itself.
    pub fn from_variable(value: &Secret, home: Option<&Path>) -> Result<Self, KeyError> {
        let text = value.expose();
        if let Some(command) = text.strip_prefix("cmd:") {
            return Self::command(command);
        }
        if let (Some(rest), Some(home)) = (text.strip_prefix("~/"), home) {
            return Ok(Self::File(home.join(rest)));
        }
        if ["/", "./", "../"].iter().any(|start| text.starts_with(start)) {
            return Ok(Self::File(text.into()));
        }
        Ok(Self::Text(value.clone()))
    }

    fn command(text: &str) -> Result<Self, KeyError> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(KeyFault::NoProgram.into());
        }
        Ok(Self::Command(words))
    }

    /// Gets the key.
    pub fn load(&self) -> Result<Runner, KeyError> {
        let (origin, text) = match self {
            Self::File(path) => {
                (Origin::File(path), read(root::read_private(path, MAX_KEY_BYTES)?))
            }
            Self::Command(words) => (Origin::Program(&words[0]), read(ask(words, TIME_LIMIT)?)),
            Self::Text(text) => (Origin::Variable, text.clone()),
        };
        Runner::from_text(text.expose()).ok_or_else(|| KeyFault::NotARunnerKey(origin).into())
    }
}

fn looks_like_a_key(text: &str) -> bool {
    text.to_ascii_uppercase().contains("AGE-SECRET-KEY-")
}

/// Bytes that are not UTF-8 cannot be a key, and give an empty text.
fn read(bytes: Wiped<Vec<u8>>) -> Secret {
    Secret::new(std::str::from_utf8(&bytes).unwrap_or_default())
}

/// What a program prints. It gets no input, and its complaints may hold a secret, so they are
/// shown to nobody; it runs in a group of its own, which is killed after the time limit.
fn ask(words: &[String], limit: Duration) -> Result<Wiped<Vec<u8>>, KeyError> {
    let failed = |why: ProgramFault| KeyFault::Program { name: &words[0], why };
    let deadline = Instant::now() + limit;
    let mut child = start(words).map_err(|error| failed(ProgramFault::NotStarted(error)))?;
    let stdout = child.stdout.take().expect("its output is a pipe");
    let (sender, receiver) = mpsc::channel();
    // Where nobody listens any more, there is nobody to tell.
    thread::spawn(move || sender.send(collect(stdout)));
    let printed = receiver.recv_timeout(limit);
    let status = match printed {
        Ok(Some(_)) => wait(&mut child, deadline),
        _ => None,
    };
    let Some(status) = status else {
        stop(&mut child);
        let why = match printed {
            Ok(None) => ProgramFault::TooMuchOutput,
            _ => ProgramFault::TimedOut(limit),
        };
        return Err(failed(why).into());
    };
    match (printed, status.code()) {
        (Ok(Some(printed)), Some(0)) => Ok(printed),
        (_, Some(code)) => Err(failed(ProgramFault::ExitCode(code)).into()),
        (_, None) => Err(failed(ProgramFault::Killed).into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "it is waited for here, and its whole group ends")]
fn start(words: &[String]) -> std::io::Result<Child> {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .env_remove("OPAL_IDENTITY")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    starting::shared(|| command.spawn())
}

/// All it prints; none where that is more than a key, or no end of it can be reached.
fn collect(from: impl Read) -> Option<Wiped<Vec<u8>>> {
    let mut bytes = Wiped::new(Vec::with_capacity(MAX_KEY_BYTES as usize + 1));
    from.take(MAX_KEY_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_KEY_BYTES).then_some(bytes)
}

fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends a program and all it has started. What is gone already needs no ending.
fn stop(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

/// Which kind of source it is, and nothing of what it says.
impl fmt::Debug for IdentitySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Command(words) => write!(f, "Command({} …)", words[0]),
            Self::Text(_) => f.write_str("Text(…)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        vec!["sh".into(), "-c".into(), text.into()]
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!("(sleep 1; touch {}) & sleep 60", mark.display());
        let error = ask(&words(&script), Duration::from_millis(200)).unwrap_err();
        assert!(error.message.contains("timed out"), "{error}");
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "what it started went on");
    }

    #[test]
    fn a_program_that_closes_its_output_and_stays_is_ended_too() {
        let error = ask(&words("exec >&-; sleep 60"), Duration::from_millis(200)).unwrap_err();
        assert!(error.message.contains("timed out"), "{error}");
    }

    #[test]
    fn endless_output_is_cut() {
        let error = ask(&words("yes"), Duration::from_secs(20)).unwrap_err();
        assert!(error.message.contains("more than a key"), "{error}");
    }
}
