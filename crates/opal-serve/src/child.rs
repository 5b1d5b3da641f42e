//! Starting `opal`: the one way in which agents and pages have anything done.

use std::ffi::OsStr;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use opal_core::message::Reason;
use opal_vault::root::Root;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// Bytes of a document that are read.
const MOST_BYTES: u64 = 64 << 20;

/// Bytes of what was said beside it.
const MOST_SAID: u64 = 8 * 1024;

/// How long an `opal` that is to end may clean up.
const GRACE: Duration = Duration::from_secs(10);

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    NotStarted(ErrorKind),
    TooLong,
    /// The inbox cannot be listed; what `opal` said.
    NoInbox(String),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(kind) => write!(f, "`opal` cannot be started: {}", Reason(*kind)),
            Self::TooLong => f.write_str("it is too long for a page"),
            Self::NoInbox(said) => f.write_str(said),
        }
    }
}

/// The program, and the runtime root that it is given.
#[derive(Clone, Debug)]
pub(crate) struct Opal {
    program: PathBuf,
    root: Root,
}

/// How it ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    /// The document that it printed, where it is one.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.stdout).ok()
    }

    /// The contracts that `opal plan inbox --json` has listed. Where it could not, the inbox is not empty:
    /// nobody knows what is in it.
    pub(crate) fn contracts(self) -> Result<Vec<Value>, Unanswered> {
        let listed = self.json().filter(|_| self.code == 0);
        let contracts = listed.and_then(|it| it.get("contracts")?.as_array().cloned());
        contracts.ok_or(Unanswered::NoInbox(self.stderr))
    }
}

/// Whether people have approved a contract of the inbox: one that has run without them was not approved.
pub(crate) fn was_approved_by_people(entry: &Value) -> bool {
    let is_done = matches!(entry["state"].as_str(), Some("approved" | "used"));
    is_done && entry["approved_by"].as_array().is_some_and(|by| !by.is_empty())
}

impl Opal {
    pub(crate) const fn new(program: PathBuf, root: Root) -> Self {
        Self { program, root }
    }

    pub(crate) const fn root(&self) -> &Root {
        &self.root
    }

    /// The command, which reads nothing and starts in `folder`.
    pub(crate) fn command<W: AsRef<OsStr>>(&self, folder: &Path, words: &[W]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--color", "never", "--root"]).arg(self.root.path()).args(words);
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Ctrl+C in the terminal is not meant for it.
        command.process_group(0);
        command
    }

    /// The command with the terminal of this process: somebody can be asked.
    pub(crate) fn in_terminal<W: AsRef<OsStr>>(&self, folder: &Path, words: &[W]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--root").arg(self.root.path()).args(words).current_dir(folder);
        command
    }

    /// Asks it, and waits for its end. Whoever waits no longer ends it.
    pub(crate) async fn ask<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: &[W],
    ) -> Result<Ended, Unanswered> {
        ended(self.begin(folder, words)?).await
    }

    /// The same, and none where it takes longer. Then it is ended with all that it has started.
    pub(crate) async fn ask_within<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: &[W],
        limit: Duration,
    ) -> Result<Option<Ended>, Unanswered> {
        let begun = self.begin(folder, words)?;
        let group = begun.0.id();
        match tokio::time::timeout(limit, ended(begun)).await {
            Ok(ended) => ended.map(Some),
            Err(_) => {
                // It leads its group, and was not waited for.
                if let Some(group) = group.and_then(pid) {
                    let _ = kill_process_group(group, Signal::TERM);
                }
                Ok(None)
            }
        }
    }

    /// So many bytes of what it prints, from an offset on. It is ended then.
    pub(crate) async fn part<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: &[W],
        from: u64,
        most: usize,
    ) -> Result<Vec<u8>, Unanswered> {
        let (_child, mut stdout, _) = self.begin(folder, words)?;
        let unread = |error: std::io::Error| Unanswered::NotStarted(error.kind());
        let mut skipped = (&mut stdout).take(from);
        tokio::io::copy(&mut skipped, &mut tokio::io::sink()).await.map_err(unread)?;
        let mut bytes = Vec::new();
        stdout.take(most as u64).read_to_end(&mut bytes).await.map_err(unread)?;
        Ok(bytes)
    }

    fn begin<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: &[W],
    ) -> Result<(Guarded, ChildStdout, ChildStderr), Unanswered> {
        let mut command = self.command(folder, words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Guarded::spawn(command)?;
        let streams = child.0.as_mut().map(|it| (it.stdout.take(), it.stderr.take()));
        match streams {
            Some((Some(stdout), Some(stderr))) => Ok((child, stdout, stderr)),
            _ => Err(Unanswered::NotStarted(ErrorKind::BrokenPipe)),
        }
    }
}

/// A process that is ended where nobody waits for it any more: first it is asked to.
#[derive(Debug)]
pub(crate) struct Guarded(Option<Child>);

impl Guarded {
    pub(crate) fn spawn(mut command: Command) -> Result<Self, Unanswered> {
        let child = command.spawn().map_err(|error| Unanswered::NotStarted(error.kind()))?;
        Ok(Self(Some(child)))
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.0.as_ref().and_then(Child::id)
    }

    pub(crate) async fn wait(&mut self) -> Result<ExitStatus, Unanswered> {
        let ended = match &mut self.0 {
            Some(child) => child.wait().await,
            None => Err(ErrorKind::NotFound.into()),
        };
        ended.map_err(|error| Unanswered::NotStarted(error.kind()))
    }

    /// Lets it run on, whatever becomes of this.
    pub(crate) fn released(mut self) -> Option<Child> {
        self.0.take()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        signal(&child);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
                    let _ = child.kill().await;
                }
            });
        }
    }
}

/// Asks a process to end. It has not been waited for, so its number is its own.
pub(crate) fn signal(child: &Child) {
    if let Some(pid) = child.id().and_then(pid) {
        let _ = kill_process(pid, Signal::TERM);
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// All that a process prints, to its end.
async fn ended(
    (mut child, stdout, stderr): (Guarded, ChildStdout, ChildStderr),
) -> Result<Ended, Unanswered> {
    let (stdout, stderr, status) =
        tokio::join!(all(stdout, MOST_BYTES), start(stderr, MOST_SAID), child.wait());
    let stdout = stdout.ok_or(Unanswered::TooLong)?;
    let (stderr, _) = stderr.unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok(Ended { code: status?.code().unwrap_or(-1), stdout, stderr })
}

/// All that is printed; none where it is more than so many bytes.
async fn all(from: impl AsyncRead + Unpin, most: u64) -> Option<Vec<u8>> {
    let (bytes, rest) = start(from, most).await?;
    (rest == 0).then_some(bytes)
}

/// The first so many bytes of what is printed, and how many more there were. It is read to the end, so that
/// nobody waits for it to be read.
async fn start(mut from: impl AsyncRead + Unpin, most: u64) -> Option<(Vec<u8>, u64)> {
    let mut bytes = Vec::new();
    (&mut from).take(most).read_to_end(&mut bytes).await.ok()?;
    let rest = tokio::io::copy(&mut from, &mut tokio::io::sink()).await.ok()?;
    Some((bytes, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_long_complaint_is_kept_and_half_a_document_is_none() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let long = [&b"error: the reason\n"[..], &[b'x'; 20_000]].concat();
        let (kept, rest) = runtime.block_on(start(&long[..], MOST_SAID)).unwrap();
        assert!(kept.starts_with(b"error: the reason\n"));
        assert_eq!((kept.len() as u64, rest), (MOST_SAID, long.len() as u64 - MOST_SAID));
        assert_eq!(runtime.block_on(all(&long[..], MOST_SAID)), None);
        assert_eq!(runtime.block_on(all(&long[..], 1 << 20)), Some(long.clone()));
    }
}
