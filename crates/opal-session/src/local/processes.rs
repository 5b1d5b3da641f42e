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
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process};

use super::children;

/// Tells the processes of one lane from those of others.
pub(super) const MARKER: &str = "__OPAL_LANE";

/// How often a process that is becoming another program is asked for its environment: for two seconds.
/// On a busy machine that moment is long.
const MAX_ASKS: usize = 2_000;

/// The time from one question to the next.
const ASK_PAUSE: Duration = Duration::from_millis(1);

/// How often the list of processes is read, until it is whole.
const MAX_READS: usize = 4;

/// A moment, as precisely as the system dates processes: in hundredths of a second, and among those
/// by the number that was given out last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    ticks: u64,
    last: i32,
}

impl Moment {
    /// Costs a few microseconds: it is taken before every command.
    #[cfg(target_os = "linux")]
    pub(super) fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let ticks = time.tv_sec * 100 + time.tv_nsec / 10_000_000;
        Self { ticks: u64::try_from(ticks).unwrap_or(0), last: last_pid().unwrap_or(0) }
    }

    /// Elsewhere orphans do not come here, so their age is not asked for.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn now() -> Self {
        Self::default()
    }

    pub(super) fn is_before(self, process: &Process) -> bool {
        process.start > self.ticks
            || process.start == self.ticks && is_later(process.pid, self.last)
    }
}

/// Whether the system gave out a number after another one of the same hundredth of a second. After
/// the largest number come small ones again, so only numbers that are close to each other compare.
fn is_later(pid: i32, last: i32) -> bool {
    // Half of the numbers that a system has at least: far more than it gives out in that time.
    const HALF: i32 = 16_384;
    (1..HALF).contains(&(pid - last)) || last - pid > HALF
}

#[cfg(target_os = "linux")]
fn last_pid() -> Option<i32> {
    use std::io::Read;
    let mut text = [0; 128];
    let count = fs::File::open("/proc/loadavg").ok()?.read(&mut text).ok()?;
    std::str::from_utf8(&text[..count]).ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Whether the keys of its terminal that interrupt and suspend are for it.
    pub(super) is_in_front: bool,
    start: u64,
    pub(super) is_zombie: bool,
}

/// What is looked for.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// The waiting shell, or its leader; neither is a part of its commands.
    pub(super) shell: Option<i32>,
    pub(super) is_led: bool,
    /// What was started without a shell.
    pub(super) program: Option<i32>,
    pub(super) marker: &'a OsStr,
    pub(super) since: Moment,
    /// Whether an orphan without any marker can be of no other command.
    pub(super) is_alone: bool,
}

impl Scope<'_> {
    /// The processes of the command that are alive, parents first.
    ///
    /// No other command is started meanwhile: what is only about to become its program would look
    /// like anybody's.
    pub(super) fn members(&self) -> Vec<i32> {
        let own = getpid().as_raw_pid();
        children::while_none_starts(|awaited| {
            let all = processes();
            let shells = match self.shell {
                Some(leader) if self.is_led => children_of(leader, &all).collect(),
                shell => Vec::from_iter(shell),
            };
            let is_first = |it: &&Process| {
                let is_adopted = it.parent == own && !awaited.contains(&it.pid);
                Some(it.pid) == self.program
                    || shells.contains(&it.parent)
                    || is_adopted && self.is_orphan(it)
            };
            with_descendants(all.iter().filter(is_first).map(|it| it.pid).collect(), &all)
        })
    }

    fn is_orphan(&self, process: &Process) -> bool {
        if !self.since.is_before(process) {
            return false;
        }
        match marker(process) {
            Some(marker) => marker == self.marker.as_bytes(),
            None if process.group == getpgrp().as_raw_pid() => false,
            None => self.is_alone || [self.shell, self.program].contains(&Some(process.group)),
        }
    }
}

fn children_of(parent: i32, all: &[Process]) -> impl Iterator<Item = i32> {
    all.iter().filter(move |it| it.parent == parent).map(|it| it.pid)
}

/// Kills the shell that a leader has started; the leader stays.
pub(super) fn kill_led(leader: i32) {
    children_of(leader, &processes()).for_each(|pid| signal(pid, Signal::KILL));
    // One that is held would not notice.
    signal(leader, Signal::CONT);
}

/// Adds the children of what was found, and theirs; those that are alive.
fn with_descendants(mut found: Vec<i32>, all: &[Process]) -> Vec<i32> {
    let mut seen: BTreeSet<i32> = found.iter().copied().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(children_of(parent, all).filter(|pid| seen.insert(*pid)));
        next += 1;
    }
    let is_alive = |pid: &i32| all.iter().any(|it| it.pid == *pid && !it.is_zombie);
    found.into_iter().filter(is_alive).collect()
}

/// Why a process that was to end still runs.
pub(super) fn still_running(pid: i32) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = String::from_utf8_lossy(&name);
    let name = name.trim_end().escape_debug();
    let owner = fs::metadata(format!("/proc/{pid}")).map(|found| found.uid());
    let why = match owner {
        Ok(user) if user != rustix::process::geteuid().as_raw() => {
            "it is another user's and cannot be stopped from here; use `@as`"
        }
        _ => "it does not end when it is killed",
    };
    format!("process {pid} (`{name}`) still runs: {why}")
}

/// What the commands of a whole session have left running, parents first.
pub(super) fn left(session: &str, since: Moment) -> Vec<i32> {
    let (own, group) = (getpid().as_raw_pid(), getpgrp().as_raw_pid());
    let start = format!("{session}.");
    children::while_none_starts(|awaited| {
        let all = processes();
        let is_adopted = |it: &Process| it.parent == own && !awaited.contains(&it.pid);
        let is_ours = |it: &&Process| match marker(it) {
            Some(marker) => marker.starts_with(start.as_bytes()),
            None => is_adopted(it) && it.group != group && since.is_before(it),
        };
        let first = all.iter().filter(|it| it.pid != own).filter(is_ours).map(|it| it.pid);
        with_descendants(first.collect(), &all)
    })
}

/// The lane that a process says it belongs to.
///
/// One that is just becoming another program has no environment for a moment, so a child of ours is
/// asked again until it has become that program.
fn marker(process: &Process) -> Option<Vec<u8>> {
    let read = || fs::read(format!("/proc/{}/environ", process.pid)).ok();
    let mut environment = read()?;
    if process.parent == getpid().as_raw_pid() {
        for _ in 0..MAX_ASKS {
            if !environment.is_empty() {
                break;
            }
            let is_starting = is_starting(process.pid);
            environment = read()?;
            if !is_starting {
                break;
            }
            std::thread::sleep(ASK_PAUSE);
        }
    }
    let start = format!("{MARKER}=");
    environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(start.as_bytes()))
        .map(<[u8]>::to_vec)
}

/// Every process, from `/proc`, or from `ps` where there is none.
pub(super) fn processes() -> Vec<Process> {
    let mut all = listed();
    for _ in 1..MAX_READS {
        if is_whole(&all) {
            break;
        }
        all = listed();
    }
    if all.is_empty() { ps().unwrap_or_default() } else { all }
}

fn listed() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(process).collect()
}

/// Whether the parent of each process is in the list. If not, a parent has ended while the list was
/// read, and its child would belong to nobody. A parent that cannot be seen from here has the number 0.
fn is_whole(all: &[Process]) -> bool {
    let pids: BTreeSet<i32> = all.iter().map(|it| it.pid).collect();
    all.iter().all(|it| it.parent == 0 || pids.contains(&it.parent))
}

/// From `/proc` alone: one that is gone is none, and all are where there is no such place.
pub(super) fn process(pid: i32) -> Option<Process> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The second field is a name in brackets that may hold anything.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        is_in_front: fields.get(2) == fields.get(5),
        start: fields.get(19)?.parse().ok()?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

/// Whether a process is between two programs: the system does not say yet where its environment ends.
fn is_starting(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    parse(pid, &stat).is_some_and(|it| !it.is_zombie) && environment_end(&stat) == Some(0)
}

/// The address where the environment of a process ends.
fn environment_end(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(48)?.parse().ok()
}

fn ps() -> Option<Vec<Process>> {
    let mut command = children::command(std::path::Path::new("/bin/ps"));
    let listing = command.args(["-A", "-o", "pid=,ppid=,pgid=,stat="]).output().ok()?;
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        let is_zombie = fields.get(3)?.starts_with('Z');
        Some(Process {
            pid: number(0)?,
            parent: number(1)?,
            group: number(2)?,
            is_in_front: true,
            start: 0,
            is_zombie,
        })
    };
    Some(String::from_utf8(listing.stdout).ok()?.lines().filter_map(row).collect())
}

/// The signals that a process ignores, `self` for this one. Where the system does not tell, none.
pub(super) fn ignored(pid: impl std::fmt::Display) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

pub(super) fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended by itself, or be someone else's, as what `sudo` starts.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_hides_nothing() {
        let rest = "S 41 12 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0";
        let process = parse(12, &format!("12 (a) R 7 (b) {rest}")).unwrap();
        assert_eq!((process.parent, process.group, process.start), (41, 12, 4711));
        assert!(!process.is_zombie && parse(12, "12 sh S 41").is_none());
    }

    /// This process has an environment, and one that has ended has none.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_end_of_the_environment_is_where_the_system_says_it() {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        assert!(environment_end(&stat).unwrap() > 0);
        assert!(!is_starting(getpid().as_raw_pid()));
        assert_eq!(environment_end("12 (a) S 41"), None);
        assert!(!is_starting(i32::MAX));
    }

    #[test]
    fn a_list_without_the_parent_of_one_is_not_whole() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: 1,
            is_in_front: true,
            start: 0,
            is_zombie: false,
        };
        assert!(is_whole(&[process(302, 1), process(1, 0)]));
        assert!(!is_whole(&[process(302, 32_760), process(1, 0)]));
    }

    #[test]
    fn descendants_are_found_whatever_their_order_and_the_dead_are_not() {
        let process = |pid, parent, is_zombie| Process {
            pid,
            parent,
            group: 1,
            is_in_front: true,
            start: 0,
            is_zombie,
        };
        let all =
            [(14, 13, false), (13, 11, false), (11, 10, true), (12, 1, false), (10, 1, false)];
        let all = all.map(|(pid, parent, is_zombie)| process(pid, parent, is_zombie));
        assert_eq!(with_descendants(vec![10], &all), [10, 13, 14]);
    }

    #[test]
    fn what_began_in_the_same_instant_is_distinguished_by_its_number() {
        let at = |start, pid| Process {
            pid,
            parent: 1,
            group: 1,
            is_in_front: true,
            start,
            is_zombie: false,
        };
        let moment = Moment { ticks: 100, last: 50 };
        assert!(moment.is_before(&at(100, 51)) && moment.is_before(&at(101, 3)));
        assert!(!moment.is_before(&at(100, 50)) && !moment.is_before(&at(99, 60)));
        assert!(!moment.is_before(&at(100, 32_760)), "the numbers began again since then");
        let moment = Moment { ticks: 100, last: 32_760 };
        assert!(moment.is_before(&at(100, 302)), "the numbers have begun again");
        assert!(!moment.is_before(&at(100, 32_700)));
    }
}
