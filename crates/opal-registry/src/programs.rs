//! Programs that sources need: `git`, and what prints a password. The helper ends with opal, and its whole
//! process group with it, so none of them stays.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use opal_files::SystemError;
use opal_plugins::registries::VARIABLES;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::sources::Reach;

/// What a program said.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) is_success: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// How long a program may take: a large repository, or a person who types a password.
const LIMIT: Duration = Duration::from_secs(600);

/// Bytes of a file that a program writes: a package has at most 64 MiB, its repository has more.
const MAX_FILE: u64 = 1 << 30;

/// Why a program said nothing.
#[derive(Debug)]
pub(crate) struct Unrun {
    pub(crate) why: String,
    pub(crate) help: &'static str,
}

/// Runs a program until it ends; more than `most` bytes of output end it, and so does more than [`LIMIT`].
pub(crate) fn run(
    program: &str,
    words: &[&str],
    more: &[(&str, &str)],
    input: &[u8],
    most: u64,
    reach: &Reach,
) -> Result<Output, Unrun> {
    let path = reach.variable("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    let found = opal_files::program::find(Some(path.as_ref()), Path::new("/"), program);
    let found = found.ok_or_else(|| Unrun {
        why: format!("`{program}` is not installed"),
        help: "install it, or put it on `PATH`",
    })?;
    #[expect(
        clippy::disallowed_methods,
        reason = "it is in the process group of this helper, which ends as a whole"
    )]
    let mut command = Command::new(found);
    let known = VARIABLES.iter().filter_map(|name| Some((*name, reach.variable(name)?)));
    command.args(words).env_clear().envs(known).envs(more.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(program, &error))?;
    limit_files(&child);
    let ended = finish(program, &mut child, input, most, LIMIT);
    if ended.is_err() {
        // What it started ends with this helper.
        let _ = child.kill();
        let _ = child.wait();
    }
    ended
}

fn failed(program: &str, error: &io::Error) -> Unrun {
    let why = format!("`{program}` cannot be run: {}", SystemError(error));
    Unrun { why, help: "check that it runs in a terminal" }
}

/// A repository cannot fill the disk.
fn limit_files(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let limit = Rlimit { current: Some(MAX_FILE), maximum: Some(MAX_FILE) };
    // Where it cannot be limited it may have ended already.
    let _ = pid.map(|pid| prlimit(Some(pid), Resource::Fsize, limit));
}

/// Waits for a program. Where it fails, the program may still run.
fn finish(
    program: &str,
    child: &mut Child,
    input: &[u8],
    most: u64,
    limit: Duration,
) -> Result<Output, Unrun> {
    let until = Instant::now() + limit;
    let late = || Unrun {
        why: format!("`{program}` did not end within {} s", limit.as_secs()),
        help: "check that the host answers, and that the program does not wait for an answer",
    };
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_vec();
    // Neither thread is waited for: something that the program started may hold the pipes.
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let (send, said) = channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.map(|stderr| stderr.take(64 * 1024).read_to_end(&mut text));
        let _ = send.send(text);
    });
    let out = match stdout.map(|stdout| read(stdout, most, until)).transpose() {
        Ok(out) => out.unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(late()),
        Err(error) => return Err(failed(program, &error)),
    };
    if out.len() as u64 > most {
        let why = format!("`{program}` printed more than {most} bytes");
        return Err(Unrun { why, help: "use a smaller repository, or another source" });
    }
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Ok(None) => return Err(late()),
            Err(error) => return Err(failed(program, &error)),
        }
    };
    let stderr = said.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    let stderr = crate::format::Visible::of(&String::from_utf8_lossy(&stderr)).to_string();
    Ok(Output { is_success: status.success(), stdout: out, stderr })
}

/// What a program prints, and a byte more than `most` where it prints more.
fn read(mut from: ChildStdout, most: u64, until: Instant) -> io::Result<Vec<u8>> {
    let (mut out, mut chunk) = (Vec::new(), vec![0; 64 << 10]);
    while out.len() as u64 <= most {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => out.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "each program is waited for")]
    fn of(script: &str, most: u64, limit: Duration) -> Result<Output, Unrun> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        limit_files(&child);
        let ended = finish("sh", &mut child, b"input", most, limit);
        let _ = child.kill();
        child.wait().unwrap();
        ended
    }

    #[test]
    fn a_program_that_does_not_end_is_given_up() {
        let long = Duration::from_secs(60);
        let ended = of("cat; echo said >&2", 100, long).unwrap();
        assert!(ended.is_success && ended.stdout == b"input" && ended.stderr.trim() == "said");
        let short = Duration::from_millis(200);
        for script in ["exec sleep 600", "exec >&-; exec sleep 600"] {
            let why = of(script, 100, short).unwrap_err().why;
            assert!(why.contains("did not end within"), "{why}");
        }
        let why = of("exec yes", 100, long).unwrap_err().why;
        assert!(why.contains("printed more than 100 bytes"), "{why}");
    }
}
