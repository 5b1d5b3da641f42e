//! Which processes belong to a command.
//!
//! A command's processes are the descendants of what was started for it. One that has lost its
//! parent comes to opal, which has asked the system for that (Linux), and is known by a variable of
//! its environment, which names the lane, and by having begun after the command did. So what an
//! earlier command has left running in the background is never taken for a part of a later one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process};

/// Tells the processes of one lane from those of others.
pub(super) const MARKER: &str = "__OPAL_LANE";

/// A moment, as precisely as the system dates processes: in hundredths of a second, and among those
/// by the number that was given out last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    ticks: u64,
    last: i32,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { ticks: ticks().unwrap_or(0), last: last_pid().unwrap_or(0) }
    }

    fn is_before(self, process: &Process) -> bool {
        process.start > self.ticks || process.start == self.ticks && process.pid > self.last
    }
}

/// Hundredths of a second since the system started.
fn ticks() -> Option<u64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = uptime.split_once(' ')?.0.split_once('.')?;
    Some(seconds.parse::<u64>().ok()? * 100 + hundredths.parse::<u64>().ok()?)
}

fn last_pid() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    start: u64,
    pub(super) is_zombie: bool,
}

/// What is looked for.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// The waiting shell, which is no part of its commands.
    pub(super) shell: Option<i32>,
    /// What was started without a shell.
    pub(super) program: Option<i32>,
    pub(super) marker: &'a OsStr,
    pub(super) since: Moment,
    /// Whether an orphan without any marker can be of no other command.
    pub(super) is_alone: bool,
}

impl Scope<'_> {
    /// The processes of the command that are alive, parents first.
    pub(super) fn members(&self) -> Vec<i32> {
        let all = processes();
        let own = getpid().as_raw_pid();
        let is_first = |process: &&Process| {
            Some(process.pid) == self.program
                || Some(process.parent) == self.shell
                || process.parent == own
                    && Some(process.pid) != self.shell
                    && self.is_orphan(process)
        };
        with_descendants(all.iter().filter(is_first).map(|it| it.pid).collect(), &all)
    }

    fn is_orphan(&self, process: &Process) -> bool {
        if !self.since.is_before(process) {
            return false;
        }
        match marker(process.pid) {
            Some(marker) => marker == self.marker.as_bytes(),
            None if process.group == getpgrp().as_raw_pid() => false,
            None => self.is_alone || [self.shell, self.program].contains(&Some(process.group)),
        }
    }
}

/// Adds the children of what was found, and theirs; those that are alive.
fn with_descendants(mut found: Vec<i32>, all: &[Process]) -> Vec<i32> {
    let mut seen: BTreeSet<i32> = found.iter().copied().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = all.iter().filter(|it| it.parent == parent).map(|it| it.pid);
        found.extend(children.filter(|pid| seen.insert(*pid)));
        next += 1;
    }
    let is_alive = |pid: &i32| all.iter().any(|it| it.pid == *pid && !it.is_zombie);
    found.into_iter().filter(is_alive).collect()
}

/// What the commands of a whole session have left running, parents first.
pub(super) fn left(session: &str, since: Moment) -> Vec<i32> {
    let all = processes();
    let (own, group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
    let start = format!("{session}.");
    let is_ours = |process: &&Process| match marker(process.pid) {
        Some(marker) => marker.starts_with(start.as_bytes()),
        None => process.parent == own && process.group != group && since.is_before(process),
    };
    let first = all.iter().filter(|it| it.pid != own).filter(is_ours).map(|it| it.pid).collect();
    with_descendants(first, &all)
}

/// The lane that a process says it belongs to.
pub(super) fn marker(pid: i32) -> Option<Vec<u8>> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let start = format!("{MARKER}=");
    environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(start.as_bytes()))
        .map(<[u8]>::to_vec)
}

/// Every process, from `/proc`, or from `ps` where there is none.
pub(super) fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let all: Vec<Process> = pids
        .filter_map(|pid| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect();
    if all.is_empty() { ps().unwrap_or_default() } else { all }
}

/// The second field is a name in brackets that may hold anything.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

fn ps() -> Option<Vec<Process>> {
    let mut command = super::children::command(std::path::Path::new("/bin/ps"));
    let listing = command.args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).output().ok()?;
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let is_zombie = fields.get(3)?.starts_with('Z');
        Some(Process {
            pid: number(0)?,
            parent: number(1)?,
            group: number(2)?,
            start: 0,
            is_zombie,
        })
    };
    Some(String::from_utf8(listing.stdout).ok()?.lines().filter_map(row).collect())
}

pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}
