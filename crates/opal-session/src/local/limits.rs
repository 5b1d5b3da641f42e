//! Limits on what the processes of a command may use.
//!
//! They are set by the fork that becomes the command, before it does anything else: nothing here
//! runs between `fork` and `exec`, and no process is ever without them. Limits of the system are
//! inherited and can only be lowered.
//!
//! Root is not bound by a limit on the number of processes. For root the fork first moves into a
//! control group of its own, which counts.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use opal_core::action::Limits;
use opal_core::resolver::Trouble;
use rustix::process::geteuid;

use crate::error::SessionError;
use opal_core::shell::Shell;

/// What a fork ends with that cannot set its limits.
const NOT_LIMITED: i32 = 125;

/// Where control groups are.
const GROUPS: &str = "/sys/fs/cgroup";

/// Limits that can be kept.
#[derive(Debug)]
pub(super) struct Enforced {
    limits: Limits,
    /// Processes of the user at the start: the system counts all of them.
    others: u64,
    group: Option<Group>,
}

impl Enforced {
    /// `name` is one that nothing else has.
    pub(super) fn new(limits: Limits, name: impl FnOnce() -> OsString) -> Result<Self, Trouble> {
        let (mut others, mut group) = (0, None);
        match limits.processes {
            Some(most) if geteuid().is_root() => {
                let name = format!("opal-{}", name().to_string_lossy());
                group = Some(Group::new(&name, most).ok_or(SessionError::NoProcessLimit)?);
            }
            Some(_) => others = tasks_of_user(),
            None => {}
        }
        Ok(Self { limits, others, group })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// What a fork of the shell does first.
    pub(super) fn prelude(&self, shell: Shell) -> String {
        let mut text = String::new();
        let builtin = if shell == Shell::Bash { "builtin " } else { "" };
        let mut set = |flag: &str, most: u64| {
            // One that is set already and is lower stays.
            text.push_str(&format!(
                "{builtin}ulimit {flag} {most} 2>/dev/null || {{ __opal_most=$({builtin}ulimit -H {flag}); \
                 [ \"$__opal_most\" != unlimited ] && [ \"$__opal_most\" -le {most} ]; }} || exit {NOT_LIMITED}; "
            ));
        };
        if let Some(bytes) = self.limits.memory {
            set(if cfg!(target_os = "linux") { "-d" } else { "-v" }, bytes.div_ceil(1024));
        }
        if let Some(seconds) = self.limits.cpu {
            // The first ends it with a signal that says why, the second whatever it does.
            set("-t", seconds + 1);
            set("-S -t", seconds);
        }
        if let (Some(most), None) = (self.limits.processes, &self.group) {
            set(if shell == Shell::Bash { "-u" } else { "-p" }, self.others + most);
        }
        if let Some(group) = &self.group {
            let mut path = String::new();
            let members = group.0.join("cgroup.procs");
            opal_core::shell::single(&mut path, &members.to_string_lossy());
            text.push_str(&format!("{builtin}echo 0 > {path} || exit {NOT_LIMITED}; "));
        }
        text
    }
}

/// Processes and threads of this user, as the system counts them.
fn tasks_of_user() -> u64 {
    let own = geteuid().as_raw();
    let Ok(all) = fs::read_dir("/proc") else { return 0 };
    let of_user = all.flatten().filter(|entry| {
        let is_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        is_process && entry.metadata().is_ok_and(|found| found.uid() == own)
    });
    let threads = |folder: PathBuf| {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
        line.trim().parse::<u64>().ok()
    };
    of_user.filter_map(|entry| threads(entry.path())).sum()
}

/// A control group that counts processes, until it is dropped.
#[derive(Debug)]
struct Group(PathBuf);

impl Group {
    fn new(name: &str, most: u64) -> Option<Self> {
        places().into_iter().find_map(|place| {
            let folder = place.join(name);
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            // A group without a counter has no such file.
            let is_kept = group.0.join("pids.max").exists()
                && fs::write(group.0.join("pids.max"), most.to_string()).is_ok();
            is_kept.then_some(group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What the command has left running keeps it, and is still counted.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Where a group for this process can be: in its own, or beside it.
fn places() -> Vec<PathBuf> {
    let Ok(text) = fs::read_to_string("/proc/self/cgroup") else { return Vec::new() };
    let mut places = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kind), Some(path)) = (fields.next(), fields.next()) else { continue };
        let top = match kind {
            "" => Path::new(GROUPS).to_owned(),
            kind if kind.split(',').any(|it| it == "pids") => Path::new(GROUPS).join(kind),
            _ => continue,
        };
        let own = top.join(path.trim_start_matches('/'));
        let above = own.parent().filter(|above| above.starts_with(&top)).map(Path::to_owned);
        places.push(own);
        places.extend(above);
    }
    places
}
