//! The environment of a login shell.

use opal_core::gather::Gather as _;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::children;

/// How long its start-up files may take.
const LIMIT: Duration = Duration::from_secs(20);

/// What they print, and all variables.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What the user's shell makes of an environment when somebody logs in.
pub(crate) fn environment(
    base: &BTreeMap<OsString, OsString>,
    directory: &Path,
) -> io::Result<BTreeMap<OsString, OsString>> {
    let shell = base.get(OsStr::new("SHELL")).map(Path::new).filter(|it| it.is_absolute());
    let shell = shell.unwrap_or(Path::new("/bin/sh"));
    // What comes before it is the noise of start-up files.
    let mark = format!("opal-environment-{}", std::process::id());
    let (output, inner) = crate::pipe()?;
    let mut name = OsString::from("-");
    name.push(shell.file_name().unwrap_or(shell.as_os_str()));
    let mut command = children::command(shell);
    command
        .arg0(name)
        .args(["-c", &format!("echo {mark}; exec /usr/bin/env -0")])
        .env_clear()
        .envs(base)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::from(inner))
        .stderr(Stdio::null())
        .process_group(0);
    let running = children::start(command)?;
    let printed = read(&output)?;
    drop(running);
    parsed(&printed, mark.as_bytes()).ok_or_else(|| ErrorKind::InvalidData.into())
}

fn read(output: &std::os::fd::OwnedFd) -> io::Result<Vec<u8>> {
    let (end, mut printed, mut chunk) = (Instant::now() + LIMIT, Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
            Ok(0) => return Err(ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => continue,
            _ => {}
        }
        match rustix::io::read(output, &mut chunk) {
            Ok(0) => return Ok(printed),
            Ok(count) => printed.extend_from_slice(&chunk[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if printed.len() > MAX_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
    }
}

/// The variables after the mark; none where there is no mark.
fn parsed(printed: &[u8], mark: &[u8]) -> Option<BTreeMap<OsString, OsString>> {
    let at = printed.windows(mark.len()).position(|it| it == mark)?;
    let rest = printed[at + mark.len()..].strip_prefix(b"\n")?;
    let variables = rest.split(|byte| *byte == 0).filter_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&variable[..at], &variable[at + 1..]);
        // Of `env` itself.
        (name != b"_").then(|| (OsStr::from_bytes(name).into(), OsStr::from_bytes(value).into()))
    });
    Some(variables.gathered())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_begins_after_the_noise() {
        let printed = b"Welcome\nA=not\0mark\nA=1\0B=x=y\nz\0_=/usr/bin/env\0";
        let found = parsed(printed, b"mark").unwrap();
        let expected = [("A", "1"), ("B", "x=y\nz")].map(|(a, b)| (a.into(), b.into()));
        assert_eq!(found, BTreeMap::from(expected));
        assert_eq!(parsed(b"A=1\0", b"mark"), None);
    }
}
