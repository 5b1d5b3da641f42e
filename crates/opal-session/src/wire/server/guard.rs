//! A process beside the helper that ends and removes what a helper leaves that is killed.
//!
//! The helper writes down what would be left, and says good-bye at its end. If its pipe ends without
//! that, the helper is gone: the guard does what it would have done.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::group::{self, Group};
use crate::local::{Running, command, start};
use crate::stop::Stop;
use crate::{LocalSession, Setup};

/// The argument that makes a guard of this program; the marker of its processes follows, and the
/// control group that they are in, if they are.
pub(super) const WORD: &str = "--guard";

/// What is written down at most; what comes later is left, if the helper is killed.
const MAX_NOTES: usize = 4096;

/// Of all notes together.
const MAX_BYTES: u64 = 16 << 20;

/// How long processes have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

const GOOD_BYE: &[u8] = b".";

/// The helper's side.
pub(super) struct Guard {
    state: Mutex<State>,
    group: Option<Group>,
}

struct State {
    pipe: Option<OwnedFd>,
    running: Option<Running>,
    notes: usize,
}

impl Guard {
    /// `own` starts this program once more. Without a guard nothing else is different.
    pub(super) fn start(own: &[OsString], marker: &str) -> Self {
        let group = Group::make();
        let started = begin(own, marker, group.as_ref()).ok();
        // The guard is not in it, so that it can end all who are.
        let group = group.filter(|group| match started.is_some() && group.enter().is_ok() {
            true => true,
            false => {
                group.leave();
                false
            }
        });
        let (pipe, running) = started.map_or((None, None), |(pipe, it)| (Some(pipe), Some(it)));
        Self { state: Mutex::new(State { pipe, running, notes: 0 }), group }
    }

    /// A file or directory that is removed when the helper ends. What is half written has no name, or is
    /// removed by whoever writes there next.
    pub(super) fn holds(&self, path: &Path) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.notes < MAX_NOTES {
            state.notes += 1;
            state.say(&[path.as_os_str().as_bytes(), b"\0"].concat());
        }
    }
}

impl State {
    fn say(&mut self, bytes: &[u8]) {
        let Some(pipe) = self.pipe.take() else { return };
        let mut file = std::fs::File::from(pipe);
        // A guard that was killed is not missed.
        if file.write_all(bytes).is_ok() {
            self.pipe = Some(file.into());
        }
    }
}

impl Guard {
    /// The helper has done everything itself.
    pub(super) fn dismiss(&self) {
        self.group.iter().for_each(Group::leave);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.say(GOOD_BYE);
        state.pipe = None;
        if let Some(running) = &mut state.running {
            let _ = running.wait();
        }
    }
}

fn begin(own: &[OsString], marker: &str, group: Option<&Group>) -> io::Result<(OwnedFd, Running)> {
    let (program, before) = own.split_first().ok_or(io::ErrorKind::NotFound)?;
    let (inner, pipe) = crate::pipe()?;
    let mut command = command(Path::new(program));
    command
        .args(before)
        .args([WORD, marker])
        .args(group.map(Group::path))
        .env_clear()
        .current_dir("/")
        // Nothing that is meant for the helper is meant for it.
        .process_group(0)
        .stdin(Stdio::from(inner))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok((pipe, start(command)?))
}

/// The guard itself: waits until the helper has ended.
pub(super) fn watch(mut words: impl Iterator<Item = OsString>) -> io::Result<()> {
    let marker = words.next().and_then(|it| it.into_string().ok());
    let marker = marker.ok_or(io::ErrorKind::InvalidInput)?;
    let group = words.next().map(PathBuf::from);
    let mut heard = Vec::new();
    io::stdin().lock().take(MAX_BYTES).read_to_end(&mut heard)?;
    if heard.ends_with(GOOD_BYE) && (heard.len() == 1 || heard[heard.len() - 2] == 0) {
        return Ok(());
    }
    let session = LocalSession::new(Setup {
        environment: Arc::default(),
        start: PathBuf::from("/"),
        home: None,
        marker,
        terminal: None,
        entries: None,
        pages: None,
    });
    session.end_all(GRACE, &Stop::new());
    group.as_deref().into_iter().for_each(group::end);
    let paths = heard.split(|byte| *byte == 0).map(|path| Path::new(OsStr::from_bytes(path)));
    paths.filter(|path| path.is_absolute()).for_each(remove);
    Ok(())
}

/// What is not there any more was removed by the helper.
fn remove(path: &Path) {
    let Ok(found) = path.symlink_metadata() else { return };
    let _ = if found.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}
